//! Streams: the daemon tells what it does while it does it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::diagnostic::Severity;
use crate::outcome::{EventOutcome, HandlerStatus};

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

/// Params of `events/subscribe`. An item has to fit every param that is given; without any, all items do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsSubscribe {
    /// Only items of these kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<ItemKind>>,
    /// Only items of the sessions with these ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Vec<String>>,
    /// Only items of these events, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<String>>,
    /// Only diagnostics that matter at least so much. Items of other kinds are not affected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_severity: Option<Severity>,
    /// The number of an item. The stream begins with the items after it, as far as they are still known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
}

/// Result of `events/subscribe`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsSubscribed {
    /// The number of the subscription, which no other connection has.
    pub subscription: u64,
    /// The number of the last item before the subscription.
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
    /// The number of the item, which is larger than that of every earlier item, also of earlier daemons.
    pub seq: u64,
    /// When it happened: RFC 3339, in UTC.
    pub time: String,
    /// The id of the session that it is about, if it is about one.
    #[serde(default)]
    pub session: Option<String>,
    /// The id of the event that it is about, if it is about one.
    #[serde(default)]
    pub invocation_id: Option<Uuid>,
    /// The name of the event that it is about, if it is about one.
    #[serde(default)]
    pub event: Option<String>,
    /// Whether texts were left out because the connection has not opened the session and is no observer.
    #[serde(default)]
    pub withheld: bool,
    /// The kind of the item, and what it says.
    #[serde(flatten)]
    pub body: ItemBody,
}

/// What depends on an item's kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ItemBody {
    /// An event came.
    Received {
        /// The name of the tool that the event is about; null when it is about none.
        tool: Option<String>,
    },
    /// A handler began (`active`) or ended.
    Handler {
        /// The id of the handler: `EVENT:group:handler`.
        handler_id: String,
        /// True when the handler began, false when it ended.
        active: bool,
        /// How its process ended: `exited`, `signaled`, `timed_out`, `cancelled`, `queued_out`, `launch_failed`,
        /// `invalid_command`.
        ended: Option<String>,
        /// The exit status, if the process has exited by itself.
        exit_code: Option<i32>,
        /// The number of the signal that has killed the process, if one has.
        signal: Option<i32>,
        /// How long it took from the spawn to the end. Milliseconds.
        duration_ms: u64,
        /// The `statusMessage` of the handler.
        message: Option<String>,
    },
    /// An event was decided.
    Decision {
        /// What the event has come to.
        outcome: EventOutcome,
        /// Why it has come to that, in the words of the handler that has decided.
        reason: Option<String>,
        /// The id of the handler that has decided; null when none has.
        winner: Option<String>,
        /// The id of the snapshot against which it ran.
        snapshot_id: String,
        /// The handlers that were chosen, in configuration order, as far as there is room.
        handlers: Vec<ItemHandler>,
        /// How many handlers were chosen.
        handler_count: usize,
        /// How long it took from the request to the answer. Milliseconds.
        duration_ms: u64,
    },
    /// Something did not count.
    Diagnostic {
        /// The kind of remark.
        code: String,
        /// How much it matters.
        severity: Severity,
        /// What happened and what to do.
        message: Option<String>,
        /// The id of the handler that it is about, if it is about one.
        handler_id: Option<String>,
        /// The field that it is about, if it is about one.
        field: Option<String>,
    },
    /// A session's documents have changed.
    Snapshot {
        /// The id of the snapshot against which its events ran.
        old_id: String,
        /// The id of the snapshot of the documents as they are now.
        new_id: String,
        /// Whether the session has moved to that snapshot.
        applied: bool,
    },
    /// Something became of a session.
    Session {
        /// What became of it: `opened`, `attached`, `reloaded`, `closed`, `abandoned` (nobody came back) or `evicted`
        /// (too many).
        change: String,
        /// The id of its snapshot.
        snapshot_id: String,
        /// The path of its working directory.
        cwd: Option<String>,
    },
    /// Trust in a project has changed.
    Trust {
        /// Whether the project is trusted now.
        trusted: bool,
        /// The path of the project's root.
        root: Option<String>,
    },
}

impl ItemBody {
    /// The kind of the item.
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

    /// The item without what handlers and people have written, and whether there was anything of that.
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
    /// The id of the handler: `EVENT:group:handler`.
    pub id: String,
    /// How its run went.
    pub status: HandlerStatus,
    /// How long it took from the spawn to the end. Milliseconds.
    pub duration_ms: u64,
}

/// Params of the notification `events/gap`, which stands where items are missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsGap {
    /// The subscription.
    pub subscription: u64,
    /// How many items are missing. After `since` that counts items of all kinds, and is null when it cannot be known.
    pub lost: Option<u64>,
}

/// Params of the notification `events/dropped`. The subscription has ended, and nothing more of it comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsDropped {
    /// The subscription.
    pub subscription: u64,
    /// Why it has ended.
    pub reason: String,
    /// How many items it has lost since it was last told of lost ones.
    pub lost: u64,
}

/// A text cut to at most this many bytes, with an ellipsis at its end when it was cut.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most.saturating_sub('…'.len_utf8())).rev().find(|end| text.is_char_boundary(*end));
    format!("{}…", text.get(..end.unwrap_or(0)).unwrap_or_default())
}
