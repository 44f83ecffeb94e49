//! Handlers that are late with everything: reading, answering, ending, closing what they hold.

use hooksd_tests::harness::daemon;

use crate::after::{all_denied, begin, sound};
use crate::guard_and;

/// Reads late, writes byte by byte, is silent for long, leaves its output open, ends late.
const LATE: [&str; 4] = [
    "sleep 0.3; cat >/dev/null",
    "cat >/dev/null; for byte in '{' ' ' '}'; do printf %s \"$byte\"; sleep 0.05; done",
    "sleep 0.3 & exit 0",
    "exec 1>&- 2>&-; sleep 0.3",
];

/// The guard's deny is there beside each of them, and beside all of them.
#[test]
fn late_handlers_cost_no_verdict_of_their_neighbours() {
    daemon(async |world| {
        for late in LATE.iter().map(std::slice::from_ref).chain([&LATE[..]]) {
            world.user(&guard_and(late));
            let mut agent = world.agent().await;
            let ids = begin(&mut agent, 8).await;
            all_denied(&mut agent, ids).await;
        }
        sound(world).await;
    });
}
