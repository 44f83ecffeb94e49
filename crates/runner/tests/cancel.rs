//! Cancelled runs and dropped futures (B12): no zombie, no orphan, no descriptor left.

mod common;

use std::time::{Duration, Instant};

use common::{World, exists, until};
use hooksd_runner::{End, Outcome};
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b12_a_hundred_cancels_leave_nothing() {
    let world = World::new();
    let cancel = CancellationToken::new();
    let runs: Vec<_> = (0..100).map(|_| world.start(world.shell("sleep 30; :"), &cancel)).collect();
    until("all started", || world.runner.children() == 100).await;
    let start = Instant::now();
    cancel.cancel();
    for run in runs {
        assert_eq!(run.await.unwrap().end, End::Cancelled);
    }
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    world.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_future_kills_and_reaps() {
    let world = World::new();
    let cancel = CancellationToken::new();
    let line = "setsid sleep 78 & sleep 78 & sleep 78; :";
    let runs: Vec<_> = (0..20).map(|_| world.start(world.shell(line), &cancel)).collect();
    until("all started", || world.alive().iter().filter(|line| *line == "sleep 78 ").count() == 60).await;
    for run in runs {
        run.abort();
        assert!(run.await.unwrap_err().is_cancelled());
    }
    world.nothing_left().await;
}

#[test]
fn a_runtime_that_ends_takes_its_handlers_along() {
    let world = World::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let cancel = CancellationToken::new();
    runtime.block_on(async {
        world.start(world.shell("touch started; sleep 79; :"), &cancel);
        exists(&world.path("started")).await;
    });
    drop(runtime);
    assert_eq!(world.runner.children(), 0);
    let start = Instant::now();
    while !world.alive().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", world.alive());
        std::thread::yield_now();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_before_the_start_runs_nothing() {
    let world = World::new();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let outcome = world.runner.run(world.shell("touch ran"), &cancel).await;
    assert_eq!(outcome, Outcome { queued: outcome.queued, ..Outcome::without_process(End::Cancelled) });
    assert!(!world.path("ran").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_while_a_helper_holds_the_pipes_keeps_the_verdict() {
    let world = World::new();
    let cancel = CancellationToken::new();
    let run = world.start(world.shell("sleep 80 & exit 2"), &cancel);
    until("exited", || world.runner.children() == 0 && world.alive() == ["sleep 80 "]).await;
    cancel.cancel();
    assert_eq!(run.await.unwrap().end, End::Exited(2));
    assert_eq!(world.alive(), ["sleep 80 "]);
}
