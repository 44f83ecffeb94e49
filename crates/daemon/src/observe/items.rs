//! What the feed tells: items, and what each is about.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use hooksd_config::Handler;
use hooksd_protocol::diagnostic::Diagnostic;
use hooksd_protocol::methods::{HandlerReport, ItemBody, ItemHandler};
use hooksd_protocol::outcome::{End, Outcome};
use hooksd_protocol::seconds::milliseconds;
use uuid::Uuid;

/// The longest text in an item. Bytes. The answer to the event has all of it.
const MAX_TEXT: usize = 4096;

/// One thing that happened.
#[derive(Debug)]
pub(crate) struct Item {
    /// Its number; the feed counts up.
    pub(crate) seq: u64,
    /// When it was told.
    pub(crate) time: SystemTime,
    /// The session it is about, if it is about one.
    pub(crate) session: Option<Arc<str>>,
    /// The invocation it is about, if it is about one.
    pub(crate) invocation: Option<Uuid>,
    /// The name of the event it is about, if it is about one.
    pub(crate) event: Option<Cow<'static, str>>,
    /// What happened.
    pub(crate) body: ItemBody,
}

/// What an item is about: what the feed fills in beside the body.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct About<'a> {
    /// The session's id.
    pub(crate) session: Option<&'a Arc<str>>,
    /// The invocation's id.
    pub(crate) invocation: Option<Uuid>,
    /// The event's name.
    pub(crate) event: Option<&'a Cow<'static, str>>,
}

impl<'a> About<'a> {
    /// A session, and no event of it.
    pub(crate) fn session(id: &'a Arc<str>) -> About<'a> {
        About { session: Some(id), ..About::default() }
    }
}

/// A text as items carry it.
pub(crate) fn cut(text: &str) -> String {
    hooksd_protocol::methods::cut(text, MAX_TEXT)
}

/// One handler's part in the answer, as the decision's item names it.
pub(crate) fn item_handler(report: &HandlerReport) -> ItemHandler {
    ItemHandler { id: report.id.clone(), status: report.status, duration_ms: report.duration_ms }
}

/// How a run has ended, in a word.
pub(crate) fn ended_word(outcome: &Outcome) -> (&'static str, Option<i32>, Option<i32>) {
    let (status, signal) = match &outcome.end {
        End::Exited(status) => (Some(*status), None),
        End::Signaled(signal) => (None, Some(*signal)),
        _ => (None, None),
    };
    (outcome.end.as_str(), status, signal)
}

/// A handler that begins (not ended), or that has ended so.
pub(crate) fn handler_item(handler: &Handler, is_over: bool, outcome: Option<&Outcome>) -> ItemBody {
    let word = outcome.map(ended_word);
    ItemBody::Handler {
        handler_id: handler.id.clone(),
        active: !is_over,
        ended: word.map(|(word, ..)| word.to_owned()),
        exit_code: word.and_then(|(_, status, _)| status),
        signal: word.and_then(|(.., signal)| signal),
        duration_ms: outcome.map_or(0, |outcome| milliseconds(outcome.duration)),
        message: handler.status_message.as_deref().map(cut),
    }
}

/// A diagnostic as an item.
pub(crate) fn diagnostic_item(diagnostic: &Diagnostic) -> ItemBody {
    ItemBody::Diagnostic {
        code: diagnostic.code.clone(),
        severity: diagnostic.severity,
        message: Some(cut(&diagnostic.message)),
        handler_id: diagnostic.handler_id.clone(),
        field: diagnostic.field.as_deref().map(cut),
    }
}
