//! One document as it changes on disk (D2): while it is broken, half-written or missing in mid-save, the last good
//! version keeps serving; repaired, it is live again at once; a deletion counts once it has lasted the settle time.
//! Pure: it is given what was found on disk, and the time.

use std::time::{Duration, Instant};

use hooksd_config::contents::Contents;
use hooksd_config::document::{NONE_LOADED, parsed};
use hooksd_config::read::Found;
use hooksd_protocol::diagnostic::{Diagnostic, Severity, code};

/// How long a document must be gone before its handlers go too. Milliseconds. Editors that save by delete and create
/// take a few; a person who deletes a file does not notice.
pub(crate) const SETTLE_MS: u64 = 500;

/// What was found, looked through: the work of it is done before anybody has to wait.
pub(crate) struct Observed {
    found: Found,
    fault: Option<String>,
}

impl From<Found> for Observed {
    fn from(found: Found) -> Observed {
        let fault = match &found {
            Found::File(contents) => fault(contents),
            Found::Absent | Found::Unreadable { .. } => None,
        };
        Observed { found, fault }
    }
}

/// A document, its last good version, and what is wrong with the present one.
#[derive(Debug, Default)]
pub(crate) struct HotDocument {
    good: Option<Contents>,
    /// What stands there instead of the good version, or before there was one.
    broken: Option<(Found, String)>,
    missing_since: Option<Instant>,
}

impl HotDocument {
    /// Takes in what was found at `now`. True when what is served, or what is said about it, has changed.
    pub(crate) fn observe(&mut self, observed: impl Into<Observed>, now: Instant) -> bool {
        let Observed { found, fault } = observed.into();
        match found {
            Found::Absent => self.absent(now),
            Found::File(contents) => {
                self.missing_since = None;
                match fault {
                    None => {
                        let changed = self.broken.take().is_some() || self.good.as_ref() != Some(&contents);
                        self.good = Some(contents);
                        changed
                    }
                    Some(reason) => self.broken(Found::File(contents), reason),
                }
            }
            Found::Unreadable { ref reason, .. } => {
                self.missing_since = None;
                let reason = reason.clone();
                self.broken(found, reason)
            }
        }
    }

    fn broken(&mut self, found: Found, reason: String) -> bool {
        let changed = self.broken.as_ref().is_none_or(|(before, _)| *before != found);
        self.broken = Some((found, reason));
        changed
    }

    fn absent(&mut self, now: Instant) -> bool {
        if self.good.is_none() {
            return self.broken.take().is_some();
        }
        let since = *self.missing_since.get_or_insert(now);
        if now.saturating_duration_since(since) < Duration::from_millis(SETTLE_MS) {
            return false;
        }
        *self = HotDocument::default();
        true
    }

    /// When to look again although nothing was heard: a deletion is settling.
    pub(crate) fn look_again(&self) -> Option<Instant> {
        self.missing_since.map(|since| since + Duration::from_millis(SETTLE_MS))
    }

    /// Whether a good version serves.
    pub(crate) fn is_good(&self) -> bool {
        self.good.is_some()
    }

    /// The version that serves.
    pub(crate) fn serving(&self) -> Found {
        match (&self.good, &self.broken) {
            (Some(good), _) => Found::File(good.clone()),
            (None, Some((found, _))) => found.clone(),
            (None, None) => Found::Absent,
        }
    }

    /// What is wrong, when the last good version serves in place of the present one.
    pub(crate) fn problem(&self) -> Option<Diagnostic> {
        let (good, (_, reason)) = (self.good.as_ref()?, self.broken.as_ref()?);
        let path = good.path.display().to_string();
        let message = format!("{path} {reason}; its last good version keeps serving until it is repaired");
        Some(Diagnostic::warning(code::CONFIG_READ_FAILED, message).field(path).severity(Severity::Error))
    }
}

/// Why nothing of a document can be used, if so. A document of which a part is bad is not broken: the rest is used.
fn fault(contents: &Contents) -> Option<String> {
    let (location, parsed) = (contents.path.display().to_string(), parsed(contents));
    match parsed.declarations {
        Some(_) => None,
        None => Some(parsed.diagnostics.first().map_or_else(String::new, |first| {
            // The document is named by who tells of it, and one that served before still does.
            let message = first.message.strip_prefix(&location).unwrap_or(&first.message);
            message.trim_start().trim_end_matches(NONE_LOADED).to_owned()
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"}]}]}}"#;
    const OTHER: &str = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"b"}]}]}}"#;

    fn file(text: &str) -> Found {
        Found::File(Contents::new("/c/hooks.json".into(), text.as_bytes()))
    }

    fn after(start: Instant, milliseconds: u64) -> Instant {
        start + Duration::from_millis(milliseconds)
    }

    #[test]
    fn d2_the_last_good_version_serves_until_the_file_is_repaired() {
        let start = Instant::now();
        let mut document = HotDocument::default();
        assert!(document.observe(file(GOOD), start));
        for broken in ["", "{", "null", r#"{"hooks":{"Stop":[7]}}"#] {
            assert!(document.observe(file(broken), after(start, 1)), "{broken} is said once");
            assert!(!document.observe(file(broken), after(start, 60_000)), "{broken} is not said again");
            assert_eq!(document.serving(), file(GOOD));
            assert_eq!(document.problem().unwrap().severity, Severity::Error);
        }
        assert!(document.observe(file(OTHER), after(start, 60_001)));
        assert_eq!((document.serving(), document.problem()), (file(OTHER), None));
    }

    #[test]
    fn d2_a_deletion_counts_once_it_has_lasted() {
        let start = Instant::now();
        let mut document = HotDocument::default();
        document.observe(file(GOOD), start);
        assert!(!document.observe(Found::Absent, after(start, 10)));
        assert_eq!(document.look_again(), Some(after(start, 10 + SETTLE_MS)));
        assert_eq!(document.serving(), file(GOOD));
        assert!(!document.observe(file(GOOD), after(start, 20)), "saved by delete and create");
        assert_eq!(document.look_again(), None);
        assert!(!document.observe(Found::Absent, after(start, 1000)));
        assert!(document.observe(Found::Absent, after(start, 1000 + SETTLE_MS)));
        assert_eq!((document.serving(), document.look_again()), (Found::Absent, None));
    }

    #[test]
    fn without_a_good_version_the_broken_one_is_reported_as_it_is() {
        let start = Instant::now();
        let mut document = HotDocument::default();
        assert!(document.observe(file("{"), start));
        assert_eq!((document.serving(), document.problem()), (file("{"), None));
        assert!(document.observe(Found::Absent, start));
        assert_eq!(document.serving(), Found::Absent);
        assert!(!document.observe(Found::Absent, start));
    }
}
