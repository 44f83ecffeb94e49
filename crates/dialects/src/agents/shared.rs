//! What several agents say in the same way: the answers of the Claude family.

use hooksd_protocol::event::EventName::{self, *};

use crate::dialect::{Derived, Members, Put};

/// Events on which a tool may be denied.
pub(super) const GATES: &[EventName] = &[PreToolUse];
/// Every event.
pub(super) const ALL_EVENTS: &[EventName] = &EventName::ALL;

/// The members of `hookSpecificOutput` for a verdict on a tool.
pub(super) const DENY: Members = &[
    ("hookSpecificOutput.permissionDecision", Put::Word("deny")),
    ("hookSpecificOutput.permissionDecisionReason", Put::It),
];
pub(super) const ASK: Members = &[
    ("hookSpecificOutput.permissionDecision", Put::Word("ask")),
    ("hookSpecificOutput.permissionDecisionReason", Put::It),
];
pub(super) const ALLOW: Members = &[
    ("hookSpecificOutput.permissionDecision", Put::Word("allow")),
    ("hookSpecificOutput.permissionDecisionReason", Put::It),
];
pub(super) const UPDATED_INPUT: Members = &[("hookSpecificOutput.updatedInput", Put::It)];
pub(super) const CONTEXT: Members = &[("hookSpecificOutput.additionalContext", Put::It)];
/// The members of `hookSpecificOutput.decision` on PermissionRequest.
pub(super) const PERMISSION_DENY: Members = &[
    ("hookSpecificOutput.decision.behavior", Put::Word("deny")),
    ("hookSpecificOutput.decision.message", Put::It),
];
pub(super) const PERMISSION_ALLOW: Members = &[("hookSpecificOutput.decision.behavior", Put::Word("allow"))];
/// The members of a block: `decision: block` with its reason.
pub(super) const BLOCK: Members = &[("decision", Put::Word("block")), ("reason", Put::It)];
/// The members that stop the agent: `continue: false` with its reason.
pub(super) const STOP: Members = &[("continue", Put::Flag(false)), ("stopReason", Put::It)];
pub(super) const NOTICE: Members = &[("systemMessage", Put::It)];
pub(super) const TERMINAL: Members = &[("terminalSequence", Put::It)];

/// The JSON of a member; `None` when there is none with this name.
pub(super) fn raw(payload: &hooksd_json::Value<'_>, name: &str) -> Option<String> {
    payload.get(name).map(|value| value.raw().to_owned())
}

/// Makes `stop_hook_active` from the member that counts how often the agent was made to go on.
pub(super) fn active(payload: &hooksd_json::Value<'_>, count: &str) -> Derived {
    match payload.get(count).and_then(|count| count.raw().parse::<f64>().ok()) {
        Some(count) => vec![("stop_hook_active", (count > 0.0).to_string())],
        None => Vec::new(),
    }
}
