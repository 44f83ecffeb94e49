//! Character classes of the reference interpreter.
//!
//! Guarantees: each answer is Python 3.13's for every code point assigned in Unicode 15.1; nothing here depends
//! on the Unicode version of the Rust toolchain.

use crate::tables;

/// Whether Python's `\w` matches `c`: a letter, a number of any kind, or the underscore
pub fn is_word(c: char) -> bool {
    contains(tables::WORD, c.into())
}

/// Whether Python's `\s` matches `c`; the same characters are trimmed by `str.strip()`
pub fn is_space(c: char) -> bool {
    contains(tables::SPACE, c.into())
}

/// Whether Python's `\d` matches `c`: a decimal digit of any script
pub fn is_digit(c: char) -> bool {
    contains(tables::DIGIT, c.into())
}

/// Whether `c` is in a sorted table of inclusive ranges
pub(crate) fn contains(ranges: &[(u32, u32)], c: u32) -> bool {
    let after = ranges.partition_point(|&(first, _)| first <= c);
    after.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|&(_, last)| c <= last)
}

/// Python's simple lower case, one character to one character
pub(crate) fn lower(c: u32) -> u32 {
    let after = tables::LOWER.partition_point(|&(first, ..)| first <= c);
    match after.checked_sub(1).and_then(|at| tables::LOWER.get(at)) {
        Some(&(first, last, step, add)) if c <= last && (c - first).is_multiple_of(step) => {
            c.saturating_add_signed(add)
        }
        _ => c,
    }
}

/// Lower case of ASCII letters only, as under the `a` flag
pub(crate) fn lower_ascii(c: u32) -> u32 {
    if (0x41..=0x5a).contains(&c) { c + 0x20 } else { c }
}
