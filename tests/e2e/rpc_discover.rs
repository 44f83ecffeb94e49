//! `rpc.discover`: the daemon's description of itself.

use hooksd_protocol::schema;
use hooksd_tests::harness::world;
use serde_json::{Value, json};

use crate::refuses;

#[test]
fn answers_the_generated_document() {
    world(async |world| {
        let mut line = world.connect().await;
        for params in [Value::Null, json!({})] {
            assert_eq!(line.call("rpc.discover", params).await, Ok(schema::openrpc()));
        }
    });
}

/// What it says exists: every method that is described can be called.
#[test]
fn every_method_it_describes_is_known() {
    world(async |world| {
        let mut line = world.connect().await;
        let document = line.call("rpc.discover", json!({})).await.unwrap();
        let methods: Vec<&str> = document["methods"]
            .as_array()
            .unwrap()
            .iter()
            .map(|method| method["name"].as_str().unwrap())
            .collect();
        assert!(methods.contains(&"hook/invoke"));
        for method in methods {
            // No method takes this param, so none does anything.
            let (code, data) = line.refusal(method, json!({ "no such param": 1 })).await;
            assert_eq!(code, -32602, "{method}: {data}");
        }
    });
}

#[test]
fn refuses_params() {
    world(async |world| {
        let mut line = world.connect().await;
        refuses(&mut line, "rpc.discover", &[(json!({ "zzz": 1 }), "zzz"), (json!([]), "params")]).await;
    });
}
