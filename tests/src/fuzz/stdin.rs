//! What agents hand to their hooks, in every agent's dialect.

use hooksd_dialects::{Answer, Dialect, Failing, Given, Occasion, Surroundings, agents, answer, read, sniff};
use hooksd_engine::plan::PayloadInput;
use hooksd_json::{Dialect as Json, Value};
use hooksd_protocol::decision::{Behavior, Body, Decision};
use hooksd_protocol::event::EventName;

use super::shape::Words;
use super::text;

pub(super) const PAYLOAD: Words = Words(&[
    "hook_event_name",
    "hookEventName",
    "hookName",
    "event",
    "event_name",
    "session_id",
    "sessionId",
    "conversation_id",
    "cwd",
    "/w",
    "workspace_roots",
    "tool_name",
    "toolName",
    "tool_input",
    "toolArgs",
    "toolInput",
    "tool_use_id",
    "tool_call_id",
    "generation_id",
    "turn_id",
    "timestamp",
    "PreToolUse",
    "preToolUse",
    "beforeShellExecution",
    "BeforeTool",
    "run_shell_command",
    "Bash",
    "bash",
    "command",
    "prompt",
    "Stop",
    "stop",
    "afterAgentResponse",
    "is_background_agent",
    "source",
    "reason",
    "trigger",
    "manual",
    "error",
    "result",
    r#"{"command":"ls","file_path":"a"}"#,
    r#"["/w","/x"]"#,
    r#"{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
]);

/// The reason of the deny that must be said.
const REASON: &str = "a reason that is nowhere else";

/// An event is read as handlers know it, or there is trouble that can be told; a deny is said either way.
pub(super) fn stdin(data: &[u8]) {
    let data = text(data, PAYLOAD);
    let variable = |_: &str| None;
    for dialect in agents::ALL {
        let around = Surroundings { event: None, variable: &variable, folder: "/home", now: 1, mode: None };
        let occasion = match read(dialect, &data, &around) {
            Ok(request) => {
                payload_fits(dialect, &request);
                assert_eq!(
                    read(dialect, &data, &around).unwrap().payload,
                    request.payload,
                    "read alike twice"
                );
                Occasion::from(&request)
            }
            Err(trouble) => {
                assert!(!trouble.message.is_empty());
                let closed =
                    answer(dialect, &Occasion::from(&trouble), Given::Failure("trouble"), Failing::Closed);
                assert!(
                    trouble.event != Some(EventName::PreToolUse)
                        || said(&closed).contains("trouble")
                        || closed.status == 2,
                    "{}: {closed:?}",
                    dialect.name
                );
                continue;
            }
        };
        a_deny_is_said(dialect, &occasion);
    }
    let sniffed = sniff(&data, &variable);
    assert!(agents::ALL.iter().any(|dialect| dialect.name == sniffed.name));
}

fn payload_fits(dialect: &Dialect, request: &hooksd_dialects::Request) {
    let payload = Value::parse(request.payload.get(), Json::Strict).expect("the payload is JSON");
    let read = PayloadInput::read(&payload).expect("the daemon takes the payload");
    assert_eq!(read.event_name, request.event_name, "{}", dialect.name);
    assert_eq!(read.event, request.event);
    assert_eq!(read.cwd.as_deref(), Some(request.cwd.as_str()));
    assert!(request.cwd.starts_with('/') && !request.cwd.contains('\0'));
    let mut names: Vec<_> = payload.pairs().iter().map(|(name, _)| name.raw().to_owned()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "{}: a member stands once: {}", dialect.name, request.payload.get());
}

fn said(answer: &Answer) -> String {
    format!("{}{}", answer.stdout, answer.stderr)
}

fn a_deny_is_said(dialect: &Dialect, occasion: &Occasion) {
    for event in [EventName::PreToolUse, EventName::PermissionRequest] {
        let mut decision = Decision::neutral(event);
        if let Body::PreTool { permission, .. } | Body::Permission { permission } = &mut decision.body {
            permission.behavior = Behavior::Deny;
            permission.reason = Some(REASON.to_owned());
        }
        let told = answer(dialect, occasion, Given::Decision(&decision), Failing::Open);
        assert!(told.stdout.len() <= dialect.longest);
        let nothing = answer(dialect, occasion, Given::Nothing, Failing::Open);
        if occasion_is(occasion, event) {
            assert_ne!(told, nothing, "{}: a deny is said", dialect.name);
        }
        if nothing.stdout.starts_with('{') {
            assert!(serde_json::from_str::<serde_json::Value>(&nothing.stdout).is_ok());
        }
    }
}

/// Whether the occasion is this event: only then must the agent hear of the deny.
fn occasion_is(occasion: &Occasion, event: EventName) -> bool {
    occasion.event() == Some(event)
}
