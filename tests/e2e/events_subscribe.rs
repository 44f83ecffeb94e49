//! `events/subscribe`, `events/unsubscribe`: what is told, to whom, in which order, and what is not.

use hooksd_tests::harness::{Line, World, events, world};
use serde_json::{Value, json};

use crate::refuses;

/// A connection that looks on at everything.
pub(crate) async fn observer(world: &World, wanted: Value) -> (Line, Value) {
    let mut line = world.connect().await;
    let greeting = json!({ "client": { "name": "test", "observer": true } });
    line.call("initialize", greeting).await.unwrap();
    let answer = line.call("events/subscribe", wanted).await.unwrap();
    (line, answer)
}

/// The next notification's params.
pub(crate) async fn next(line: &mut Line, method: &str) -> Value {
    let mut message = line.message().await;
    assert_eq!(message["method"], method, "{message}");
    message["params"].take()
}

/// The same without what differs from run to run.
async fn item(line: &mut Line) -> Value {
    let mut item = next(line, "events/item").await;
    assert!(item["seq"].as_u64().unwrap() > 0 && item["time"].as_str().unwrap().ends_with('Z'), "{item}");
    let object = item.as_object_mut().unwrap();
    for key in ["seq", "time", "subscription", "invocation_id", "session", "snapshot_id", "duration_ms"] {
        object.remove(key);
    }
    let handlers = item.get_mut("handlers").and_then(Value::as_array_mut);
    for handler in handlers.into_iter().flatten() {
        handler["duration_ms"] = json!(0);
    }
    item
}

#[test]
fn an_event_is_told_from_its_coming_to_its_decision() {
    world(async |world| {
        world.user(&events::hooks(
            "PreToolUse",
            json!([
                { "type": "command", "command": "echo no >&2; exit 2", "statusMessage": "looking" },
                { "type": "command", "command": "exit 7" },
            ]),
        ));
        let mut agent = world.agent().await;
        let (mut line, answer) = observer(world, json!({})).await;
        assert!(answer["subscription"].is_u64() && answer["seq"].is_u64(), "{answer}");
        agent.invoke(&events::pre()).await;
        let event = "PreToolUse";
        assert_eq!(
            item(&mut line).await,
            json!({ "kind": "received", "event": event, "tool": "execute", "withheld": false })
        );
        // Two handlers run at once: the order is theirs.
        let mut handlers = Vec::new();
        for _ in 0..4 {
            handlers.push(item(&mut line).await);
        }
        let handler = |id: &str, active: bool, exit: Value, message: Value| {
            json!({
                "kind": "handler", "event": event, "handler_id": id, "active": active, "exit_code": exit,
                "ended": if active { Value::Null } else { json!("exited") }, "signal": null, "message": message,
                "withheld": false,
            })
        };
        for expected in [
            handler("PreToolUse:0:0", true, Value::Null, json!("looking")),
            handler("PreToolUse:0:0", false, json!(2), json!("looking")),
            handler("PreToolUse:0:1", true, Value::Null, Value::Null),
            handler("PreToolUse:0:1", false, json!(7), Value::Null),
        ] {
            assert!(handlers.contains(&expected), "{expected} is not in {handlers:?}");
        }
        let diagnostic = item(&mut line).await;
        assert_eq!(
            (&diagnostic["code"], &diagnostic["severity"], &diagnostic["handler_id"]),
            (&json!("nonzero_exit"), &json!("warning"), &json!("PreToolUse:0:1"))
        );
        assert_eq!(
            item(&mut line).await,
            json!({
                "kind": "decision", "event": event, "outcome": "deny", "reason": "no",
                "winner": "PreToolUse:0:0", "handler_count": 2, "withheld": false,
                "handlers": [
                    { "id": "PreToolUse:0:0", "status": "blocked", "duration_ms": 0 },
                    { "id": "PreToolUse:0:1", "status": "failed", "duration_ms": 0 },
                ],
            })
        );
    });
}

