//! What agents hand to their hooks becomes what handlers know.

use hooksd_dialects::{Surroundings, read, sniff};
use hooksd_protocol::methods::Mode;
use serde_json::{Value, json};

use crate::{RECORDED, dialect, golden, recorded};

fn variables(line: &Value) -> impl Fn(&str) -> Option<String> + '_ {
    |name| line["environment"][name].as_str().map(str::to_owned)
}

fn around<'a>(variable: &'a dyn Fn(&str) -> Option<String>) -> Surroundings<'a> {
    Surroundings { event: None, variable, folder: "/home/you", now: 1_767_225_600, mode: None }
}

/// Every recorded payload: what handlers read, and what else was made out. Compared as bytes.
#[test]
fn recorded_payloads_become_what_handlers_know() {
    for name in RECORDED {
        let mut lines = String::new();
        for line in recorded(&format!("{name}.jsonl")) {
            let variable = variables(&line);
            let stdin = line["stdin"].as_str().unwrap();
            let request = read(dialect(name), stdin.as_bytes(), &around(&variable)).unwrap();
            let about = json!({
                "own": request.own_event,
                "event": request.event.map(|event| event.as_str()),
                "thread": request.thread_id.decoded(),
                "cwd": request.cwd,
                "id": request.invocation_id,
                "skip": request.skip,
            });
            lines.push_str(&format!("{about} {}\n", request.payload.get()));
            assert_eq!((request.mode, request.notes), (Mode::Headless, Vec::<String>::new()), "{stdin}");
        }
        golden(&format!("{name}.payloads"), &lines);
    }
}

/// Where an agent's terms are the handlers', not a byte changes.
#[test]
fn known_terms_pass_through_byte_by_byte() {
    for name in ["claude-code", "codex", "deepagents"] {
        for line in recorded(&format!("{name}.jsonl")) {
            let variable = variables(&line);
            let stdin = line["stdin"].as_str().unwrap();
            let request = read(dialect(name), stdin.as_bytes(), &around(&variable)).unwrap();
            assert_eq!(request.payload.get(), stdin.trim_end(), "{name}");
        }
    }
}

#[test]
fn recorded_payloads_name_their_agent() {
    for name in RECORDED {
        for line in recorded(&format!("{name}.jsonl")) {
            let stdin = line["stdin"].as_str().unwrap();
            assert_eq!(sniff(stdin.as_bytes(), &variables(&line)).name, name, "{stdin}");
        }
    }
}

