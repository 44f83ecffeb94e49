//! D5: out of descriptors, handlers wait for their turn. Alone in its process, for the limit is the process's.

mod common;

use std::fs::File;
use std::time::Duration;

use common::{World, launch_failure, until};
use hooksd_runner::End;
use hooksd_system::{Limits, limits, set_limits};
use nix::sys::resource::Resource;
use tokio_util::sync::CancellationToken;

fn open_now() -> u64 {
    std::fs::read_dir("/proc/self/fd").into_iter().flatten().count() as u64
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d5_a_burst_beyond_the_descriptors_is_delayed_not_dropped() {
    let world = World::new();
    let cancel = CancellationToken::new();
    let hard = limits(Resource::RLIMIT_NOFILE).hard;
    let limit = |soft| set_limits(Resource::RLIMIT_NOFILE, Limits { soft: Some(soft), hard }).unwrap();
    let baseline = open_now();

    // Room for about five handlers at a time.
    limit(baseline + 24);
    let runs: Vec<_> = (0..40).map(|_| world.start(world.shell("sleep 0.1; exit 2"), &cancel)).collect();
    let mut waited = 0;
    for run in runs {
        let outcome = run.await.unwrap();
        assert_eq!(outcome.end, End::Exited(2));
        waited += usize::from(outcome.queued > Duration::from_millis(5));
    }
    assert!(waited > 0, "the burst was no burst");

    // No room at all: given up at the handler's own timeout, or at once when cancelled.
    limit(256);
    let hoard: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    let mut job = world.shell("exit 2");
    job.timeout = Duration::from_millis(300);
    let message = launch_failure(world.run(job).await);
    let expected = "no pipes for \"/bin/sh\": Too many open files (os error 24) for ";
    assert!(message.starts_with(expected), "{message}");
    let waiting = world.start(world.shell("exit 2"), &cancel);
    cancel.cancel();
    assert_eq!(waiting.await.unwrap().end, End::Cancelled);

    // Room again: the one that waited runs.
    let waiting = world.start(world.shell("exit 2"), &CancellationToken::new());
    tokio::task::yield_now().await;
    drop(hoard);
    let outcome = waiting.await.unwrap();
    assert_eq!(outcome.end, End::Exited(2));

    until("descriptors back to the baseline", || open_now() <= baseline).await;
    world.nothing_left().await;
}
