//! The names of capabilities, handlers and signals, for people and for the wire.

use hooksd_config::Handler;
use hooksd_protocol::methods::Capability;

use crate::output::excerpt;

/// The name that a capability has in a session's `accepts` and in a decision.
pub(crate) fn capability_name(capability: Capability) -> &'static str {
    match capability {
        Capability::UpdatedInput => "updated_input",
        Capability::UpdatedPermissions => "updated_permissions",
        Capability::UpdatedToolOutput => "updated_tool_output",
        Capability::UpdatedMcpToolOutput => "updated_mcp_tool_output",
        Capability::SessionTitle => "session_title",
        Capability::InitialUserMessage => "initial_user_message",
        Capability::WatchPaths => "watch_paths",
        Capability::ReloadSkills => "reload_skills",
    }
}

/// What a handler runs, as one text: its shell command, or its arguments with spaces between them.
#[must_use]
pub fn command_text(handler: &Handler) -> String {
    match &handler.argv {
        Some(argv) => argv.join(" "),
        None => handler.command.clone(),
    }
}

/// Describes a handler to people: its id and what it runs.
pub(crate) fn describe(handler: &Handler) -> String {
    format!("{} ({})", handler.id, excerpt(&command_text(handler)))
}

/// The short name of a signal, in brackets after a space. Empty for signals that are rare.
pub(crate) fn signal_name(signal: i32) -> &'static str {
    match signal {
        1 => " (HUP)",
        2 => " (INT)",
        3 => " (QUIT)",
        6 => " (ABRT)",
        9 => " (KILL)",
        11 => " (SEGV)",
        13 => " (PIPE)",
        14 => " (ALRM)",
        15 => " (TERM)",
        _ => "",
    }
}
