//! Applies the part of a handler's output that depends on the event (contract section 8), and the output fields that
//! only some agents apply (D10).

use hooksd_json::RawJson;
use hooksd_protocol::decision::{Behavior, Body, Permission};
use hooksd_protocol::diagnostic::code;
use hooksd_protocol::methods::Capability;
use hooksd_protocol::output::{PermissionDecision, PermissionWord, Specific};

use super::Reducer;
use crate::names::capability_name;

impl Reducer<'_> {
    pub(super) fn specific(&mut self, specific: Specific) {
        match specific {
            Specific::SessionStart(output) => {
                self.optional_context(output.additional_context);
                let text = |value: Option<String>| {
                    value.filter(|value| !value.is_empty()).map(|v| RawJson::string(&v))
                };
                self.update(
                    Capability::InitialUserMessage,
                    "initialUserMessage",
                    text(output.initial_user_message),
                );
                self.update(Capability::SessionTitle, "sessionTitle", text(output.session_title));
                let paths = Some(output.watch_paths).filter(|paths| !paths.is_empty());
                let paths = paths.and_then(|paths| raw(serde_json::to_string(&paths).ok()?));
                self.update(Capability::WatchPaths, "watchPaths", paths);
                let reload = output.reload_skills.then(|| raw("true".to_owned())).flatten();
                self.update(Capability::ReloadSkills, "reloadSkills", reload);
            }
            Specific::UserPromptSubmit(output) => {
                self.optional_context(output.additional_context);
                let title = output.session_title.map(|title| RawJson::string(&title));
                self.update(Capability::SessionTitle, "sessionTitle", title);
                if let Body::Prompt { suppress_original_prompt, .. } = &mut self.decision.body {
                    *suppress_original_prompt |= output.suppress_original_prompt;
                }
            }
            Specific::PreToolUse(output) => {
                if output.permission_decision == Some(PermissionWord::Defer) {
                    self.unsupported("permissionDecision", "\"defer\" is not applied; nothing was decided");
                }
                let behavior = match output.permission_decision {
                    Some(PermissionWord::Allow) => Behavior::Allow,
                    Some(PermissionWord::Ask) => Behavior::Ask,
                    Some(PermissionWord::Deny) => Behavior::Deny,
                    Some(PermissionWord::Defer) | None => Behavior::None,
                };
                let applied = self.raw_update(Capability::UpdatedInput, "updatedInput", output.updated_input);
                // An allow or an ask is about the rewritten input, and does not count when that will not be used. A
                // deny counts.
                if behavior == Behavior::Deny || (behavior != Behavior::None && applied) {
                    self.blocked |= behavior == Behavior::Deny;
                    let reason = output.permission_decision_reason;
                    self.permission(Permission { behavior, reason, interrupt: false });
                }
                self.optional_context(output.additional_context);
            }
            Specific::PermissionRequest(PermissionDecision::Deny { message, interrupt }) => {
                self.blocked = true;
                self.permission(Permission { behavior: Behavior::Deny, reason: message, interrupt });
            }
            Specific::PermissionRequest(PermissionDecision::Allow { updated_input, updated_permissions }) => {
                let applied = self.raw_update(Capability::UpdatedInput, "updatedInput", updated_input);
                self.raw_update(Capability::UpdatedPermissions, "updatedPermissions", updated_permissions);
                if applied {
                    self.permission(Permission { behavior: Behavior::Allow, reason: None, interrupt: false });
                }
            }
            Specific::PostToolUse(output) => {
                self.raw_update(
                    Capability::UpdatedToolOutput,
                    "updatedToolOutput",
                    output.updated_tool_output,
                );
                let mcp = output.updated_mcp_tool_output;
                self.raw_update(Capability::UpdatedMcpToolOutput, "updatedMCPToolOutput", mcp);
                self.optional_context(output.additional_context);
            }
            Specific::Stop(output) => {
                if let Some(text) = output.additional_context {
                    self.blocked = true;
                    self.continue_loop(text);
                }
            }
            Specific::PostToolUseFailure(output)
            | Specific::SubagentStart(output)
            | Specific::SubagentStop(output) => self.optional_context(output.additional_context),
        }
    }

    /// Applies an output field that only some agents apply, and whose value the handler has spelled in JSON. False
    /// when it was set and will not be applied.
    fn raw_update(&mut self, capability: Capability, field: &str, spelled: Option<String>) -> bool {
        let Some(spelled) = spelled else { return true };
        match raw(spelled) {
            Some(value) => self.update(capability, field, Some(value)),
            None => {
                self.unsupported(field, "holds NaN or Infinity, which JSON cannot carry on");
                false
            }
        }
    }

    /// Applies an output field that only some agents apply (D10). False when it was set and will not be applied.
    fn update(&mut self, capability: Capability, field: &str, value: Option<RawJson>) -> bool {
        let Some(value) = value else { return true };
        if !self.accepts.contains(&capability) {
            self.unsupported(field, "is not applied by this agent");
            return false;
        }
        let name = capability_name(capability);
        if self.decision.accepted.contains_key(name) {
            let message = format!("{field}: an earlier handler has set it already; this one is ignored");
            self.diagnose(code::IGNORED_UPDATE, &message, Some(field));
            return true;
        }
        self.decision.accepted.insert(name.to_owned(), value);
        true
    }
}

fn raw(text: String) -> Option<RawJson> {
    RawJson::new(text).ok()
}
