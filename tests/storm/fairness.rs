//! B44: one session's flood is not in front of another session's few calls.

use std::time::{Duration, Instant};

use crate::support::{Agent, Daemon, commands, outcome, pre};

const CALLS: usize = 40;
const FLOOD: usize = 2000;
/// A connection may have 1,024 requests running.
const FLOOD_PER_CONNECTION: usize = 500;
/// How much longer the quiet session's slowest calls may take beside the flood.
const RATIO_MOST: f64 = 3.0;
/// Other work on the machine can spoil a measurement, not improve it: of so many, the calmest of each kind counts. A
/// baseline that was disturbed would make the flood look fair, so none counts but the calmest so far.
const ROUNDS: usize = 8;

/// The 99th percentile of the calls' times, all sent at once.
async fn p99(agent: &Agent) -> Duration {
    let mut tasks = Vec::new();
    for _ in 0..CALLS {
        let sent = Instant::now();
        let (_, answer) = agent.start(&pre()).await;
        tasks.push(tokio::spawn(async move {
            assert_eq!(outcome(answer).await.unwrap()["handlers"][0]["status"], "blocked");
            sent.elapsed()
        }));
    }
    let mut times = Vec::new();
    for task in tasks {
        times.push(task.await.unwrap());
    }
    times.sort();
    times[CALLS * 99 / 100]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b44_a_flood_of_one_session_does_not_delay_another() {
    let daemon = Daemon::start_alone(&commands(&["exit 2"])).await;
    let (quiet, flooding) = (daemon.agent().await, daemon.agent().await);
    // The first is slow for reasons of its own.
    p99(&quiet).await;
    let (mut calmest, mut fairest) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        let alone = p99(&quiet).await;
        calmest = calmest.min(alone);
        let (mut flood, mut connections) = (Vec::new(), Vec::new());
        for _ in 0..FLOOD / FLOOD_PER_CONNECTION {
            let agent = flooding.beside(&daemon).await;
            for _ in 0..FLOOD_PER_CONNECTION {
                flood.push(agent.start(&pre()).await);
            }
            connections.push(agent);
        }
        let beside = p99(&quiet).await;
        let status = daemon.status().await;
        let waiting = status["queued_handlers"].as_u64().unwrap() + status["queued_events"].as_u64().unwrap();
        let answered =
            flood.iter_mut().map(|(_, answer)| usize::from(answer.try_recv().is_ok())).sum::<usize>();
        fairest = fairest.min(beside);
        println!("p99 of {CALLS} calls: alone {alone:.1?}, beside {FLOOD} of another session {beside:.1?}");
        println!("  {answered} of the flood were answered by then, {waiting} waiting");
        assert!(waiting > 0, "the flood was over before the quiet session was");
        if fairest <= calmest.mul_f64(RATIO_MOST) {
            break;
        }
        // Cancels what is left of the flood.
        drop(connections);
        daemon.nothing_left().await;
    }
    let ratio = fairest.as_secs_f64() / calmest.as_secs_f64();
    println!("beside the flood {fairest:.1?}, alone {calmest:.1?}: {ratio:.2}");
    assert!(ratio <= RATIO_MOST, "{ratio}");
}
