//! `hooksctl hook` as a process, called the way agents call it, against a real daemon or none.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use hooksd_dialects::agents;
use hooksd_tests::harness::program::{self, Done};
use hooksd_tests::harness::{World, daemon, events, world};
use serde_json::{Value, json};

use crate::ctl::ctl_with;

/// Runs the bridge for an agent.
pub(crate) async fn hook(world: &World, agent: &str, more: &[&str], stdin: &str) -> Done {
    let mut command = world.ctl(&[&["hook", "--agent", agent], more].concat());
    // Where there is no daemon, none is wanted.
    command.env("HOOKSD_AUTOSTART", "0");
    program::run_with(command, stdin).await
}

/// The shell command as this agent's payload of a gate, as it calls its hook.
pub(crate) fn gate(world: &World, agent: &str, command: &str) -> String {
    let (cwd, id) = (world.text_at("project"), format!("call-{}", command.len()));
    let shell = agents::ALL.into_iter().find(|dialect| dialect.name == agent).unwrap();
    let tool = shell.tools.iter().find(|tool| tool.1 == "Bash").map_or("Bash", |tool| tool.0);
    let event = match agent {
        "copilot-cli" | "kiro-ide" => "PreToolUse",
        _ => shell.own_event(hooksd_protocol::event::EventName::PreToolUse),
    };
    let payload = match agent {
        "goose" => {
            json!({ "event": event, "session_id": "s", "working_dir": cwd, "tool_name": tool,
                "tool_input": { "command": command }, "tool_call_id": id })
        }
        "cursor" => {
            json!({ "conversation_id": "s", "generation_id": "g", "cursor_version": "2", "hook_event_name": event,
                "workspace_roots": [cwd], "cwd": cwd, "tool_name": tool,
                "tool_input": { "command": command, "working_directory": cwd }, "tool_use_id": id })
        }
        _ => {
            json!({ "hook_event_name": event, "session_id": "s", "cwd": cwd, "tool_name": tool,
                "tool_input": { "command": command }, "tool_use_id": id })
        }
    };
    payload.to_string()
}

const GUARD: &str = "if grep -q 'rm -rf /'; then echo 'not the file system' >&2; exit 2; fi";

/// One guard of one hooks.json denies in every agent's words, and has no objection in every agent's words.
#[test]
fn one_guard_denies_for_every_agent() {
    daemon(async |world| {
        world.user(&json!({ "hooks": { "PreToolUse": [
            { "matcher": "Bash", "hooks": [{ "type": "command", "command": GUARD }] },
        ]}}));
        for dialect in agents::ALL {
            let name = dialect.name;
            let denied = hook(world, name, &[], &gate(world, name, "rm -rf / --no-preserve-root")).await;
            let reason = "not the file system";
            match name {
                "kiro" | "kiro-ide" | "kimi" => {
                    assert_eq!((denied.status, denied.stdout.as_str()), (Some(2), ""), "{name}");
                    assert_eq!(denied.stderr, reason, "{name}");
                }
                _ => {
                    assert_eq!(denied.status, Some(0), "{name}: {denied:?}");
                    let said: Value = serde_json::from_str(&denied.stdout).unwrap();
                    let specific = &said["hookSpecificOutput"];
                    let verdicts = [
                        &said["decision"],
                        &said["permission"],
                        &said["permissionDecision"],
                        &specific["permissionDecision"],
                    ];
                    let denies =
                        |verdict: &&&Value| ["deny", "block"].contains(&verdict.as_str().unwrap_or_default());
                    assert_eq!(verdicts.iter().filter(denies).count(), 1, "{name}: {said}");
                    assert!(denied.stdout.contains(reason), "{name}: {said}");
                }
            }
            let fine = hook(world, name, &[], &gate(world, name, "ls")).await;
            let neutral = if ["gemini-cli", "qwen-code", "cursor"].contains(&name) { "{}" } else { "" };
            assert_eq!(
                (fine.status, fine.stdout.as_str(), fine.stderr.as_str()),
                (Some(0), neutral, ""),
                "{name}"
            );
        }
    });
}