/// Agents that were not recorded, as DIALECTS documents them: own payload, and what handlers read.
#[test]
fn documented_payloads_become_what_handlers_know() {
    let table = [
        (
            "cursor",
            r#"{"conversation_id":"c","generation_id":"g","cursor_version":"2","workspace_roots":["/w"],"hook_event_name":"beforeShellExecution","command":"ls  \u00e9","cwd":"","sandbox":false}"#,
            r#"{"session_id":"c","prompt_id":"g","cwd":"/w","hook_event_name":"PreToolUse","cursor_version":"2","workspace_roots":["/w"],"tool_name":"Bash","tool_input":{"command":"ls  \u00e9"}}"#,
        ),
        (
            "cursor",
            r#"{"conversation_id":"c","generation_id":"g","hook_event_name":"beforeMCPExecution","tool_name":"ping","tool_input":"{\"a\": 1}","url":"u","cwd":"/w"}"#,
            r#"{"session_id":"c","prompt_id":"g","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"MCP:ping","tool_input":{"a": 1}}"#,
        ),
        (
            "cursor",
            r#"{"conversation_id":"c","hook_event_name":"stop","status":"completed","loop_count":2,"workspace_roots":["/w"]}"#,
            r#"{"session_id":"c","hook_event_name":"Stop","status":"completed","loop_count":2,"workspace_roots":["/w"],"cwd":"/w","stop_hook_active":true}"#,
        ),
        (
            "cursor",
            r#"{"conversation_id":"c","hook_event_name":"afterShellExecution","command":"ls","cwd":"/w","output":"x"}"#,
            r#"{"session_id":"c","hook_event_name":"afterShellExecution","command":"ls","cwd":"/w","output":"x"}"#,
        ),
        (
            "vscode",
            r#"{"timestamp":"t","hook_event_name":"PreToolUse","session_id":"s","tool_name":"create_file","tool_input":{"filePath":"/a","content":"x"},"tool_use_id":"i"}"#,
            r#"{"timestamp":"t","hook_event_name":"PreToolUse","session_id":"s","tool_name":"Write","tool_input":{"file_path":"/a","content":"x"},"tool_use_id":"i","cwd":"/home/you"}"#,
        ),
        (
            "droid",
            r#"{"session_id":"s","cwd":"/w","permission_mode":"auto-low","hook_event_name":"PreToolUse","tool_name":"Execute","tool_input":{"command":"ls"}}"#,
            r#"{"session_id":"s","cwd":"/w","permission_mode":"auto-low","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
        ),
        (
            "kiro",
            r#"{"hook_event_name":"preToolUse","cwd":"/w","tool_name":"fs_write","tool_input":{"command":"create","path":"/p/a"}}"#,
            r#"{"hook_event_name":"PreToolUse","cwd":"/w","tool_name":"Write","tool_input":{"command":"create","file_path":"/p/a"}}"#,
        ),
        (
            "kiro",
            r#"{"hook_event_name":"postToolUse","cwd":"/w","tool_name":"@srv/ping","tool_input":{},"tool_response":{"success":true}}"#,
            r#"{"hook_event_name":"PostToolUse","cwd":"/w","tool_name":"mcp__srv__ping","tool_input":{},"tool_response":{"success":true}}"#,
        ),
        (
            "goose",
            r#"{"event":"PreToolUse","session_id":"s","tool_name":"developer__shell","tool_input":{"command":"ls"},"working_dir":"/w","tool_call_id":"t"}"#,
            r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/w","tool_use_id":"t"}"#,
        ),
        (
            "goose",
            r#"{"event":"UserPromptSubmit","session_id":"s","message":"hi","working_dir":"/w"}"#,
            r#"{"hook_event_name":"UserPromptSubmit","session_id":"s","message":"hi","cwd":"/w","prompt":"hi"}"#,
        ),
        (
            "kimi",
            r#"{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"StrReplaceFile","tool_input":{"path":"a","edit":[]},"tool_call_id":"t"}"#,
            r#"{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"a","edit":[]},"tool_use_id":"t"}"#,
        ),
        (
            "copilot-cli",
            r#"{"sessionId":"s","timestamp":1,"cwd":"/w","toolName":"create","toolArgs":"{\"path\":\"/a\",\"file_text\":\"x\"}"}"#,
            r#"{"session_id":"s","timestamp":1,"cwd":"/w","tool_name":"Write","tool_input":{"file_path":"/a","content":"x"},"hook_event_name":"PreToolUse"}"#,
        ),
        (
            "gemini-cli",
            r#"{"session_id":"s","cwd":"/w","hook_event_name":"AfterTool","tool_name":"read_file","tool_input":{},"tool_response":{"llmContent":"","error":{"message":"no \ud83d"}}}"#,
            r#"{"session_id":"s","cwd":"/w","hook_event_name":"PostToolUseFailure","tool_name":"Read","tool_input":{},"tool_response":{"llmContent":"","error":{"message":"no \ud83d"}},"error":"no \ud83d"}"#,
        ),
    ];
    for (name, stdin, expected) in table {
        let request = read(dialect(name), stdin.as_bytes(), &around(&|_| None)).unwrap();
        assert_eq!(request.payload.get(), expected, "{name}: {stdin}");
    }
}

/// Events, tools and members of a newer agent pass through; odd bytes cost nothing but a note.
#[test]
fn what_is_not_known_passes_through() {
    for dialect in hooksd_dialects::agents::ALL {
        let unknown = r#"{"session_id":"s","cwd":"/w","hook_event_name":"Tomorrow","tool_name":"teleport","tool_input":{"to":[1e400,{"a":1,"a":2}]},"new":123456789012345678901234567890}"#;
        let request = read(dialect, unknown.as_bytes(), &around(&|_| None)).unwrap();
        assert_eq!(request.payload.get(), unknown, "{}", dialect.name);
        assert_eq!((request.event, request.event_name.as_str()), (None, "Tomorrow"));
    }
    let odd = b"\xef\xbb\xbf {\"hook_event_name\":\"PreToolUse\",\"cwd\":\"/w\",\"x\":\"\xff\"}\r\n";
    let request = read(dialect("codex"), odd, &around(&|_| None)).unwrap();
    let passed = request.payload.get();
    assert_eq!(passed, "{\"hook_event_name\":\"PreToolUse\",\"cwd\":\"/w\",\"x\":\"\u{fffd}\"}");
    assert_eq!(request.notes.len(), 1);
}

/// An agent that says one thing under two of its names: the first one counts, the other keeps its name. Two members of
/// one name are read as the first by some and as the last by others.
#[test]
fn no_two_members_become_one() {
    let payload =
        r#"{"toolName":"edit","toolArgs":{"path":"/a","path2":1},"toolInput":{"path":"/b"},"cwd":"/w"}"#;
    let variable = |_: &str| None;
    let request = read(dialect("copilot-cli"), payload.as_bytes(), &around(&variable)).unwrap();
    assert_eq!(
        request.payload.get(),
        r#"{"tool_name":"Edit","tool_input":{"file_path":"/a","path2":1},"toolInput":{"path":"/b"},"cwd":"/w","hook_event_name":"PreToolUse"}"#
    );
}

