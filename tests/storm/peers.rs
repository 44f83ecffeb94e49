//! Peers that hold what others need: connections, and halves of long lines.

use std::time::Duration;

use hooksd_tests::harness::Line;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::support::{Daemon, PATIENCE, behavior, commands, pre};

/// Connections that hold half a line each.
const HALVES: usize = 20;

/// What each of them has sent of its line. Bytes.
const HALF: usize = 10 * 1024 * 1024;

/// What the daemon may take, whatever they send. Bytes. Without the bound it were HALVES times 16 MiB.
const MEMORY_MOST: usize = 160 * 1024 * 1024;

/// What they hold together is bounded; who has stalled gives way, is told so, and can go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn halves_of_long_lines_are_bounded_together() {
    let daemon = Daemon::start("", &commands(&["wc -c >$W/length; exit 2"])).await;
    let agent = daemon.agent().await;
    let mut tasks = Vec::new();
    for _ in 0..HALVES {
        let mut stream = UnixStream::connect(daemon.path("run/socket")).await.unwrap();
        tasks.push(tokio::spawn(async move {
            stream.write_all(&vec![b'x'; HALF]).await.unwrap();
            stream
        }));
    }
    let mut streams = Vec::new();
    for task in tasks {
        streams.push(tokio::time::timeout(PATIENCE, task).await.expect("everybody is read").unwrap());
    }
    // A line of somebody who means it finds room.
    let mut event = pre();
    event["call"]["args"]["command"] = json!("y".repeat(8 << 20));
    let answer = agent.invoke(&event).await;
    assert_eq!(behavior(&answer), "deny");
    let peak = daemon.peak();
    println!("{HALVES} halves of {} MiB: at most {} MiB", HALF >> 20, peak >> 20);
    assert!(peak < MEMORY_MOST, "the daemon has used {peak} bytes");
    let mut cut = 0;
    for mut stream in streams {
        let mut answer = vec![0; 4096];
        let told = tokio::time::timeout(Duration::from_millis(10), stream.read(&mut answer)).await;
        let Ok(Ok(length)) = told else { continue };
        let message: Value = serde_json::from_slice(&answer[..length]).unwrap();
        let error = &message["error"];
        assert_eq!(
            (&error["code"], &error["data"], &message["id"]),
            (&json!(-32005), &json!({ "retry_after_ms": 200 }), &Value::Null)
        );
        cut += 1;
        // The rest of that line is nothing; the next one is read as ever.
        let list = br#"{"jsonrpc":"2.0","id":7,"method":"session/list"}"#;
        stream.write_all(&[b"xx\n", &list[..], b"\n"].concat()).await.unwrap();
        let length = tokio::time::timeout(PATIENCE, stream.read(&mut answer)).await.unwrap().unwrap();
        let message: Value = serde_json::from_slice(&answer[..length]).unwrap();
        assert_eq!((&message["id"], message["result"].is_object()), (&json!(7), true));
    }
    assert!(cut >= HALVES - 6, "only {cut} have given way");
    crate::support::until("nothing is held", || daemon.children().is_empty()).await;
}

/// A third of the descriptors: whoever comes then is told, and those who are there are served.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_connections_are_told_so() {
    let daemon = Daemon::start("ulimit -n 96", &commands(&["exit 2"])).await;
    let agent = daemon.agent().await;
    let socket = daemon.path("run/socket");
    let mut idle = Vec::new();
    for _ in 0..31 {
        let mut line = Line::connect(&socket).await;
        line.call("session/list", json!({})).await.unwrap();
        idle.push(line);
    }
    for _ in 0..10 {
        let mut refused = Line::connect(&socket).await;
        let message = refused.message().await;
        assert_eq!(
            (&message["error"]["code"], &message["error"]["data"]),
            (&json!(-32005), &json!({ "retry_after_ms": 200 }))
        );
        assert_eq!(refused.next_line().await, None);
    }
    assert_eq!(behavior(&agent.invoke(&pre()).await), "deny");
    let stats = agent.client.call("daemon/stats", json!({})).await.unwrap();
    assert_eq!((&stats["connections"], &stats["connections_refused"]), (&json!(32), &json!(10)));
    drop(idle);
    let connections =
        async || agent.client.call("daemon/stats", json!({})).await.unwrap()["connections"].clone();
    hooksd_tests::harness::eventually("they have gone", async || (connections().await == 1).then_some(()))
        .await;
    Line::connect(&socket).await.call("session/list", json!({})).await.unwrap();
}
