//! `config/explain`: for every handler of an event whether it would run, and if not why.

use hooksd_tests::harness::{events, world};
use serde_json::{Value, json};

use crate::{refuses, with, without};

/// Of each handler its id and rule, `-` for one that is not part of the snapshot.
fn rules(explained: &Value) -> Vec<String> {
    let handlers = explained["handlers"].as_array().unwrap();
    let line = |handler: &Value| {
        assert_eq!(handler["runs"], handler["rule"] == "runs", "{handler}");
        format!("{} {}", handler["id"].as_str().unwrap_or("-"), handler["rule"].as_str().unwrap())
    };
    handlers.iter().map(line).collect()
}

fn one(matcher: &str, command: &str) -> Value {
    json!({ "matcher": matcher, "hooks": [{ "type": "command", "command": command }] })
}

#[test]
fn every_handler_has_its_rule_and_nothing_runs() {
    world(async |world| {
        world.project(&events::shell("PreToolUse", "touch $W/ran"));
        world.user(&json!({ "hooks": {
            "PreToolUse": [
                one("bash", "touch $W/ran"),
                { "hooks": [] },
                { "matcher": "Bash", "hooks": [
                    { "type": "http" }, { "type": "command", "command": "touch $W/ran" },
                    { "type": "command", "command": "hooksctl hook --agent codex" },
                ]},
                one("B[a", "x"),
            ],
            "pretooluse": [one("Bash", "x")],
            "Stop": [one("x", "x")],
        }}));
        let mut agent = world.agent().await;
        let explained = agent.line.call("config/explain", agent.params(&events::pre())).await.unwrap();
        let expected = [
            "PreToolUse:0:0 matcher",
            "PreToolUse:2:0 runs",
            "PreToolUse:2:1 self_reference",
            "PreToolUse:3:0 invalid_matcher",
            "- untrusted",
            "- invalid_config",
            "- unknown_event",
        ];
        assert_eq!(rules(&explained), expected);
        let user = world.text_at("config/hooks.json");
        let text = world.read("config/hooks.json").unwrap();
        let column = text.find(r#"{"command":"touch $W/ran","type":"command"}]"#).unwrap() + 1;
        assert_eq!(explained["subject"], "Bash");
        assert_eq!(explained["native"], "execute");
        assert_eq!(explained["snapshot_id"], agent.snapshot());
        assert_eq!(
            explained["handlers"][0],
            json!({
                "id": "PreToolUse:0:0", "scope": "user", "source": user, "place": format!("{user}:1:{column}"),
                "matcher": "bash", "command": "touch $W/ran", "runs": false, "rule": "matcher",
                "why": "the matcher \"bash\" is not the exact name \"Bash\": upper and lower case differ",
                "fix": "write \"Bash\"",
            })
        );
        let stop = agent.line.call("config/explain", agent.params(&events::stop(0))).await.unwrap();
        assert_eq!(rules(&stop), ["Stop:0:0 unsupported_matcher"]);
        assert!(world.read("ran").is_none());
    });
}

/// What is explained as running runs, and nothing else.
#[test]
fn what_would_run_is_what_runs() {
    world(async |world| {
        world.user(&json!({ "hooks": { "PreToolUse": [
            one("Bash", "true"), one("Write|Edit", "true"), one("", "true"), one("^Ba", "true"), one("mcp__m", "true"),
            one("mcp__m__.*", "true"),
        ]}}));
        let mut agent = world.agent().await;
        for event in
            [events::pre(), events::pre_of("write_file"), events::pre_of("Other"), events::pre_mcp("m", "t")]
        {
            let explained = agent.line.call("config/explain", agent.params(&event)).await.unwrap();
            let running =
                explained["handlers"].as_array().unwrap().iter().filter(|handler| handler["runs"] == true);
            let running: Vec<&Value> = running.map(|handler| &handler["id"]).collect();
            let answer = agent.invoke(&event).await;
            let ran: Vec<&Value> =
                answer.0["handlers"].as_array().unwrap().iter().map(|handler| &handler["id"]).collect();
            assert_eq!(running, ran, "{event}");
        }
    });
}

#[test]
fn a_snapshot_that_is_older_than_the_file_says_so() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "old")).await;
        world.user(&events::shell("PreToolUse", "new"));
        let explained = agent.line.call("config/explain", agent.params(&events::pre())).await.unwrap();
        assert_eq!(rules(&explained), ["PreToolUse:0:0 runs", "- snapshot_older"]);
        assert_eq!(explained["handlers"][0]["place"], Value::Null);
        assert!(explained["handlers"][1]["fix"].as_str().unwrap().contains("session/reload"));
        agent.reload().await;
        let explained = agent.line.call("config/explain", agent.params(&events::pre())).await.unwrap();
        assert_eq!(rules(&explained), ["PreToolUse:0:0 runs"]);
    });
}

