//! Many changes and reloads at once (B62).

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use hooksd_tests::harness::{eventually, world};
use serde_json::json;

use crate::{follower, said, version};

fn number(said: &[String]) -> u32 {
    assert_eq!(said.len(), 1, "an event has seen a mix: {said:?}");
    said[0].trim_start_matches('v').parse().unwrap()
}

#[test]
fn b62_the_last_of_200_versions_is_served_and_numbers_never_go_back() {
    world(async |world| {
        let write = |version_number: u32| {
            let draft = world.write("config/draft", version(&format!("v{version_number}")).to_string());
            fs::rename(draft, world.at("config/hooks.json")).unwrap();
        };
        write(0);
        let mut agent = follower(world).await;
        let (mut reloads, session) = (world.connect().await, agent.session().to_owned());
        let done = AtomicBool::new(false);
        let write_all = async {
            for version_number in 1..=200 {
                write(version_number);
                tokio::task::yield_now().await;
            }
            done.store(true, Ordering::Release);
        };
        let reload_all = async {
            while !done.load(Ordering::Acquire) {
                reloads.call("session/reload", json!({ "session": session })).await.unwrap();
                reloads.call("daemon/reload", json!({})).await.unwrap();
            }
        };
        let look_all = async {
            let mut last = 0;
            while !done.load(Ordering::Acquire) {
                let now = number(&said(&mut agent).await);
                assert!(now >= last, "went back from {last} to {now}");
                last = now;
            }
        };
        tokio::join!(write_all, reload_all, look_all);
        eventually("the last version is served", async || (said(&mut agent).await == ["v200"]).then_some(()))
            .await;
    });
}