/// Handlers run in the agent's environment and folder, one level deeper; the payload is in the handlers' terms.
#[test]
fn handlers_see_the_agents_environment_and_their_own_terms() {
    daemon(async |world| {
        world.user(&events::shell(
            "PreToolUse",
            "cat > $W/payload; echo \"$MINE $HOOKSD_DEPTH $PWD\" > $W/env",
        ));
        let environment = world.environment();
        let environment: Vec<(&str, &OsStr)> =
            environment.iter().map(|(name, value)| (name.as_str(), OsStr::new(value))).collect();
        let mut command = program::command("hooksctl", &environment);
        command.env("HOOKSD_SOCKET", world.socket()).env("MINE", "yes").env("HOOKSD_DEPTH", "1");
        command.args(["hook", "--agent", "gemini"]);
        let payload = gate(world, "gemini-cli", "ls");
        assert_eq!(program::run_with(command, &payload).await.stdout, "{}");
        let expected = payload.replace("BeforeTool", "PreToolUse").replace("run_shell_command", "Bash");
        assert_eq!(world.read("payload").unwrap(), expected);
        assert_eq!(world.read("env").unwrap(), format!("yes 2 {}\n", world.text_at("project")));
    });
}

/// Hooks that start agents that have hooks end, also when the agent reaches them through the bridge (D12).
#[test]
fn d12_the_bridge_carries_the_depth() {
    daemon(async |world| {
        world.user(&events::shell("PreToolUse", "echo x >> $W/runs"));
        for depth in ["0", "2", "3"] {
            let environment = world.environment();
            let environment: Vec<(&str, &OsStr)> =
                environment.iter().map(|(name, value)| (name.as_str(), OsStr::new(value))).collect();
            let mut command = program::command("hooksctl", &environment);
            command.env("HOOKSD_SOCKET", world.socket()).env("HOOKSD_DEPTH", depth);
            command.args(["hook", "--agent", "claude-code"]);
            program::run_with(command, &gate(world, "claude-code", &"x".repeat(depth.len() + 1))).await;
        }
        // Three deliveries, the first two of one call: the one at depth 3 runs nothing.
        assert_eq!(world.read("runs").unwrap().lines().count(), 1);
    });
}

/// Cursor fires two events for one command; handlers run once, and both get the answer.
#[test]
fn an_action_that_is_delivered_twice_runs_handlers_once() {
    daemon(async |world| {
        world.user(&events::shell("PreToolUse", "echo x >> $W/runs; echo no >&2; exit 2"));
        let first = gate(world, "cursor", "ls");
        let twin = json!({ "conversation_id": "s", "generation_id": "g", "cursor_version": "2",
            "hook_event_name": "beforeShellExecution", "workspace_roots": [world.text_at("project")],
            "cwd": world.text_at("project"), "command": "ls", "sandbox": false })
        .to_string();
        // They may straddle the end of the time in which they are one action, once.
        let mut runs = 0;
        for session in ["s", "t"] {
            let [first, twin] =
                [&first, &twin].map(|event| event.replace("\"s\"", &format!("\"{session}\"")));
            let deny = r#"{"permission":"deny","agent_message":"no","user_message":"no"}"#;
            assert_eq!(hook(world, "cursor", &[], &first).await.stdout, deny);
            assert_eq!(hook(world, "auto", &[], &twin).await.stdout, deny);
            let now = world.read("runs").unwrap().lines().count();
            if now - runs == 1 {
                return;
            }
            runs = now;
        }
        panic!("both events ran the handlers, twice");
    });
}

