//! One process, one line each.

use std::time::Duration;

use hooksd_tests::harness::{decision, deny, events, processes as system, until, world};
use nix::sys::signal::Signal;
use serde_json::json;

use crate::{SPEAKER, close, document, process, processes, speaker, telling, warm};

#[test]
fn d9_a_persistent_process_answers_one_event_after_the_other() {
    world(async |world| {
        let mut agent = world.agent_of(&speaker()).await;
        let first = agent.invoke(&events::session_start()).await;
        assert_eq!(warm(&first), [false]);
        for _ in 0..3 {
            let next = agent.invoke(&events::session_start()).await;
            assert_eq!((process(&next), warm(&next)), (process(&first), vec![true]));
            assert_eq!(next.handlers(), ["SessionStart:0:0 ok exit 0"]);
        }
        assert_eq!(processes(&mut agent).await, 1);
        close(world, agent).await;
    });
}

#[test]
fn d9_a_persistent_process_knows_what_it_is_and_runs_in_the_project() {
    world(async |world| {
        let command = r#"while read -r line; do printf '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"%s"}}\n' "$HOOKSD_LIFECYCLE,$HOOKSD_SESSION,$HOOKSD_INVOCATION,$HOOKSD_DEPTH,$(pwd)"; done"#;
        world.user(&document(command, json!({ "lifecycle": "persistent" })));
        for folder in ["project/.git", "project/sub"] {
            std::fs::create_dir_all(world.at(folder)).unwrap();
        }
        let mut agent = world.agent_with(json!({ "cwd": world.text_at("project/sub") })).await;
        let answer = agent.invoke(&events::session_start()).await;
        assert_eq!(process(&answer), format!("persistent,,,1,{}", world.text_at("project")));
        close(world, agent).await;
    });
}

#[test]
fn a_crash_in_the_middle_is_this_events_outcome_and_the_next_has_a_new_process() {
    world(async |world| {
        let mut agent = world.agent_of(&speaker()).await;
        let before = process(&agent.invoke(&events::session_start()).await);
        let crashed = agent.invoke(&telling("do-die")).await;
        assert_eq!(crashed.handlers(), ["SessionStart:0:0 failed signal 9"]);
        assert_eq!(
            crashed.decision(),
            decision("SessionStart", json!({ "diagnostics": ["nonzero_exit SessionStart:0:0"] }))
        );
        let after = agent.invoke(&events::session_start()).await;
        assert_ne!(process(&after), before);
        assert_eq!(warm(&after), [false]);
        close(world, agent).await;
    });
}

#[test]
fn d9_exit_2_blocks_as_per_event() {
    world(async |world| {
        let handler = json!({ "type": "command", "command": SPEAKER, "lifecycle": "persistent" });
        let mut agent = world.agent_of(&events::hooks("PreToolUse", json!([handler]))).await;
        let command = json!({ "command": "do-exit-2" });
        for _ in 0..8 {
            let answer = agent.invoke(&events::tool("PreToolUse", "execute", command.clone())).await;
            assert_eq!(answer.decision(), decision("PreToolUse", json!({ "permission": deny("not that") })));
        }
        close(world, agent).await;
    });
}

#[test]
fn a_killed_worker_costs_no_event() {
    world(async |world| {
        let mut agent = world.agent_of(&speaker()).await;
        for _ in 0..3 {
            let pid = process(&agent.invoke(&events::session_start()).await);
            system::signal(pid.parse().unwrap(), Signal::SIGKILL);
            let cmdline = format!("/proc/{pid}/cmdline");
            until("it is dead", || system::read(&cmdline).is_empty()).await;
            let next = agent.invoke(&events::session_start()).await;
            assert_ne!(process(&next), pid);
            assert_eq!(next.decision()["diagnostics"], json!([]));
        }
        close(world, agent).await;
    });
}

#[test]
fn two_lines_for_one_payload_never_reach_another_event() {
    world(async |world| {
        let mut agent = world.agent_of(&speaker()).await;
        let first = process(&agent.invoke(&events::session_start()).await);
        let twice = agent.invoke(&telling("do-twice")).await;
        let next = agent.invoke(&events::session_start()).await;
        // Wherever the second line was found, it is said, and the process is not used again.
        let said = [&twice, &next].map(|answer| answer.decision()["diagnostics"].clone());
        let remark = json!(["out_of_step SessionStart:0:0 lifecycle"]);
        assert!(said.contains(&remark), "{said:?}");
        assert_ne!(process(&next), first);
        close(world, agent).await;
    });
}

#[test]
fn an_answer_after_the_timeout_reaches_nobody() {
    world(async |world| {
        let command = r#"while read -r line; do case $line in *do-slow*) sleep 1;; esac; echo "{\"systemMessage\":\"$$\"}"; done"#;
        let keys = json!({ "lifecycle": "persistent", "timeout": 0.4 });
        let mut agent = world.agent_of(&document(command, keys)).await;
        let notices = |answer: &hooksd_tests::harness::Answer| answer.decision()["user_notices"].clone();
        let first = notices(&agent.invoke(&events::session_start()).await);
        let late = agent.invoke(&telling("do-slow")).await;
        assert_eq!(
            late.decision(),
            decision("SessionStart", json!({ "diagnostics": ["timeout SessionStart:0:0"] }))
        );
        assert!(late.message("timeout").contains("prints one line for each line it reads"));
        tokio::time::sleep(Duration::from_millis(100)).await;
        let next = agent.invoke(&events::session_start()).await;
        assert_ne!(notices(&next), first);
        assert_eq!((next.decision()["diagnostics"].clone(), warm(&next)), (json!([]), vec![false]));
        close(world, agent).await;
    });
}

#[test]
fn a_handler_that_cannot_be_persistent_runs_per_event_and_says_so() {
    world(async |world| {
        // Needs the end of its input, which a persistent process does not get.
        let command = "test -n \"$HOOKSD_LIFECYCLE\" && exit 1; cat >/dev/null; echo per event";
        let mut agent = world.agent_of(&document(command, json!({ "lifecycle": "persistent" }))).await;
        let mut failures = 0;
        let fell = loop {
            let answer = agent.invoke(&events::session_start()).await;
            failures += usize::from(answer.handlers() == ["SessionStart:0:0 failed exit 1"]);
            if answer.diagnostics().iter().any(|diagnostic| diagnostic["code"] == "lifecycle_fallback") {
                break answer;
            }
        };
        assert_eq!(failures, 5);
        assert_eq!(fell.handlers(), ["SessionStart:0:0 failed exit 1"]);
        let after = agent.invoke(&events::session_start()).await;
        assert_eq!((after.context(), warm(&after)), (vec!["per event".to_owned()], vec![false]));
        assert!(after.message("lifecycle_fallback").contains("per event"));
        close(world, agent).await;
    });
}

#[test]
fn events_at_once_use_as_many_workers_as_are_allowed() {
    world(async |world| {
        let command = r#"while read -r line; do sleep 0.1; echo "{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\",\"additionalContext\":\"$$\"}}"; done"#;
        let mut agent =
            world.agent_of(&document(command, json!({ "lifecycle": "persistent", "workers": 2 }))).await;
        let mut ids = Vec::new();
        for _ in 0..6 {
            ids.push(agent.start(&events::session_start()).await);
        }
        let mut pids = Vec::new();
        for id in ids {
            pids.push(process(&agent.answer(id).await));
        }
        pids.sort();
        pids.dedup();
        assert_eq!((pids.len(), processes(&mut agent).await), (2, 2));
        close(world, agent).await;
    });
}
