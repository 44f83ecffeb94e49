//! `initialize`: an optional greeting.

use hooksd_protocol::methods::{Initialize, Initialized, PROTOCOL_VERSION};
use hooksd_protocol::rpc::{Frame, RpcError, error_code};
use hooksd_protocol::schema;

use crate::base::caller::Caller;
use crate::base::work::{Work, now};
use crate::rpc::params::params;

pub(crate) fn work(frame: &Frame<'_>, caller: &Caller) -> Result<Work, RpcError> {
    let greeting: Initialize = params(frame)?;
    if let Some(version) = greeting.protocol_version.filter(|version| *version != u64::from(PROTOCOL_VERSION))
    {
        let message = format!("protocol version {version} is not spoken here; spoken is {PROTOCOL_VERSION}");
        return Err(RpcError::new(error_code::INVALID_PARAMS, message)
            .with(serde_json::json!({ "field": "protocol_version", "supported": [PROTOCOL_VERSION] })));
    }
    if let Some(client) = &greeting.client {
        caller.peer.greet(client)?;
    }
    now(Initialized {
        name: "hooksd".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: crate::BUILD.to_owned(),
        protocol_version: PROTOCOL_VERSION,
        methods: schema::method_names().iter().map(|name| (*name).to_owned()).collect(),
    })
}
