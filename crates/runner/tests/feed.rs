//! Kind 1: the payload on stdin (B01, B03, B04 and the stdin vectors of `reduce/timeout`).

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{DENY, World, stdout};
use hooksd_runner::End;
use tokio_util::sync::CancellationToken;

const TWO_MEGABYTES: usize = 2_000_000;

fn payload(bytes: usize) -> Arc<[u8]> {
    Arc::from(vec![b'Q'; bytes])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b01_a_handler_that_does_not_read_decides_all_the_same() {
    let world = World::new();
    let cancel = CancellationToken::new();
    for size in [200, TWO_MEGABYTES] {
        let payload = payload(size);
        for _ in 0..4 {
            let runs: Vec<_> = (0..16)
                .map(|_| {
                    let mut job = world.shell("cat $DENY");
                    job.stdin = payload.clone();
                    world.start(job, &cancel)
                })
                .collect();
            for run in runs {
                let outcome = run.await.unwrap();
                assert_eq!((&outcome.end, stdout(&outcome).as_str()), (&End::Exited(0), DENY));
            }
        }
    }
    world.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b03_a_handler_that_copies_while_it_reads_does_not_deadlock() {
    let world = World::new();
    let mut job = world.shell("tee /dev/stderr");
    job.stdin = payload(TWO_MEGABYTES);
    job.timeout = Duration::from_secs(10);
    let outcome = world.run(job).await;
    assert_eq!(outcome.end, End::Exited(0));
    for stream in [&outcome.stdout, &outcome.stderr] {
        assert_eq!((stream.total, stream.bytes.len()), (TWO_MEGABYTES as u64, 100_000));
        assert!(stream.truncated());
    }
    assert!(outcome.duration < Duration::from_secs(5), "{:?}", outcome.duration);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b04_stdin_ends_right_after_the_payload_whatever_the_neighbours_do() {
    let world = World::new();
    let cancel = CancellationToken::new();
    let neighbour = world.start(world.shell("sleep 60"), &cancel);
    let runs: Vec<_> = (0..50)
        .map(|n| {
            let mut job = world.shell("n=$(cat | wc -c); read x; echo got $n");
            // On both sides of what a pipe holds.
            job.stdin = payload(if n % 2 == 0 { 173 } else { 200_000 });
            world.start(job, &cancel)
        })
        .collect();
    for (n, run) in runs.into_iter().enumerate() {
        let expected = if n % 2 == 0 { "got 173\n" } else { "got 200000\n" };
        let outcome = run.await.unwrap();
        assert_eq!((&outcome.end, stdout(&outcome).as_str()), (&End::Exited(0), expected));
    }
    assert!(!neighbour.is_finished(), "the slow neighbour delayed the others");
    cancel.cancel();
    assert_eq!(neighbour.await.unwrap().end, End::Cancelled);
    world.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_payload_is_an_empty_stdin() {
    let world = World::new();
    let mut job = world.shell("wc -c");
    job.stdin = payload(0);
    assert_eq!(stdout(&world.run(job).await).trim(), "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_payloads_and_odd_readers() {
    let world = World::new();
    for (line, expected) in [
        ("echo ok", "ok\n"),
        ("exec <&-; sleep 0.05; echo ok", "ok\n"),
        ("head -c 1 >/dev/null; exec <&-; sleep 0.05; echo ok", "ok\n"),
        ("echo count: $(tr -cd Q | wc -c)", "count: 400000\n"),
        // A background child holds stdin open and does not read it.
        ("sleep 60 <&0 >/dev/null 2>&1 & echo ok", "ok\n"),
        // Writes more than a pipe holds before it reads.
        (
            "head -c 90000 /dev/zero | tr '\\0' a | wc -c; head -c 90000 /dev/zero >&2; cat >/dev/null",
            "90000\n",
        ),
    ] {
        let mut job = world.shell(line);
        job.stdin = payload(400_000);
        let start = Instant::now();
        let outcome = world.run(job).await;
        assert_eq!((&outcome.end, stdout(&outcome).as_str()), (&End::Exited(0), expected), "{line}");
        assert!(!outcome.output_left_open, "{line}");
        assert!(start.elapsed() < Duration::from_secs(10), "{line}");
    }
}
