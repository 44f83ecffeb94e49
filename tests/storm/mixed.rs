//! Everything at once: hundreds of sessions, all kinds of handlers, edits, subscribers and cancellations, for minutes. No
//! verdict is lost, made up or another event's, and nothing grows.
//!
//! `cargo test --release -p hooksd-tests --test storm mixed -- --ignored --nocapture` runs 500 sessions for two minutes
//! (`HOOKSD_STORM_SESSIONS`, `HOOKSD_STORM_SECONDS`: others) and prints what it found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hooksd_tests::harness::Line;
use hooksd_tests::harness::processes::KEPT_BY_JOURNAL;
use serde_json::{Value, json};

use crate::support::{Agent, Daemon, behavior, outcome, until};

/// How often the document is saved anew.
const EDIT_EVERY: Duration = Duration::from_millis(500);

/// Subscribers that read, and some that do not.
const READING: usize = 3;
const STUCK: usize = 2;

/// How much more memory the second half may need than the first. Bytes. A leak of a kilobyte an event is far more.
const GROWTH_MOST: usize = 24 * 1024 * 1024;

/// Denies what has `forbidden` in it, and says which call it was: an answer of another event would show.
const GUARD: &str = r#"read -r event; case $event in *forbidden*)
printf %s "$event" | sed -n 's/.*"tool_use_id": *"\([^"]*\)".*/\1/p' >&2; exit 2;; esac"#;

/// The same as a process that stays; one event after the other, or one alone.
const STAYING_GUARD: &str = r#"while read -r event; do case $event in *forbidden*)
id=${event#*\"tool_use_id\":}; id=${id#*\"}; id=${id%%\"*}
echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"'$id'"}}';;
*) echo '{}';; esac; done"#;

/// The document of a version: a guard of each lifecycle, each for another tool, and what fails or is slow beside them.
fn document(version: u64) -> Value {
    let command = |command: &str| json!({ "type": "command", "command": command });
    let with = |command: &str, lifecycle: &str| json!({ "type": "command", "command": command, "lifecycle": lifecycle, "workers": 4 });
    let group = |matcher: &str, handlers: Value| json!({ "matcher": matcher, "hooks": handlers });
    json!({ "hooks": {
        "PreToolUse": [
            group("Bash", json!([command(GUARD), command("exit 1")])),
            group("Write", json!([with(STAYING_GUARD, "persistent"), command("sleep 0.05")])),
            group("Read", json!([with(GUARD, "prewarmed"), command("kill -9 $$")])),
            group("NobodysTool", json!([command("exit 2")])),
        ],
        "PostToolUse": [{ "hooks": [command("(setsid true >/dev/null 2>&1 </dev/null &)")] }],
        "UserPromptSubmit": [{ "hooks": [command(&format!("echo v{version}"))] }],
    } })
}

