//! D5: a shortage of descriptors delays; it never takes a guard away.

use hooksd_tests::harness::{Line, Setup, World, events, eventually, world_with};
use serde_json::json;

const DESCRIPTORS: u32 = 64;

fn short() -> Setup {
    Setup { program: true, descriptors: Some(DESCRIPTORS), ..Setup::default() }
}

/// Connections that take every descriptor the daemon has left.
async fn exhaust(world: &World) -> Vec<Line> {
    let mut idle = Vec::new();
    for _ in 0..2 * DESCRIPTORS {
        idle.push(world.connect().await);
    }
    let pid = world.pid();
    eventually("no descriptor is left", async || {
        (hooksd_tests::harness::processes::descriptors(pid) >= DESCRIPTORS as usize).then_some(())
    })
    .await;
    idle
}

#[test]
fn a_session_opened_in_a_shortage_waits_for_its_guard() {
    world_with(short(), async |world| {
        world.user(&events::shell("PreToolUse", "exit 2"));
        // What is trusted is read from a file as well.
        world.write("config/.state/hooks_trust.json", json!({ "version": 1, "projects": {} }).to_string());
        let mut line = world.connect().await;
        let idle = exhaust(world).await;
        let id = line.request("session/open", &world.open_params()).await;
        // The daemon has the request: it answers the next one at once.
        line.call("daemon/status", json!({})).await.unwrap();
        drop(idle);
        let opened = line.answer(id).await.expect("the session opens when the shortage is over");
        assert_eq!(opened["snapshot"]["events"], json!(["PreToolUse"]));
        assert_eq!(opened["snapshot"]["diagnostics"], json!([]));
    });
}

#[test]
fn a_session_that_follows_keeps_its_guard_through_a_shortage() {
    world_with(short(), async |world| {
        world.user(&events::shell("PreToolUse", "exit 2"));
        let mut agent = world.agent_with(json!({ "follow": true })).await;
        let idle = exhaust(world).await;
        world.user(&events::shell("PreToolUse", "echo new >&2; exit 2"));
        // Without descriptors nothing is read, and nothing is lost.
        agent.line.call("daemon/status", json!({})).await.unwrap();
        drop(idle);
        eventually("the new guard serves", async || {
            let answer = agent.invoke(&events::pre()).await;
            assert_eq!(answer.behavior(), "deny");
            answer.decision().to_string().contains("new").then_some(())
        })
        .await;
    });
}
