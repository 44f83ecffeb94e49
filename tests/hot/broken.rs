//! Documents that are broken for a while (D2, B61).

use std::fs;

use hooksd_tests::harness::{events, eventually, world};
use serde_json::{Value, json};

use crate::{follower, said, serves, version};

/// The next `snapshot/changed` on the agent's connection.
async fn news(agent: &mut hooksd_tests::harness::Agent) -> Value {
    loop {
        let message = agent.line.message().await;
        if message["method"] == "snapshot/changed" {
            return message["params"].clone();
        }
    }
}

#[test]
fn b61_no_event_misses_its_guard_while_the_file_is_rewritten() {
    world(async |world| {
        let guard = events::shell("PreToolUse", "exit 2");
        world.user(&guard);
        let mut agent = follower(world).await;
        let path = world.at("config/hooks.json");
        let writer = std::thread::spawn({
            let (path, text) = (path.clone(), guard.to_string());
            move || {
                for _ in 0..50 {
                    fs::write(&path, "").unwrap();
                    std::thread::yield_now();
                    fs::write(&path, &text.as_bytes()[..text.len() / 2]).unwrap();
                    std::thread::yield_now();
                    fs::write(&path, &text).unwrap();
                }
            }
        });
        let mut events_sent = 0;
        while !writer.is_finished() || events_sent < 50 {
            let answer = agent.invoke(&events::pre()).await;
            assert_eq!(answer.handlers().len(), 1, "an event has seen no handlers");
            assert_eq!(answer.behavior(), "deny");
            events_sent += 1;
        }
        writer.join().unwrap();
    });
}

#[test]
fn b61_a_broken_file_is_said_once_to_every_session_and_the_repaired_one_is_served() {
    world(async |world| {
        world.user(&version("v1"));
        let mut follows = follower(world).await;
        let mut pinned = world.agent().await;
        world.user_text("{bad");
        for agent in [&mut follows, &mut pinned] {
            let said = news(agent).await;
            assert_eq!(said["old_id"], said["new_id"], "the last good version keeps serving");
            let diagnostic = &said["diagnostics"][0];
            assert_eq!(
                (diagnostic["code"].clone(), diagnostic["severity"].clone()),
                (json!("config_read_failed"), json!("error"))
            );
            assert!(diagnostic["message"].as_str().unwrap().contains("last good version"), "{diagnostic}");
        }
        assert_eq!(said(&mut follows).await, ["v1"]);
        // A session that opens now gets the last good version too, and hears of it.
        let mut late = world.agent().await;
        assert_eq!(said(&mut late).await, ["v1"]);
        assert_eq!(late.load_diagnostics(), ["config_read_failed hooks.json"]);

        world.user(&version("v2"));
        serves(&mut follows, &["v2"]).await;
        assert_eq!(said(&mut pinned).await, ["v1"], "a pinned session moves when it asks to");
        let told = eventually("the pinned session is told", async || {
            let told = news(&mut pinned).await;
            (told["new_id"] != told["old_id"]).then_some(told)
        })
        .await;
        assert_eq!(told["applied"], json!(false));
        pinned.reload().await;
        assert_eq!(said(&mut pinned).await, ["v2"]);
        assert_eq!(pinned.load_diagnostics(), Vec::<String>::new());
    });
}
