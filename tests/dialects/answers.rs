//! Decisions in the agents' words, for every agent and event, as bytes.

use std::fmt::Write;

use hooksd_dialects::{Answer, Dialect, Failing, Given, Occasion, Surroundings, agents, answer, read};
use hooksd_json::RawJson;
use hooksd_protocol::decision::{Behavior, Body, Decision};
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::Mode;

use crate::{dialect, golden};

/// The reason that the recordings use.
pub(crate) const REASON: &str = "RIG-REASON-7f3a";
/// The context that the recordings use.
pub(crate) const CONTEXT: &str = "RIG-CONTEXT-52c1";
/// The rewritten input that the recordings use.
pub(crate) const INPUT: &str = r#"{"command":"echo changed > out.txt"}"#;

/// The agent's own name of an event, as its entries in the documentation and the recordings have it.
pub(crate) fn own_event(dialect: &Dialect, event: EventName) -> &'static str {
    if dialect.name == "copilot-cli" { event.as_str() } else { dialect.own_event(event) }
}

/// The occasion of an event of this agent, about its shell where it is about a tool.
pub(crate) fn occasion(dialect: &Dialect, event: EventName, is_attended: bool) -> Occasion {
    let shell = dialect.tools.iter().find(|tool| tool.1 == "Bash").map_or("Bash", |tool| tool.0);
    let own = own_event(dialect, event);
    let stdin = format!(
        r#"{{"hook_event_name":"{own}","session_id":"s","cwd":"/w","tool_name":"{shell}","tool_input":{{"command":"x"}}}}"#
    );
    let mode = if is_attended { Mode::Interactive } else { Mode::Headless };
    let around = Surroundings { event: None, variable: &|_| None, folder: "/", now: 0, mode: Some(mode) };
    Occasion::from(&read(dialect, stdin.as_bytes(), &around).unwrap())
}

/// What can be decided on an event, each with a name.
pub(crate) fn decisions(event: EventName) -> Vec<(&'static str, Decision)> {
    let neutral = || Decision::neutral(event);
    let mut all = vec![("nothing", neutral())];
    let mut add = |name, change: &dyn Fn(&mut Decision)| {
        let mut decision = neutral();
        change(&mut decision);
        if decision != neutral() {
            all.push((name, decision));
        }
    };
    let permit = |behavior: Behavior| {
        move |decision: &mut Decision| {
            if let Body::PreTool { permission, .. } | Body::Permission { permission } = &mut decision.body {
                permission.behavior = behavior;
                permission.reason = (behavior != Behavior::Allow).then(|| REASON.to_owned());
            }
        }
    };
    add("deny", &permit(Behavior::Deny));
    if event == EventName::PreToolUse {
        add("ask", &permit(Behavior::Ask));
    }
    add("allow", &permit(Behavior::Allow));
    add("rewrite", &|decision| {
        permit(Behavior::Allow)(decision);
        if event == EventName::PreToolUse {
            decision.accepted.insert("updated_input".to_owned(), RawJson::new(INPUT.to_owned()).unwrap());
        } else {
            *decision = neutral();
        }
    });
    add("context", &|decision| {
        if let Body::Context { context }
        | Body::Prompt { context, .. }
        | Body::PreTool { context, .. }
        | Body::PostTool { context, .. } = &mut decision.body
        {
            context.push(CONTEXT.to_owned());
        }
    });
    add("feedback", &|decision| {
        if let Body::PostTool { feedback, .. } = &mut decision.body {
            feedback.push(REASON.to_owned());
        }
    });
    add("go on", &|decision| match &mut decision.body {
        Body::Stop { continue_loop, feedback } => {
            *continue_loop = true;
            feedback.push(REASON.to_owned());
        }
        Body::Context { context } if event == EventName::SubagentStop => {
            context.push(REASON.to_owned());
            decision.diagnostics.push(Diagnostic::warning(code::UNSUPPORTED_BLOCK, "kept as context"));
        }
        _ => {}
    });
    add("stop", &|decision| {
        decision.continue_processing = false;
        decision.stop_reason = Some(REASON.to_owned());
    });
    add("notice", &|decision| decision.user_notices.push(REASON.to_owned()));
    all
}

fn line(answer: &Answer) -> String {
    let mut line = format!("{} {}", answer.status, answer.stdout);
    if !answer.stderr.is_empty() && answer.status != 0 {
        write!(line, " 2> {}", answer.stderr.trim_end()).unwrap();
    }
    for note in &answer.notes {
        write!(line, " # {note}").unwrap();
    }
    line
}

#[test]
fn every_decision_in_every_agents_words() {
    for dialect in agents::ALL {
        let mut lines = String::new();
        for event in EventName::ALL {
            for (name, decision) in decisions(event) {
                let said = |attended| {
                    let given = Given::Decision(&decision);
                    line(&answer(dialect, &occasion(dialect, event, attended), given, Failing::Open))
                };
                writeln!(lines, "{event} {name}: {}", said(false)).unwrap();
                if said(true) != said(false) {
                    writeln!(lines, "{event} {name}, attended: {}", said(true)).unwrap();
                }
            }
            for (name, failing) in [("open", Failing::Open), ("closed", Failing::Closed)] {
                let given = Given::Failure("no daemon");
                let said = answer(dialect, &occasion(dialect, event, false), given, failing);
                writeln!(lines, "{event} fails {name}: {}", line(&said)).unwrap();
            }
        }
        golden(&format!("{}.answers", dialect.name), &lines);
    }
}

