//! D22: a deadline in the past runs nothing; one in the future bounds the whole invocation.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hooksd_tests::harness::{decision, error_of, events, world};
use serde_json::{Value, json};

#[test]
fn a_past_deadline_runs_nothing() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "touch $W/ran")).await;
        for past in
            [json!("2020-01-02T03:04:05Z"), json!(0), json!(1_577_934_245.5), json!("0001-01-01T00:00:00Z")]
        {
            let answer =
                agent.invoke_with(&events::pre(), json!({ "deadline": past })).await.map(|answer| answer.0);
            assert_eq!(error_of(answer, "past"), (-32007, Value::Null), "{past}");
        }
        assert_eq!(world.read("ran"), None);
    });
}

#[test]
fn a_deadline_bounds_the_handlers() {
    world(async |world| {
        world.user(&events::hooks(
            "PreToolUse",
            json!([
                { "type": "command", "command": "sleep 30" },
                { "type": "command", "command": "sleep 30", "timeout": 20 },
                { "type": "command", "command": "sleep 30", "timeout": 0.1 },
                { "type": "command", "command": "exit 2" },
            ]),
        ));
        let mut agent = world.agent().await;
        let start = Instant::now();
        let deadline = SystemTime::now() + Duration::from_millis(700);
        let deadline = deadline.duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let answer = agent.invoke_with(&events::pre(), json!({ "deadline": deadline })).await.unwrap();
        assert!(start.elapsed() < Duration::from_millis(2500), "{:?}", start.elapsed());
        let timeouts = [0, 1, 2].map(|number| format!("timeout PreToolUse:0:{number}"));
        let denied = hooksd_tests::harness::deny("Hook blocked the operation");
        let expected = json!({ "permission": denied, "diagnostics": timeouts });
        assert_eq!(answer.decision(), decision("PreToolUse", expected));
        world.nothing_runs().await;
    });
}

/// A deadline far away changes nothing, in either spelling.
#[test]
fn a_deadline_far_away_changes_nothing() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        for far in
            [json!("9999-12-31T23:59:59Z"), json!("2999-01-02t03:04:05.25-11:00"), json!(253_402_300_799_u64)]
        {
            let answer = agent.invoke_with(&events::pre(), json!({ "deadline": far })).await.unwrap();
            assert_eq!(answer.behavior(), "deny", "{far}");
        }
    });
}

/// Matching counts too: what was not tried in time counts as failed, and fails closed where it was asked to.
#[test]
fn a_deadline_bounds_matching() {
    world(async |world| {
        let group = |on_failure: &str| {
            json!({ "matcher": "^(a+)+(b+)*N$", "hooks": [
                { "type": "command", "command": "true", "onFailure": on_failure },
            ] })
        };
        let groups: Vec<Value> = (0..200).map(|_| group("ignore")).chain([group("block")]).collect();
        world.user(&json!({ "hooks": { "PreToolUse": groups } }));
        let mut agent = world.agent().await;
        let start = Instant::now();
        let deadline = SystemTime::now() + Duration::from_millis(500);
        let deadline = deadline.duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let event = events::pre_of(&format!("{}!", "a".repeat(3000)));
        let answer = agent.invoke_with(&event, json!({ "deadline": deadline })).await.unwrap();
        assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
        assert_eq!(answer.behavior(), "deny");
        let late = answer.diagnostics().iter().filter(|said| said.to_string().contains("was not tried"));
        assert!(late.count() > 0);
    });
}
