//! Events as people write them, in three forms; read leniently (D23), sent strictly.

use std::io::Read;
use std::path::{Path, PathBuf};

use hooksd_config::read::{Found, bounded};
use hooksd_engine::explain::near;
use hooksd_json::{Dialect, RawJson, Reading, Text, Value};
use hooksd_protocol::event::EventName;
use hooksd_protocol::invocation::{ApprovalMode, Context, Event, Invocation};
use hooksd_protocol::rpc::MAX_LINE;

use crate::failure::Failure;

/// An event to be sent.
pub(crate) struct EventInput {
    /// In its domain form.
    pub(crate) invocation: Option<Invocation>,
    /// As the payload that agents hand to command hooks.
    pub(crate) payload: Option<RawJson>,
    /// The thread it names, if any.
    pub(crate) thread_id: Option<Text>,
    /// The folder it names, if any.
    pub(crate) cwd: Option<String>,
}

/// Reads the text of an event: from a file, or from standard input.
pub(crate) fn read_text(file: Option<&Path>) -> Result<String, Failure> {
    let limit = MAX_LINE as u64;
    let bytes = match file.filter(|file| *file != Path::new("-")) {
        Some(file) => match bounded(file, limit) {
            Found::File(contents) => contents.bytes.to_vec(),
            Found::Unreadable { path, reason, .. } => {
                return Err(Failure::Input(format!("{} {reason}", path.display())));
            }
            Found::Absent => {
                let message = format!("{} is not there, or is not a regular file", file.display());
                return Err(Failure::Input(message));
            }
        },
        None => {
            let mut bytes = Vec::new();
            std::io::stdin()
                .take(limit + 1)
                .read_to_end(&mut bytes)
                .map_err(|error| Failure::Input(format!("standard input cannot be read: {error}")))?;
            if bytes.len() as u64 > limit {
                return Err(Failure::Input(format!("the event is longer than the limit of {limit} bytes")));
            }
            bytes
        }
    };
    String::from_utf8(bytes).map_err(|error| {
        Failure::Input(format!("the event is not UTF-8 (at byte {})", error.utf8_error().valid_up_to()))
    })
}

/// Reads an event. `folder` is its cwd when it does not say one.
pub(crate) fn read_event(text: &str, folder: &Path) -> Result<EventInput, Failure> {
    if text.trim().is_empty() {
        let message = "there is no event: give a file, or the event's JSON on standard input";
        return Err(Failure::Input(message.to_owned()));
    }
    let wrong = |message: String| Failure::Input(format!("the event cannot be read: {message}"));
    let value = Value::parse(text, Dialect::Strict).map_err(|error| wrong(error.to_string()))?;
    if value.get("hook_event_name").is_some() {
        let payload = RawJson::new(value.raw().to_owned()).map_err(|error| wrong(error.to_string()))?;
        let text = |key: &str| value.get(key).and_then(|value| value.as_str()).map(|text| text.into_owned());
        return Ok(EventInput {
            invocation: None,
            payload: Some(payload),
            thread_id: text("session_id").map(|id| Text::new(&id)),
            cwd: text("cwd"),
        });
    }
    let event = value.get("event").map(|event| event.get("event").unwrap_or(event));
    if let Some(name) = event.and_then(|name| name.as_str()) {
        event_name(&name)?;
    }
    let invocation = if value.get("context").is_some() {
        Invocation::read(&value, Reading::Lenient).map_err(|error| wrong(error.to_string()))?
    } else if value.get("event").is_some() {
        let event = Event::read(&value, Reading::Lenient).map_err(|error| wrong(error.to_string()))?;
        let context = Context {
            thread_id: Text::new("hooksctl"),
            cwd: folder.display().to_string(),
            prompt_id: None,
            approval_mode: ApprovalMode::Manual,
            effort: None,
            agent: None,
            transcript_revision: None,
        };
        Invocation { context, event }
    } else {
        return Err(wrong(
            "expected {\"context\", \"event\"}, {\"event\": NAME, ...} or {\"hook_event_name\": NAME, ...}"
                .to_owned(),
        ));
    };
    Ok(EventInput {
        thread_id: Some(invocation.context.thread_id.clone()),
        cwd: Some(invocation.context.cwd.clone()),
        invocation: Some(invocation),
        payload: None,
    })
}

/// The event of this name.
pub(crate) fn event_name(name: &str) -> Result<EventName, Failure> {
    name.parse().map_err(|_| {
        let meant = match near::event(name) {
            Some(event) => format!("did you mean {event}?"),
            None => format!("known are {}", EventName::ALL.map(EventName::as_str).join(", ")),
        };
        Failure::Input(format!("there is no event {name:?}; {meant}"))
    })
}

/// A path made absolute from the current folder.
pub(crate) fn absolute(path: Option<&Path>) -> Result<PathBuf, Failure> {
    let path = path.unwrap_or(Path::new("."));
    std::path::absolute(path)
        .map(|path| path.components().collect())
        .map_err(|error| Failure::Input(format!("{} cannot be resolved: {error}", path.display())))
}
