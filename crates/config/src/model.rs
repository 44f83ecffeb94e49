//! What documents declare, and what becomes of it: the types that reading, migrating and compiling have in common.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hooksd_protocol::diagnostic::Diagnostic;
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::LegacyCommand;

use crate::lifecycle::Lifecycle;
use crate::matcher::Matcher;

/// A handler as a document declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct HandlerDeclaration {
    /// The shell command; may be empty, which is diagnosed when it should run.
    pub command: String,
    /// Run directly instead of the command.
    pub argv: Option<Vec<String>>,
    /// Seconds, greater than 0, finite.
    pub timeout: Option<f64>,
    /// Shown while it runs.
    pub status_message: Option<String>,
    /// What its failure means (D8).
    pub on_failure: OnFailure,
    /// How long its process lives (D9).
    pub lifecycle: Lifecycle,
    /// Processes at most, unless it is per event.
    pub workers: u8,
    /// The event of the older form this handler was declared for.
    pub legacy: Option<LegacyEvent>,
}

/// A matcher group as a document declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupDeclaration {
    /// The matcher's text; `None` when absent or null.
    pub matcher: Option<String>,
    /// Its handlers, in order.
    pub handlers: Vec<HandlerDeclaration>,
}

/// What a document declares, by event.
pub type Declarations = BTreeMap<EventName, Vec<GroupDeclaration>>;

/// What could be used of a document, and remarks on the rest.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// The declarations in the order of the document; `None` when nothing of it is left.
    pub declarations: Option<Vec<(EventName, Vec<GroupDeclaration>)>>,
    /// The commands of a list-shaped document.
    pub legacy: Vec<LegacyCommand>,
    /// One for each dropped item, in document order.
    pub diagnostics: Vec<Diagnostic>,
}

/// What a handler's failure means (D8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFailure {
    /// A diagnostic; the default.
    #[default]
    Ignore,
    /// As if it had exited 2, with a reason that says so.
    Block,
}

impl OnFailure {
    /// The word in hooks.json.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            OnFailure::Ignore => "ignore",
            OnFailure::Block => "block",
        }
    }
}

/// Where a group comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The project's document, by its real path.
    Project(PathBuf),
    /// The user's document, by its real path.
    User(PathBuf),
    /// A plugin, by its id.
    Plugin(String),
}

impl Source {
    /// `project`, `user` or `plugin`.
    #[must_use]
    pub fn scope(&self) -> &'static str {
        match self {
            Source::Project(_) => "project",
            Source::User(_) => "user",
            Source::Plugin(_) => "plugin",
        }
    }

    /// The path or the plugin's id, for people.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Source::Project(path) | Source::User(path) => path.display().to_string(),
            Source::Plugin(id) => id.clone(),
        }
    }

    /// The plugin's id.
    #[must_use]
    pub fn plugin(&self) -> Option<&str> {
        match self {
            Source::Plugin(id) => Some(id),
            _ => None,
        }
    }

    /// The file, if it is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Source::Project(path) | Source::User(path) => Some(path),
            Source::Plugin(_) => None,
        }
    }
}

/// A declared group with its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// As declared.
    pub declaration: GroupDeclaration,
    /// Where.
    pub source: Arc<Source>,
    /// The plugin overlay of the environment; empty for files.
    pub env: Arc<Vec<(String, String)>>,
}

/// A document's declarations as groups of their own, without a plugin overlay.
pub(crate) fn groups(
    declarations: Vec<(EventName, Vec<GroupDeclaration>)>,
    source: Source,
) -> Vec<(EventName, Vec<Group>)> {
    let source = Arc::new(source);
    let group = |declaration| Group { declaration, source: source.clone(), env: Arc::default() };
    declarations.into_iter().map(|(event, groups)| (event, groups.into_iter().map(group).collect())).collect()
}

/// One handler, ready to run.
#[derive(Debug, Clone)]
pub struct Handler {
    /// `EVENT:group:handler`, indices over the merged list of the event.
    pub id: String,
    /// The event.
    pub event: EventName,
    /// What of the event it is for.
    pub matcher: Arc<Matcher>,
    /// The matcher as written.
    pub matcher_text: Option<String>,
    /// The shell command.
    pub command: String,
    /// Run directly instead; plugin variables substituted.
    pub argv: Option<Vec<String>>,
    /// Its own time limit, seconds.
    pub timeout: Option<f64>,
    /// Shown while it runs.
    pub status_message: Option<String>,
    /// What its failure means.
    pub on_failure: OnFailure,
    /// How long its process lives.
    pub lifecycle: Lifecycle,
    /// Processes at most, unless it is per event.
    pub workers: u8,
    /// The event of the older form it was declared for.
    pub legacy: Option<LegacyEvent>,
    /// The plugin overlay of the environment.
    pub env: Arc<Vec<(String, String)>>,
    /// Where it comes from.
    pub source: Arc<Source>,
}

/// An event of the older form that has an equivalent today.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "contract section 11 lists them")]
pub enum LegacyEvent {
    SessionStart,
    UserPrompt,
    TaskComplete,
    InputRequired,
    SessionEnd,
    ContextOffload,
    ContextCompact,
}

impl LegacyEvent {
    /// All, in the order in which an entry without `events` is mapped.
    pub const ALL: [LegacyEvent; 7] = [
        LegacyEvent::SessionStart,
        LegacyEvent::UserPrompt,
        LegacyEvent::TaskComplete,
        LegacyEvent::InputRequired,
        LegacyEvent::SessionEnd,
        LegacyEvent::ContextOffload,
        LegacyEvent::ContextCompact,
    ];

    /// The name in the older form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            LegacyEvent::SessionStart => "session.start",
            LegacyEvent::UserPrompt => "user.prompt",
            LegacyEvent::TaskComplete => "task.complete",
            LegacyEvent::InputRequired => "input.required",
            LegacyEvent::SessionEnd => "session.end",
            LegacyEvent::ContextOffload => "context.offload",
            LegacyEvent::ContextCompact => "context.compact",
        }
    }

    /// The event of today, and the matcher that selects its cases.
    #[must_use]
    pub fn equivalent(self) -> (EventName, Option<&'static str>) {
        match self {
            LegacyEvent::SessionStart | LegacyEvent::UserPrompt => (EventName::UserPromptSubmit, None),
            LegacyEvent::TaskComplete => (EventName::Notification, Some("agent_completed")),
            LegacyEvent::InputRequired => (EventName::Notification, Some("agent_needs_input")),
            LegacyEvent::SessionEnd => (EventName::SessionEnd, None),
            LegacyEvent::ContextOffload | LegacyEvent::ContextCompact => {
                (EventName::PreCompact, Some("manual"))
            }
        }
    }
}
