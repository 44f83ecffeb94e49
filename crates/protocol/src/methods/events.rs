//! Streams: what the daemon does, told while it does it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::HandlerStatus;
use crate::diagnostic::Severity;

/// What an item is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// An event came.
    Received,
    /// A handler began or ended.
    Handler,
    /// An event was decided.
    Decision,
    /// Something did not count.
    Diagnostic,
    /// A session's documents have changed.
    Snapshot,
    /// A session was opened, reloaded, attached or closed.
    Session,
    /// Trust in a project has changed.
    Trust,
}

/// Params of `events/subscribe`. What is absent is not asked for: everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsSubscribe {
    /// Only items of these kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<ItemKind>>,
    /// Only items of these sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Vec<String>>,
    /// Only items of these events, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<String>>,
    /// Only diagnostics that matter at least so much; other kinds are not touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_severity: Option<Severity>,
    /// Begin with what came after the item of this number, as far as it is still known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
}

/// Result of `events/subscribe`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsSubscribed {
    /// Names the subscription, on this connection and all others.
    pub subscription: u64,
    /// The number of the last item before it.
    pub seq: u64,
}

/// Params of `events/unsubscribe`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsUnsubscribe {
    /// The subscription.
    pub subscription: u64,
}

/// Params of the notification `events/item`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsItem {
    /// The subscription.
    pub subscription: u64,
    /// The item's number: larger than that of every earlier item, also of earlier daemons.
    pub seq: u64,
    /// When it happened: RFC 3339, UTC.
    pub time: String,
    /// The session, if it is about one.
    #[serde(default)]
    pub session: Option<String>,
    /// The invocation, if it is about one.
    #[serde(default)]
    pub invocation_id: Option<Uuid>,
    /// The event, if it is about one.
    #[serde(default)]
    pub event: Option<String>,
    /// Whether texts were left out because the connection has not opened the session and is no observer.
    #[serde(default)]
    pub withheld: bool,
    /// What it is about.
    #[serde(flatten)]
    pub body: ItemBody,
}

/// What depends on an item's kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ItemBody {
    /// An event came.
    Received {
        /// The tool it is about.
        tool: Option<String>,
    },
    /// A handler began (`active`) or ended.
    Handler {
        /// `EVENT:group:handler`.
        handler_id: String,
        /// Whether it runs now.
        active: bool,
        /// How its process ended: `exited`, `signaled`, `timed_out`, `cancelled`, `queued_out`, `launch_failed`,
        /// `invalid_command`.
        ended: Option<String>,
        /// Its exit status, if it exited by itself.
        exit_code: Option<i32>,
        /// The signal that killed it, if one did.
        signal: Option<i32>,
        /// From spawn to end. Milliseconds.
        duration_ms: u64,
        /// Its `statusMessage`.
        message: Option<String>,
    },
    /// An event was decided.
    Decision {
        /// `deny`, `ask`, `allow`, `stop`, `continue`, `feedback`, `context`, `none`, `cancelled`, `failed`.
        outcome: String,
        /// Why.
        reason: Option<String>,
        /// The handler that has decided.
        winner: Option<String>,
        /// The snapshot.
        snapshot_id: String,
        /// The handlers, in configuration order, as far as there is room.
        handlers: Vec<ItemHandler>,
        /// How many there were.
        handler_count: usize,
        /// From the request to the answer. Milliseconds.
        duration_ms: u64,
    },
    /// Something did not count.
    Diagnostic {
        /// What kind of remark.
        code: String,
        /// How much it matters.
        severity: Severity,
        /// What happened and what to do.
        message: Option<String>,
        /// Which handler.
        handler_id: Option<String>,
        /// Which field.
        field: Option<String>,
    },
    /// A session's documents have changed.
    Snapshot {
        /// What its events ran against.
        old_id: String,
        /// The documents as they are now.
        new_id: String,
        /// Whether the session has moved to them.
        applied: bool,
    },
    /// Something became of a session.
    Session {
        /// `opened`, `attached`, `reloaded`, `closed`, `abandoned` (nobody came back) or `evicted` (too many).
        change: String,
        /// Its snapshot.
        snapshot_id: String,
        /// Its folder.
        cwd: Option<String>,
    },
    /// Trust in a project has changed.
    Trust {
        /// Whether it is trusted now.
        trusted: bool,
        /// Its root.
        root: Option<String>,
    },
}

impl ItemBody {
    /// The item's kind.
    #[must_use]
    pub fn kind(&self) -> ItemKind {
        match self {
            ItemBody::Received { .. } => ItemKind::Received,
            ItemBody::Handler { .. } => ItemKind::Handler,
            ItemBody::Decision { .. } => ItemKind::Decision,
            ItemBody::Diagnostic { .. } => ItemKind::Diagnostic,
            ItemBody::Snapshot { .. } => ItemKind::Snapshot,
            ItemBody::Session { .. } => ItemKind::Session,
            ItemBody::Trust { .. } => ItemKind::Trust,
        }
    }

    /// The same without what handlers and people have written; whether there was any.
    #[must_use]
    pub fn without_texts(mut self) -> (ItemBody, bool) {
        let texts: &mut [&mut Option<String>] = match &mut self {
            ItemBody::Received { tool } => &mut [tool],
            ItemBody::Handler { message, .. } => &mut [message],
            ItemBody::Decision { reason, .. } => &mut [reason],
            ItemBody::Diagnostic { message, field, .. } => &mut [message, field],
            ItemBody::Session { cwd, .. } => &mut [cwd],
            ItemBody::Trust { root, .. } => &mut [root],
            ItemBody::Snapshot { .. } => &mut [],
        };
        let withheld = texts.iter_mut().filter_map(|text| text.take()).count() > 0;
        (self, withheld)
    }
}

/// One handler's part in a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemHandler {
    /// `EVENT:group:handler`.
    pub id: String,
    /// How it went.
    pub status: HandlerStatus,
    /// From spawn to end. Milliseconds.
    pub duration_ms: u64,
}

/// Params of the notification `events/gap`: here items are missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsGap {
    /// The subscription.
    pub subscription: u64,
    /// How many; after `since` those of all kinds, null when that cannot be known.
    pub lost: Option<u64>,
}

/// Params of the notification `events/dropped`: the subscription has ended, and nothing more of it comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsDropped {
    /// The subscription.
    pub subscription: u64,
    /// Why.
    pub reason: String,
    /// How many items it has lost since it was told last.
    pub lost: u64,
}

/// A text cut to at most so many bytes, with an ellipsis where it was.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most.saturating_sub('…'.len_utf8())).rev().find(|end| text.is_char_boundary(*end));
    format!("{}…", text.get(..end.unwrap_or(0)).unwrap_or_default())
}
