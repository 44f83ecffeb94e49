//! Lines: a bad one costs that line alone, a long one costs one error. In pieces and without an end: `../cases/wire.rs`.

use hooksd_protocol::rpc::MAX_LINE;
use hooksd_tests::harness::{Line, events, world};
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
