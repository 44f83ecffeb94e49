//! The daemon gets no more descriptors, while events are under way.

use hooksd_tests::harness::World;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::json;

use crate::after::{all_denied, begin, sound};
use crate::{guard_and, under};

/// Sets how many descriptors the daemon may have.
fn allow(world: &World, descriptors: Rlimit) {
    prlimit(Pid::from_raw(world.pid().try_into().unwrap()), Resource::Nofile, descriptors).unwrap();
}

/// D5: what cannot be started yet is started when there are descriptors again.
#[test]
fn events_that_run_out_of_descriptors_wait_and_lose_no_verdict() {
    under("ulimit -n 256", async |world| {
        world.user(&guard_and(&["sleep 0.1"]));
        let mut agent = world.agent().await;
        let whole = Rlimit { current: Some(256), maximum: Some(256) };
        for started in [0, 1, 10] {
            let ids = begin(&mut agent, 20).await;
            for id in &ids[..started] {
                crate::after::denied(&agent.answer(*id).await);
            }
            // 0, 1 and 2 are taken, and those above may stay open.
            allow(world, Rlimit { current: Some(3), ..whole });
            // The daemon has read all of the requests.
            agent.line.call("daemon/status", json!({})).await.unwrap();
            allow(world, whole);
            all_denied(&mut agent, ids[started..].to_vec()).await;
        }
        sound(world).await;
    });
}
