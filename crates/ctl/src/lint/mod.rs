//! What is wrong with a hooks.json, and with what it names: everything the parser drops, with its place, and what people
//! get wrong that the parser cannot know. Each finding says what to do. Nothing is loaded or run.
//!
//! * [`shape`]: what the parser drops, misspelled keys and events.
//! * [`matcher`]: matchers that are for nothing.
//! * [`command`]: scripts, interpreters, permissions, time limits, exit statuses.
//! * [`slow`]: handlers that the journal says are slow.
//! * [`sarif`]: the findings for code scanners.

mod command;
mod matcher;
pub(crate) mod sarif;
mod shape;
mod slow;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hooksd_config::check;
use hooksd_config::places::{self, Place};
use hooksd_config::read::{Found, MAX_DOCUMENT, bounded};
use hooksd_config::trust::{Policy, Store};
use hooksd_protocol::diagnostic::{Severity, code};
use hooksd_protocol::methods::Scope;
use serde::Serialize;

/// The longest line that is shown with a finding. Characters.
const MAX_LINE: usize = 160;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// What kind; stable.
    pub(crate) code: &'static str,
    /// A warning has no effect, or another one than its author wanted; debug is only for whoever looks.
    pub(crate) severity: Severity,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do.
    pub(crate) fix: String,
    /// The document.
    pub(crate) path: String,
    /// Where, from 1.
    pub(crate) line: Option<usize>,
    /// Where in the line, in characters from 1.
    pub(crate) column: Option<usize>,
    /// That line.
    pub(crate) text: Option<String>,
}

/// What was found in one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Checked {
    /// The document.
    pub(crate) path: String,
    /// Whether any of it would be used.
    pub(crate) usable: bool,
    /// How many handlers would be.
    pub(crate) handlers: usize,
    /// What is wrong, in the order of the document.
    pub(crate) findings: Vec<Finding>,
}

/// A document that is looked at.
pub(crate) struct Document<'a> {
    /// Its real path.
    path: String,
    /// Its text, without the mark of editors.
    text: &'a str,
    /// The folder that commands name by `$CLAUDE_PROJECT_DIR`; `None` when that is another one in every session.
    root: Option<&'a Path>,
}

impl Document<'_> {
    /// A finding at a part of the text.
    fn at(&self, part: &str, code: &'static str, message: String, fix: impl Into<String>) -> Finding {
        self.placed(Place::of(self.text, part), code, message, fix.into())
    }

    fn placed(&self, place: Option<Place>, code: &'static str, message: String, fix: String) -> Finding {
        let line = place.and_then(|place| self.text.lines().nth(place.line - 1));
        Finding {
            code,
            severity: Severity::Warning,
            message,
            fix,
            path: self.path.clone(),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            text: line.map(|line| line.chars().take(MAX_LINE).collect()),
        }
    }
}

/// That the hooks of a project are not used, when they are not: its document as it is now is not trusted.
pub(crate) fn untrusted(path: &Path, root: &Path, config_dir: &Path) -> Option<Finding> {
    let Found::File(contents) = bounded(path, MAX_DOCUMENT) else { return None };
    let policy = Policy::with_store(Store::read(config_dir));
    if policy.trusts(root, &contents.fingerprint()) {
        return None;
    }
    let document = Document { path: path.display().to_string(), text: "", root: Some(root) };
    let message = "the project is not trusted, so none of it runs".to_owned();
    let shown = root.display();
    let fix =
        format!("look at it with `hooksctl trust status {shown}`, then `hooksctl trust grant {shown} --yes`");
    let finding = document.placed(None, code::PROJECT_UNTRUSTED, message, fix);
    Some(Finding { severity: Severity::Debug, ..finding })
}

/// Looks at the file at `path`. `journal` is the database to ask for times; `root` the project whose it
/// is, if it is one's.
pub(crate) fn file(path: &Path, root: Option<&Path>, journal: &Path) -> Checked {
    let shown = path.display().to_string();
    let unusable = |message: String, fix: &str| {
        let document = Document { path: shown.clone(), text: "", root };
        let finding = document.placed(None, "config_read_failed", message, fix.to_owned());
        Checked { path: shown.clone(), usable: false, handlers: 0, findings: vec![finding] }
    };
    let contents = match bounded(path, MAX_DOCUMENT) {
        Found::File(contents) => contents,
        Found::Unreadable { reason, .. } => {
            return unusable(
                format!("it {reason}; none of its hooks would be loaded"),
                "make it readable for you",
            );
        }
        Found::Absent => {
            return unusable(
                "it is not there, or is not a regular file".to_owned(),
                "`hooksctl init` writes one to begin with",
            );
        }
    };
    let result = check::text(&contents.bytes, &contents.path.display().to_string(), Scope::User);
    let mut findings = Vec::new();
    if let Ok(metadata) = contents.path.metadata()
        && metadata.permissions().mode() & 0o002 != 0
    {
        let document = Document { path: shown.clone(), text: "", root };
        let message = "everybody on this machine may change it, and with it what runs as you".to_owned();
        let fix = format!("chmod o-w {shown}");
        findings.push(document.placed(None, "world_writable", message, fix));
    }
    match places::text(&contents.bytes) {
        None => findings.extend(unusable("it is not UTF-8".to_owned(), "save it as UTF-8").findings),
        Some(text) => {
            let document = Document { path: shown.clone(), text, root };
            let mut found = shape::findings(&document, &contents);
            found.extend(matcher::findings(&document));
            found.extend(command::findings(&document));
            found.extend(slow::findings(&document, &contents.path, journal));
            found.sort_by_key(|finding| (finding.line, finding.column));
            findings.extend(found);
        }
    }
    Checked { path: shown, usable: result.usable, handlers: result.handlers, findings }
}
