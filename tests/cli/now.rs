//! What is: `status`, `sessions`, `top`, `tail`, `reload`, `kill`, `show`.

use std::io::{BufRead, BufReader};

use hooksd_tests::harness::program::Done;
use hooksd_tests::harness::{events, eventually};
use serde_json::json;

use crate::transcript::{Transcript, denied, document, transcript};

#[test]
fn status() {
    transcript("status", async |page| {
        page.both(&["status"]).await;
        page.both(&["sessions"]).await;
        page.user(&document());
        let mut agent = page.agent().await;
        page.event(&mut agent, &denied(), "DENIED").await;
        page.both(&["status"]).await;
        page.both(&["sessions"]).await;
    });
}

const WAIT: &str = "touch $W/begun; until [ -e $W/go ]; do sleep 0.02; done";

#[test]
fn top() {
    transcript("top", async |page| {
        page.both_with(&["top"], &[("COLUMNS", "160")], "").await;
        page.user(&json!({ "hooks": {
            "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "exit 2" }] }],
            "Stop": [{ "hooks": [{ "type": "command", "command": WAIT, "statusMessage": "waiting for the tests" }] }],
        }}));
        let mut agent = page.agent().await;
        page.event(&mut agent, &denied(), "DENIED").await;
        let id = agent.start(&events::stop(0)).await;
        page.world.appears("begun").await;
        page.both_with(&["top", "--once"], &[("COLUMNS", "160")], "").await;
        page.world.write("go", "");
        agent.answer(id).await;
    });
}

#[test]
fn kill() {
    transcript("kill", async |page| {
        page.user(&events::shell("Stop", WAIT));
        let mut agent = page.agent().await;
        page.both(&["kill", "3f2a"]).await;
        page.run(&["kill", "ab"]).await;
        for more in [&[][..], &["--json"]] {
            let running = "3f2a0000-0000-4000-8000-000000000001";
            let params = agent.params_with(&events::stop(0), json!({ "invocation_id": running }));
            let id = agent.line.request("hook/invoke", &params).await;
            page.world.appears("begun").await;
            page.run(&[&["kill", "3f2a"], more].concat()).await;
            assert!(agent.line.answer(id).await.is_err(), "it was cancelled");
            std::fs::remove_file(page.world.at("begun")).unwrap();
        }
    });
}

#[test]
fn reload() {
    transcript("reload", async |page| {
        page.both(&["reload"]).await;
    });
}

#[test]
fn show() {
    transcript("show", async |page| {
        page.both(&["show"]).await;
        page.user(&document());
        page.project(&events::shell("PreToolUse", "exit 2"));
        page.both(&["show"]).await;
        page.run(&["show", "/nowhere"]).await;
        page.both(&["show", "--settings"]).await;
        page.world.write("config/hooks.json", "{ \"hooks\": ");
        page.run(&["show"]).await;
    });
}

/// A stream has no end of its own: it is shown up to the daemon's.
async fn tail(page: &mut Transcript<'_>, arguments: &[&str]) {
    let mut child = page.world.ctl(arguments).spawn().unwrap();
    let mut line = page.world.connect().await;
    eventually("it listens", async || {
        let stats = line.call("daemon/stats", json!({})).await.unwrap();
        (stats["subscribers"] == 1).then_some(())
    })
    .await;
    drop(line);
    page.user(&document());
    let mut agent = page.agent().await;
    for event in [denied(), events::pre_of("read_file"), events::tool("PreToolUse", "write_file", json!({}))]
    {
        page.event(&mut agent, &event, "EVENT").await;
    }
    agent.line.call("session/close", json!({ "session": agent.session() })).await.unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut stdout = Vec::new();
    while stdout.last().is_none_or(|line: &String| !line.contains("closed")) {
        stdout.push(lines.next().expect("a line for the end of the session"));
    }
    page.world.stop().await;
    stdout.extend(lines);
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
    let status = child.wait().unwrap().code();
    let stdout = format!("{}\n", stdout.join("\n"));
    page.show(&format!("hooksctl {}", arguments.join(" ")), &Done { status, stdout, stderr });
    page.world.start().await;
}

#[test]
fn tail_for_people() {
    transcript("tail", async |page| {
        tail(page, &["tail"]).await;
        page.run(&["tail", "--kind", "nothing"]).await;
    });
}

#[test]
fn tail_for_programs() {
    transcript("tail_json", async |page| tail(page, &["tail", "--json"]).await);
}
