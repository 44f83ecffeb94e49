//! `hooksctl agents`: what each agent has done last, from the journal.

use hooksd_tests::harness::{daemon, events};
use serde_json::{Value, json};

use crate::ctl::ctl_json;
use crate::ctl_hook::{gate, hook};

#[test]
fn agents_shows_the_last_event_of_each() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        let config = world.text_at("config");
        let none = ctl_json(world, &["agents"]).await;
        assert_eq!(none["agents"][0]["last_event"], Value::Null);
        // By the names that installed entries have.
        for (name, command) in [("codex", "ls"), ("kiro", "ls"), ("codex", "ls -l")] {
            hook(world, name, &[], &gate(world, name, command)).await;
        }
        // One that came by no bridge is nobody's.
        agent.invoke(&events::stop(0)).await;
        let page = agent.line.call("journal/query", json!({ "limit": 2 })).await.unwrap();
        let newest = page["records"][1].clone();
        assert_eq!((&newest["agent"], &page["records"][0]["agent"]), (&json!("codex"), &Value::Null));
        let mut command = world.ctl(&["--json", "agents"]);
        command.env("HOOKSD_CONFIG_DIR", &config);
        let done = hooksd_tests::harness::program::run(command).await;
        assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""), "{done:?}");
        let listed: Value = serde_json::from_str(&done.stdout).unwrap();
        let of = |name: &str| {
            let agents = listed["agents"].as_array().unwrap();
            agents.iter().find(|agent| agent["name"] == name).unwrap()["last_event"].clone()
        };
        let (event, outcome) = (&newest["event"], &newest["outcome"]);
        let expected = json!({ "time": newest["time"], "event": event, "outcome": outcome,
            "invocation_id": newest["invocation_id"] });
        assert_eq!(of("codex"), expected);
        assert_eq!((&of("kiro-cli")["event"], of("goose")), (&json!("PreToolUse"), Value::Null));
        let mut command = world.ctl(&["agents"]);
        command.env("HOOKSD_CONFIG_DIR", &config);
        let text = hooksd_tests::harness::program::run(command).await.stdout;
        assert_eq!(text.matches("    last     PreToolUse deny, 2").count(), 2, "{text}");
    });
}
