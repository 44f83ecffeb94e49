//! What was: `log`, `timeline`, `replay`, `report`, `stats`, `agents`.

use std::time::{Duration, SystemTime};

use hooksd_protocol::timestamp::Timestamp;
use hooksd_tests::harness::{Setup, events};
use serde_json::json;

use crate::transcript::{denied, document, transcript, transcript_with};

#[test]
fn log() {
    transcript("log", async |page| {
        page.say("Before any daemon has written a journal.");
        page.both(&["log", "--config-dir", "../home"]).await;
        page.user(&document());
        let mut agent = page.agent().await;
        page.both(&["log"]).await;
        page.event(&mut agent, &events::session_start(), "START").await;
        page.event(&mut agent, &events::tool("PreToolUse", "write_file", json!({})), "WRITE").await;
        page.event(&mut agent, &events::pre_of("read_file"), "READ").await;
        let id = page.event(&mut agent, &denied(), "DENIED").await;
        page.event(&mut agent, &events::stop(0), "STOP").await;
        page.both(&["log"]).await;
        for more in [
            &["--event", "Stop"][..],
            &["--tool", "execute"],
            &["--outcome", "failed"],
            &["--outcome", "deny", "--since", "10m", "--limit", "1"],
            &["--until", "2020-01-01T00:00:00Z"],
            &["--since", "yesterday"],
            &["--limit", "0"],
        ] {
            page.run(&[&["log"], more].concat()).await;
        }
        page.both(&["log", "show", &id]).await;
        page.run(&["log", "show", "zzzz"]).await;
        page.both(&["timeline", &id]).await;
        page.run(&["timeline", "zzzz"]).await;
    });
}

/// A word of several parts is spelled as in JSON, wherever it stands. One session has one of three places.
#[test]
fn queued_out() {
    let environment = vec![("HOOKSD_LIMITS_HANDLERS".to_owned(), "3".to_owned())];
    transcript_with("queued_out", Setup { environment, ..Setup::default() }, async |page| {
        let wait = "touch $W/begun; until [ -e $W/go ]; do sleep 0.02; done";
        page.user(&json!({ "hooks": {
            "Stop": [{ "hooks": [{ "type": "command", "command": wait }] }],
            "PreToolUse": [{ "hooks": [{ "type": "command", "command": "true" }] }],
        }}));
        let mut agent = page.agent().await;
        let held = agent.start(&events::stop(0)).await;
        page.world.appears("begun").await;
        let soon = Timestamp::of(SystemTime::now() + Duration::from_millis(300));
        let late = agent.params_with(&events::pre(), json!({ "deadline": soon.to_string() }));
        let answer = agent.line.call("hook/invoke", late).await.unwrap();
        let id = answer["invocation_id"].as_str().unwrap().to_owned();
        page.name(&id, "LATE");
        page.world.write("go", "");
        agent.answer(held).await;
        agent.line.call("journal/query", json!({})).await.unwrap();
        page.run(&["log", "--event", "PreToolUse"]).await;
        page.run(&["log", "show", &id]).await;
        page.run(&["timeline", &id]).await;
        page.run(&["stats"]).await;
    });
}

#[test]
fn replay() {
    let environment = vec![("HOOKSD_JOURNAL_PAYLOADS".to_owned(), "true".to_owned())];
    transcript_with("replay", Setup { environment, ..Setup::default() }, async |page| {
        page.user(&document());
        let mut agent = page.agent().await;
        let id = page.event(&mut agent, &denied(), "DENIED").await;
        let read = page.event(&mut agent, &events::pre_of("read_file"), "READ").await;
        page.both(&["replay", &id]).await;
        page.run(&["replay", &read]).await;
        page.world.write("project/cases/delete.event.json", denied().to_string());
        page.world.write("project/cases/empty/note.txt", "");
        page.run(&["replay", "cases"]).await;
        page.run(&["replay", "cases", "--update"]).await;
        page.both(&["replay", "cases"]).await;
        page.say("With a guard that allows.");
        page.user(&events::shell("PreToolUse", "true"));
        page.both(&["replay", "cases", &id]).await;
        page.run(&["replay", "cases/empty"]).await;
        page.run(&["replay", "gone.event.json"]).await;
        page.run(&["replay"]).await;
    });
}

#[test]
fn report() {
    transcript("report", async |page| {
        page.user(&document());
        let mut agent = page.agent().await;
        page.event(&mut agent, &denied(), "DENIED").await;
        page.event(&mut agent, &events::pre_of("read_file"), "READ").await;
        page.both(&["report", "--out", "page.html"]).await;
        page.run(&["report", "--json"]).await;
        page.run(&["report", "--out", "gone/page.html"]).await;
        page.run(&["report", "--since", "yesterday"]).await;
        page.say("A time without events; pages with events are in tests/e2e/ctl_report.rs.");
        page.run(&["report", "--until", "2020-01-01T00:00:00Z"]).await;
    });
}

#[test]
fn stats() {
    transcript("stats", async |page| {
        page.both(&["stats"]).await;
        page.user(&document());
        let mut agent = page.agent().await;
        for event in [denied(), denied(), events::pre_of("read_file"), events::stop(0)] {
            page.event(&mut agent, &event, "EVENT").await;
        }
        page.both(&["stats"]).await;
        page.run(&["stats", "--openmetrics", "--json"]).await;
        page.world.stop().await;
        page.both(&["stats"]).await;
        page.run(&["stats", "--openmetrics"]).await;
        page.world.start().await;
    });
}

#[test]
fn agents() {
    transcript("agents", async |page| {
        let path = page.world.text_at("bin");
        page.both_with(&["agents"], &[("PATH", &path)], "").await;
        page.run(&["install", "claude-code"]).await;
        page.user(&document());
        let payload = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": page.world.text_at("project"),
            "tool_name": "Bash", "tool_input": { "command": "rm -rf build" }, "tool_use_id": "c" });
        page.run_with(&["hook", "--agent", "claude-code"], &[], &payload.to_string()).await;
        page.world.connect().await.call("journal/query", json!({})).await.unwrap();
        let settings = page.world.read("home/.claude/settings.json").unwrap();
        page.world.write("home/.gemini/settings.json", "{ broken");
        page.world.write("home/.claude/settings.json", settings.replacen("/hooksctl", "/gone/hooksctl", 1));
        page.run_with(&["agents"], &[("PATH", &path)], "").await;
    });
}
