//! `hooksctl invoke`: an event from a file or standard input, in any of its three forms.

use hooksd_tests::harness::program::Done;
use hooksd_tests::harness::{World, decision, events, eventually, world};
use serde_json::{Value, json};

use crate::ctl::{ctl, ctl_json, ctl_with};

fn reported(world: &World, lines: &[&str]) -> Done {
    let text: String =
        lines.iter().map(|line| format!("{}\n", line.replace("$C", &world.text_at("config")))).collect();
    Done { status: Some(0), stdout: text, stderr: String::new() }
}

/// The output with every duration as `N ms`.
fn timeless(done: Done) -> Done {
    let words: Vec<&str> = done.stdout.split(' ').collect();
    let mut out = String::new();
    for (index, word) in words.iter().enumerate() {
        let is_time = words.get(index + 1).is_some_and(|next| next.starts_with("ms,"));
        out.push_str(if is_time { "N" } else { word });
        if index + 1 < words.len() {
            out.push(' ');
        }
    }
    Done { stdout: out, ..done }
}

#[test]
fn prints_the_decision_for_people() {
    world(async |world| {
        world.user(&json!({ "hooks": {
            "PreToolUse": [{ "hooks": [
                { "type": "command", "command": "echo 'not today' >&2; exit 2" },
                { "type": "command", "command": "exit 1" },
                { "type": "command", "command": "kill -9 $$" },
                { "type": "command", "command": "true", "argv": ["/nonexistent/x"] },
                { "type": "command", "command": "echo one >&2; echo 'the fault' >&2; exit 126" },
                { "type": "command", "command": "echo bad >&2; exit 1", "onFailure": "block" },
            ]}],
            "UserPromptSubmit": [{ "hooks": [{ "type": "command", "command": "echo one; echo two" }, {
                "type": "command", "command": "echo '{\"continue\":false,\"stopReason\":\"enough\",\"systemMessage\":\"n\"}'",
            }]}],
            "Stop": [{ "hooks": [{ "type": "command", "command": "echo more >&2; exit 2" }] }],
        }}));
        let done = timeless(ctl_with(world, &["invoke"], &events::pre().to_string()).await);
        let expected = reported(
            world,
            &[
                "PreToolUse: denied: not today",
                "  PreToolUse:0:0 blocked, exit 2, N ms, from $C/hooks.json",
                "  PreToolUse:0:1 failed, exit 1, N ms, from $C/hooks.json",
                "  PreToolUse:0:2 failed, signal 9, N ms, from $C/hooks.json",
                "  PreToolUse:0:3 failed, N ms, from $C/hooks.json",
                "  PreToolUse:0:4 failed, exit 126, N ms, from $C/hooks.json",
                "  PreToolUse:0:5 blocked, exit 1, N ms, from $C/hooks.json",
                "warning[nonzero_exit] PreToolUse:0:1: exited with status 1 (1 does not block; 2 does)",
                "warning[nonzero_exit] PreToolUse:0:2: was killed by signal 9 (KILL)",
                "warning[launch_failed] PreToolUse:0:3: could not be started: \"/nonexistent/x\" does not exist \
             (No such file or directory (os error 2)); correct the path",
                "warning[nonzero_exit] PreToolUse:0:4: exited with status 126 (not executable?): \"the fault\"",
                "warning[nonzero_exit] PreToolUse:0:5: exited with status 1: \"bad\"",
                "warning[failure_blocked] PreToolUse:0:5: PreToolUse:0:5 (\"echo bad >&2; exit 1\") failed and is set to block on failure: \
             exited with status 1: \"bad\"",
            ],
        );
        assert_eq!(done, expected);
        let done = timeless(ctl_with(world, &["invoke", "-"], &events::prompt().to_string()).await);
        let expected = reported(
            world,
            &[
                "UserPromptSubmit: done",
                "stop the agent: enough",
                "context: one",
                "    two",
                "notice: n",
                "  UserPromptSubmit:0:0 ok, exit 0, N ms, from $C/hooks.json",
                "  UserPromptSubmit:0:1 ok, exit 0, N ms, from $C/hooks.json",
            ],
        );
        assert_eq!(done, expected);
        let done = timeless(ctl_with(world, &["invoke"], &events::stop(0).to_string()).await);
        let lines = ["Stop: go on", "feedback: more", "  Stop:0:0 blocked, exit 2, N ms, from $C/hooks.json"];
        assert_eq!(done, reported(world, &lines));
        let done = ctl_with(world, &["invoke"], &events::session_start().to_string()).await;
        let (said, id) = done.stdout.split_once("`hooksctl explain ").unwrap();
        assert_eq!(said, "SessionStart: done\n  no handler ran on this event: ");
        let id = &id[..8];
        let config = world.text_at("config");
        let why = eventually("it is in the journal", async || {
            let why = ctl(world, &["explain", "--config-dir", &config, id]).await;
            (why.status == Some(0)).then_some(why)
        })
        .await;
        assert!(why.stdout.contains("no handler of SessionStart is in any document"), "{why:?}");
    });
}

