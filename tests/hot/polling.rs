//! Where folders cannot be watched (B63).

use hooksd_tests::harness::{Setup, eventually, world_with};
use serde_json::json;

use crate::{follower, said, version};

#[test]
fn b63_without_watching_the_documents_are_looked_at_and_status_says_so() {
    let setup = Setup { poll: true, ..Setup::default() };
    world_with(setup, async |world| {
        world.user(&version("v1"));
        let mut agent = follower(world).await;
        let status = agent.line.call("daemon/status", json!({})).await.unwrap();
        assert_eq!(status["changes"], "polling every second: as asked for");
        for next in ["v2", "v3"] {
            world.user(&version(next));
            eventually(&format!("{next} is served"), async || {
                (said(&mut agent).await == [next]).then_some(())
            })
            .await;
        }
    });
}
