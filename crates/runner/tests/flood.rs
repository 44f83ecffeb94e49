//! B27: a flood of output takes no memory and hides no deadline. Alone in its process, for the memory count.

mod common;

use std::time::Duration;

use common::{World, read};
use hooksd_runner::{Captured, End};
use tokio_util::sync::CancellationToken;

const FLOOD: u64 = 300_000_000;
const GROWTH_MOST: u64 = 10 * 1024 * 1024;

/// Bytes of memory in use.
fn resident() -> u64 {
    let status = read("/proc/self/status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap_or_default();
    assert!(kilobytes > 0, "no VmRSS: {status}");
    kilobytes * 1024
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b27_floods_are_read_to_their_end_in_constant_memory() {
    let world = World::new();
    let cancel = CancellationToken::new();
    world.run(world.shell("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2")).await;
    let before = resident();
    let runs: Vec<_> =
        (0..8).map(|_| world.start(world.shell(&format!("head -c {FLOOD} /dev/zero")), &cancel)).collect();
    let mut yes = world.shell("yes");
    yes.timeout = Duration::from_secs(1);
    let yes = world.start(yes, &cancel);

    let yes = yes.await.unwrap();
    assert_eq!(yes.end, End::TimedOut);
    assert!((1.0..4.0).contains(&yes.duration.as_secs_f32()), "{:?}", yes.duration);
    let mut most = resident();
    for run in runs {
        let outcome = run.await.unwrap();
        most = most.max(resident());
        assert_eq!(outcome.end, End::Exited(0));
        assert_eq!(outcome.stdout, Captured { bytes: vec![0; 100_000], total: FLOOD });
        assert!(outcome.stdout.truncated());
    }
    let growth = most.saturating_sub(before);
    assert!(growth < GROWTH_MOST, "{growth} bytes");
    world.nothing_left().await;
}