#[test]
fn filters_are_kept_to_and_seqs_grow() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 7")).await;
        let other = world.agent().await;
        let session = agent.session().to_owned();
        let wanted = [
            json!({ "kinds": ["decision"] }),
            json!({ "kinds": ["decision", "received"], "sessions": [session] }),
            json!({ "events": ["Stop"], "kinds": ["decision"] }),
            json!({ "sessions": [other.session()] }),
            json!({ "kinds": ["diagnostic"], "min_severity": "error" }),
        ];
        let mut lines = Vec::new();
        for wanted in wanted {
            lines.push(observer(world, wanted).await.0);
        }
        for event in [events::pre(), events::stop(0), events::pre()] {
            agent.invoke(&event).await;
        }
        agent.line.call("session/close", json!({ "session": other.session() })).await.unwrap();
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.push(next(&mut lines[0], "events/item").await);
        }
        let names: Vec<&Value> = seen.iter().map(|item| &item["event"]).collect();
        assert_eq!(names, ["PreToolUse", "Stop", "PreToolUse"]);
        let seqs: Vec<u64> = seen.iter().map(|item| item["seq"].as_u64().unwrap()).collect();
        assert!(seqs.is_sorted() && seqs[0] < seqs[1] && seqs[1] < seqs[2], "{seqs:?}");
        for kind in ["received", "decision", "received", "decision", "received", "decision"] {
            assert_eq!(next(&mut lines[1], "events/item").await["kind"], kind);
        }
        assert_eq!(next(&mut lines[2], "events/item").await["event"], "Stop");
        assert_eq!(next(&mut lines[3], "events/item").await["change"], "closed");
        // The last of them has nothing: its next message is an answer.
        let id = lines[4].request("session/list", &json!({})).await;
        assert_eq!(lines[4].message().await["id"], id);
    });
}

#[test]
fn since_goes_on_where_another_subscription_has_ended() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("Stop", "true")).await;
        let (mut line, answer) = observer(world, json!({ "kinds": ["decision"] })).await;
        agent.invoke(&events::stop(0)).await;
        let first = next(&mut line, "events/item").await;
        drop(line);
        for _ in 0..3 {
            agent.invoke(&events::stop(0)).await;
        }
        let since = json!({ "kinds": ["decision"], "since": first["seq"] });
        let (mut line, again) = observer(world, since).await;
        assert!(again["subscription"].as_u64() > answer["subscription"].as_u64());
        let mut last = first["seq"].as_u64().unwrap();
        for _ in 0..3 {
            let item = next(&mut line, "events/item").await;
            assert!(item["seq"].as_u64().unwrap() > last);
            last = item["seq"].as_u64().unwrap();
        }
        // What no daemon has counted, or another one has.
        for since in [1, last + 1_000_000] {
            let (mut line, _) = observer(world, json!({ "since": since })).await;
            assert_eq!(next(&mut line, "events/gap").await["lost"], Value::Null);
        }
    });
}

/// What is older than what is kept is a gap of so many, and nothing of what is kept is missing after it.
#[test]
fn what_is_too_old_is_a_gap() {
    const KEPT: u64 = 1024;
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("Stop", "true")).await;
        let (mut line, _) = observer(world, json!({ "kinds": ["received"] })).await;
        agent.invoke(&events::pre()).await;
        let first = next(&mut line, "events/item").await["seq"].as_u64().unwrap();
        line.call("events/unsubscribe", json!({ "subscription": 1 })).await.unwrap();
        for _ in 0..KEPT / 2 + 50 {
            agent.invoke(&events::pre()).await;
        }
        let (mut line, answer) = observer(world, json!({ "since": first })).await;
        let last = answer["seq"].as_u64().unwrap();
        assert_eq!(next(&mut line, "events/gap").await["lost"], last - KEPT - first);
        for seq in last - KEPT + 1..=last {
            assert_eq!(next(&mut line, "events/item").await["seq"], seq);
        }
    });
}

/// With the journal off nothing is kept while nobody subscribes, and the next subscriber is told.
#[test]
fn what_nobody_heard_is_a_gap() {
    let mut setup = hooksd_tests::harness::Setup::default();
    setup.journal.enabled = false;
    hooksd_tests::harness::world_with(setup, async |world| {
        let mut agent = world.agent_of(&events::shell("Stop", "true")).await;
        let (mut line, _) = observer(world, json!({ "kinds": ["decision"] })).await;
        agent.invoke(&events::stop(0)).await;
        let seq = next(&mut line, "events/item").await["seq"].clone();
        let id = line.call("events/unsubscribe", json!({ "subscription": 1 })).await;
        assert_eq!(id, Ok(json!({})));
        agent.invoke(&events::stop(0)).await;
        let (mut line, _) = observer(world, json!({ "since": seq })).await;
        assert_eq!(next(&mut line, "events/gap").await["lost"], 1);
        agent.invoke(&events::stop(0)).await;
        assert_eq!(next(&mut line, "events/item").await["kind"], "received");
    });
}

