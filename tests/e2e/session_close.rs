//! `session/close`: ends a session and stops its events.

use hooksd_tests::harness::{error_of, events, until, world};
use serde_json::json;

use crate::refuses;

#[test]
fn a_closed_session_is_gone() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "true")).await;
        let mut other = world.agent().await;
        let session = json!({ "session": agent.session() });
        assert_eq!(agent.line.call("session/close", session.clone()).await, Ok(json!({})));
        for method in ["session/close", "session/reload"] {
            assert_eq!(agent.line.refusal(method, session.clone()).await, (-32002, session.clone()));
        }
        let params = agent.params(&events::pre());
        assert_eq!(agent.line.refusal("hook/invoke", params).await, (-32002, session));
        assert_eq!(other.invoke(&events::pre()).await.behavior(), "none");
    });
}

/// Its running events are cancelled and answered, whoever waits for them; another session's are not.
#[test]
fn closing_cancels_the_sessions_events() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "sleep 30")).await;
        let mut other = world
            .agent_of(&events::shell("PreToolUse", "until [ -e $W/go ]; do sleep 0.02; done; exit 2"))
            .await;
        let (id, beside) = (agent.start(&events::pre()).await, other.start(&events::pre()).await);
        let sleeps = || world.alive().iter().any(|line| line == "sleep 30");
        until("the handler runs", sleeps).await;
        let mut third = world.connect().await;
        assert_eq!(third.call("session/close", json!({ "session": agent.session() })).await, Ok(json!({})));
        assert_eq!(error_of(agent.line.answer(id).await, "the cancelled event").0, -32800);
        until("the handler is gone", || !sleeps()).await;
        world.write("go", "");
        assert_eq!(other.answer(beside).await.behavior(), "deny");
    });
}

#[test]
fn refuses_params_that_do_not_fit() {
    world(async |world| {
        let mut agent = world.agent().await;
        let cases = [
            (json!({}), "session"),
            (json!({ "session": null }), "session"),
            (json!([agent.session()]), "params"),
            (json!({ "session": agent.session(), "zzz": 1 }), "zzz"),
        ];
        refuses(&mut agent.line, "session/close", &cases).await;
    });
}
