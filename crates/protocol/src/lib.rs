//! What crosses hooksd's socket and a handler's stdin and stdout. Types and their JSON; no I/O, no runtime.
//!
//! * [`event`], [`invocation`]: what happened, as agents send it.
//! * [`payload`]: what a handler reads on stdin.
//! * [`output`]: what a handler prints on stdout.
//! * [`outcome`]: what became of one run of a handler.
//! * [`decision`], [`diagnostic`]: the one answer to an event, and why anything did not count.
//! * [`rpc`], [`methods`]: the socket's envelope and messages.
//! * [`schema`]: JSON Schema and OpenRPC, generated from these types.
//!
//! Requests are read strictly, what people write is read leniently (D23). See [`hooksd_json::Reading`].
#![forbid(unsafe_code)]

pub mod deadline;
pub mod decision;
pub mod diagnostic;
pub mod event;
pub mod invocation;
pub mod methods;
pub mod outcome;
pub mod output;
pub mod payload;
pub mod rpc;
pub mod schema;
pub mod seconds;
pub mod socket;
