//! Reads what an agent handed to its hook: turns bytes and variables into a request.

use hooksd_json::{Dialect as JsonDialect, RawJson, Text, Value};
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::Mode;
use uuid::Uuid;

use crate::dialect::{Attendance, Dialect};
use crate::identity::invocation_id;
use crate::rewrite::{members, object, quoted, set, text, tool};

/// What a hook knows beside the bytes on its standard input.
pub struct Surroundings<'a> {
    /// The event's name, where the configuration gives it. It counts more than the name in the payload.
    pub event: Option<&'a str>,
    /// Looks a variable up in the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The absolute path of the folder in which the hook was started.
    pub folder: &'a str,
    /// The time, in seconds since 1970.
    pub now: u64,
    /// Whether a person is there, where the configuration says so. It counts more than the agent's signs.
    pub mode: Option<Mode>,
}

/// What the daemon is asked, and what is needed to put its answer into the agent's words.
#[derive(Debug, Clone)]
pub struct Request {
    /// The payload, by the names that handlers know.
    pub payload: RawJson,
    /// The name by which handlers know the event.
    pub event_name: String,
    /// The event; `None` when hooksd does not know it.
    pub event: Option<EventName>,
    /// The agent's own name for the event.
    pub own_event: String,
    /// The agent's own name for the tool, on events that are about one.
    pub own_tool: Option<String>,
    /// The id of the conversation.
    pub thread_id: Text,
    /// The absolute path of the working directory.
    pub cwd: String,
    /// Whether a person is there.
    pub mode: Mode,
    /// The id of the action, which is the same for each of its deliveries; `None` when nothing tells it from the next
    /// one.
    pub invocation_id: Option<Uuid>,
    /// Why nobody needs to be asked; `None` when the daemon has to be.
    pub skip: Option<&'static str>,
    /// What was odd about the bytes, in a sentence each.
    pub notes: Vec<String>,
}

/// Why the bytes are no event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong, in a sentence for people.
    pub message: String,
    /// The event; `None` when it could not be made out, or hooksd does not know it.
    pub event: Option<EventName>,
    /// The agent's own name for the event; empty when it could not be made out.
    pub own_event: String,
}

/// The id of the conversation when the payload names none.
const NOBODY: &str = "hooksctl";

/// Reads what an agent handed to its hook.
///
/// # Errors
/// When it is no JSON object, or no event can be made out.
pub fn read(dialect: &Dialect, stdin: &[u8], around: &Surroundings<'_>) -> Result<Request, Trouble> {
    let mut notes = Vec::new();
    let lossy = String::from_utf8_lossy(stdin);
    if matches!(lossy, std::borrow::Cow::Owned(_)) {
        notes.push("the payload was not UTF-8; what could not be read is U+FFFD".to_owned());
    }
    let json = lossy.strip_prefix('\u{feff}').unwrap_or(&lossy).trim();
    let trouble = |message: String| {
        let own = around.event.map(str::to_owned).or_else(|| glimpse(json)).unwrap_or_default();
        Trouble { message, event: known(dialect, &own).parse().ok(), own_event: own }
    };
    if json.is_empty() {
        return Err(trouble("nothing came on standard input".to_owned()));
    }
    let payload = Value::parse(json, JsonDialect::Python)
        .map_err(|error| trouble(format!("standard input is not JSON: {error}")))?;
    if !payload.is_object() {
        return Err(trouble(format!("standard input is {}, not an object", payload.kind().noun())));
    }
    let mut members = members(dialect, &payload);
    let member = |name: &str, members: &[(String, String)]| {
        members.iter().find(|(known, _)| known == name).and_then(|(_, raw)| text(raw))
    };
    let own_event = around
        .event
        .map(str::to_owned)
        .or_else(|| member("hook_event_name", &members))
        .or_else(|| (dialect.unnamed)(&payload).map(str::to_owned))
        .ok_or_else(|| trouble("the payload names no event; give it with --event".to_owned()))?;
    let mut event_name = known(dialect, &own_event).to_owned();
    let own_tool = member("tool_name", &members);
    for (name, value) in (dialect.derive)(&payload, &own_event) {
        if name == "hook_event_name" {
            event_name = text(&value).unwrap_or(event_name);
        }
        set(&mut members, name, value);
    }
    set(&mut members, "hook_event_name", quoted(&event_name));
    tool(dialect, &payload, &mut members);
    let cwd = folder(dialect, member("cwd", &members), around);
    if member("cwd", &members).as_deref() != Some(&cwd) {
        set(&mut members, "cwd", quoted(&cwd));
    }
    if let Some(counted) = (dialect.twins)(&own_event) {
        members.retain(|(name, _)| counted.contains(&name.as_str()));
        members.sort_by_key(|(name, _)| counted.iter().position(|counted| counted == name));
    }
    let event = event_name.parse().ok();
    let payload_json = object(&members);
    let thread_id = member("session_id", &members).map_or_else(|| Text::new(NOBODY), |id| Text::new(&id));
    let invocation_id =
        event.and_then(|event| invocation_id(dialect, event, &members, &payload_json, around.now));
    let skip = (dialect.skip)(&payload);
    let mode = around.mode.unwrap_or_else(|| mode(dialect, &payload, around));
    let payload = RawJson::new(payload_json)
        .map_err(|error| trouble(format!("the payload cannot be passed on: {error}")))?;
    Ok(Request {
        payload,
        event_name,
        event,
        own_event,
        own_tool,
        thread_id,
        cwd,
        mode,
        invocation_id,
        skip,
        notes,
    })
}

/// The name by which handlers know an event of the agent.
fn known<'a>(dialect: &Dialect, own: &'a str) -> &'a str {
    dialect.events.iter().find(|(name, _)| *name == own).map_or(own, |(_, known)| *known)
}

/// The working directory: what the payload names, else what the agent's variables name, else where the hook runs. It is
/// always absolute.
fn folder(dialect: &Dialect, said: Option<String>, around: &Surroundings<'_>) -> String {
    let absolute = |path: &String| path.starts_with('/') && !path.contains('\0');
    said.filter(absolute)
        .or_else(|| dialect.folders.iter().find_map(|name| (around.variable)(name).filter(absolute)))
        .unwrap_or_else(|| around.folder.to_owned())
}

/// Whether a person is there, by the agent's signs.
fn mode(dialect: &Dialect, payload: &Value<'_>, around: &Surroundings<'_>) -> Mode {
    let set =
        |name: &str| (around.variable)(name).filter(|value| !matches!(value.as_str(), "" | "0" | "false"));
    let is_true = |name: &&str| payload.get(name).is_some_and(|value| value.raw() == "true");
    let is_attended = match dialect.attendance {
        _ if set("CI").is_some() => false,
        Attendance::Variable(name, values) => {
            (around.variable)(name).is_some_and(|value| values.contains(&value.as_str()))
        }
        Attendance::Window(members, variables) => {
            !members.iter().any(is_true) && !variables.iter().any(|name| set(name).is_some())
        }
        Attendance::Unknown => false,
    };
    if is_attended { Mode::Interactive } else { Mode::Headless }
}

/// The event's name in JSON that ends too early. When a guard fails, the agent must still be told in the right words.
fn glimpse(json: &str) -> Option<String> {
    ["\"hook_event_name\"", "\"hookName\"", "\"event\""].iter().find_map(|key| {
        let rest = json.split_once(key)?.1.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        let (name, _) = rest.split_once('"')?;
        name.chars().all(|c| c.is_ascii_alphanumeric()).then(|| name.to_owned())
    })
}
