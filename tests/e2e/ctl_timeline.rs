//! `hooksctl timeline`: one event of the journal as bars.

use hooksd_tests::harness::{daemon, events};
use serde_json::{Value, json};

use crate::ctl::{ctl, ctl_json};

/// The handlers say when they ran themselves: the bars have to agree with that.
#[test]
fn timeline_shows_when_which_handler_ran() {
    daemon(async |world| {
        let mut agent = world
            .agent_of(&events::hooks(
                "PreToolUse",
                json!([
                    { "type": "command", "command": "exit 2" },
                    // It ends at once, and leaves somebody with its output for a while.
                    { "type": "command", "command": "sleep 0.3 & exit 0" },
                    { "type": "command", "command": "sleep 0.2" },
                ]),
            ))
            .await;
        let answer = agent.invoke(&events::pre()).await.0;
        let id = answer["invocation_id"].as_str().unwrap();
        agent.invoke(&events::stop(0)).await;
        let stops = agent.line.call("journal/query", json!({ "event": "Stop" })).await.unwrap();
        let config = world.text_at("config");
        let look = ["timeline", "--config-dir", &config, &id[..13]];
        let shown = ctl_json(world, &look).await;
        assert_eq!((&shown["invocation_id"], &shown["outcome"]), (&json!(id), &json!("deny")));
        let handlers = shown["handlers"].as_array().unwrap();
        let took = |handler: usize, phase: &str| -> u64 {
            let phases = handlers[handler]["phases"].as_array().unwrap();
            let of = |phase: &Value| phase["to_us"].as_u64().unwrap() - phase["from_us"].as_u64().unwrap();
            phases.iter().filter(|found| found["phase"] == phase).map(of).sum()
        };
        for (index, handler) in handlers.iter().enumerate() {
            assert!(took(index, "spawn") > 0, "{handler}");
            let phases = handler["phases"].as_array().unwrap();
            assert!(
                phases.windows(2).all(|pair| pair[0]["to_us"] == pair[1]["from_us"]),
                "phases follow each other: {handler}"
            );
            let last = phases.last().unwrap()["to_us"].as_u64().unwrap();
            assert!(last <= shown["duration_us"].as_u64().unwrap(), "{shown}");
        }
        assert!(took(1, "drain") > 100_000, "{shown}");
        assert!(took(2, "run") > 190_000 && took(2, "drain") < 100_000, "{shown}");
        assert!(took(0, "run") < took(2, "run"), "{shown}");

        let text = ctl(world, &look).await;
        assert_eq!((text.status, text.stderr.as_str()), (Some(0), ""));
        let lines: Vec<&str> = text.stdout.lines().collect();
        assert!(lines[0].starts_with("PreToolUse execute deny: "), "{}", text.stdout);
        assert!(lines[2].starts_with("PreToolUse:0:0 |") && lines[2].contains('+'), "{}", text.stdout);
        assert!(lines[3].contains("blocked, exit 2, "), "{}", text.stdout);
        assert!(lines[4].contains("~~~") && lines[5].contains("output open "), "{}", text.stdout);
        assert!(lines[6].matches('#').count() > 20, "{}", text.stdout);
        // Piped, bars are as long as on the narrowest usual terminal.
        let mut bars = lines.iter().filter(|line| line.contains('|'));
        assert!(bars.all(|line| line.chars().count() == 80), "{}", text.stdout);

        let stop = stops["records"][0]["invocation_id"].as_str().unwrap();
        let none = ctl(world, &["timeline", "--config-dir", &config, stop]).await;
        assert!(none.stdout.contains("no handler ran on this event: `hooksctl explain "), "{none:?}");
        let wrong = ctl(world, &["timeline", "--config-dir", &config, "zzz"]).await;
        assert_eq!((wrong.status, wrong.stdout.as_str()), (Some(2), ""), "{wrong:?}");
    });
}
