//! Which events a group is for (contract section 5): everything, a list of exact names, or a Python expression.

use std::collections::BTreeSet;

use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::event::EventName;

use hooksd_pattern::{MAX_STEPS, Pattern, chars};

/// A compiled matcher.
#[derive(Debug, Clone)]
pub enum Matcher {
    /// Absent, empty or `*`.
    All,
    /// Exact names, case-sensitive. May be empty: then nothing matches.
    Exact(BTreeSet<String>),
    /// An unanchored expression.
    Expression(Pattern),
}

/// Whether a group is for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matched {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// The expression took too long; nobody knows (D7).
    BoundReached,
}

impl Matcher {
    /// Compiles the matcher of a group of `event`.
    ///
    /// # Errors
    /// The diagnostic that goes with dropping the group: `unsupported_matcher` or `invalid_matcher`.
    pub fn compile(event: EventName, text: Option<&str>) -> Result<Matcher, Diagnostic> {
        let text = match text {
            None | Some("" | "*") => return Ok(Matcher::All),
            Some(text) => text,
        };
        if !event.has_matcher() {
            let message = format!("{event} has nothing to match: remove the matcher {text:?} or use \"*\"");
            return Err(Diagnostic::warning(code::UNSUPPORTED_MATCHER, message).field("matcher"));
        }
        let is_name_text = |c: char| chars::is_word(c) || chars::is_space(c) || matches!(c, ',' | '-' | '|');
        if text.chars().all(is_name_text) {
            let names = text.split([',', '|']).map(|name| name.trim_matches(chars::is_space));
            return Ok(Matcher::Exact(names.filter(|name| !name.is_empty()).map(str::to_owned).collect()));
        }
        Pattern::compile(text).map(Matcher::Expression).map_err(|error| {
            let message = format!("the matcher {text:?} of {event} is dropped with its group: {error}");
            Diagnostic::warning(code::INVALID_MATCHER, message).field("matcher")
        })
    }

    /// Whether the matcher is for this name; `None` on events that have nothing to match.
    #[must_use]
    pub fn matches(&self, subject: Option<&str>) -> Matched {
        self.matches_within(subject, &mut { MAX_STEPS })
    }

    /// The same within as many steps as are left, of which an expression takes some.
    #[must_use]
    pub fn matches_within(&self, subject: Option<&str>, left: &mut usize) -> Matched {
        let yes = |yes: bool| if yes { Matched::Yes } else { Matched::No };
        match (self, subject) {
            (Matcher::All, _) => Matched::Yes,
            (_, None) => Matched::No,
            (Matcher::Exact(names), Some(subject)) => yes(names.contains(subject)),
            (Matcher::Expression(pattern), Some(subject)) => match pattern.search_within(subject, left) {
                Ok(found) => yes(found),
                Err(_) => Matched::BoundReached,
            },
        }
    }
}
