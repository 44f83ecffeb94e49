//! Kind 12: wire protocol and streams.

use std::time::Duration;

use hooksd_tests::harness::{Agent, daemon, decision, deny, error_of, events, processes, world};
use serde_json::{Value, json};

/// The line of an event whose arguments are given as raw text, without a line end.
fn raw(agent: &Agent, id: u32, args: &str) -> String {
    let (session, context) = (agent.session(), &agent.context);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"hook/invoke","params":{{"session":"{session}","invocation":{{"context":{context},"event":{{"event":"PreToolUse","call":{{"id":"c","name":"x","args":{args}}}}}}}}}}}"#
    )
}

const TEXT: &str = r#"{"t":"é 😀 \" end"}"#;

/// Bytes may come in any pieces, also while the daemon sends on the same connection; CRLF, blank lines, a last line
/// without an end.
#[test]
fn b75_lines_in_pieces() {
    world(async |world| {
        world.user(&json!({ "hooks": {
            "PreToolUse": [{ "hooks": [{ "type": "command", "command": "cat > $W/stdin; exit 2" }] }],
            "SessionStart": [{ "hooks": vec![json!({ "type": "command", "command": "sleep 0.$((1 + $$ % 9))" }); 20] }],
        }}));
        let mut agent = world.agent().await;
        let pushing = agent.params_with(&events::session_start(), json!({ "progress": true }));
        let pushed = agent.line.request("hook/invoke", &pushing).await;
        let expected = decision("PreToolUse", json!({ "permission": deny("Hook blocked the operation") }));
        for byte in format!("{}\n", raw(&agent, 901, TEXT)).as_bytes() {
            agent.line.send_bytes(&[*byte]).await;
            // The case's own pause.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(agent.answer(901).await.decision(), expected);
        assert!(world.read("stdin").unwrap().contains(&format!(r#""tool_input":{TEXT}"#)));
        agent.answer(pushed).await;

        let lines = [902, 903, 904].map(|id| raw(&agent, id, TEXT));
        agent.line.send_bytes(format!("{}\r\n\r\n\n{}\n{}", lines[0], lines[1], lines[2]).as_bytes()).await;
        agent.line.half_close().await;
        for id in [904, 902, 903] {
            assert_eq!(agent.answer(id).await.decision(), expected);
        }
        assert_eq!(agent.line.next_line().await, None);
        // Twenty begin and twenty end.
        for _ in 0..40 {
            assert_eq!(agent.line.message().await["method"], "hook/progress");
        }
    });
}

/// A line beyond the limit is one error and nothing else: memory is bounded, and what was cut is never read.
#[test]
fn b77_huge_and_endless_lines() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PostToolUse", "wc -c > $W/length; exit 2")).await;
        let chunk = vec![b'x'; 4 << 20];
        let too_long = async |agent: &mut Agent| {
            let message = agent.line.message().await;
            assert_eq!((&message["id"], &message["error"]["code"]), (&Value::Null, &json!(-32001)));
        };
        let mut event = events::post();
        event["result"] = json!("y".repeat(8 << 20));
        let feedback = json!({ "feedback": ["Hook blocked the operation"] });
        for end in ["\n", ""] {
            agent.line.send_bytes(br#"{"jsonrpc":"2.0","id":1,"method":"daemon/shutdown","x":""#).await;
            for _ in 0..16 {
                agent.line.send_bytes(&chunk).await;
            }
            agent.line.send_bytes(end.as_bytes()).await;
            too_long(&mut agent).await;
            if end.is_empty() {
                agent.line.send_bytes(b"\"}\n").await;
            }
            let id = agent.line.request("session/list", &json!({})).await;
            // One error, and nothing more of that line.
            assert_eq!(agent.line.message().await["id"], id);
        }
        let peak = processes::peak(world.pid());
        assert!(peak < 100 << 20, "the daemon has used {peak} bytes for two lines of 64 MiB");
        assert_eq!(agent.invoke(&event).await.decision(), decision("PostToolUse", feedback));
        let length: usize = world.read("length").unwrap().trim().parse().unwrap();
        assert!(length > 8 << 20, "{length}");
    });
}

/// Who does not read, or stops in the middle of a line, holds up nobody and is told what he has lost.
#[test]
fn b79_slow_or_stuck_peers() {
    const EVENTS: usize = 5000;
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("Stop", "true")).await;
        let observer = async |wanted: Value| {
            let mut line = world.connect().await;
            let greeting = json!({ "client": { "name": "x", "observer": true } });
            line.call("initialize", greeting).await.unwrap();
            line.call("events/subscribe", wanted).await.unwrap();
            line
        };
        let mut idle = Vec::new();
        for _ in 0..200 {
            idle.push(world.connect().await);
        }
        let mut half = world.connect().await;
        half.send_bytes(br#"{"jsonrpc":"2.0","id":1,"method":"#).await;
        let mut stuck = observer(json!({})).await;
        let mut reads = observer(json!({ "kinds": ["decision"] })).await;
        let reader = tokio::spawn(async move {
            let mut seqs = Vec::new();
            while seqs.len() < EVENTS {
                let message = reads.message().await;
                assert_eq!(message["method"], "events/item", "{message}");
                seqs.push(message["params"]["seq"].as_u64().unwrap());
            }
            seqs
        });
        let mut own = Vec::new();
        for number in 0..EVENTS {
            agent.invoke(&events::pre()).await;
            if number % 1000 == 0 {
                own.push(stuck.request("session/list", &json!({})).await);
            }
        }
        let seqs = reader.await.unwrap();
        assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "out of order");
        // Somebody new is served at once.
        let started = std::time::Instant::now();
        let mut new = world.connect().await;
        let stats = new.call("daemon/stats", json!({})).await.unwrap();
        assert!(started.elapsed() < Duration::from_secs(5));
        assert!(stats["items_lost"].as_u64().unwrap() > 0, "{stats}");
        // Whoever was stuck finds all his answers, and every item or how many are missing in its place.
        for id in own {
            assert_eq!(stuck.answer(id).await.unwrap()["sessions"].as_array().unwrap().len(), 1);
        }
        let (mut items, mut lost, mut last) = (0, 0, 0);
        while items + lost < 2 * EVENTS as u64 {
            let message = stuck.message().await;
            match message["method"].as_str() {
                Some("events/gap") => lost += message["params"]["lost"].as_u64().unwrap(),
                Some("events/item") => {
                    let seq = message["params"]["seq"].as_u64().unwrap();
                    assert!(seq > last, "out of order");
                    (items, last) = (items + 1, seq);
                }
                _ => panic!("{message}"),
            }
        }
        assert_eq!(items + lost, 2 * EVENTS as u64);
        assert!(lost > 0);
        let peak = processes::peak(world.pid());
        assert!(peak < 100 << 20, "the daemon has used {peak} bytes");
    });
}

