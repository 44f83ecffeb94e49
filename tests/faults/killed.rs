//! kill -9 in the middle of an event.

use hooksd_tests::harness::{daemon, events, until};

use crate::after::{all_denied, begin, sound};
use crate::guard_and;

/// The client sees that its daemon has gone, the next daemon takes the place over at once, and what the old one has
/// started ends: a handler of one event by itself, as there is nobody left to stop it.
#[test]
fn a_daemon_killed_in_the_middle_of_an_event_is_seen_and_replaced() {
    daemon(async |world| {
        world.user(&guard_and(&["[ -e $W/again ] || { : >$W/begun; sleep 1; : >$W/done; }"]));
        let mut agent = world.agent().await;
        agent.start(&events::pre()).await;
        world.appears("begun").await;
        world.kill().await;
        assert_eq!(agent.line.next_line().await, None, "no verdict is made up");
        world.write("again", "");
        world.start().await;
        let mut next = world.agent().await;
        let ids = begin(&mut next, 10).await;
        all_denied(&mut next, ids).await;
        world.appears("done").await;
        sound(world).await;
    });
}

/// At any time: while it opens a session, matches, starts handlers, reads them, answers.
#[test]
fn a_daemon_killed_at_any_time_leaves_whole_files() {
    daemon(async |world| {
        world.user(&guard_and(&["cat >/dev/null"]));
        for answered in 0..8 {
            let mut agent = world.agent().await;
            let ids = begin(&mut agent, 16).await;
            for id in &ids[..answered] {
                agent.answer(*id).await;
            }
            world.kill().await;
            while agent.line.next_line().await.is_some() {}
            until("the handlers end by themselves", || world.alive().is_empty()).await;
            world.start().await;
            sound(world).await;
        }
    });
}
