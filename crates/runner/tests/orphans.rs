//! Orphans, adopted (`adopt_orphans`): found and killed with their run, left alone when their handler ended by itself,
//! reaped when they end, and never mixed up with the children whose exit status is somebody's verdict. A test binary
//! of its own: adoption is a property of the process.
#![cfg(target_os = "linux")]
// Clippy counts only functions marked #[test] as tests.
#![allow(clippy::unwrap_used)]

mod common;

use std::time::{Duration, Instant};

use common::{World, until, zombies};
use hooksd_runner::{End, adopt_orphans};
use tokio_util::sync::CancellationToken;

/// What the issue allows between the answer and the last process gone.
const CLEAN: Duration = Duration::from_secs(2);

fn adopting_world() -> World {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| adopt_orphans().unwrap());
    World::new()
}

/// Processes whose parent is this one.
fn children() -> usize {
    let own = std::process::id();
    let tasks = std::fs::read_dir(format!("/proc/{own}/task")).unwrap();
    tasks
        .map(|task| common::read(task.unwrap().path().join("children").to_str().unwrap()))
        .map(|list| list.split_ascii_whitespace().count())
        .sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_run_away_from_a_killed_handler_is_killed_and_reaped() {
    let world = adopting_world();
    for line in [
        "setsid sleep 77 & wait",
        "(setsid sleep 77 &) ; sleep 77",
        "(setsid sh -c 'sleep 77 & sleep 77' &) ; sleep 77",
        "(setsid sh -c 'exec >/dev/null 2>&1 </dev/null; sleep 77 & sleep 77' &) ; sleep 77",
    ] {
        let mut job = world.shell(line);
        job.timeout = Duration::from_millis(500);
        let outcome = world.run(job).await;
        let answered = Instant::now();
        assert_eq!(outcome.end, End::TimedOut, "{line}");
        assert!(outcome.duration < Duration::from_millis(1500), "{line}: {:?}", outcome.duration);
        until("nothing alive", || world.alive().is_empty()).await;
        assert!(answered.elapsed() < CLEAN, "{line}: {:?}", answered.elapsed());
    }
    world.runner.cleaned(Duration::from_secs(10)).await;
    until("no zombie", || zombies() == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b12_a_hundred_cancels_of_double_forks_leave_nothing() {
    let world = adopting_world();
    let cancel = CancellationToken::new();
    let line = "(setsid sleep 77 &) ; sleep 77";
    let runs: Vec<_> = (0..100).map(|_| world.start(world.shell(line), &cancel)).collect();
    until("all started", || world.alive().iter().filter(|line| *line == "sleep 77 ").count() == 200).await;
    cancel.cancel();
    for run in runs {
        assert_eq!(run.await.unwrap().end, End::Cancelled);
    }
    let answered = Instant::now();
    world.nothing_left().await;
    // Each of them is looked for; a busy machine needs its time.
    assert!(answered.elapsed() < Duration::from_secs(20), "{:?}", answered.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d1_a_helper_lives_on_as_our_child_and_is_reaped_when_it_ends() {
    let world = adopting_world();
    let line =
        "(setsid sh -c 'while [ ! -e stop ]; do sleep 0.02; done' >/dev/null 2>&1 </dev/null &); exit 2";
    let outcome = world.run(world.shell(line)).await;
    assert_eq!((outcome.end, outcome.output_left_open), (End::Exited(2), false));
    // Killing others does not touch it.
    let mut other = world.shell("sleep 77");
    other.timeout = Duration::from_millis(50);
    assert_eq!(world.run(other).await.end, End::TimedOut);
    world.runner.cleaned(Duration::from_secs(10)).await;
    assert!(world.alive().iter().any(|line| line.contains("stop")), "{:?}", world.alive());
    assert!(children() > 0, "it was adopted");
    std::fs::write(world.path("stop"), "").unwrap();
    until("the helper has ended", || world.alive().is_empty()).await;
    until("no zombie", || zombies() == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_exit_status_is_taken_from_its_supervisor() {
    let world = adopting_world();
    for round in 0..20 {
        let cancel = CancellationToken::new();
        let runs: Vec<_> = (0..40)
            .map(|n| {
                // Orphans that end at once, so that the reaper is never idle.
                let line = format!("(setsid true &) ; (true &) ; exit {}", (round + n) % 100);
                (n, world.start(world.shell(&line), &cancel))
            })
            .collect();
        for (n, run) in runs {
            assert_eq!(run.await.unwrap().end, End::Exited((round + n) % 100));
        }
    }
    until("no zombie", || zombies() == 0).await;
}
