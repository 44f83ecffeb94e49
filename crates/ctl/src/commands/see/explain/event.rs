//! The event that is asked about: from a file, standard input, flags, or the journal.

use std::path::Path;

use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::JournalRecord;
use serde_json::{Value, json};

use crate::arguments::Explain;
use crate::failure::Failure;
use crate::input::{EventInput, event_name, read_event, read_text};
use crate::journal::one_record;

/// The shortest word that is taken for an id. Characters.
const MIN_ID: usize = 4;

/// Reads the event; with its record when it is from the journal.
pub(super) fn read(
    wanted: &Explain,
    config_dir: &Path,
    folder: &Path,
) -> Result<(EventInput, Option<JournalRecord>), Failure> {
    if let Some(name) = &wanted.event {
        return Ok((read_event(&of_flags(name, wanted)?.to_string(), folder)?, None));
    }
    if let Some(id) = wanted.what.as_deref().filter(|what| is_id(what) && !Path::new(what).exists()) {
        let record = one_record(&hooksd_journal::path(config_dir), id)?;
        let text = of_record(&record)?;
        return Ok((read_event(&text, folder)?, Some(record)));
    }
    Ok((read_event(&read_text(wanted.what.as_deref().map(Path::new))?, folder)?, None))
}

fn is_id(what: &str) -> bool {
    what.len() >= MIN_ID && what.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// What the journal keeps of an event is enough for its matchers, as far as those are compared with a tool.
fn of_record(record: &JournalRecord) -> Result<String, Failure> {
    if let Some(payload) = &record.payload {
        return Ok(payload.clone());
    }
    if let (Ok(event), Some(tool)) = (record.event.parse::<EventName>(), &record.tool) {
        let context = json!({ "thread_id": record.thread_id, "cwd": record.cwd, "approval_mode": "manual" });
        return Ok(json!({ "context": context, "event": tool_event(event, tool, json!({})) }).to_string());
    }
    Ok(json!({ "hook_event_name": record.event, "session_id": record.thread_id, "cwd": record.cwd })
        .to_string())
}

fn tool_event(event: EventName, tool: &str, args: Value) -> Value {
    let call = json!({ "id": "hooksctl", "name": tool, "args": args });
    match event {
        EventName::PostToolUse => json!({ "event": event, "call": call, "result": "" }),
        EventName::PostToolUseFailure => json!({ "event": event, "call": call, "error": "" }),
        _ => json!({ "event": event, "call": call }),
    }
}

/// An event of which only what matters is said.
fn of_flags(name: &str, wanted: &Explain) -> Result<Value, Failure> {
    let event = event_name(name)?;
    let text = wanted.input.clone().unwrap_or_default();
    let subject = |default: &str| wanted.subject.clone().unwrap_or_else(|| default.to_owned());
    if event.is_tool_event() {
        let Some(tool) = &wanted.tool else {
            return Err(Failure::Input(format!("{event} is about a tool: name it with --tool")));
        };
        let args: Value = match &wanted.input {
            Some(input) => serde_json::from_str(input)
                .map_err(|error| Failure::Input(format!("--input is no JSON: {error}")))?,
            None => json!({}),
        };
        return Ok(tool_event(event, tool, args));
    }
    if wanted.tool.is_some() {
        return Err(Failure::Input(format!(
            "{event} is not about a tool: leave --tool out, or use --subject"
        )));
    }
    let agent = || json!({ "id": "hooksctl", "name": subject("general-purpose") });
    Ok(match event {
        EventName::SessionStart => json!({ "event": event, "cause": subject("startup") }),
        EventName::SessionEnd => json!({ "event": event, "cause": subject("other") }),
        EventName::PreCompact => json!({ "event": event, "trigger": subject("auto") }),
        EventName::Notification => {
            let notice = json!({ "type": subject("agent_completed"), "message": text });
            json!({ "event": event, "notification": notice })
        }
        EventName::SubagentStart => json!({ "event": event, "agent": agent() }),
        EventName::SubagentStop => json!({
            "event": event, "agent": agent(), "continuation_count": 0, "last_assistant_message": text,
        }),
        EventName::Stop => json!({ "event": event, "continuation_count": 0, "last_assistant_message": text }),
        _ => json!({ "event": event, "prompt": text }),
    })
}
