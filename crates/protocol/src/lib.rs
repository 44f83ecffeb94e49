//! What crosses hooksd's socket, and what crosses a handler's stdin and stdout: types with their JSON, without any I/O.
//!
//! The daemon, its clients and the engine share these types, so that each message has one definition. Nothing here
//! runs, opens or waits for anything.
//!
//! * [`event`], [`invocation`]: what has happened in a session, as agents send it.
//! * [`payload`]: what a handler reads on stdin.
//! * [`output`], [`permissions`]: what a handler prints on stdout.
//! * [`outcome`]: what became of one run of a handler, and the words for it.
//! * [`decision`], [`diagnostic`]: the one answer to an event, and why something did not count.
//! * [`rpc`], [`methods`]: the envelope and the messages of the socket.
//! * [`schema`]: JSON Schema and OpenRPC, generated from these types.
//!
//! What a caller may rely on: a request is read strictly, so that a typo in code fails loudly, and what people write
//! is read leniently (D23; see [`hooksd_json::Reading`]). What is only passed on keeps its spelling
//! ([`hooksd_json::RawJson`]). An error names the field by its path.
//!
//! A request is one line, and so is its answer:
//!
//! ```
//! use hooksd_protocol::event::EventName;
//! use hooksd_protocol::decision::Decision;
//! use hooksd_protocol::methods::ConfigShow;
//! use hooksd_protocol::rpc::{Frame, request_line, response_line};
//!
//! let line = request_line(Some(7), "config/show", &ConfigShow { cwd: "/home/me/project".to_owned() })?;
//! assert_eq!(line, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"config/show\",\"params\":{\"cwd\":\"/home/me/project\"}}\n");
//!
//! let frame = Frame::read(line.as_bytes()).expect("a request");
//! assert_eq!(frame.method, "config/show");
//!
//! let decision = Decision::neutral(EventName::Stop);
//! let answer = response_line(&frame.id.expect("an id"), Ok(&decision));
//! assert!(answer.starts_with("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"event\":\"Stop\","));
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! An event is read with the reason why it does not fit, if it does not:
//!
//! ```
//! use hooksd_json::{Dialect, Reading, Value};
//! use hooksd_protocol::event::EventName;
//! use hooksd_protocol::invocation::Invocation;
//!
//! let text = r#"{
//!     "context": {"thread_id": "t", "cwd": "/home/me/project", "approval_mode": "manual"},
//!     "event": {"event": "PreToolUse", "call": {"id": "c", "name": "execute", "args": {"command": "ls"}}}
//! }"#;
//! let invocation = Invocation::read(&Value::parse(text, Dialect::Strict)?, Reading::Strict)?;
//! assert_eq!(invocation.event.name(), EventName::PreToolUse);
//!
//! let text = text.replace("\"ls\"}", "\"ls\"}, \"server\": 1");
//! let error = Invocation::read(&Value::parse(&text, Dialect::Strict)?, Reading::Strict).unwrap_err();
//! assert_eq!(error.path, "event.call.server");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod decision;
pub mod diagnostic;
pub mod event;
pub mod ids;
pub mod invocation;
pub mod methods;
pub mod outcome;
pub mod output;
pub mod payload;
pub mod permissions;
pub mod rpc;
pub mod schema;
pub mod seconds;
pub mod socket;
pub mod timestamp;