/// What all sessions have counted.
#[derive(Debug, Default)]
struct Tally {
    events: AtomicU64,
    denied: AtomicU64,
    cancelled: AtomicU64,
    repeated: AtomicU64,
    reloads: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// One session's part: an event after the other until the end; how long each took.
async fn play(
    agent: Agent,
    number: usize,
    stop: Arc<AtomicBool>,
    tally: Arc<Tally>,
) -> (Agent, Vec<Duration>) {
    let mut times = Vec::new();
    let mut seen = 0;
    let mut round = number;
    while !stop.load(Ordering::Relaxed) {
        round += 1;
        let id = format!("s{number}-{round}");
        let forbidden = round.is_multiple_of(3);
        let tool = ["execute", "write_file", "read_file", "glob"][round % 4];
        let text = if forbidden { "forbidden" } else { "fine" };
        let call = json!({ "id": id, "name": tool, "args": { "command": text, "file_path": format!("/{text}"), "content": text } });
        let sent = Instant::now();
        match round % 20 {
            // Cancelled at once: stopped, or over already.
            0 => {
                let (request, answer) = agent.start(&json!({ "event": "PreToolUse", "call": call })).await;
                agent.client.cancel(request).await;
                match outcome(answer).await {
                    Err(error) => assert_eq!(error["code"], -32800, "{error}"),
                    Ok(result) => assert_eq!(result["decision"]["event"], "PreToolUse"),
                }
                count(&tally.cancelled);
                continue;
            }
            1 => {
                let result =
                    agent.invoke(&json!({ "event": "PostToolUse", "call": call, "result": "ok" })).await;
                assert_eq!(result["decision"]["feedback"], json!([]), "{result}");
            }
            2 => {
                let result = agent.invoke(&json!({ "event": "UserPromptSubmit", "prompt": "hi" })).await;
                let version: u64 = result["decision"]["context"][0].as_str().unwrap()[1..].parse().unwrap();
                assert!(version >= seen, "version {version} after {seen}");
                seen = version;
            }
            // Nothing is for it.
            3 => {
                let event =
                    json!({ "event": "Stop", "continuation_count": 0, "last_assistant_message": "x" });
                let result = agent.invoke(&event).await;
                assert_eq!(result["handlers"], json!([]), "{result}");
            }
            4 => {
                agent.client.call("session/reload", json!({ "session": agent.session })).await.unwrap();
                count(&tally.reloads);
                continue;
            }
            other => {
                let event = json!({ "event": "PreToolUse", "call": call });
                let uuid = format!("{number:08x}-0000-4000-8000-{round:012x}");
                // Answers that may be repeated are remembered, 256 a session: that is no leak, and would look like one.
                let once = if other == 5 { json!({ "invocation_id": uuid }) } else { json!({}) };
                let result = agent.invoke_with(&event, once).await.unwrap();
                let expected =
                    if forbidden && tool != "glob" { ("deny", json!(id)) } else { ("none", Value::Null) };
                let permission = &result["decision"]["permission"];
                assert_eq!((behavior(&result), permission["reason"].clone()), expected, "{result}");
                if expected.0 == "deny" {
                    count(&tally.denied);
                }
                // A repetition runs nothing. A reload in between would make it another event.
                if other == 5 {
                    let again = agent.invoke_with(&event, json!({ "invocation_id": uuid })).await.unwrap();
                    if again["snapshot_id"] == result["snapshot_id"] {
                        assert_eq!(again, result);
                        count(&tally.repeated);
                    }
                }
            }
        }
        count(&tally.events);
        times.push(sent.elapsed());
    }
    (agent, times)
}

async fn subscriber(daemon: &Daemon) -> Line {
    let mut line = Line::connect(&daemon.path("run/socket")).await;
    let greeting = json!({ "client": { "name": "test", "observer": true } });
    line.call("initialize", greeting).await.unwrap();
    line.call("events/subscribe", json!({})).await.unwrap();
    line
}

/// Reads what is told until the daemon ends; the numbers never go back. How many items came, and how many were lost.
async fn listen(mut line: Line) -> (u64, u64) {
    let (mut items, mut lost, mut last) = (0, 0, 0);
    while let Some(text) = line.next_line().await {
        let message: Value = serde_json::from_str(&text).unwrap();
        match message["method"].as_str().unwrap() {
            "events/item" => {
                let seq = message["params"]["seq"].as_u64().unwrap();
                assert!(seq > last, "item {seq} after {last}");
                (items, last) = (items + 1, seq);
            }
            "events/gap" => lost += message["params"]["lost"].as_u64().unwrap(),
            other => panic!("{other}: {message}"),
        }
    }
    (items, lost)
}

async fn storm(sessions: usize, time: Duration) {
    let daemon = Daemon::start("ulimit -n 16384", &document(0)).await;
    let baseline = daemon.descriptors() + KEPT_BY_JOURNAL;
    let mut agents = Vec::new();
    for number in 0..sessions {
        agents.push(daemon.agent_with(json!({ "follow": number % 2 == 0 })).await);
    }
    let (stop, tally) = (Arc::<AtomicBool>::default(), Arc::<Tally>::default());
    let mut listening = Vec::new();
    for _ in 0..READING {
        listening.push(tokio::spawn(listen(subscriber(&daemon).await)));
    }
    let mut stuck = Vec::new();
    for _ in 0..STUCK {
        stuck.push(subscriber(&daemon).await);
    }
    let start = Instant::now();
    let mut tasks = Vec::new();
    for (number, agent) in agents.into_iter().enumerate() {
        tasks.push(tokio::spawn(play(agent, number, stop.clone(), tally.clone())));
    }
    let mut samples = Vec::new();
    let sample = |samples: &mut Vec<usize>, when: &str| {
        let (resident, descriptors, children) =
            (daemon.resident(), daemon.descriptors(), daemon.children().len());
        let events = tally.events.load(Ordering::Relaxed);
        println!(
            "{when:>7}: {events:>8} events, {:>4} MiB, {descriptors:>5} descriptors, {children:>4} children",
            resident >> 20
        );
        samples.push(resident);
    };
    sample(&mut samples, "start");
    let mut version = 0_u64;
    while start.elapsed() < time {
        version += 1;
        let next = daemon.path("config/next");
        std::fs::write(&next, document(version).to_string()).unwrap();
        std::fs::rename(next, daemon.path("config/hooks.json")).unwrap();
        tokio::time::sleep(EDIT_EVERY.min(time / 10)).await;
        // A failure of a session ends the storm.
        assert!(!tasks.iter().any(tokio::task::JoinHandle::is_finished), "a session has failed");
        if samples.len() == 1 && start.elapsed() > time / 2 {
            sample(&mut samples, "middle");
        }
    }
    sample(&mut samples, "end");
    stop.store(true, Ordering::Relaxed);
    let (mut times, mut agents) = (Vec::new(), Vec::new());
    for task in tasks {
        let (agent, own) = task.await.expect("every verdict was right");
        times.extend(own);
        agents.push(agent);
    }
    let took = start.elapsed().as_secs_f64();
    times.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    let throughput = times.len() as f64 / took;
    println!("{sessions} sessions for {took:.0} s, {version} edits: {throughput:.0} events/s; {tally:?}");
    println!(
        "latency p50 {:.1?}, p90 {:.1?}, p99 {:.1?}, longest {:.1?}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
    assert!(tally.denied.load(Ordering::Relaxed) > 0 && tally.cancelled.load(Ordering::Relaxed) > 0);

    // The last edit is served to those who follow.
    hooksd_tests::harness::eventually("the last version is served", async || {
        let result = agents[0].invoke(&json!({ "event": "UserPromptSubmit", "prompt": "hi" })).await;
        (result["decision"]["context"] == json!([format!("v{version}")])).then_some(())
    })
    .await;
    let [_, middle, end] = samples[..] else { panic!("{samples:?}") };
    assert!(end.saturating_sub(middle) <= GROWTH_MOST, "{middle} to {end} bytes");
    for agent in &agents {
        agent.client.call("session/close", json!({ "session": agent.session })).await.unwrap();
        assert_eq!(agent.client.strays(), 0, "an answer came twice");
    }
    drop((agents, stuck));
    daemon.nothing_left().await;
    until("descriptors at the baseline", || daemon.descriptors() <= baseline + READING).await;
    daemon.terminate();
    assert_eq!(daemon.ended().await, Some(0));
    for listener in listening {
        let (items, lost) = listener.await.expect("items come in order");
        println!("a subscriber: {items} items, {lost} lost");
        assert!(items > 0);
    }
    assert_eq!(daemon.alive(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forty_sessions_of_everything_at_once() {
    storm(40, Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; run it with --release"]
async fn five_hundred_sessions_of_everything_at_once() {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let sessions = number("HOOKSD_STORM_SESSIONS").unwrap_or(500);
    let seconds = number("HOOKSD_STORM_SECONDS").unwrap_or(120);
    storm(sessions as usize, Duration::from_secs(seconds)).await;
}
