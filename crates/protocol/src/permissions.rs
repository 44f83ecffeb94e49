//! The entries of `updatedPermissions`, which a handler of PermissionRequest may send with an allow. They are
//! checked, and passed on to the agent as they were spelled.

use schemars::JsonSchema;
use serde::Deserialize;

use hooksd_json::{ReadError, Reading, Value, read};

/// One entry of `updatedPermissions`. One of another type voids the allow that it came with.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(tag = "type", rename_all = "camelCase")]
pub enum PermissionUpdate {
    /// Adds these rules.
    AddRules(Rules),
    /// Replaces the rules of this behavior and place by these.
    ReplaceRules(Rules),
    /// Removes these rules.
    RemoveRules(Rules),
    /// Sets the mode of permissions.
    SetMode(SetMode),
    /// Adds folders in which the agent may work.
    AddDirectories(Directories),
    /// Removes folders in which the agent may work.
    RemoveDirectories(Directories),
}

/// The values of `type`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum UpdateKind {
    AddRules,
    ReplaceRules,
    RemoveRules,
    SetMode,
    AddDirectories,
    RemoveDirectories,
}

/// Which rules change, and where.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Rules {
    /// The rules.
    pub rules: Vec<Rule>,
    /// What the rules say.
    pub behavior: RuleBehavior,
    /// Where the rules are kept.
    pub destination: Destination,
}

/// One rule about a tool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// The tool.
    pub tool_name: String,
    /// What of the tool the rule is for, in the agent's words; absent for all of it.
    #[serde(default)]
    pub rule_content: Option<String>,
}

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the contract")]
pub enum RuleBehavior {
    Allow,
    Deny,
    Ask,
}

/// Where the agent keeps a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names are the contract")]
pub enum Destination {
    Session,
    LocalSettings,
    ProjectSettings,
    UserSettings,
}

/// Which mode is set, and where.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SetMode {
    /// The mode.
    pub mode: Mode,
    /// Where the mode is kept.
    pub destination: Destination,
}

/// A mode of permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names are the contract")]
pub enum Mode {
    Default,
    Manual,
    Plan,
    AcceptEdits,
    Auto,
    DontAsk,
    BypassPermissions,
}

/// Which folders change, and where.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Directories {
    /// The folders.
    pub directories: Vec<String>,
    /// Where the folders are kept.
    pub destination: Destination,
}

/// Reads one entry of `updatedPermissions`.
///
/// # Errors
/// The path and the reason of the first field that does not fit.
pub fn read_permission_update(value: &Value<'_>) -> Result<PermissionUpdate, ReadError> {
    #[derive(Deserialize)]
    struct Tag {
        #[serde(rename = "type")]
        kind: UpdateKind,
    }
    let kind = read::<Tag>(value, Reading::Lenient)?.kind;
    Ok(match kind {
        UpdateKind::AddRules => PermissionUpdate::AddRules(read(value, Reading::Lenient)?),
        UpdateKind::ReplaceRules => PermissionUpdate::ReplaceRules(read(value, Reading::Lenient)?),
        UpdateKind::RemoveRules => PermissionUpdate::RemoveRules(read(value, Reading::Lenient)?),
        UpdateKind::SetMode => PermissionUpdate::SetMode(read(value, Reading::Lenient)?),
        UpdateKind::AddDirectories => PermissionUpdate::AddDirectories(read(value, Reading::Lenient)?),
        UpdateKind::RemoveDirectories => PermissionUpdate::RemoveDirectories(read(value, Reading::Lenient)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hooksd_json::Dialect;

    #[test]
    fn the_schema_lists_the_types_that_are_read_and_no_others() {
        let schema = serde_json::to_value(schemars::schema_for!(PermissionUpdate)).unwrap();
        let alternatives = schema["oneOf"].as_array().unwrap();
        let listed: Vec<&str> =
            alternatives.iter().filter_map(|one| one["properties"]["type"]["const"].as_str()).collect();
        let rest =
            r#""rules": [], "behavior": "ask", "destination": "session", "mode": "plan", "directories": []"#;
        let is_read = |kind: &str| {
            let text = format!(r#"{{"type": "{kind}", {rest}}}"#);
            read_permission_update(&Value::parse(&text, Dialect::Strict).unwrap()).is_ok()
        };
        assert_eq!(listed.len(), 6);
        assert!(listed.into_iter().all(is_read));
        assert!(!is_read("addrules") && !is_read("setModes"));
    }
}
