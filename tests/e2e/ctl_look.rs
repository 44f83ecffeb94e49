//! `hooksctl tail`, `log` and `stats`: what people and programs see of what the daemon does.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use hooksd_tests::harness::{World, daemon, events, processes, program, until};
use serde_json::{Value, json};

use crate::ctl::{ctl, ctl_json};

/// A `hooksctl tail` that runs, and its lines.
struct Tail {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Tail {
    async fn start(world: &World, arguments: &[&str]) -> Tail {
        let environment = world.environment();
        let environment: Vec<(&str, &OsStr)> =
            environment.iter().map(|(name, value)| (name.as_str(), OsStr::new(value))).collect();
        let mut command = program::command("hooksctl", &environment);
        command.env("HOOKSD_SOCKET", world.socket()).args(arguments).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut line = world.connect().await;
        hooksd_tests::harness::eventually("it listens", async || {
            let stats = line.call("daemon/stats", json!({})).await.unwrap();
            (stats["subscribers"] == 1).then_some(())
        })
        .await;
        Tail { child, lines }
    }

    fn next(&mut self) -> String {
        self.lines.next().expect("a line").unwrap()
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What handlers print cannot steer the terminal of who looks on (B82), now or later.
const NASTY: &str = r"printf 'no\033[2J\nway' >&2; exit 2";

#[test]
fn tail_shows_a_line_for_each_event() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", NASTY)).await;
        let mut text = Tail::start(world, &["tail", "--event", "PreToolUse"]).await;
        agent.invoke(&events::stop(0)).await;
        agent.invoke(&events::pre()).await;
        let line = text.next();
        let session = &agent.session()[..8];
        assert!(
            line.contains(&format!(
                " {session} PreToolUse deny: no\\u{{1b}}[2J way [PreToolUse:0:0 blocked "
            )),
            "{line}"
        );
        assert!(!line.contains('\u{1b}'), "{line:?}");
        drop(text);
        until("it has gone", || world.alive().is_empty()).await;
        let mut lines =
            Tail::start(world, &["--json", "tail", "--kind", "decision", "--session", agent.session()]).await;
        agent.invoke(&events::pre()).await;
        let line = lines.next();
        assert!(!line.contains('\u{1b}'), "{line:?}");
        let item: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&item["kind"], &item["reason"]), (&json!("decision"), &json!("no\u{1b}[2J\nway")));
        // It ends when its reader does, and says nothing about it.
        let Tail { child, lines: reader } = &mut lines;
        drop(std::mem::replace(reader, BufReader::new(empty()).lines()));
        for _ in 0..2 {
            agent.invoke(&events::pre()).await;
        }
        until("it ends with its reader", || child.try_wait().unwrap().is_some()).await;
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let mut complaints = String::new();
        std::io::Read::read_to_string(child.stderr.as_mut().unwrap(), &mut complaints).unwrap();
        assert_eq!(complaints, "");
        // With ctrl-c it ends at once, like every program.
        let mut last = Tail::start(world, &["tail"]).await;
        processes::signal(last.child.id(), nix::sys::signal::Signal::SIGINT);
        until("it ends", || last.child.try_wait().unwrap().is_some()).await;
    });
}

/// A pipe that nobody writes to.
fn empty() -> std::process::ChildStdout {
    let mut command = program::command("hooksctl", &[]);
    let mut child = command.arg("--version").spawn().unwrap();
    let stdout = child.stdout.take().unwrap();
    child.wait().unwrap();
    stdout
}

#[test]
fn log_works_with_and_without_a_daemon() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", NASTY)).await;
        let config = world.text_at("config");
        let log = |more: &[&str]| {
            let all = [&["log", "--config-dir", &config], more].concat();
            all.into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let run = async |more: &[&str]| {
            let arguments = log(more);
            ctl(world, &arguments.iter().map(String::as_str).collect::<Vec<_>>()).await
        };
        let id = agent.invoke(&events::pre()).await.0["invocation_id"].as_str().unwrap().to_owned();
        agent.invoke(&events::stop(0)).await;
        // Written out by now.
        agent.line.call("journal/query", json!({})).await.unwrap();
        let done = run(&[]).await;
        assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
        let lines: Vec<&str> = done.stdout.lines().collect();
        assert_eq!(lines.len(), 2, "{done:?}");
        assert!(lines[0].contains(" Stop none [no handler] "), "{}", lines[0]);
        let expected =
            format!(" {} PreToolUse execute deny: no\\u{{1b}}[2J way [PreToolUse:0:0 blocked ", &id[..8]);
        assert!(lines[1].contains(&expected), "{}", lines[1]);
        world.stop().await;
        for (more, count) in [
            (&["--event", "Stop"][..], 1),
            (&["--outcome", "blocked"], 1),
            (&["--tool", "execute", "--since", "10m"], 1),
            (&["--until", "2020-01-01T00:00:00Z"], 1),
            (&["--limit", "1"], 1),
        ] {
            let done = run(more).await;
            assert_eq!((done.status, done.stdout.lines().count()), (Some(0), count), "{more:?}: {done:?}");
        }
        assert!(run(&["--until", "2020-01-01T00:00:00Z"]).await.stdout.starts_with("nothing"));
        let shown = run(&["show", &id[..12]]).await;
        for part in
            ["event       PreToolUse", &id, "PreToolUse:0:0 blocked, exit 2", "decided by  PreToolUse:0:0"]
        {
            assert!(shown.stdout.contains(part), "{part} is not in {}", shown.stdout);
        }
        let arguments = log(&["show", &id]);
        let record = ctl_json(world, &arguments.iter().map(String::as_str).collect::<Vec<_>>()).await;
        assert_eq!((&record["invocation_id"], &record["outcome"]), (&json!(id), &json!("deny")));
        for more in [&["show", "zzz"][..], &["--since", "yesterday"], &["--limit", "0"]] {
            let done = run(more).await;
            assert_eq!(
                (done.status, done.stdout.as_str(), done.stderr.is_empty()),
                (Some(2), "", false),
                "{done:?}"
            );
        }
        let none = ctl(world, &["log", "--config-dir", &world.text_at("home")]).await;
        assert_eq!(none.status, Some(4), "{none:?}");
        world.start().await;
    });
}

#[test]
fn stats_for_people_and_for_collectors() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        agent.invoke(&events::pre()).await;
        let text = ctl(world, &["stats"]).await.stdout;
        for part in ["PreToolUse  ", "1 deny", "PreToolUse:0:0", "1 blocked", "sessions     1 on 1 snapshot"]
        {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert_eq!(ctl_json(world, &["stats"]).await["events"]["PreToolUse"]["count"], 1);
        let metrics = ctl(world, &["stats", "--openmetrics"]).await.stdout;
        let source = world.text_at("config/hooks.json");
        for line in [
            "hooksd_event_seconds_count{event=\"PreToolUse\"} 1".to_owned(),
            "hooksd_event_outcomes_total{event=\"PreToolUse\",outcome=\"deny\"} 1".to_owned(),
            format!("hooksd_handler_seconds_count{{handler=\"PreToolUse:0:0\",source=\"{source}\"}} 1"),
            "hooksd_sessions 1".to_owned(),
        ] {
            assert!(metrics.lines().any(|found| found == line), "{line} is not in {metrics}");
        }
        assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    });
}
