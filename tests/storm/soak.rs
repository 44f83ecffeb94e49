//! Many handlers one after the other: memory and descriptors stay where they are.
//!
//! `cargo test --release -p hooksd-tests --test storm soak -- --ignored --nocapture` runs 100,000 handlers, or
//! `HOOKSD_SOAK_HANDLERS` of them, and prints the series.

use serde_json::json;

use crate::support::{Daemon, behavior, commands, pre, until};
use hooksd_tests::harness::processes::KEPT_BY_JOURNAL;

/// Handlers of one event: an answer, a guard that denies, text that counts for nothing, one that fails, and one that
/// leaves a helper behind.
const HANDLERS: [&str; 5] = [
    "cat >/dev/null; echo '{\"systemMessage\":\"m\"}'",
    "echo no >&2; exit 2",
    "exit 0",
    "exit 1",
    "(setsid true >/dev/null 2>&1 </dev/null &)",
];

/// Agents at once, each with one call at a time.
const AGENTS: usize = 4;

/// Times that memory and descriptors are looked at.
const SAMPLES: usize = 20;

/// The first samples, in which the allocator and the answers remembered for repetition find their size.
const WARM_UP: usize = 4;

/// How much more memory than after the warm-up there may ever be. Bytes. A leak of 100 bytes a handler is 8 MB in the
/// long run.
const GROWTH_MOST: usize = 4 * 1024 * 1024;

async fn soak(handlers: usize) {
    let daemon = Daemon::start("", &commands(&HANDLERS)).await;
    let mut agents = Vec::new();
    for _ in 0..AGENTS {
        agents.push(daemon.agent().await);
    }
    let baseline = daemon.descriptors() + KEPT_BY_JOURNAL;
    let rounds = handlers / HANDLERS.len() / AGENTS / SAMPLES;
    let mut series = Vec::new();
    println!("handlers  resident KiB  descriptors");
    for sample in 1..=SAMPLES {
        let mut calls = Vec::new();
        for agent in &agents {
            let agent = agent.clone();
            calls.push(tokio::spawn(async move {
                for _ in 0..rounds {
                    let result = agent.invoke(&pre()).await;
                    assert_eq!(behavior(&result), "deny", "{result}");
                    assert_eq!(result["decision"]["user_notices"], json!(["m"]), "{result}");
                }
            }));
        }
        for call in calls {
            call.await.unwrap();
        }
        // Helpers that were adopted end a moment after their handlers.
        until("no child left", || daemon.children().is_empty()).await;
        until("descriptors at the baseline", || daemon.descriptors() <= baseline).await;
        series.push(daemon.resident());
        let ran = sample * rounds * AGENTS * HANDLERS.len();
        println!("{ran:>8}  {:>12}  {:>11}", daemon.resident() / 1024, daemon.descriptors());
    }
    let warm = series[WARM_UP - 1];
    let most = series[WARM_UP..].iter().max().unwrap();
    assert!(most.saturating_sub(warm) <= GROWTH_MOST, "{warm} to {most} bytes: {series:?}");
    daemon.nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn soak_of_two_thousand_handlers_is_flat() {
    soak(2000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes"]
async fn soak_of_a_hundred_thousand_handlers_is_flat() {
    let handlers = std::env::var("HOOKSD_SOAK_HANDLERS").ok().and_then(|number| number.parse().ok());
    soak(handlers.unwrap_or(100_000)).await;
}