/// One bad line costs itself alone. D4: odd values are no bad line, and reach handlers as they came.
#[test]
fn b78_one_bad_request_is_not_a_dead_connection() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "cat > $W/stdin; exit 2")).await;
        for (line, code) in [
            (&b"{bad"[..], -32700),
            (b"5", -32600),
            (b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"\xC3\x28\"}", -32700),
        ] {
            agent.line.send_bytes(&[line, b"\n"].concat()).await;
            let message = agent.line.message().await;
            assert_eq!((&message["id"], &message["error"]["code"]), (&Value::Null, &json!(code)));
        }
        let wrong = agent.line.call("hook/invoke", json!({ "session": 5 })).await;
        assert_eq!(error_of(wrong, "wrong type").0, -32602);
        let deep = format!(r#"{{"deep":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        let expected = decision("PreToolUse", json!({ "permission": deny("Hook blocked the operation") }));
        for (id, args) in (900..).zip([
            r#"{"a":"a\ud83d"}"#,
            "{\"line\":\"a\u{2028}b\u{2029}c\u{85}d\"}",
            r#"{"b":123456789012345678901234567890,"a":1.0,"c":-0.0}"#,
            deep.as_str(),
        ]) {
            let line = raw(&agent, id, args);
            agent.line.send_line(&line).await;
            assert_eq!(agent.answer(id.into()).await.decision(), expected, "{args}");
            let stdin = world.read("stdin").unwrap();
            assert!(stdin.contains(&format!(r#""tool_input":{args}"#)), "{stdin}");
        }
    });
}
