//! D5: a shortage of descriptors delays; it never takes a guard away.

use hooksd_system::{Limits, set_limits_of};
use hooksd_tests::harness::{Setup, World, events, eventually, world_with};
use nix::sys::resource::Resource;
use nix::unistd::Pid;
use serde_json::json;

const DESCRIPTORS: u32 = 64;

fn short() -> Setup {
    Setup { program: true, limits: format!("ulimit -n {DESCRIPTORS}"), ..Setup::default() }
}

/// While it is there the daemon gets no more descriptors.
struct Exhausted {
    daemon: Pid,
    before: Limits,
}

impl Drop for Exhausted {
    fn drop(&mut self) {
        set_limits_of(self.daemon, Resource::RLIMIT_NOFILE, self.before).unwrap();
    }
}

fn exhaust(world: &World) -> Exhausted {
    let daemon = Pid::from_raw(world.pid().try_into().unwrap());
    // 0, 1 and 2 are taken, and those above may stay open.
    let none = Limits { soft: Some(3), hard: Some(DESCRIPTORS.into()) };
    let before = set_limits_of(daemon, Resource::RLIMIT_NOFILE, none).unwrap();
    Exhausted { daemon, before }
}

#[test]
fn a_session_opened_in_a_shortage_waits_for_its_guard() {
    world_with(short(), async |world| {
        world.user(&events::shell("PreToolUse", "exit 2"));
        // What is trusted is read from a file as well.
        world.write("config/.state/hooks_trust.json", json!({ "version": 1, "projects": {} }).to_string());
        let mut line = world.connect().await;
        // Accepted by now: that takes a descriptor too.
        line.call("daemon/status", json!({})).await.unwrap();
        let shortage = exhaust(world);
        let id = line.request("session/open", &world.open_params()).await;
        // The daemon has the request: it answers the next one at once.
        line.call("daemon/status", json!({})).await.unwrap();
        drop(shortage);
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
        let shortage = exhaust(world);
        world.user(&events::shell("PreToolUse", "echo new >&2; exit 2"));
        // Without descriptors nothing is read, and nothing is lost.
        agent.line.call("daemon/status", json!({})).await.unwrap();
        drop(shortage);
        eventually("the new guard serves", async || {
            let answer = agent.invoke(&events::pre()).await;
            assert_eq!(answer.behavior(), "deny");
            answer.decision().to_string().contains("new").then_some(())
        })
        .await;
    });
}