/// The three forms of an event are the same event.
#[test]
fn reads_an_event_in_three_forms() {
    world(async |world| {
        world.user(&events::shell("PreToolUse", "cat > $W/stdin; exit 2"));
        let project = world.text_at("project");
        let context = json!({ "thread_id": "hooksctl", "cwd": project, "approval_mode": "manual" });
        let payload = json!({ "hook_event_name": "PreToolUse", "cwd": project, "tool_name": "Bash", "tool_input": { "command": "ls" } });
        for form in [events::pre(), json!({ "context": context, "event": events::pre() }), payload.clone()] {
            let file = world.write("event.json", form.to_string());
            let result = ctl_json(world, &["invoke", file.to_str().unwrap()]).await;
            let denied = hooksd_tests::harness::deny("Hook blocked the operation");
            assert_eq!(result["decision"], decision("PreToolUse", json!({ "permission": denied })));
            let stdin: Value = serde_json::from_str(&world.read("stdin").unwrap()).unwrap();
            assert_eq!(
                (&stdin["tool_name"], &stdin["tool_input"]),
                (&json!("Bash"), &json!({ "command": "ls" }))
            );
            assert_eq!(stdin["cwd"], project);
        }
        // A payload is passed on untouched.
        let odd = payload.to_string().replace("\"ls\"", "[1.0,123456789012345678901234567890,\"\\ud83d\"]");
        assert_eq!(ctl_with(world, &["invoke"], &odd).await.status, Some(0));
        assert_eq!(world.read("stdin").unwrap(), odd);
    });
}

/// Handlers run in the caller's environment and folder, as under an agent started there.
#[test]
fn handlers_run_as_the_caller_would() {
    world(async |world| {
        world.user(&events::shell("SessionStart", "pwd; echo $NAME"));
        let start = events::session_start().to_string();
        let result = ctl_with(world, &["--json", "invoke"], &start).await;
        let result: Value = serde_json::from_str(&result.stdout).unwrap();
        assert_eq!(result["decision"]["context"], json!([world.text_at("project")]));
        let home = world.text_at("home");
        let result = ctl_with(world, &["--json", "invoke", "--cwd", &home], &start).await;
        let result: Value = serde_json::from_str(&result.stdout).unwrap();
        assert_eq!(result["decision"]["context"], json!([home]));
    });
}

#[test]
fn trust_and_sessions_are_the_callers_choice() {
    world(async |world| {
        world.project(&events::shell("PreToolUse", "exit 2"));
        let mut agent = world.agent_with(json!({ "trust": "explicit" })).await;
        let fingerprint = agent.info["project"]["fingerprint"].as_str().unwrap().to_owned();
        let file = world.write("event.json", events::pre().to_string());
        let file = file.to_str().unwrap();
        let mut behaviors = Vec::new();
        for more in [
            &[][..],
            &["--trust", "explicit"],
            &["--trust", &fingerprint],
            &["--mode", "headless"],
            &["--mode", "headless", "--trust", "explicit"],
            &["--session", agent.session()],
        ] {
            let result = ctl_json(world, &[&["invoke", file], more].concat()).await;
            behaviors.push(result["decision"]["permission"]["behavior"].as_str().unwrap().to_owned());
        }
        assert_eq!(behaviors, ["none", "deny", "deny", "none", "deny", "deny"]);
        let done = ctl(world, &["invoke", file, "--trust", "0f"]).await;
        assert_eq!(done.status, Some(2), "{}", done.stderr);
        assert!(done.stderr.contains("trust.fingerprint"), "{}", done.stderr);
        // 4: the daemon refused.
        let done = ctl(world, &["invoke", file, "--session", "none"]).await;
        assert_eq!((done.status, done.stdout.as_str()), (Some(4), ""));
        assert!(done.stderr.starts_with("error: no session \"none\" is open"), "{}", done.stderr);
        agent.line.call("session/list", json!({})).await.unwrap();
    });
}

/// 2: an input that is no event, with the reason and, for a file, its name.
#[test]
fn an_input_that_is_no_event_is_exit_2() {
    world(async |world| {
        for (input, part) in [
            ("{bad", "cannot be read"),
            ("5", "expected {\"context\", \"event\"}"),
            ("{}", "expected {\"context\", \"event\"}"),
            (r#"{"event":"Nope"}"#, "event"),
            (r#"{"event":"PreToolUse"}"#, "call"),
            (r#"{"hook_event_name":"Stop","cwd":"here"}"#, "cwd"),
            (" ", "there is no event: give a file, or the event's JSON on standard input"),
        ] {
            let done = ctl_with(world, &["invoke"], input).await;
            assert_eq!((done.status, done.stdout.as_str()), (Some(2), ""), "{input}: {done:?}");
            assert!(
                done.stderr.starts_with("error: ") && done.stderr.contains(part),
                "{input}: {}",
                done.stderr
            );
        }
        for name in ["gone.json", "project"] {
            let path = world.text_at(name);
            let done = ctl(world, &["invoke", &path]).await;
            assert_eq!(done.status, Some(2));
            assert_eq!(done.stderr, format!("error: {path} is not there, or is not a regular file\n"));
        }
        // A wrong event is told before a missing daemon.
        assert_eq!(
            ctl_with(world, &["--socket", "/dev/null/nowhere", "invoke"], "{bad").await.status,
            Some(2)
        );
        assert_eq!(
            ctl_with(world, &["--socket", "/dev/null/nowhere", "invoke"], &events::pre().to_string())
                .await
                .status,
            Some(3)
        );
    });
}

/// The caller's patience is the caller's: it ends with 4, and the event with it.
#[test]
fn giving_up_ends_the_event() {
    world(async |world| {
        world.user(&events::shell("PreToolUse", "sleep 30"));
        let done = ctl_with(world, &["invoke", "--timeout", "1"], &events::pre().to_string()).await;
        assert_eq!((done.status, done.stdout.as_str()), (Some(4), ""));
        assert_eq!(done.stderr, "error: the daemon did not answer within 1s\n");
        world.nothing_runs().await;
        // No patience at all is a mistake, and any amount of it is none.
        let none = ctl(world, &["invoke", "--timeout", "0"]).await;
        assert_eq!((none.status, none.stdout.as_str()), (Some(2), ""), "{}", none.stderr);
        let endless = u64::MAX.to_string();
        let done = ctl_with(world, &["invoke", "--timeout", &endless], &events::stop(0).to_string()).await;
        assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
    });
}
