//! The facts of one event, made once and read by everybody on its way: the run, its account, and the journal.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use hooksd_engine::plan::Input;
use hooksd_protocol::invocation::Event;
use uuid::Uuid;

use crate::observe::items::About;
use crate::sessions::resolved::ResolvedConfig;
use crate::sessions::session::Session;

/// The facts of one event. Small: it outlives the event until its record is written, and what the event carries does
/// not.
pub(crate) struct EventContext {
    /// The invocation's id: the client's, or one made here.
    pub(crate) id: Uuid,
    /// The session whose event it is.
    pub(crate) session: Arc<Session>,
    /// The configuration the event began with; it finishes on that, whatever happens to the session meanwhile.
    pub(crate) config: Arc<ResolvedConfig>,
    /// The event's name, which may be none that hooksd knows.
    pub(crate) event: Cow<'static, str>,
    /// The tool's name, for events of tools.
    pub(crate) tool: Option<String>,
    /// Where the event happened: its own working directory, else the session's.
    pub(crate) cwd: PathBuf,
    /// What the client has called itself in `initialize`.
    pub(crate) client: Option<Arc<str>>,
    /// The agent that the bridge speaks for.
    pub(crate) agent: Option<String>,
    /// When the request was read.
    pub(crate) received: Instant,
    /// When the answer is no longer wanted (D22).
    pub(crate) deadline: Option<Instant>,
    /// How many appends to transcripts came before the event: handlers see those.
    pub(crate) appended_before: u64,
    /// Whether the session is an open one; otherwise it came with the event and ends with it.
    pub(crate) is_open_session: bool,
}

impl EventContext {
    /// What the feed's items of the event are about.
    pub(crate) fn about(&self) -> About<'_> {
        About { session: Some(&self.session.id), invocation: Some(self.id), event: Some(&self.event) }
    }
}

/// Where an event happened, if it says so; else where its session is.
pub(crate) fn cwd_of(input: &Input, config: &ResolvedConfig) -> PathBuf {
    input.cwd().map_or(&*config.params.cwd, Path::new).to_owned()
}

/// The tool that an event is about.
pub(crate) fn tool_of(input: &Input) -> Option<String> {
    let call = match input {
        Input::Payload(payload) => {
            let is_tool = payload.event.is_some_and(|event| event.is_tool_event());
            return payload.subject.clone().filter(|_| is_tool);
        }
        Input::Invocation(invocation) => match &invocation.event {
            Event::PermissionRequest(event) => &event.call,
            Event::PreToolUse(event) => &event.call,
            Event::PostToolUse(event) => &event.call,
            Event::PostToolUseFailure(event) => &event.call,
            _ => return None,
        },
    };
    Some(call.name.decoded().into_owned())
}
