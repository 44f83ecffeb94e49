//! What cannot be provoked from outside, in programs that are built with the feature `failpoints`: the kernel refuses a
//! fork, a write is cut between its bytes and its name, watching breaks, the daemon panics.

use hooksd_tests::harness::program;

/// Places that fail where they are told to.
const POINTS: [&str; 6] = ["trust_rename", "spawn", "watch", "handler", "event", "session_list"];

/// A name that only the crate which makes places fail has.
const CRATE: &[u8] = b"FAILPOINTS";

/// Without the feature there is nothing of it in the program.
#[test]
fn only_a_build_that_asks_for_them_has_failpoints() {
    let program = std::fs::read(program::path("hooksd")).unwrap();
    let found = program.windows(CRATE.len()).any(|bytes| bytes == CRATE);
    assert_eq!(found, cfg!(feature = "failpoints"), "{POINTS:?}");
}

#[cfg(feature = "failpoints")]
mod on {
    use std::fs;

    use hooksd_config::contents::fingerprint;
    use hooksd_config::trust::Store;
    use hooksd_tests::harness::{Setup, World, error_of, events, eventually, until, world_with};
    use serde_json::{Value, json};

    use crate::after::{all_denied, begin, sound};
    use crate::guard_and;

    fn failing(points: &str, test: impl AsyncFnOnce(&World)) {
        let environment = vec![("FAILPOINTS".to_owned(), points.to_owned())];
        world_with(Setup { program: true, environment, ..Setup::default() }, test);
    }

    /// The daemon has panicked as often as it should, and is asked about no more.
    fn panicked(world: &World, times: usize) {
        let log = world.read("daemon.log").unwrap();
        assert_eq!(log.matches(" panicked at ").count(), times, "{log}");
        // The daemon appends to it.
        fs::write(world.at("daemon.log"), "").unwrap();
    }

    /// The params that trust the project.
    fn request(world: &World) -> Value {
        let document = events::shell("Stop", "true");
        world.project(&document);
        let fingerprint = fingerprint(document.to_string().as_bytes());
        json!({ "cwd": world.text_at("project"), "fingerprint": fingerprint })
    }

    /// The kernel has no process to give, five times: handlers wait.
    #[test]
    fn a_fork_that_fails_delays_a_verdict_and_loses_none() {
        failing("spawn=5*return", async |world| {
            world.user(&guard_and(&["true"]));
            let mut agent = world.agent().await;
            let ids = begin(&mut agent, 3).await;
            all_denied(&mut agent, ids).await;
            sound(world).await;
        });
    }

    /// The bytes are written and their name is not: the store is the old one, and nothing of the new one is left.
    #[test]
    fn a_trust_store_that_is_not_renamed_is_the_old_one() {
        failing("trust_rename=1*return", async |world| {
            world.user(&guard_and(&[]));
            let error = world.connect().await.call("trust/grant", request(world)).await.unwrap_err();
            assert!(error["message"].as_str().unwrap().contains("failpoint; nothing was changed"), "{error}");
            assert_eq!(Store::read(&world.at("config")), Store::Absent);
            let left = fs::read_dir(world.at("config/.state")).unwrap().flatten();
            let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
            assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".tmp")), "{left:?}");
            world.connect().await.call("trust/grant", request(world)).await.unwrap();
            sound(world).await;
        });
    }

    /// The daemon is killed in that moment: its lock goes with it, and other programs go on.
    #[test]
    fn a_daemon_killed_while_it_writes_trust_leaves_the_old_store_and_no_lock() {
        failing("trust_rename=1*sleep(60000)", async |world| {
            world.user(&guard_and(&[]));
            let mut line = world.connect().await;
            line.request("trust/grant", &request(world)).await;
            until("the bytes are written", || {
                let mut entries = fs::read_dir(world.at("config/.state")).into_iter().flatten().flatten();
                entries.any(|entry| entry.file_name().to_string_lossy().ends_with(".tmp"))
            })
            .await;
            world.kill().await;
            assert_eq!(line.next_line().await, None);
            assert_eq!(Store::read(&world.at("config")), Store::Absent);
            let root = world.at("project");
            hooksd_config::trust::write::grant(&world.at("config"), &root, None).unwrap();
            world.start().await;
            sound(world).await;
        });
    }

    /// B63 for a cause that nobody has thought of.
    #[test]
    fn without_a_watcher_edits_are_found_by_looking() {
        failing("watch=return", async |world| {
            world.user(&guard_and(&[]));
            let mut agent = world.agent_with(json!({ "follow": true })).await;
            eventually("it looks", async || {
                let status = agent.line.call("daemon/status", json!({})).await.unwrap();
                (status["changes"] == "polling every second: failpoint").then_some(())
            })
            .await;
            world.user(&events::shell("PreToolUse", "echo edited >&2; exit 2"));
            eventually("the edit is served", async || {
                (agent.invoke(&events::pre()).await.reason() == "edited").then_some(())
            })
            .await;
            sound(world).await;
        });
    }

    /// It costs that handler, which has failed then: one that must not fail blocks.
    #[test]
    fn a_panic_within_a_handlers_run_is_a_failure_of_that_handler() {
        failing("handler=1*panic", async |world| {
            let guard = json!({ "type": "command", "command": "exit 0", "onFailure": "block" });
            world.user(&events::hooks("PreToolUse", json!([guard, guard])));
            let mut agent = world.agent().await;
            let answer = agent.invoke(&events::pre()).await;
            let codes: Vec<&Value> =
                answer.diagnostics().iter().map(|diagnostic| &diagnostic["code"]).collect();
            assert_eq!(answer.behavior(), "deny");
            assert_eq!(codes, ["launch_failed", "failure_blocked"]);
            assert_eq!(agent.invoke(&events::pre()).await.behavior(), "none");
            panicked(world, 1);
            world.user(&guard_and(&[]));
            sound(world).await;
        });
    }

    /// It costs that delivery: the same one again is a new event, and nobody waits for the lost one.
    #[test]
    fn a_panic_within_an_event_costs_that_delivery() {
        failing("event=1*panic", async |world| {
            world.user(&guard_and(&[]));
            let mut agent = world.agent().await;
            let id = json!({ "invocation_id": "3f2504e0-4f89-41d3-9a0c-0305e82c3301" });
            let params = agent.params_with(&events::pre(), id);
            let lost = agent.line.call("hook/invoke", params.clone()).await;
            assert_eq!(error_of(lost, "a lost event").0, -32603);
            let again = agent.line.call("hook/invoke", params).await.unwrap();
            assert_eq!(again["decision"]["permission"]["behavior"], "deny");
            panicked(world, 1);
            sound(world).await;
        });
    }

    /// It costs that request, also before it is known which one it is: its neighbours on the connection are answered.
    #[test]
    fn a_panic_while_a_request_is_read_costs_that_request() {
        failing("session_list=1*panic", async |world| {
            world.user(&guard_and(&["sleep 0.2"]));
            let mut agent = world.agent().await;
            let ids = begin(&mut agent, 1).await;
            let lost = agent.line.call("session/list", json!({})).await;
            assert_eq!(error_of(lost, "a lost request").0, -32603);
            all_denied(&mut agent, ids).await;
            panicked(world, 1);
            sound(world).await;
        });
    }
}
