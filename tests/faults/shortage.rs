//! The daemon gets no more descriptors, while events are under way.

use hooksd_system::{Limits, set_limits_of};
use hooksd_tests::harness::World;
use nix::sys::resource::Resource;
use nix::unistd::Pid;
use serde_json::json;

use crate::after::{all_denied, begin, sound};
use crate::{guard_and, under};

/// Sets how many descriptors the daemon may have.
fn allow(world: &World, descriptors: Limits) {
    set_limits_of(Pid::from_raw(world.pid().try_into().unwrap()), Resource::RLIMIT_NOFILE, descriptors)
        .unwrap();
}

/// What a shell needs to start: its own three, and one for each library while it is loaded. Descriptors.
const SHELL: u64 = 5;

/// The lowest number that the daemon has free, or will have: what it holds while nothing runs stays open.
fn lowest_free(world: &World) -> u64 {
    let is_free =
        |number: &u64| std::fs::symlink_metadata(format!("/proc/{}/fd/{number}", world.pid())).is_err();
    (0..).find(is_free).unwrap()
}

/// D5: what cannot be started yet is started when there are descriptors again.
#[test]
fn events_that_run_out_of_descriptors_wait_and_lose_no_verdict() {
    under("ulimit -n 256", async |world| {
        world.user(&guard_and(&["sleep 0.1"]));
        let mut agent = world.agent().await;
        // A handler that is started just then has the same limit, and must be able to live with it.
        let none_free = lowest_free(world);
        assert!(none_free >= SHELL, "{none_free}");
        let whole = Limits { soft: Some(256), hard: Some(256) };
        for started in [0, 1, 10] {
            let ids = begin(&mut agent, 20).await;
            for id in &ids[..started] {
                crate::after::denied(&agent.answer(*id).await);
            }
            // Those below are taken, and those above may stay open.
            allow(world, Limits { soft: Some(none_free), ..whole });
            // The daemon has read all of the requests.
            agent.line.call("daemon/status", json!({})).await.unwrap();
            allow(world, whole);
            all_denied(&mut agent, ids[started..].to_vec()).await;
        }
        sound(world).await;
    });
}
