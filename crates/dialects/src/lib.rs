//! How each agent calls command hooks, and how it reads their answers.
//!
//! It is for a bridge such as `hooksctl hook`, which an agent runs as its hook. Each agent is one table ([`agents`]),
//! and all of them are read by the same code: [`read()`] turns what the agent handed over into a [`Request`], and
//! [`answer()`] turns a decision into what the agent understands. Nothing here does I/O: bytes and variables go in,
//! bytes and an exit status come out.
//!
//! What a caller may rely on:
//!
//! * What is only passed on is never spelled anew.
//! * An event, a tool or a field that the table does not know passes through untouched.
//! * Stdout holds the answer and nothing else.
//! * Where an agent cannot follow a part of a decision, a note says so. A deny is always said, by the strongest means that
//!   the agent has.
//!
//! Gemini CLI calls the event before a tool `BeforeTool`, and the shell `run_shell_command`:
//!
//! ```
//! use hooksd_dialects::{Failing, Given, Occasion, Surroundings, answer, dialect, read};
//! use hooksd_protocol::decision::{Behavior, Body, Decision, Permission};
//! use hooksd_protocol::event::EventName;
//!
//! let gemini = dialect("gemini").expect("a known agent");
//! let stdin = br#"{"hook_event_name": "BeforeTool", "session_id": "s", "tool_name": "run_shell_command",
//!     "tool_input": {"command": "rm -rf /"}}"#;
//! let around = Surroundings { event: None, variable: &|_| None, folder: "/home/me/project", now: 0, mode: None };
//! let request = read(gemini, stdin, &around).expect("an event");
//! assert_eq!(request.event, Some(EventName::PreToolUse));
//! assert!(request.payload.get().contains(r#""tool_name":"Bash""#));
//!
//! let permission =
//!     Permission { behavior: Behavior::Deny, reason: Some("too much".to_owned()), interrupt: false };
//! let decision = Decision {
//!     body: Body::PreTool { permission, context: Vec::new() },
//!     ..Decision::neutral(EventName::PreToolUse)
//! };
//! let printed = answer(gemini, &Occasion::from(&request), Given::Decision(&decision), Failing::Open);
//! assert_eq!((printed.stdout.as_str(), printed.status), (r#"{"decision":"deny","reason":"too much"}"#, 0));
//! ```
#![forbid(unsafe_code)]

pub mod agents;
mod answer;
mod dialect;
mod document;
mod identity;
mod request;
mod rewrite;
mod sniff;
mod wishes;

pub use answer::{Answer, Failing, Given, Occasion, answer};
pub use dialect::{Attendance, Dialect, Wish};
pub use request::{Request, Surroundings, Trouble, read};
pub use sniff::sniff;

/// The dialect of an agent by its name or one of its other names.
#[must_use]
pub fn dialect(name: &str) -> Option<&'static Dialect> {
    agents::ALL.into_iter().find(|dialect| dialect.name == name || dialect.aliases.contains(&name))
}
