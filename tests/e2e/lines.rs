//! Lines: any split of the bytes is the same, a bad line costs that line alone, a long one costs one error.

use hooksd_protocol::rpc::MAX_LINE;
use hooksd_tests::harness::{Line, error_of, events, world};
use serde_json::{Value, json};

async fn next_error(line: &mut Line) -> (Value, i64) {
    let message = line.message().await;
    assert!(message["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{message}");
    (message["id"].clone(), message["error"]["code"].as_i64().unwrap())
}

async fn still_answers(line: &mut Line) {
    assert_eq!(line.call("session/list", json!({})).await, Ok(json!({ "sessions": [] })));
}

/// B78: each is one error, with the request's id where that can be read, and the next request works.
#[test]
fn a_bad_line_costs_itself_alone() {
    world(async |world| {
        let mut line = world.connect().await;
        let deep = format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000));
        let cases: [(&[u8], Value, i64); 16] = [
            (b"{bad", Value::Null, -32700),
            (b"hello", Value::Null, -32700),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\"}}", Value::Null, -32700),
            (b"{\"a\":\"\xff\"}", Value::Null, -32700),
            (b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\"}", Value::Null, -32700),
            (b"{\"jsonrpc\":\"2.0\",\"id\":NaN,\"method\":\"session/list\"}", Value::Null, -32700),
            (b"42", Value::Null, -32600),
            (b"null", Value::Null, -32600),
            (b"\"x\"", Value::Null, -32600),
            (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\"}]", Value::Null, -32600),
            (b"{}", Value::Null, -32600),
            (b"{\"id\":7}", json!(7), -32600),
            (b"{\"id\":\"a\",\"jsonrpc\":\"1.0\",\"method\":\"session/list\"}", json!("a"), -32600),
            (b"{\"id\":8,\"jsonrpc\":\"2.0\",\"method\":5}", json!(8), -32600),
            (b"{\"id\":{},\"jsonrpc\":\"2.0\",\"method\":\"session/list\"}", Value::Null, -32600),
            (deep.as_bytes(), Value::Null, -32600),
        ];
        for (bytes, id, code) in cases {
            line.send_bytes(&[bytes, b"\n"].concat()).await;
            let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
            assert_eq!(next_error(&mut line).await, (id, code), "{shown}");
        }
        still_answers(&mut line).await;
    });
}

/// A bad line in between does not touch what runs on the same connection.
#[test]
fn a_bad_line_does_not_touch_what_runs() {
    world(async |world| {
        let mut agent = world
            .agent_of(&events::shell(
                "PreToolUse",
                "touch $W/runs; until [ -e $W/go ]; do sleep 0.02; done; exit 2",
            ))
            .await;
        let id = agent.start(&events::pre()).await;
        world.appears("runs").await;
        agent.line.send_line("{bad").await;
        assert_eq!(next_error(&mut agent.line).await, (Value::Null, -32700));
        world.write("go", "");
        assert_eq!(agent.answer(id).await.behavior(), "deny");
    });
}

/// B75: one byte a write, CRLF, blank lines, two requests in one write, and a last line without an end.
#[test]
fn any_split_of_the_bytes_is_the_same() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "cat > $W/stdin; exit 2")).await;
        let text = r#"é 😀 \" \\ end"#;
        let context = &agent.context;
        let session = agent.session();
        let request = |id: u32| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"hook/invoke","params":{{"session":"{session}","invocation":{{"context":{context},"event":{{"event":"PreToolUse","call":{{"id":"c","name":"x","args":{{"t":"{text}"}}}}}}}}}}}}"#
            )
        };
        let requests: Vec<String> = (901..906).map(request).collect();
        for byte in format!("{}\n", requests[0]).as_bytes() {
            agent.line.send_bytes(&[*byte]).await;
            tokio::task::yield_now().await;
        }
        agent.answer(901).await;
        assert!(world.read("stdin").unwrap().contains(&format!(r#""tool_input":{{"t":"{text}"}}"#)));
        agent
            .line
            .send_bytes(format!("\r\n\n  \n{}\r\n{}\n{}", requests[1], requests[2], requests[3]).as_bytes())
            .await;
        agent.answer(903).await;
        agent.answer(902).await;
        agent.line.send_bytes(format!("\n{}", requests[4]).as_bytes()).await;
        agent.line.half_close().await;
        assert_eq!(agent.answer(905).await.behavior(), "deny");
        assert_eq!(agent.answer(904).await.behavior(), "deny");
        assert_eq!(agent.line.next_line().await, None);
    });
}

/// B77: a line may be as long as the limit. One byte more is one error, and the next line works.
#[test]
fn a_line_over_the_limit_is_one_error() {
    world(async |world| {
        let mut line = world.connect().await;
        // A blank line is nothing, however long.
        line.send_bytes(&[&vec![b' '; MAX_LINE][..], b"\n"].concat()).await;
        still_answers(&mut line).await;
        let request = br#"{"jsonrpc":"2.0","id":9,"method":"daemon/shutdown"}"#;
        let mut long = vec![b' '; MAX_LINE + 1 - request.len()];
        long.extend_from_slice(request);
        line.send_bytes(&[&long[..], b"\n"].concat()).await;
        assert_eq!(next_error(&mut line).await, (Value::Null, -32001));
        still_answers(&mut line).await;
    });
}

/// The error comes as soon as the line is too long, not at its end; without an end it is one error as well.
#[test]
fn an_endless_line_is_one_error_at_once() {
    world(async |world| {
        let mut line = world.connect().await;
        // 64 MiB with an end, and 64 without.
        let chunk = vec![b'x'; 1024 * 1024];
        for _ in 0..17 {
            line.send_bytes(&chunk).await;
        }
        assert_eq!(next_error(&mut line).await, (Value::Null, -32001));
        for _ in 17..64 {
            line.send_bytes(&chunk).await;
        }
        line.send_bytes(b"\n").await;
        still_answers(&mut line).await;
        for _ in 0..64 {
            line.send_bytes(&chunk).await;
        }
        line.half_close().await;
        assert_eq!(next_error(&mut line).await, (Value::Null, -32001));
        assert_eq!(line.next_line().await, None);
    });
}

/// Half a line and silence hold up nobody else, and are nothing when the client goes.
#[test]
fn half_a_line_holds_up_nobody() {
    world(async |world| {
        let mut stuck = world.connect().await;
        stuck.send_bytes(br#"{"jsonrpc":"2.0","id":1,"method":"daemon/shut"#).await;
        let mut line = world.connect().await;
        still_answers(&mut line).await;
        let refusal = error_of(line.call("nope", json!({})).await, "unknown");
        assert_eq!(refusal.0, -32601);
    });
}