/// Persisted trust counts where a person is there, and nowhere else.
#[test]
fn trust_in_a_project_counts_where_a_person_is() {
    daemon(async |world| {
        world.project(&events::shell("PreToolUse", "echo no >&2; exit 2"));
        let folder = world.text_at("project");
        let config = world.text_at("config");
        let granted =
            ctl_with(world, &["trust", "grant", &folder, "--yes", "--config-dir", &config], "").await;
        assert_eq!(granted.status, Some(0), "{granted:?}");
        let payload = gate(world, "codex", "ls");
        assert_eq!(hook(world, "codex", &[], &payload).await.stdout, "");
        let attended = hook(world, "codex", &["--mode", "interactive"], &payload).await;
        assert!(attended.stdout.contains(r#""permissionDecision":"deny""#), "{attended:?}");
    });
}

/// A deny with a reason longer than the agent reads is a deny, and short enough.
#[test]
fn a_long_reason_is_cut_and_the_deny_survives() {
    daemon(async |world| {
        world.user(&events::shell("PreToolUse", "head -c 90000 /dev/zero | tr '\\0' '\"' >&2; exit 2"));
        let done = hook(world, "dcode", &[], &gate(world, "deepagents", "ls")).await;
        assert!(done.stdout.len() < 100_000, "{} bytes", done.stdout.len());
        let said: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny");
    });
}

/// Without a daemon, with broken or no input, with an event of tomorrow: what was declared, in the agent's words.
#[test]
fn whatever_goes_wrong_is_answered_as_declared() {
    world(async |world| {
        let gone = world.text_at("gone.sock");
        for dialect in agents::ALL {
            let name = dialect.name;
            let whole = gate(world, name, "ls");
            let half = &whole[..whole.len() / 2];
            let neutral = if ["gemini-cli", "qwen-code", "cursor"].contains(&name) { "{}" } else { "" };
            for stdin in ["", "{", "[]", "\u{0}", half, &whole] {
                let open = hook(world, name, &["--socket", &gone], stdin).await;
                assert_eq!((open.status, open.stdout.as_str()), (Some(0), neutral), "{name} {stdin:?}");
            }
            let closed = hook(world, name, &["--fail", "closed", "--socket", &gone], &whole).await;
            let words = if closed.status == Some(2) { &closed.stderr } else { &closed.stdout };
            assert!(words.contains("no daemon answers on"), "{name}: {closed:?}");
            let unread = hook(world, name, &["--fail", "closed", "--socket", &gone], "").await;
            assert_eq!((unread.status, unread.stdout.as_str()), (Some(2), ""), "{name}");
            let tomorrow = r#"{"hook_event_name":"Tomorrow","session_id":"s","cwd":"/"}"#;
            let known = hook(world, name, &["--fail", "closed"], tomorrow).await;
            assert_eq!((known.status, known.stdout.as_str(), known.stderr.as_str()), (Some(0), neutral, ""));
        }
    });
}

/// A daemon that accepts and never answers costs the deadline and no more.
#[test]
fn a_silent_daemon_costs_the_deadline() {
    world(async |world| {
        let silent = world.at("silent.sock");
        let listener = std::os::unix::net::UnixListener::bind(&silent).unwrap();
        let began = Instant::now();
        let more = ["--fail", "closed", "--deadline", "0.5", "--socket", silent.to_str().unwrap()];
        let done = hook(world, "claude", &more, &gate(world, "claude-code", "ls")).await;
        assert!(began.elapsed() >= Duration::from_millis(400), "it did not wait");
        assert!(done.stdout.contains(r#""permissionDecision":"deny""#), "{done:?}");
        assert!(done.stdout.contains("did not answer within"), "{done:?}");
        drop(listener);
    });
}

/// A handler that is late is cut before the agent's patience ends, and what the others said still counts.
#[test]
fn a_late_handler_does_not_cost_the_others_deny() {
    daemon(async |world| {
        world.user(&json!({ "hooks": { "PreToolUse": [{ "hooks": [
            { "type": "command", "command": "sleep 60" },
            { "type": "command", "command": "echo no >&2; exit 2" },
        ]}]}}));
        let done = hook(world, "codex", &["--deadline", "2"], &gate(world, "codex", "ls")).await;
        assert!(done.stdout.contains(r#""permissionDecisionReason":"no""#), "{done:?}");
    });
}

/// An agent that never closes standard input is answered all the same.
#[test]
fn standard_input_that_is_never_closed_costs_a_short_wait() {
    daemon(async |world| {
        world.user(&events::shell("PreToolUse", "echo no >&2; exit 2"));
        for (whole, expected) in [(true, "\"deny\""), (false, "not closed")] {
            let mut command = program::command("hooksctl", &[]);
            command.env("HOOKSD_SOCKET", world.socket());
            command.args(["hook", "--agent", "codex", "--deadline", "1", "--fail", "closed"]);
            let payload = gate(world, "codex", "ls");
            let said = tokio::task::spawn_blocking(move || {
                let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
                let mut stdin = child.stdin.take().unwrap();
                stdin.write_all(&payload.as_bytes()[..payload.len() - usize::from(!whole)]).unwrap();
                let mut said = String::new();
                child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
                assert_eq!(child.wait().unwrap().code(), Some(0));
                drop(stdin);
                said
            });
            let said = said.await.unwrap();
            assert!(said.contains(expected), "{said}");
        }
    });
}

/// Standard input may be a socket, as some agents have it: it cannot be opened by name.
#[test]
fn standard_input_may_be_a_socket() {
    daemon(async |world| {
        world.user(&events::shell("PreToolUse", "echo no >&2; exit 2"));
        let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut command = program::command("hooksctl", &[]);
        command.env("HOOKSD_SOCKET", world.socket()).args(["hook", "--agent", "claude-code"]);
        command.stdin(std::os::fd::OwnedFd::from(theirs));
        let payload = gate(world, "claude-code", "ls");
        let done = tokio::task::spawn_blocking(move || {
            let child = command.spawn().unwrap();
            drop(command);
            ours.write_all(payload.as_bytes()).unwrap();
            drop(ours);
            Done::from(child.wait_with_output().unwrap())
        });
        assert!(done.await.unwrap().stdout.contains("\"deny\""));
    });
}

/// 8 MiB of payload reach the handler; what the daemon could not take is answered as declared.
#[test]
fn large_payloads_arrive_and_larger_ones_are_answered() {
    daemon(async |world| {
        world.user(&events::shell("PreToolUse", "wc -c >&2; exit 2"));
        let large = gate(world, "claude-code", &"x".repeat(8 * 1024 * 1024));
        let done = hook(world, "claude-code", &[], &large).await;
        assert!(done.stdout.contains(&large.len().to_string()), "{done:?}");
    });
}

/// The command line is wrong: nobody is blocked unless failures are closed, and a person is told what is right.
#[test]
fn a_wrong_command_line_says_what_is_right() {
    world(async |world| {
        for (arguments, status) in [
            (&["hook"][..], 1),
            (&["hook", "--agent", "emacs"], 1),
            (&["hook", "--agent", "emacs", "--fail", "closed"], 2),
            (&["hook", "--agent", "codex", "--deadline", "soon"], 1),
        ] {
            let done = ctl_with(world, arguments, "").await;
            assert_eq!((done.status, done.stdout.as_str()), (Some(status), ""), "{arguments:?}");
            assert!(done.stderr.contains("usage: hooksctl hook --agent NAME"), "{done:?}");
        }
        let help = ctl_with(world, &["hook", "--help"], "").await;
        assert!(help.status == Some(0) && help.stdout.contains("--agent <NAME>"), "{help:?}");
    });
}

/// A file that an agent and the daemon both read does not call itself (D15).
#[test]
fn d15_the_bridge_in_a_document_is_dropped() {
    daemon(async |world| {
        world.user(&json!({ "hooks": { "PreToolUse": [{ "hooks": [
            { "type": "command", "command": "hooksctl hook --agent dcode" },
            { "type": "command", "command": "/usr/local/bin/hooksctl --socket /s hook --agent claude --fail closed" },
            { "type": "command", "command": "true", "argv": ["/opt/hooksctl", "hook"] },
            { "type": "command", "command": "echo no >&2; exit 2" },
        ]}]}}));
        let done = hook(world, "dcode", &[], &gate(world, "deepagents", "ls")).await;
        assert!(done.stdout.contains(r#""permissionDecisionReason":"no""#), "{done:?}");
        let shown = ctl_with(world, &["--json", "show"], "").await;
        assert_eq!(shown.stdout.matches("self_reference").count(), 3, "{}", shown.stdout);
    });
}

/// What the agent behind a bridge cannot follow is kept with the decision.
#[test]
fn what_an_agent_cannot_follow_is_said_with_the_decision() {
    world(async |world| {
        let output = r#"{"systemMessage":"m","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#;
        world.write("out", output);
        let mut agent = world.agent_of(&events::shell("PreToolUse", "cat $W/out")).await;
        let behind = json!({ "agent": { "name": "codex", "cannot": ["ask", "allow", "context"] } });
        let answer = agent.invoke_with(&events::pre(), behind).await.unwrap();
        let diagnostics = answer.0["decision"]["diagnostics"].as_array().unwrap();
        let said: Vec<&Value> = diagnostics.iter().map(|diagnostic| &diagnostic["message"]).collect();
        assert_eq!(said, ["on PreToolUse, codex cannot ask the person, so it is told to deny"]);
        assert_eq!(diagnostics[0]["code"], "not_enforced");
    });
}
