//! Which characters Python calls letters, digits and white space.
//!
//! Guarantees: each answer is Python 3.13's for every code point that is assigned in Unicode 15.1. Nothing here
//! depends on the Unicode version of the Rust toolchain.

use crate::tables;

/// Whether Python's `\w` matches `c`: a letter, a number of any kind, or the underscore.
///
/// ```
/// use hooksd_pattern::chars::is_word;
///
/// assert!(is_word('_') && is_word('ü') && is_word('²'));
/// assert!(!is_word('-') && !is_word('\u{308}'), "a combining mark is none");
/// ```
#[must_use]
pub fn is_word(c: char) -> bool {
    contains(tables::WORD, c.into())
}

/// Whether Python's `\s` matches `c`. These are also the characters that `str.strip()` removes.
///
/// ```
/// use hooksd_pattern::chars::is_space;
///
/// assert!(is_space('\u{1c}'), "Rust has another opinion of this one");
/// assert!(!is_space('\u{200b}'));
/// ```
#[must_use]
pub fn is_space(c: char) -> bool {
    contains(tables::SPACE, c.into())
}

/// Whether Python's `\d` matches `c`: a decimal digit of any script.
#[cfg(test)]
pub(crate) fn is_digit(c: char) -> bool {
    contains(tables::DIGIT, c.into())
}

/// Whether `c` is in a sorted table of inclusive ranges.
pub(crate) fn contains(ranges: &[(u32, u32)], c: u32) -> bool {
    let after = ranges.partition_point(|&(first, _)| first <= c);
    after.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|&(_, last)| c <= last)
}

/// Python's simple lower case of `c`, which is always one character.
pub(crate) fn lower(c: u32) -> u32 {
    let after = tables::LOWER.partition_point(|&(first, ..)| first <= c);
    match after.checked_sub(1).and_then(|at| tables::LOWER.get(at)) {
        Some(&(first, last, step, add)) if c <= last && (c - first).is_multiple_of(step) => {
            c.saturating_add_signed(add)
        }
        _ => c,
    }
}

/// The lower case of an ASCII letter, and every other character as it is: what the `a` flag makes of it.
pub(crate) fn lower_ascii(c: u32) -> u32 {
    if (0x41..=0x5a).contains(&c) { c + 0x20 } else { c }
}
