//! `daemon/stats`: what is counted.

use hooksd_tests::harness::{events, eventually, world};
use serde_json::json;

use crate::refuses;

#[test]
fn events_and_handlers_are_counted_with_how_they_ended() {
    world(async |world| {
        world.user(&events::hooks(
            "PreToolUse",
            json!([
                { "type": "command", "command": "exit 2" },
                { "type": "command", "command": "sleep 10", "timeout": 0.05 },
            ]),
        ));
        let mut agent = world.agent().await;
        for _ in 0..3 {
            agent.invoke(&events::pre()).await;
        }
        agent.invoke(&events::prompt()).await;
        let (_line, _) = super::events_subscribe::observer(world, json!({})).await;
        // What was killed at its end has its place until it is gone.
        let stats = eventually("no handler runs", async || {
            let stats = agent.line.call("daemon/stats", json!({})).await.unwrap();
            (stats["running_handlers"] == 0).then_some(stats)
        })
        .await;
        let pre = &stats["events"]["PreToolUse"];
        assert_eq!((&pre["count"], &pre["outcomes"]), (&json!(3), &json!({ "deny": 3 })), "{stats}");
        assert_eq!(stats["events"]["UserPromptSubmit"]["outcomes"], json!({ "none": 1 }));
        assert_eq!(stats["events"].as_object().unwrap().len(), 2);
        let [p50, p95, p99, max] =
            ["p50_us", "p95_us", "p99_us", "max_us"].map(|name| pre[name].as_u64().unwrap());
        assert!(50_000 <= p50 && p50 <= p95 && p95 <= p99 && p99 <= max, "{pre}");
        let handlers: Vec<_> = stats["handlers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|handler| (handler["id"].as_str().unwrap(), &handler["latency"]["outcomes"]))
            .collect();
        let (blocked, timeout) = (json!({ "blocked": 3 }), json!({ "timeout": 3 }));
        assert_eq!(handlers, [("PreToolUse:0:0", &blocked), ("PreToolUse:0:1", &timeout)]);
        for (name, value) in [
            ("sessions", 1),
            ("snapshots", 1),
            ("subscribers", 1),
            ("connections", 2),
            ("connections_refused", 0),
            ("items_lost", 0),
            ("running_handlers", 0),
            ("unfinished_line_bytes", 0),
        ] {
            assert_eq!(stats[name], value, "{name}");
        }
        if cfg!(target_os = "linux") {
            assert!(stats["descriptors"].as_u64().unwrap() > 3, "{stats}");
            assert!(stats["resident_bytes"].as_u64().unwrap() > 1 << 20, "{stats}");
        }
    });
}

#[test]
fn refuses_params() {
    world(async |world| {
        let mut line = world.connect().await;
        refuses(&mut line, "daemon/stats", &[(json!({ "zzz": 1 }), "zzz")]).await;
    });
}
