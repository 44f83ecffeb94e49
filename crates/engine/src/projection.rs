//! Puts an event into the names that handlers know: makes what matchers are compared with and what handlers read
//! (contract section 3).

use hooksd_config::model::LegacyEvent;
use hooksd_json::Text;
use hooksd_json::python::ascii_string;
use hooksd_protocol::event::EventName;
use hooksd_protocol::invocation::{Agent, ApprovalMode, Event, Invocation};
use hooksd_protocol::payload::{self, Common, EffortLevel, Payload};

use crate::tools;

/// Why an event cannot be put into the names that handlers know. No handler runs then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProjectionError {
    /// Handlers know no name for this kind of notification.
    #[error("notifications of type {0:?} have no name that handlers know; known are {known}", known = KNOWN_NOTIFICATIONS.join(", "))]
    UnknownNotification(String),
    /// The event is a SubagentStop, and nobody has said where the subagent's transcript is.
    #[error("SubagentStop needs agent_transcript_path")]
    NoAgentTranscript,
    /// The payload cannot be spelled in JSON, for this reason.
    #[error("the payload cannot be written: {0}")]
    Unwritable(String),
}

/// The kinds of notification that handlers know. All but the first keep their names.
const KNOWN_NOTIFICATIONS: [&str; 6] = [
    "permission_required",
    "permission_prompt",
    "agent_needs_input",
    "agent_completed",
    "cache_expiring",
    "cold_cache_warning",
];

fn notification_type(kind: &Text) -> Result<&'static str, ProjectionError> {
    let kind = kind.decoded();
    match KNOWN_NOTIFICATIONS.into_iter().find(|known| *known == kind) {
        Some("permission_required") => Ok("permission_prompt"),
        Some(known) => Ok(known),
        None => Err(ProjectionError::UnknownNotification(kind.into_owned())),
    }
}

/// What the event's matchers are compared with; `None` on events that have nothing to compare.
///
/// # Errors
/// When handlers know no name for the kind of notification.
pub fn subject(event: &Event) -> Result<Option<String>, ProjectionError> {
    let name = |text: &Text| Some(text.decoded().into_owned());
    Ok(match event {
        Event::SessionStart(event) => Some(event.cause.as_str().to_owned()),
        Event::SessionEnd(event) => Some(event.cause.as_str().to_owned()),
        Event::PreCompact(event) => Some(event.trigger.as_str().to_owned()),
        Event::Notification(event) => Some(notification_type(&event.notification.kind)?.to_owned()),
        Event::PermissionRequest(event) => name(&tools::project(&event.call).tool_name),
        Event::PreToolUse(event) => name(&tools::project(&event.call).tool_name),
        Event::PostToolUse(event) => name(&tools::project(&event.call).tool_name),
        Event::PostToolUseFailure(event) => name(&tools::project(&event.call).tool_name),
        Event::SubagentStart(event) => name(&event.agent.name),
        Event::SubagentStop(event) => name(&event.agent.name),
        Event::UserPromptSubmit(_) | Event::Stop(_) => None,
    })
}

/// Where the transcripts are that belong to an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcripts {
    /// The path of the session's transcript.
    pub session: String,
    /// The path of the subagent's transcript; `None` when nobody has said it.
    pub agent: Option<String>,
}

/// Makes what handlers read on stdin.
///
/// # Errors
/// When the event cannot be put into the names that handlers know.
pub fn stdin(invocation: &Invocation, transcripts: &Transcripts) -> Result<String, ProjectionError> {
    let payload = project(invocation, transcripts)?;
    serde_json::to_string(&payload).map_err(|error| ProjectionError::Unwritable(error.to_string()))
}