/// Whatever is decided, what is printed is nothing, one JSON object, or plain words where the agent reads those.
#[test]
fn stdout_is_one_json_object_or_what_the_agent_reads() {
    for dialect in agents::ALL {
        for event in EventName::ALL {
            for (name, decision) in decisions(event) {
                let occasion = occasion(dialect, event, false);
                let said = answer(dialect, &occasion, Given::Decision(&decision), Failing::Open);
                let reads_plain = ["kiro", "kiro-ide", "kimi"].contains(&dialect.name);
                let is_object = serde_json::from_str::<serde_json::Map<_, _>>(&said.stdout).is_ok();
                assert!(
                    said.stdout.is_empty() || is_object || reads_plain,
                    "{} {event} {name}: {said:?}",
                    dialect.name
                );
                assert!(said.status == 0 || (said.status == 2 && !said.stderr.is_empty()), "{said:?}");
            }
        }
    }
}

/// A deny with a reason longer than the agent reads is still a deny, whole and short enough.
#[test]
fn a_long_reason_never_costs_the_deny() {
    for dialect in agents::ALL {
        for filler in ["\"\\x", "é\u{1}"] {
            let count = dialect.longest / filler.len() + 1;
            let mut decision = Decision::neutral(EventName::PreToolUse);
            if let Body::PreTool { permission, context } = &mut decision.body {
                permission.behavior = Behavior::Deny;
                permission.reason = Some(format!("{REASON}{}", filler.repeat(count)));
                context.push(filler.repeat(count));
            }
            let occasion = occasion(dialect, EventName::PreToolUse, false);
            let said = answer(dialect, &occasion, Given::Decision(&decision), Failing::Open);
            let words = if said.status == 2 { &said.stderr } else { &said.stdout };
            assert!(words.contains(REASON), "{}", dialect.name);
            assert!(words.len() <= dialect.longest, "{}: {} bytes", dialect.name, words.len());
            assert!(
                said.status == 2 || (words.contains("deny") || words.contains("block")),
                "{}",
                dialect.name
            );
            let is_json = serde_json::from_str::<serde_json::Map<_, _>>(words).is_ok();
            assert!(said.status == 2 || is_json, "{}: cut JSON", dialect.name);
        }
    }
}

/// Of a rewritten input that is too long to be read, nothing is better than a part: the tool is not called.
#[test]
fn an_input_too_long_to_be_read_denies() {
    let claude = dialect("claude-code");
    let mut decision = Decision::neutral(EventName::PreToolUse);
    let input = format!(r#"{{"command":"{}"}}"#, "x".repeat(2 * claude.longest));
    decision.accepted.insert("updated_input".to_owned(), RawJson::new(input).unwrap());
    let occasion = occasion(claude, EventName::PreToolUse, false);
    let said = answer(claude, &occasion, Given::Decision(&decision), Failing::Open);
    let expected = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"the rewritten input is longer than this agent reads"}}"#;
    assert_eq!(said.stdout, expected);
}

/// A rewritten input goes back under the names of the agent's own tool.
#[test]
fn a_rewritten_input_goes_back_in_the_agents_names() {
    let table = [
        (
            "copilot-cli",
            "Write",
            r#"{"file_path":"/a","content":"x"}"#,
            r#""modifiedArgs":{"path":"/a","file_text":"x"}"#,
        ),
        (
            "vscode",
            "create_file",
            r#"{"file_path":"/a","n":1.50}"#,
            r#""updatedInput":{"filePath":"/a","n":1.50}"#,
        ),
        ("gemini-cli", "list_directory", r#"{"path":"/a"}"#, r#""tool_input":{"dir_path":"/a"}"#),
        ("cursor", "Shell", r#"{"command":"ls"}"#, r#""updated_input":{"command":"ls"}"#),
    ];
    for (name, tool, input, expected) in table {
        let dialect = dialect(name);
        let own = dialect.own_event(EventName::PreToolUse);
        let stdin = format!(r#"{{"hook_event_name":"{own}","tool_name":"{tool}","tool_input":{{}}}}"#);
        let around = Surroundings { event: None, variable: &|_| None, folder: "/", now: 0, mode: None };
        let request = read(dialect, stdin.as_bytes(), &around).unwrap();
        let mut decision = Decision::neutral(EventName::PreToolUse);
        decision.accepted.insert("updated_input".to_owned(), RawJson::new(input.to_owned()).unwrap());
        let said = answer(dialect, &Occasion::from(&request), Given::Decision(&decision), Failing::Open);
        assert!(said.stdout.contains(expected), "{name}: {}", said.stdout);
    }
}

/// Without an event, closed is what every agent takes for a block, and open is silence.
#[test]
fn what_cannot_be_read_is_answered_as_declared() {
    for dialect in agents::ALL {
        let around = Surroundings { event: None, variable: &|_| None, folder: "/", now: 0, mode: None };
        let trouble = read(dialect, b"", &around).unwrap_err();
        let said = |failing| answer(dialect, &Occasion::from(&trouble), Given::Failure("x"), failing);
        let (open, closed) = (said(Failing::Open), said(Failing::Closed));
        let expected = if ["gemini-cli", "qwen-code", "cursor"].contains(&dialect.name) { "{}" } else { "" };
        assert_eq!((open.status, open.stdout.as_str()), (0, expected), "{}", dialect.name);
        assert_eq!((closed.status, closed.stdout.as_str()), (2, ""), "{}", dialect.name);
        assert!(!closed.stderr.is_empty());
    }
}
