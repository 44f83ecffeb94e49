//! Matcher expressions with the meaning Python 3.13's `re.search` gives them.
//!
//! Guarantees: an expression either means exactly what it means there, or is refused with a reason; matching ends
//! after a fixed number of steps. The way of an expression: `tokens` -> `parse` and `escape` -> `ast` -> `program`
//! (with `set`) -> `exec` (with `captures`). The matcher is this module's own because the way captures survive backtracking, the
//! handling of empty repetitions and the bound on the work all have to be Python's or exact.

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

use std::sync::Arc;

/// Longest expression, in bytes. Real ones are shorter than a line; the work of compiling grows with this.
pub const MAX_PATTERN_BYTES: usize = 16 * 1024;

/// Deepest nesting of groups. Bounds recursion while compiling and matching; Python itself fails at about 300.
pub const MAX_NESTING: usize = 200;

/// Ranges of characters in all sets of one expression. Bounds memory to 8 bytes each; `\w` has about 770.
pub const MAX_SET_RANGES: usize = 1 << 18;

/// Steps of one search: an instruction, a repeated character or a way back each cost at least one.
pub const MAX_STEPS: usize = 2_000_000;

/// Longest subject, in bytes. A longer one reaches the bound at once instead of being unpacked first.
pub const MAX_SUBJECT_BYTES: usize = 1 << 20;

/// A compiled matcher expression with Python meaning. Cloning it shares the compiled form.
#[derive(Clone, Debug)]
pub struct Pattern {
    program: Arc<program::Program>,
}

impl Pattern {
    /// Compiles an expression, or says why it cannot be used.
    pub fn compile(text: &str) -> Result<Pattern, PatternError> {
        if text.len() > MAX_PATTERN_BYTES {
            let what = format!("an expression of more than {MAX_PATTERN_BYTES} bytes");
            return Err(PatternError::unsupported(0, &what));
        }
        let program = program::compile(&parse::parse(text)?)?;
        Ok(Pattern { program: Arc::new(program) })
    }

    /// Whether the expression matches anywhere in the subject, as `re.search` decides it.
    pub fn search(&self, subject: &str) -> Result<bool, BoundReached> {
        self.search_within(subject, &mut { MAX_STEPS })
    }

    /// The same within as many steps as are left; those that it takes are taken off.
    pub fn search_within(&self, subject: &str, left: &mut usize) -> Result<bool, BoundReached> {
        if subject.len() > MAX_SUBJECT_BYTES {
            return Err(BoundReached);
        }
        exec::search(&self.program, subject, left)
    }
}

/// Why an expression cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {what} at character {offset}", if *.python { "not a valid Python expression" } else { "not supported by hooksd" })]
pub struct PatternError {
    what: String,
    offset: usize,
    python: bool,
}

impl PatternError {
    /// Something Python refuses too
    fn python(offset: usize, what: &str) -> PatternError {
        PatternError { what: what.to_owned(), offset, python: true }
    }

    /// Something Python accepts
    fn unsupported(offset: usize, what: &str) -> PatternError {
        PatternError { what: what.to_owned(), offset, python: false }
    }

    /// Where the refused construct starts, in characters from 0
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Whether Python's `re` refuses the expression too; otherwise only hooksd does
    pub fn is_invalid_in_python(&self) -> bool {
        self.python
    }
}

/// The search used up its steps before it had an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("matching was stopped after {MAX_STEPS} steps or for a name of more than {MAX_SUBJECT_BYTES} bytes")]
pub struct BoundReached;
