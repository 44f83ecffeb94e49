//! Many events, large events.

use hooksd_tests::harness::{alone, events, processes, world};
use serde_json::json;

use crate::{close, document, process, speaker, warm};

/// Events in a row through one process.
const EVENTS: usize = 1_000;

/// How much either process may grow over them. Bytes. A leak of one payload each would be 400 KB.
const GROWTH: usize = 2 * 1024 * 1024;

#[test]
fn a_thousand_events_through_one_process_leak_nothing() {
    alone(async |world| {
        let mut agent = world.agent_of(&speaker()).await;
        let mut before = None;
        let mut pids = Vec::new();
        for event in 0..EVENTS + EVENTS / 2 {
            let answer = agent.invoke(&events::session_start()).await;
            pids.push(process(&answer));
            if event == EVENTS / 2 {
                before = Some(measure(world.pid(), &pids[0]));
            }
        }
        pids.dedup();
        assert_eq!(pids.len(), 1, "one process has answered all");
        let (descriptors, daemon, worker) = before.unwrap();
        let (descriptors_now, daemon_now, worker_now) = measure(world.pid(), &pids[0]);
        assert!(
            descriptors_now <= descriptors + processes::KEPT_BY_JOURNAL,
            "{descriptors} to {descriptors_now}"
        );
        assert!(daemon_now < daemon + GROWTH, "the daemon grew from {daemon} to {daemon_now}");
        assert!(worker_now < worker + GROWTH, "the worker grew from {worker} to {worker_now}");
        close(world, agent).await;
    });
}

/// Open descriptors of the daemon, and the memory of both.
fn measure(daemon: u32, worker: &str) -> (usize, usize, usize) {
    let worker = worker.parse().unwrap();
    (processes::descriptors(daemon), processes::resident(daemon), processes::resident(worker))
}

#[test]
fn eight_megabytes_reach_a_persistent_process_as_one_line() {
    world(async |world| {
        if !std::path::Path::new("/usr/bin/python3").exists() {
            println!("skipped: no /usr/bin/python3");
            return;
        }
        let script = "import json,sys\nfor line in sys.stdin:\n    size = len(json.loads(line)[\"prompt\"])\n    print(json.dumps({\"systemMessage\": str(size)}), flush=True)\n";
        let script = world.script("size.py", script, 0o644);
        let mut document =
            document(&format!("exec /usr/bin/python3 {script}"), json!({ "lifecycle": "persistent" }));
        document["hooks"]["UserPromptSubmit"] = document["hooks"]["SessionStart"].take();
        document["hooks"].as_object_mut().unwrap().remove("SessionStart");
        let mut agent = world.agent_of(&document).await;
        for (size, was_there) in [(8 * 1024 * 1024, false), (2, true), (8 * 1024 * 1024, true)] {
            let prompt = json!({ "event": "UserPromptSubmit", "prompt": "x".repeat(size) });
            let answer = agent.invoke(&prompt).await;
            assert_eq!(answer.decision()["user_notices"], json!([size.to_string()]));
            assert_eq!(warm(&answer), [was_there]);
        }
        close(world, agent).await;
    });
}

#[test]
fn a_worker_that_never_reads_times_out_as_per_event() {
    world(async |world| {
        let keys = json!({ "lifecycle": "persistent", "timeout": 0.3 });
        let mut agent = world.agent_of(&document("sleep 60", keys)).await;
        let big = json!({ "event": "SessionStart", "cause": "startup", "model": "x".repeat(1_000_000) });
        let answer = agent.invoke(&big).await;
        assert_eq!(answer.handlers(), ["SessionStart:0:0 timeout -"]);
        close(world, agent).await;
    });
}
