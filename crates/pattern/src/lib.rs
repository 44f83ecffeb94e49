//! Regular expressions with exactly the meaning that Python 3.13's `re.search` gives them.
//!
//! They are for programs that take expressions which people wrote for a Python program. An expression either means here
//! exactly what it means there, or [`Pattern::compile`] refuses it and says why; and every search ends after a fixed
//! number of steps.
//!
//! ```
//! use hooksd_pattern::Pattern;
//!
//! let pattern = Pattern::compile("mcp__.*__write.*")?;
//! assert_eq!(pattern.search("mcp__files__write_text"), Ok(true));
//! assert_eq!(pattern.search("mcp__files__read"), Ok(false));
//! # Ok::<(), hooksd_pattern::PatternError>(())
//! ```
//!
//! An expression passes through these modules: `tokens`, then `parse` and `escape`, which make an `ast`; `program`
//! (with `set`), which makes instructions of it; and `exec` (with `captures`), which runs them. The matcher is one of
//! its own because three things have to be exactly Python's: how captures survive backtracking, what an empty
//! repetition does, and in which order ways are tried.
#![forbid(unsafe_code)]

mod ast;
mod captures;
pub mod chars;
mod escape;
mod exec;
mod parse;
mod program;
mod set;
mod tables;
#[cfg(test)]
mod tests;
mod tokens;

/// Compiles and runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

use std::sync::Arc;

/// The longest expression. Bytes. Real ones are shorter than a line; the work of compiling grows with this.
pub const MAX_PATTERN_BYTES: usize = 16 * 1024;

/// How deep groups may be nested. Levels. This bounds the recursion of compiling and matching; Python itself fails at
/// about 300 levels.
pub const MAX_NESTING: usize = 200;

/// How many ranges of characters all sets of one expression may have together. Ranges. Each takes 8 bytes of memory;
/// `\w` alone has about 770.
pub const MAX_SET_RANGES: usize = 1 << 18;

/// How many steps one search may take. Steps. An instruction, a repeated character and a way back each cost at least
/// one.
pub const MAX_STEPS: usize = 2_000_000;

/// The longest text that is searched. Bytes. A longer one reaches the bound at once, before it is unpacked.
pub const MAX_SUBJECT_BYTES: usize = 1 << 20;

/// A compiled expression. A clone shares the compiled form.
///
/// ```
/// use hooksd_pattern::Pattern;
///
/// // Under the flag `i`, `k` also matches the Kelvin sign, as it does in Python.
/// let pattern = Pattern::compile("(?i)^k$")?;
/// assert_eq!(pattern.search("\u{212a}"), Ok(true));
/// # Ok::<(), hooksd_pattern::PatternError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pattern {
    program: Arc<program::Program>,
}

impl Pattern {
    /// Compiles an expression.
    ///
    /// # Errors
    /// Why the expression cannot be used, and at which character: Python refuses it too, or it exceeds a bound of
    /// this crate, or it needs one of the few things that this crate does not support.
    pub fn compile(text: &str) -> Result<Pattern, PatternError> {
        if text.len() > MAX_PATTERN_BYTES {
            let what = format!("an expression of more than {MAX_PATTERN_BYTES} bytes");
            return Err(PatternError::unsupported(0, &what));
        }
        let program = program::compile(&parse::parse(text)?)?;
        Ok(Pattern { program: Arc::new(program) })
    }

    /// Whether the expression is found anywhere in the subject, as `re.search` decides it.
    ///
    /// # Errors
    /// [`BoundReached`] when there is no answer after [`MAX_STEPS`] steps, or when the subject is longer than
    /// [`MAX_SUBJECT_BYTES`].
    pub fn search(&self, subject: &str) -> Result<bool, BoundReached> {
        self.search_within(subject, &mut { MAX_STEPS })
    }

    /// Searches as [`Pattern::search`] does, within the steps that are `left`, and takes those that it needs off
    /// them. Several searches can share one budget so.
    ///
    /// # Errors
    /// [`BoundReached`] when there is no answer after that many steps, or when the subject is longer than
    /// [`MAX_SUBJECT_BYTES`].
    ///
    /// ```
    /// use hooksd_pattern::{BoundReached, Pattern};
    ///
    /// let pattern = Pattern::compile("a*b")?;
    /// let mut left = 200;
    /// assert_eq!(pattern.search_within("aab", &mut left), Ok(true));
    /// assert!(left < 200);
    /// assert_eq!(pattern.search_within(&"a".repeat(500), &mut left), Err(BoundReached));
    /// # Ok::<(), hooksd_pattern::PatternError>(())
    /// ```
    pub fn search_within(&self, subject: &str, left: &mut usize) -> Result<bool, BoundReached> {
        if subject.len() > MAX_SUBJECT_BYTES {
            return Err(BoundReached);
        }
        exec::search(&self.program, subject, left)
    }
}

/// Why an expression cannot be used: one sentence for people, with the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {what} at character {offset}", if *.python { "not a valid Python expression" } else { "not supported" })]
pub struct PatternError {
    /// What is wrong, without the place.
    what: String,
    /// Where it begins. Characters.
    offset: usize,
    /// Whether Python refuses it too.
    python: bool,
}

impl PatternError {
    /// The error for something that Python refuses too.
    fn python(offset: usize, what: &str) -> PatternError {
        PatternError { what: what.to_owned(), offset, python: true }
    }

    /// The error for something that Python accepts.
    fn unsupported(offset: usize, what: &str) -> PatternError {
        PatternError { what: what.to_owned(), offset, python: false }
    }

    /// Where the refused part of the expression begins. Characters, counted from 0.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Whether Python's `re` refuses the expression too. If not, only this crate does.
    #[must_use]
    pub fn is_invalid_in_python(&self) -> bool {
        self.python
    }
}

/// A search has used up its steps before it had an answer, or its text was too long to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("matching was stopped after {MAX_STEPS} steps or for a text of more than {MAX_SUBJECT_BYTES} bytes")]
pub struct BoundReached;
