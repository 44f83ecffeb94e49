//! One session takes what all of them need.

use hooksd_tests::harness::{Line, alone, events, processes, until};
use serde_json::{Value, json};

/// The length of a request. Bytes.
const LARGE: usize = 15 * 1024 * 1024;

/// So many of them at once, of which four fit.
const REQUESTS: usize = 6;

/// What the daemon may have at most. Bytes. Reading one takes some times its length for a moment. Without the bound, the
/// thousand requests that a connection may have are 16 GiB.
const MEMORY_MOST: usize = 384 * 1024 * 1024;

/// What the requests of a connection hold is bounded: one more is refused with a time to retry, small ones and those of
/// others are not.
#[test]
fn requests_in_flight_hold_a_bounded_part_of_memory() {
    alone(async |world| {
        let wait = ": >$W/begun; while [ ! -e $W/go ]; do sleep 0.05; done; exit 2";
        world.user(&json!({ "hooks": {
            "PreToolUse": events::shell("PreToolUse", wait)["hooks"]["PreToolUse"],
            "Stop": events::shell("Stop", "echo again >&2; exit 2")["hooks"]["Stop"],
        } }));
        let mut hostile = world.agent().await;
        let large = events::tool("PreToolUse", "execute", json!({ "command": "x".repeat(LARGE) }));
        let mut ids = Vec::new();
        for _ in 0..REQUESTS {
            ids.push(hostile.start(&large).await);
        }
        // All of them have been read when this is answered, as it is: it is small.
        let small = hostile.invoke(&events::stop(0)).await;
        assert_eq!(small.0["decision"]["continue_loop"], true);
        let peak = processes::peak(world.pid());
        println!("{REQUESTS} requests of {} MiB at once: at most {} MiB", LARGE >> 20, peak >> 20);
        assert!(peak < MEMORY_MOST, "{peak}");
        // Others have room for theirs.
        let mut other = world.agent().await;
        let others = other.start(&large).await;
        world.write("go", "");
        assert_eq!(other.answer(others).await.behavior(), "deny");
        let (mut answered, mut refused) = (0, 0);
        for id in ids {
            match hostile.line.answer(id).await {
                Ok(result) => {
                    assert_eq!(result["decision"]["permission"]["behavior"], "deny");
                    answered += 1;
                }
                Err(error) => {
                    assert_eq!(
                        (&error["code"], &error["data"]["retry_after_ms"]),
                        (&json!(-32005), &json!(200))
                    );
                    refused += 1;
                }
            }
        }
        assert_eq!((answered, refused), (4, REQUESTS - 4));
        // The room is given back.
        assert_eq!(hostile.invoke(&large).await.behavior(), "deny");
    });
}

/// How many of them fit into what all connections may hold.
const MOST_TOGETHER: usize = 17;

/// What outlives its client keeps its room as well: a connection that ends does not give back what still runs.
#[test]
#[ignore = "takes a minute without optimisation"]
fn what_outlives_its_client_holds_on_to_its_room() {
    alone(async |world| {
        let wait = ": >$W/begun-$$; while [ ! -e $W/go ]; do sleep 0.05; done";
        world.user(&events::shell("SessionEnd", wait));
        let context = world.agent().await;
        let payload = json!({ "hook_event_name": "SessionEnd", "session_id": "t", "cwd": world.text_at("project"),
            "reason": "x".repeat(LARGE) });
        let params = json!({ "session": context.session(), "payload": payload });
        let begun = || {
            let entries = std::fs::read_dir(world.at("")).unwrap().flatten();
            entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("begun-")).count()
        };
        let mut refused = 0;
        for number in 1..=MOST_TOGETHER + 1 {
            let mut line = world.connect().await;
            let id = line.request("hook/invoke", &params).await;
            if number <= MOST_TOGETHER {
                until("its handler runs", || begun() == number).await;
            } else {
                assert_eq!(line.answer(id).await.unwrap_err()["code"], -32005);
                refused += 1;
            }
        }
        assert_eq!((begun(), refused), (MOST_TOGETHER, 1));
        world.write("go", "");
    });
}

/// What a session says of itself is bounded as well, before anything is kept of it.
#[test]
fn a_session_with_endless_claims_is_refused() {
    hooksd_tests::harness::daemon(async |world| {
        world.user(&events::shell("PreToolUse", "exit 2"));
        let mut line: Line = world.connect().await;
        let mut params = world.open_params();
        let many: serde_json::Map<String, Value> =
            (0..200_000).map(|number| (format!("V{number}"), json!("x"))).collect();
        params["env"] = Value::Object(many);
        let (code, data) = line.refusal("session/open", params).await;
        assert_eq!((code, &data["field"]), (-32602, &json!("env")));
        let mut agent = world.agent().await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
    });
}
