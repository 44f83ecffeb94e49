//! What a handler prints on stdout when it exits with 0 (contract section 8). People write it, so that it is read
//! leniently, as recorded. Unknown keys are no error here; the engine reports those of the top level.

use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::json;

use crate::event::EventName;
use crate::permissions::read_permission_update;
use hooksd_json::{ReadError, Reading, Value, read};

/// The top-level keys that the output protocol knows.
pub const KEYS: [&str; 8] = [
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "terminalSequence",
    "decision",
    "reason",
    "hookSpecificOutput",
];

/// How deep a value may be nested that a handler wants to have applied, such as `updatedInput`. Levels. The reference
/// refuses more than about 255; nothing real comes near.
pub const MAX_UPDATE_DEPTH: usize = 253;

/// The one value of `decision`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// `"block"`
    Block,
}

/// What a handler has printed, without the part that depends on the event.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// False when the agent should stop.
    #[serde(rename = "continue", default = "yes")]
    pub continue_processing: bool,
    /// Why the agent should stop. It counts only with `continue: false`.
    #[serde(default)]
    pub stop_reason: Option<String>,
    /// Whether `systemMessage` is hidden.
    #[serde(default)]
    pub suppress_output: bool,
    /// A notice for the person.
    #[serde(default)]
    pub system_message: Option<String>,
    /// Escape sequences for the person's terminal: OSC 0, 1, 2, 9, 99, 777 and BEL only.
    #[serde(default)]
    pub terminal_sequence: Option<String>,
    /// `"block"` to block. What that means depends on the event (contract section 2).
    #[serde(default)]
    pub decision: Option<Block>,
    /// Why the handler blocks.
    #[serde(default)]
    pub reason: Option<String>,
}

fn yes() -> bool {
    true
}

/// The values of `permissionDecision` on PreToolUse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the contract")]
pub enum PermissionWord {
    Allow,
    Deny,
    Ask,
    Defer,
}

/// The part of the output that depends on the event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "one variant an event; fields as in contract section 8")]
pub enum Specific {
    SessionStart(SessionStart),
    UserPromptSubmit(UserPromptSubmit),
    PreToolUse(PreToolUse),
    PermissionRequest(PermissionDecision),
    PostToolUse(PostToolUse),
    PostToolUseFailure(OnlyContext),
    SubagentStart(OnlyContext),
    SubagentStop(OnlyContext),
    Stop(OnlyContext),
}

/// `hookSpecificOutput` of SessionStart.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "fields as in contract section 8")]
pub struct SessionStart {
    #[serde(default)]
    pub additional_context: Option<String>,
    #[serde(default)]
    pub initial_user_message: Option<String>,
    #[serde(default)]
    pub session_title: Option<String>,
    /// May be absent, but not null.
    #[serde(default)]
    pub watch_paths: Vec<String>,
    #[serde(default)]
    pub reload_skills: bool,
}

/// `hookSpecificOutput` of UserPromptSubmit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "fields as in contract section 8")]
pub struct UserPromptSubmit {
    #[serde(default)]
    pub additional_context: Option<String>,
    #[serde(default)]
    pub session_title: Option<String>,
    #[serde(default)]
    pub suppress_original_prompt: bool,
}

/// `hookSpecificOutput` of PreToolUse.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = with_updated_input)]
#[allow(missing_docs, reason = "fields as in contract section 8")]
pub struct PreToolUse {
    #[serde(default)]
    pub permission_decision: Option<PermissionWord>,
    #[serde(default)]
    pub permission_decision_reason: Option<String>,
    #[serde(default)]
    pub additional_context: Option<String>,
    /// The object, as it was spelled.
    #[serde(skip)]
    pub updated_input: Option<String>,
}

/// `hookSpecificOutput` of PostToolUse.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = with_updated_outputs)]
#[allow(missing_docs, reason = "fields as in contract section 8")]
pub struct PostToolUse {
    #[serde(default)]
    pub additional_context: Option<String>,
    /// The value, as it was spelled.
    #[serde(skip)]
    pub updated_tool_output: Option<String>,
    /// The value, as it was spelled.
    #[serde(skip, rename = "updatedMCPToolOutput")]
    pub updated_mcp_tool_output: Option<String>,
}

/// `hookSpecificOutput` of PostToolUseFailure, SubagentStart, SubagentStop and Stop.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "fields as in contract section 8")]
pub struct OnlyContext {
    #[serde(default)]
    pub additional_context: Option<String>,
}

/// `hookSpecificOutput.decision` of PermissionRequest.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields as in contract section 8")]
pub enum PermissionDecision {
    Allow {
        /// The object, as it was spelled.
        updated_input: Option<String>,
        /// The array, as it was spelled; `None` when it is empty.
        updated_permissions: Option<String>,
    },
    Deny {
        message: Option<String>,
        interrupt: bool,
    },
}

/// Adds to the schema what is read apart, since it is passed on as it was spelled.
fn with_updated_input(schema: &mut Schema) {
    add_property(schema, "updatedInput", json!({ "type": ["object", "null"] }));
}