#[test]
fn what_is_no_event_says_why_and_as_much_as_can_be_made_out() {
    for (stdin, event, part) in [
        ("", None, "nothing came"),
        ("  \n", None, "nothing came"),
        ("[1]", None, "an array"),
        ("{\"session_id\":\"s\"}", None, "names no event"),
        (r#"{"hook_event_name":"PreToolUse","tool_input":{"comm"#, Some("PreToolUse"), "not JSON"),
        (r#"{"hook_event_name" : "BeforeTool","x"#, Some("PreToolUse"), "not JSON"),
    ] {
        let trouble = read(dialect("gemini-cli"), stdin.as_bytes(), &around(&|_| None)).unwrap_err();
        assert_eq!(trouble.event.map(|event| event.as_str()), event, "{stdin}");
        assert!(trouble.message.contains(part), "{stdin}: {}", trouble.message);
    }
}

/// Whether a person is there: by the agent's own sign, never in CI, and as the configuration says before all.
#[test]
fn a_person_is_there_where_the_agent_says_so() {
    let payload = br#"{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/w"}"#;
    let background =
        br#"{"hook_event_name":"preToolUse","session_id":"s","cwd":"/w","is_background_agent":true}"#;
    type Variables = &'static [(&'static str, &'static str)];
    let table: [(&str, &[u8], Variables, Mode); 9] = [
        ("claude-code", payload, &[("CLAUDE_CODE_ENTRYPOINT", "cli")], Mode::Interactive),
        ("claude-code", payload, &[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")], Mode::Headless),
        ("claude-code", payload, &[("CLAUDE_CODE_ENTRYPOINT", "cli"), ("CI", "true")], Mode::Headless),
        ("deepagents", payload, &[("DEEPAGENTS_CODE_SERVER_INTERACTIVE", "true")], Mode::Interactive),
        ("deepagents", payload, &[], Mode::Headless),
        ("cursor", payload, &[], Mode::Interactive),
        ("cursor", background, &[], Mode::Headless),
        ("cursor", payload, &[("CURSOR_CODE_REMOTE", "true")], Mode::Headless),
        ("codex", payload, &[], Mode::Headless),
    ];
    for (name, stdin, set, expected) in table {
        let variable =
            |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        assert_eq!(read(dialect(name), stdin, &around(&variable)).unwrap().mode, expected, "{name} {set:?}");
        let declared = Surroundings { mode: Some(Mode::Interactive), ..around(&variable) };
        assert_eq!(read(dialect(name), stdin, &declared).unwrap().mode, Mode::Interactive);
    }
}

/// Both events of one action have the same id and content; whatever may rightly happen again has none or another.
#[test]
fn one_action_has_one_id() {
    let of = |name: &str, stdin: &str, now: u64| {
        let around = Surroundings { now, ..around(&|_| None) };
        let request = read(dialect(name), stdin.as_bytes(), &around).unwrap();
        (request.invocation_id, request.payload.get().to_owned())
    };
    let base = r#""conversation_id":"c","generation_id":"g","workspace_roots":["/w"],"cwd":"/w""#;
    let pre = format!(
        r#"{{{base},"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{{"command":"ls","working_directory":"/w"}},"tool_use_id":"t","agent_message":"m"}}"#
    );
    let twin =
        format!(r#"{{{base},"hook_event_name":"beforeShellExecution","command":"ls","sandbox":false}}"#);
    let other = twin.replace("\"ls\"", "\"ls -l\"");
    let first = of("cursor", &pre, 1000);
    assert_eq!(first, of("cursor", &twin, 1001));
    assert!(first.0.is_some());
    assert_ne!(first.0, of("cursor", &other, 1000).0);
    assert_ne!(first.0, of("cursor", &twin, 2000).0, "the same again, later, is another action");
    let call = r#"{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}"#;
    assert_eq!(of("claude-code", call, 1), of("codex", call, 99));
    assert_ne!(of("claude-code", call, 1).0, of("claude-code", &call.replace("ls", "id"), 1).0);
    for again in [
        call.replace("PreToolUse", "Stop"),
        call.replace("tool_use_id", "x"),
        call.replace("session_id", "y"),
    ] {
        assert_eq!(of("claude-code", &again, 1).0, None, "{again}");
    }
    assert_eq!(of("droid", call, 1).0, None);
}
