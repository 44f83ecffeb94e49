//! The daemon over its socket, one file a method and one a promise that spans methods. Every test has a server, folders
//! and a socket of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test: what goes wrong here is a failed test"
)]

mod accepts;
mod cancel_request;
mod config_check;
mod config_explain;
mod config_show;
mod ctl;
mod ctl_agents;
mod ctl_check;
mod ctl_doctor;
mod ctl_explain;
mod ctl_hook;
mod ctl_hook_again;
mod ctl_hook_retry;
mod ctl_install;
mod ctl_invoke;
mod ctl_look;
mod ctl_replay;
mod ctl_report;
mod ctl_timeline;
mod ctl_top;
mod daemon_settings;
mod daemon_shutdown;
mod daemon_stats;
mod daemon_status;
mod deadline;
mod demo;
mod disconnect;
mod env_files;
mod environment;
mod events_subscribe;
mod failures;
mod first_guard;
mod golden;
mod hook_cancel;
mod hook_invoke;
mod hook_invoke_payload;
mod hook_invoke_strict;
mod initialize;
mod journal_query;
mod legacy_emit;
mod lines;
mod listen;
mod load;
mod methods;
mod once;
mod plugins;
mod program;
mod progress;
mod restart;
mod rpc_discover;
mod service;
mod service_manager;
mod session_close;
mod session_list;
mod session_open;
mod session_reload;
mod speed;
mod start_on_demand;
mod transcript_append;
mod trust;
mod trust_methods;
mod trust_store;
mod trust_writing;

use hooksd_tests::harness::Line;
use serde_json::{Value, json};

/// Invalid params; `data.field` is the path of the one that does not fit.
const INVALID_PARAMS: i64 = -32602;

/// Each of these params is refused with -32602 that names the field.
async fn refuses(line: &mut Line, method: &str, cases: &[(Value, &str)]) {
    for (params, field) in cases {
        let refusal = line.refusal(method, params.clone()).await;
        assert_eq!(refusal, (INVALID_PARAMS, json!({ "field": field })), "{method} {params}");
    }
}

/// An object with one more or another field.
fn with(object: &Value, key: &str, value: Value) -> Value {
    let mut object = object.clone();
    object[key] = value;
    object
}

/// An object without a field.
fn without(object: &Value, key: &str) -> Value {
    let mut object = object.clone();
    object.as_object_mut().unwrap().remove(key);
    object
}
