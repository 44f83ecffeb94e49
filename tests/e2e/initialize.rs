//! `initialize`: an optional greeting.

use hooksd_protocol::schema;
use hooksd_tests::harness::world;
use serde_json::{Value, json};

use crate::refuses;

#[test]
fn greets_with_name_versions_and_methods() {
    world(async |world| {
        let mut line = world.connect().await;
        let expected = json!({
            "name": "hooksd",
            "version": env!("CARGO_PKG_VERSION"),
            "build": hooksd::BUILD,
            "protocol_version": 1,
            "methods": schema::method_names(),
        });
        let client = json!({ "name": "an agent", "version": "1.2" });
        for params in [
            Value::Null,
            json!({}),
            json!({ "client": client }),
            json!({ "client": { "name": "x" }, "protocol_version": 1 }),
        ] {
            assert_eq!(line.call("initialize", params).await, Ok(expected.clone()));
        }
    });
}

#[test]
fn refuses_a_version_it_does_not_speak_by_naming_those_it_does() {
    world(async |world| {
        let mut line = world.connect().await;
        for version in [0, 2] {
            let refusal = line.refusal("initialize", json!({ "protocol_version": version })).await;
            assert_eq!(refusal, (-32602, json!({ "field": "protocol_version", "supported": [1] })));
        }
    });
}

#[test]
fn refuses_params_that_do_not_fit() {
    world(async |world| {
        let mut line = world.connect().await;
        let cases = [
            (json!([]), "params"),
            (json!("x"), "params"),
            (json!({ "zzz": 1 }), "zzz"),
            (json!({ "protocol_version": "1" }), "protocol_version"),
            (json!({ "protocol_version": 1.0 }), "protocol_version"),
            (json!({ "protocol_version": true }), "protocol_version"),
            (json!({ "client": 5 }), "client"),
            (json!({ "client": ["x"] }), "client"),
            (json!({ "client": {} }), "client.name"),
            (json!({ "client": { "name": 5 } }), "client.name"),
        ];
        refuses(&mut line, "initialize", &cases).await;
    });
}