#[test]
fn an_unknown_event_is_answered_with_the_one_that_was_meant() {
    world(async |world| {
        let mut line = world.connect().await;
        let params =
            json!({ "session": world.open_params(), "payload": { "hook_event_name": "PreTooluse" } });
        let explained = line.call("config/explain", params.clone()).await.unwrap();
        assert_eq!(rules(&explained), [""; 0]);
        assert_eq!(
            explained["diagnostics"][0]["message"],
            "PreTooluse is no event of hooksd: nothing can be configured for it; did you mean PreToolUse?"
        );
        refuses(
            &mut line,
            "config/explain",
            &[
                (with(&params, "run", json!(true)), "run"),
                (without(&params, "session"), "session"),
                (without(&params, "payload"), "invocation"),
                (with(&params, "payload", json!({})), "payload.hook_event_name"),
                (with(&params, "session", json!(1)), "session"),
            ],
        )
        .await;
    });
}

/// What excludes handlers beside their own declaration: plugins, nesting, the older form, an event without a name.
#[test]
fn what_excludes_a_valid_handler_is_named() {
    world(async |world| {
        world.user(&json!({ "hooks": [{ "command": ["true"], "events": ["session.end"] }] }));
        world.write("plugin/plugin.json", json!({ "name": "p" }).to_string());
        world.write("plugin/hooks/hooks.json", events::shell("SessionEnd", "true").to_string());
        let plugin = json!([{ "id": "p@m", "root": world.text_at("plugin") }]);

        let mut agent = world.agent_with(json!({ "plugins": plugin })).await;
        let explained =
            agent.line.call("config/explain", agent.params(&events::session_end())).await.unwrap();
        assert_eq!(rules(&explained), ["SessionEnd:0:0 runs", "SessionEnd:1:0 runs"]);
        let place = format!("{}:1:", world.text_at("plugin/hooks/hooks.json"));
        assert!(explained["handlers"][1]["place"].as_str().unwrap().starts_with(&place), "{explained}");
        let params =
            json!({ "session": agent.session(), "event": "session.start", "payload": { "thread_id": "s1" } });
        agent.line.call("legacy/emit", params).await.unwrap();
        let explained =
            agent.line.call("config/explain", agent.params(&events::session_end())).await.unwrap();
        assert_eq!(rules(&explained), ["SessionEnd:0:0 legacy_shadowed", "SessionEnd:1:0 runs"]);

        let mut deep = world.agent_with(json!({ "env": { "HOOKSD_DEPTH": "3" } })).await;
        let explained = deep.line.call("config/explain", deep.params(&events::session_end())).await.unwrap();
        assert_eq!(rules(&explained), ["SessionEnd:0:0 recursion_limit"]);

        world.user(&events::shell("Notification", "true"));
        deep.reload().await;
        let event = json!({ "event": "Notification", "notification": { "type": "odd", "message": "x" } });
        let explained = deep.line.call("config/explain", deep.params(&event)).await.unwrap();
        assert_eq!(rules(&explained), ["Notification:0:0 projection_failed"]);
    });
}

/// A matcher without an end is told, and does not hold up the daemon.
#[test]
fn a_matcher_that_takes_too_long_is_named() {
    world(async |world| {
        world.user(&json!({ "hooks": { "PreToolUse": [one("^(a+)+$", "true")] }}));
        let mut agent = world.agent().await;
        let event = events::pre_of(&format!("{}!", "a".repeat(60)));
        let explained = agent.line.call("config/explain", agent.params(&event)).await.unwrap();
        let rule = &rules(&explained)[0];
        let ran = agent.invoke(&event).await;
        let bound = ran.0["decision"]["diagnostics"].to_string().contains("matcher_bound");
        assert_eq!(rule, if bound { "PreToolUse:0:0 matcher_bound" } else { "PreToolUse:0:0 matcher" });

        // A guard that must fail closed is said to count, as it does.
        let mut guard = events::shell("PreToolUse", "true");
        guard["hooks"]["PreToolUse"][0]["matcher"] = json!("(b|bb)+c");
        guard["hooks"]["PreToolUse"][0]["hooks"][0]["onFailure"] = json!("block");
        world.user(&guard);
        agent.reload().await;
        let event = events::pre_of(&"b".repeat(64));
        let explained = agent.line.call("config/explain", agent.params(&event)).await.unwrap();
        assert_eq!(rules(&explained), ["PreToolUse:0:0 matcher_bound"]);
        assert!(explained.to_string().contains("counts as exit 2 (onFailure)"), "{explained}");
        assert_eq!(agent.invoke(&event).await.0["decision"]["permission"]["behavior"], "deny");
    });
}