/// Texts of one session never reach another session's agent, nor somebody who has not said that he looks on.
#[test]
fn texts_reach_their_own_session_and_observers_only() {
    world(async |world| {
        let mut alpha = world.agent_of(&events::shell("PreToolUse", "echo secret reason >&2; exit 2")).await;
        let mut beta = world.agent().await;
        let mut stranger = world.connect().await;
        let (mut looking, _) = observer(world, json!({ "kinds": ["decision"] })).await;
        for line in [&mut alpha.line, &mut beta.line, &mut stranger] {
            line.call("events/subscribe", json!({ "kinds": ["decision"] })).await.unwrap();
        }
        alpha.invoke(&events::pre()).await;
        for (line, reads) in
            [(&mut alpha.line, true), (&mut beta.line, false), (&mut stranger, false), (&mut looking, true)]
        {
            let item = next(line, "events/item").await;
            let reason = if reads { json!("secret reason") } else { Value::Null };
            assert_eq!((&item["reason"], &item["withheld"]), (&reason, &json!(!reads)), "{item}");
            assert_eq!(item["outcome"], "deny");
        }
        // Nobody is both.
        let greeting = json!({ "client": { "name": "x", "observer": true } });
        let refusal = beta.line.refusal("initialize", greeting).await;
        assert_eq!(refusal, (-32602, json!({ "field": "client.observer" })));
        assert_eq!(looking.refusal("session/open", world.open_params()).await.0, -32600);
        let attach = json!({ "session": alpha.session() });
        assert_eq!(looking.refusal("session/attach", attach).await.0, -32600);
    });
}

/// What else becomes of the daemon: sessions, documents, trust.
#[test]
fn sessions_documents_and_trust_are_told() {
    world(async |world| {
        let kinds = json!({ "kinds": ["session", "snapshot", "trust", "diagnostic"] });
        let (mut line, _) = observer(world, kinds).await;
        let mut agent = world.agent_of(&events::shell("Stop", "true")).await;
        assert_eq!(next(&mut line, "events/item").await["change"], "opened");
        world.user_text("{broken");
        let snapshot = next(&mut line, "events/item").await;
        assert_eq!((&snapshot["kind"], &snapshot["applied"]), (&json!("snapshot"), &json!(false)));
        let diagnostic = next(&mut line, "events/item").await;
        assert_eq!(diagnostic["kind"], "diagnostic", "{diagnostic}");
        assert!(diagnostic["field"].as_str().unwrap().ends_with("hooks.json"), "{diagnostic}");
        world.user(&events::shell("Stop", "true"));
        agent.reload().await;
        let mut change = Value::Null;
        while change != "reloaded" {
            change = next(&mut line, "events/item").await["change"].take();
        }
        world.project(&events::shell("Stop", "true"));
        let cwd = json!({ "cwd": world.text_at("project") });
        let status = agent.line.call("trust/status", cwd.clone()).await.unwrap();
        let grant = json!({ "cwd": cwd["cwd"], "fingerprint": status["fingerprint"] });
        agent.line.call("trust/grant", grant).await.unwrap();
        agent.line.call("trust/revoke", cwd).await.unwrap();
        for trusted in [true, false] {
            let item = loop {
                let item = next(&mut line, "events/item").await;
                if item["kind"] == "trust" {
                    break item;
                }
            };
            assert_eq!(
                (&item["trusted"], &item["root"]),
                (&json!(trusted), &json!(world.text_at("project")))
            );
        }
    });
}

/// A command of the older form that nobody waits for fails where somebody can see it.
#[test]
fn failures_of_the_older_form_are_told() {
    world(async |world| {
        world
            .user(&json!({ "hooks": [{ "command": [world.text_at("none")], "events": ["session.start"] }] }));
        let mut agent = world.agent().await;
        let (mut line, _) = observer(world, json!({ "kinds": ["diagnostic"] })).await;
        let params =
            json!({ "session": agent.session(), "event": "session.start", "payload": { "thread_id": "t" } });
        agent.line.call("legacy/emit", params).await.unwrap();
        let item = next(&mut line, "events/item").await;
        assert_eq!(
            (&item["code"], &item["event"]),
            (&json!("launch_failed"), &json!("session.start")),
            "{item}"
        );
    });
}

#[test]
fn bad_params_are_refused() {
    world(async |world| {
        let mut line = world.connect().await;
        let cases = [
            (json!({ "kinds": ["nope"] }), "kinds[0]"),
            (json!({ "since": -1 }), "since"),
            (json!({ "min_severity": "loud" }), "min_severity"),
            (json!({ "zzz": 1 }), "zzz"),
        ];
        refuses(&mut line, "events/subscribe", &cases).await;
        let mut other = world.connect().await;
        let id = other.call("events/subscribe", json!({})).await.unwrap()["subscription"].clone();
        // Another connection's subscription is not this one's to end.
        refuses(
            &mut line,
            "events/unsubscribe",
            &[(json!({ "subscription": id }), "subscription"), (json!({}), "subscription")],
        )
        .await;
        assert_eq!(other.call("events/unsubscribe", json!({ "subscription": id })).await, Ok(json!({})));
    });
}