fn project(invocation: &Invocation, transcripts: &Transcripts) -> Result<Payload, ProjectionError> {
    let common = |agent: Option<&Agent>| common(invocation, transcripts, agent);
    let acting = invocation.context.agent.as_ref();
    let count_above_zero = |count: &hooksd_json::Integer| count.sign() == std::cmp::Ordering::Greater;
    Ok(match &invocation.event {
        Event::SessionStart(event) => Payload::SessionStart(payload::SessionStart {
            common: common(acting),
            source: event.cause.as_str(),
            model: event.model.clone(),
        }),
        Event::UserPromptSubmit(event) => Payload::UserPromptSubmit(payload::UserPromptSubmit {
            common: common(acting),
            prompt: event.prompt.clone(),
        }),
        Event::SessionEnd(event) => {
            Payload::SessionEnd(payload::SessionEnd { common: common(acting), reason: event.cause.as_str() })
        }
        Event::PermissionRequest(event) => Payload::PermissionRequest(payload::PermissionRequest {
            common: common(acting),
            tool: tools::project(&event.call),
            permission_suggestions: Vec::new(),
        }),
        Event::Notification(event) => Payload::Notification(payload::Notification {
            common: common(acting),
            message: event.notification.message.clone(),
            notification_type: notification_type(&event.notification.kind)?,
            title: event.notification.title.clone(),
        }),
        Event::PreToolUse(event) => Payload::PreToolUse(payload::PreToolUse {
            common: common(acting),
            tool: tools::project(&event.call),
            tool_use_id: event.call.id.clone(),
        }),
        Event::PostToolUse(event) => Payload::PostToolUse(payload::PostToolUse {
            common: common(acting),
            tool: tools::project(&event.call),
            // A tool may return nothing: null is passed on as well (D19).
            tool_response: event.result.clone(),
            tool_use_id: event.call.id.clone(),
            duration_ms: event.duration_ms.clone(),
        }),
        Event::PostToolUseFailure(event) => Payload::PostToolUseFailure(payload::PostToolUseFailure {
            common: common(acting),
            tool: tools::project(&event.call),
            tool_use_id: event.call.id.clone(),
            error: event.error.clone(),
            is_interrupt: event.is_interrupt,
            duration_ms: event.duration_ms.clone(),
        }),
        Event::PreCompact(event) => Payload::PreCompact(payload::PreCompact {
            common: common(acting),
            trigger: event.trigger.as_str(),
            custom_instructions: event.custom_instructions.clone(),
        }),
        Event::Stop(event) => Payload::Stop(payload::Stop {
            common: common(acting),
            stop_hook_active: count_above_zero(&event.continuation_count),
            last_assistant_message: event.last_assistant_message.clone(),
            background_tasks: event.background_tasks.clone(),
            session_crons: event.session_crons.clone(),
        }),
        Event::SubagentStart(event) => {
            Payload::SubagentStart(payload::SubagentStart { common: common(Some(&event.agent)) })
        }
        Event::SubagentStop(event) => Payload::SubagentStop(payload::SubagentStop {
            common: common(Some(&event.agent)),
            stop_hook_active: count_above_zero(&event.continuation_count),
            agent_transcript_path: normalized_path(
                transcripts.agent.as_deref().ok_or(ProjectionError::NoAgentTranscript)?,
            ),
            last_assistant_message: event.last_assistant_message.clone(),
            background_tasks: event.background_tasks.clone(),
            session_crons: event.session_crons.clone(),
        }),
    })
}

fn common(invocation: &Invocation, transcripts: &Transcripts, agent: Option<&Agent>) -> Common {
    let context = &invocation.context;
    Common {
        session_id: context.thread_id.clone(),
        transcript_path: normalized_path(&transcripts.session),
        cwd: normalized_path(&context.cwd),
        hook_event_name: invocation.event.name(),
        prompt_id: context.prompt_id,
        permission_mode: Some(match context.approval_mode {
            ApprovalMode::Manual => "default",
            ApprovalMode::Auto => "auto",
            ApprovalMode::Yolo => "bypassPermissions",
        }),
        effort: context.effort.map(|effort| EffortLevel { level: effort.as_str() }),
        agent_id: agent.map(|agent| agent.id.clone()),
        agent_type: agent.map(|agent| agent.name.clone()),
    }
}

/// Spells a path as Python's `pathlib` does: without empty parts, `.` parts and a slash at the end. Two slashes at
/// the beginning stay two, and any other number of them becomes one.
#[must_use]
pub fn normalized_path(path: &str) -> String {
    let slashes = path.len() - path.trim_start_matches('/').len();
    let root = match slashes {
        0 => "",
        2 => "//",
        _ => "/",
    };
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let spelled = format!("{root}{}", parts.join("/"));
    if spelled.is_empty() { ".".to_owned() } else { spelled }
}

/// Makes what a handler of the older form reads (contract section 11): `{"event": NAME, ...}` in ASCII.
#[must_use]
pub fn legacy_stdin(event: LegacyEvent, thread_id: &str) -> String {
    let name = event.as_str();
    match event {
        LegacyEvent::SessionStart | LegacyEvent::SessionEnd | LegacyEvent::TaskComplete => {
            format!("{{\"event\": \"{name}\", \"thread_id\": {}}}", ascii_string(thread_id))
        }
        _ => format!("{{\"event\": \"{name}\"}}"),
    }
}

/// What the reduction needs to know of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// The event.
    pub event: EventName,
    /// How often the agent has been made to go on already instead of stopping; 0 on events that are no stop.
    pub continuation_count: i64,
}

impl Facts {
    /// The facts of an invocation.
    #[must_use]
    pub fn of(event: &Event) -> Facts {
        let continuation_count = match event {
            Event::Stop(event) => event.continuation_count.clamped(),
            Event::SubagentStop(event) => event.continuation_count.clamped(),
            _ => 0,
        };
        Facts { event: event.name(), continuation_count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_spelled_as_recorded() {
        let table = [
            ("/w//proj/./x/", "/w/proj/x"),
            ("//w/x", "//w/x"),
            ("///w", "/w"),
            ("", "."),
            (".", "."),
            ("a/../b", "a/../b"),
            ("/", "/"),
        ];
        for (path, expected) in table {
            assert_eq!(normalized_path(path), expected, "{path}");
        }
    }

    #[test]
    fn the_older_form_is_ascii() {
        assert_eq!(
            legacy_stdin(LegacyEvent::SessionEnd, "ü😀\n"),
            r#"{"event": "session.end", "thread_id": "\u00fc\ud83d\ude00\n"}"#
        );
        assert_eq!(legacy_stdin(LegacyEvent::UserPrompt, "x"), r#"{"event": "user.prompt"}"#);
    }
}
