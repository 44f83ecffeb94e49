//! Connections that are cut at every byte of a request and of an answer.

use hooksd_tests::harness::{Agent, World, daemon, events, eventually};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::after::{all_denied, begin, sound};
use crate::guard_and;

/// Cuts at once. Connections.
const BESIDE: usize = 16;

async fn request(world: &World, agent: &Agent) -> (UnixStream, Vec<u8>) {
    let params = agent.params(&events::pre());
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "hook/invoke", "params": params });
    (UnixStream::connect(world.socket()).await.unwrap(), format!("{request}\n").into_bytes())
}

/// The daemon has noticed that all of them are gone.
async fn only_one_left(agent: &mut Agent) {
    eventually("the cut connections are gone", async || {
        let stats = agent.line.call("daemon/stats", json!({})).await.unwrap();
        (stats["connections"] == 1).then_some(())
    })
    .await;
}

/// Half a request is none: its handlers do not run. All of it may run, or not any more.
#[test]
fn a_request_may_be_cut_at_every_byte() {
    daemon(async |world| {
        world.user(&guard_and(&["echo x >>$W/ran"]));
        let mut agent = world.agent().await;
        let length = request(world, &agent).await.1.len();
        for cut in 0..=length {
            let (mut stream, request) = request(world, &agent).await;
            stream.write_all(&request[..cut]).await.unwrap();
            drop(stream);
            if cut + 1 == length {
                // From here on the line is whole.
                only_one_left(&mut agent).await;
                assert_eq!(world.read("ran"), None, "half a request has run");
            }
        }
        println!("cut at each of {length} bytes");
        only_one_left(&mut agent).await;
        let ids = begin(&mut agent, 4).await;
        all_denied(&mut agent, ids).await;
        sound(world).await;
    });
}

/// Who goes in the middle of his answer takes nothing of anybody else's along.
#[test]
fn an_answer_may_be_cut_at_every_byte() {
    daemon(async |world| {
        world.user(&guard_and(&[]));
        let mut agent = world.agent().await;
        let (mut stream, request) = request(world, &agent).await;
        stream.write_all(&request).await.unwrap();
        let mut answer = Vec::new();
        while answer.last() != Some(&b'\n') {
            stream.read_buf(&mut answer).await.unwrap();
        }
        drop(stream);
        let mut cut = 0;
        // An answer's times may be a digit longer another time: all of the shortest is always there.
        let length = answer.len() - 10;
        while cut <= length {
            let ids = begin(&mut agent, 1).await;
            let mut beside = Vec::new();
            for at in cut..=length.min(cut + BESIDE - 1) {
                let mut stream = UnixStream::connect(world.socket()).await.unwrap();
                stream.write_all(&request).await.unwrap();
                beside.push(tokio::spawn(async move {
                    let mut read = vec![0; at];
                    stream.read_exact(&mut read).await.unwrap();
                }));
            }
            for task in beside {
                task.await.unwrap();
            }
            all_denied(&mut agent, ids).await;
            cut += BESIDE;
        }
        println!("cut at each of {length} bytes");
        only_one_left(&mut agent).await;
        sound(world).await;
    });
}
