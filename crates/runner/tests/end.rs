//! Kind 2: exit, end of output, deadline, process trees (B06 to B09, B11, B33, vectors `reduce/timeout`).

mod common;

use std::time::{Duration, Instant};

use common::{DENY, World, exists, stderr, stdout, until};
use hooksd_runner::{End, Job};

fn with_timeout(mut job: Job, seconds: f32) -> Job {
    job.timeout = Duration::from_millis((seconds * 1000.0) as u64);
    job
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b06_b07_a_helper_left_behind_costs_the_grace_and_not_the_verdict() {
    let world = World::new();
    for line in [
        "(sleep 60)& cat $DENY",
        "exec 3>&1; sleep 60 </dev/null >/dev/null 2>&1 & cat $DENY",
        "sleep 60 >/dev/null & cat $DENY",
        "setsid sleep 60 & cat $DENY",
    ] {
        let outcome = world.run(with_timeout(world.shell(line), 20.0)).await;
        assert_eq!((&outcome.end, stdout(&outcome).as_str()), (&End::Exited(0), DENY), "{line}");
        assert!(outcome.output_left_open, "{line}");
        assert!(outcome.duration < Duration::from_secs(5), "{line}: {:?}", outcome.duration);
    }
    // D1: helpers of handlers that ended by themselves live on.
    assert_eq!(world.alive(), ["sleep 60 "; 4]);
    assert_eq!(world.runner.children(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b07_control_a_helper_with_streams_of_its_own_costs_nothing() {
    let world = World::new();
    let outcome = world.run(world.shell("sleep 60 </dev/null >/dev/null 2>&1 & cat $DENY")).await;
    assert_eq!((&outcome.end, stdout(&outcome).as_str()), (&End::Exited(0), DENY));
    assert!(!outcome.output_left_open);
    assert_eq!(world.alive(), ["sleep 60 "]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d1_a_helper_does_not_hide_a_block() {
    let world = World::new();
    let outcome = world.run(with_timeout(world.shell("sleep 60 & echo no >&2; exit 2"), 0.5)).await;
    assert_eq!((&outcome.end, stderr(&outcome).as_str()), (&End::Exited(2), "no\n"));
    assert!(outcome.output_left_open);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d1_output_within_the_grace_counts_and_ends_it() {
    let world = World::new();
    let outcome = world.run(world.shell("(sleep 0.02; echo late)& echo early")).await;
    assert_eq!(outcome.end, End::Exited(0));
    assert!(stdout(&outcome).starts_with("early\n"));
    if !outcome.output_left_open {
        assert_eq!(stdout(&outcome), "early\nlate\n");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b08_a_timeout_kills_the_tree_and_is_answered() {
    let world = World::new();
    let started = world.path("started");
    let line = "sh -c 'sleep 77 & touch started; sleep 77' | cat";
    let outcome = world.run(with_timeout(world.shell(line), 1.0)).await;
    assert!(started.exists());
    assert_eq!(outcome.end, End::TimedOut);
    assert!((1.0..3.0).contains(&outcome.duration.as_secs_f32()), "{:?}", outcome.duration);
    world.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b08_what_a_handler_said_before_its_timeout_is_kept() {
    let world = World::new();
    let outcome = world.run(with_timeout(world.shell("echo said; echo why >&2; sleep 60"), 0.5)).await;
    assert_eq!(
        (outcome.end.clone(), stdout(&outcome), stderr(&outcome)),
        (End::TimedOut, "said\n".to_owned(), "why\n".to_owned())
    );
    assert!(!outcome.output_left_open);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b09_descendants_that_left_the_group_are_killed_too() {
    let world = World::new();
    for line in
        ["setsid sleep 77 & wait", "set -m; sleep 77 & wait", "setsid sh -c 'setsid sleep 77; :' & wait"]
    {
        let outcome = world.run(with_timeout(world.shell(line), 0.5)).await;
        assert_eq!(outcome.end, End::TimedOut, "{line}");
        assert!((0.5..2.5).contains(&outcome.duration.as_secs_f32()), "{line}: {:?}", outcome.duration);
        world.nothing_left().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b09_an_orphan_does_not_delay_the_answer_and_is_found_by_its_mark() {
    let world = World::new();
    for line in ["(setsid sleep 77 &); sleep 60", "(setsid sh -c 'sleep 77 & sleep 77' &); sleep 60"] {
        let outcome = world.run(with_timeout(world.shell(line), 0.5)).await;
        assert_eq!(outcome.end, End::TimedOut);
        assert!((0.5..2.5).contains(&outcome.duration.as_secs_f32()), "{:?}", outcome.duration);
        assert_eq!(world.runner.children(), 0);
        until("no orphan left", || world.alive().is_empty()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b11_a_handler_that_ignores_signals_is_killed() {
    let world = World::new();
    let line = "trap '' TERM INT HUP; while :; do sleep 0.05; done";
    let outcome = world.run(with_timeout(world.shell(line), 0.5)).await;
    assert_eq!(outcome.end, End::TimedOut);
    assert!((0.5..2.5).contains(&outcome.duration.as_secs_f32()), "{:?}", outcome.duration);
    world.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closed_streams_are_not_the_end() {
    let world = World::new();
    let outcome = world.run(world.shell("exec >&- 2>&-; sleep 0.3; exit 3")).await;
    assert_eq!(outcome.end, End::Exited(3));
    let outcome = world.run(with_timeout(world.shell("exec >&- 2>&-; sleep 60"), 0.3)).await;
    assert_eq!(outcome.end, End::TimedOut);
    world.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b33_any_timeout_is_accepted() {
    let world = World::new();
    for timeout in [Duration::MAX, Duration::from_secs(u64::MAX), Duration::from_secs(10_000_000_000)] {
        let mut job = world.shell("exit 2");
        job.timeout = timeout;
        assert_eq!(world.run(job).await.end, End::Exited(2), "{timeout:?}");
    }
    for timeout in [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(1)] {
        let mut job = world.shell("sleep 60");
        job.timeout = timeout;
        let start = Instant::now();
        assert_eq!(world.run(job).await.end, End::TimedOut, "{timeout:?}");
        assert!(start.elapsed() < Duration::from_secs(2));
    }
    world.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn group_killed_means_that_nothing_happens_afterwards() {
    let world = World::new();
    let line = "(touch begun; sleep 1; touch survived) & sleep 60";
    let outcome = world.run(with_timeout(world.shell(line), 0.5)).await;
    assert_eq!(outcome.end, End::TimedOut);
    exists(&world.path("begun")).await;
    world.nothing_left().await;
    assert!(!world.path("survived").exists());
}