/// Adds to the schema what is read apart, since it is passed on as it was spelled.
fn with_updated_outputs(schema: &mut Schema) {
    add_property(schema, "updatedToolOutput", json!(true));
    add_property(schema, "updatedMCPToolOutput", json!(true));
}

fn add_property(schema: &mut Schema, name: &str, property: serde_json::Value) {
    let properties = schema.get_mut("properties").and_then(serde_json::Value::as_object_mut);
    if let Some(properties) = properties {
        properties.insert(name.to_owned(), property);
    }
}

#[derive(Deserialize)]
struct SpecificTag {
    #[serde(rename = "hookEventName")]
    event: EventName,
}

/// Reads `hookSpecificOutput`, and the event that it says it is for.
///
/// # Errors
/// The path and the reason of the first field that does not fit. Some events have no such output, which is an error
/// too.
pub fn read_specific(value: &Value<'_>) -> Result<(EventName, Specific), ReadError> {
    let event = read::<SpecificTag>(value, Reading::Lenient)?.event;
    let specific = match event {
        EventName::SessionStart => Specific::SessionStart(read(value, Reading::Lenient)?),
        EventName::UserPromptSubmit => Specific::UserPromptSubmit(read(value, Reading::Lenient)?),
        EventName::PreToolUse => Specific::PreToolUse(PreToolUse {
            updated_input: update(value, "updatedInput", Some("{"))?,
            ..read(value, Reading::Lenient)?
        }),
        EventName::PermissionRequest => Specific::PermissionRequest(permission(value)?),
        EventName::PostToolUse => Specific::PostToolUse(PostToolUse {
            updated_tool_output: update(value, "updatedToolOutput", None)?,
            updated_mcp_tool_output: update(value, "updatedMCPToolOutput", None)?,
            ..read(value, Reading::Lenient)?
        }),
        EventName::PostToolUseFailure => Specific::PostToolUseFailure(read(value, Reading::Lenient)?),
        EventName::SubagentStart => Specific::SubagentStart(read(value, Reading::Lenient)?),
        EventName::SubagentStop => Specific::SubagentStop(read(value, Reading::Lenient)?),
        EventName::Stop => Specific::Stop(read(value, Reading::Lenient)?),
        EventName::SessionEnd | EventName::Notification | EventName::PreCompact => {
            let message = format!("{event} has no hookSpecificOutput; use the top-level fields");
            return Err(ReadError { path: "hookEventName".to_owned(), message });
        }
    };
    Ok((event, specific))
}

/// Reads a value that is to be applied, as it was spelled; `None` when it is absent or null. It must begin with
/// `opening`, if that is given, and must not be nested too deep.
fn update(parent: &Value<'_>, key: &str, opening: Option<&str>) -> Result<Option<String>, ReadError> {
    let Some(value) = parent.get(key).filter(|value| !value.is_null()) else { return Ok(None) };
    let fail = |message: String| ReadError { path: key.to_owned(), message };
    if opening.is_some_and(|opening| !value.raw().starts_with(opening)) {
        let wanted = if opening == Some("{") { "an object" } else { "an array" };
        return Err(fail(format!("expected {wanted}, got {}", value.kind().noun())));
    }
    if value.depth() > MAX_UPDATE_DEPTH {
        return Err(fail(format!("nested deeper than {MAX_UPDATE_DEPTH} levels")));
    }
    Ok(Some(value.raw().to_owned()))
}

fn permission(value: &Value<'_>) -> Result<PermissionDecision, ReadError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Behavior {
        Allow,
        Deny,
    }
    #[derive(Deserialize)]
    struct Tag {
        behavior: Behavior,
    }
    #[derive(Deserialize)]
    struct Deny {
        #[serde(default)]
        message: Option<String>,
        #[serde(default)]
        interrupt: bool,
    }
    let within = |error: ReadError| error.within("decision");
    let Some(decision) = value.get("decision") else {
        let message =
            "this field is required: {\"behavior\": \"allow\"} or {\"behavior\": \"deny\"}".to_owned();
        return Err(ReadError { path: "decision".to_owned(), message });
    };
    match read::<Tag>(&decision, Reading::Lenient).map_err(within)?.behavior {
        Behavior::Deny => {
            let deny = read::<Deny>(&decision, Reading::Lenient).map_err(within)?;
            Ok(PermissionDecision::Deny { message: deny.message, interrupt: deny.interrupt })
        }
        Behavior::Allow => {
            if let Some(updates) = decision.get("updatedPermissions") {
                if updates.is_null() {
                    let message = "expected an array, got null".to_owned();
                    return Err(within(ReadError { path: "updatedPermissions".to_owned(), message }));
                }
                for (index, item) in updates.items().iter().enumerate() {
                    let at = format!("updatedPermissions[{index}]");
                    read_permission_update(item).map_err(|error| within(error.within(&at)))?;
                }
            }
            let updated_permissions = update(&decision, "updatedPermissions", Some("[")).map_err(within)?;
            Ok(PermissionDecision::Allow {
                updated_input: update(&decision, "updatedInput", Some("{")).map_err(within)?,
                updated_permissions: updated_permissions.filter(|_| {
                    decision.get("updatedPermissions").is_some_and(|updates| !updates.items().is_empty())
                }),
            })
        }
    }
}
