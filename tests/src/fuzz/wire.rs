//! What crosses the socket: lines, JSON, requests.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use hooksd::base::partial_lines::PartialLineBudget;
use hooksd::rpc::lines::{Line, Lines};
use hooksd_engine::plan::PayloadInput;
use hooksd_engine::projection::{Facts, Transcripts, stdin, subject};
use hooksd_json::{Dialect, Kind, RawJson, ReadError, Reading, Value, read};
use hooksd_protocol::decision::Decision;
use hooksd_protocol::invocation::{Invocation, ServerRequest};
use hooksd_protocol::methods;
use hooksd_protocol::rpc::{Frame, error_code, response_line};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, ReadBuf};

use super::shape::Words;
use super::text;

pub(super) const JSON: Words =
    Words(&["{", "}", "[", "]", "\"", "\\u", "\\ud800", "1e5", "-0", "NaN", "true", "null", ":", ","]);

pub(super) const REQUEST: Words = Words(&[
    "jsonrpc",
    "2.0",
    "id",
    "method",
    "params",
    "session",
    "invocation",
    "payload",
    "context",
    "event",
    "hook/invoke",
    "session/open",
    "legacy/emit",
    "transcript/append",
    "thread_id",
    "cwd",
    "/w",
    "approval_mode",
    "manual",
    "env",
    "trust",
    "accepts",
    "plugins",
    "options",
    "PreToolUse",
    "Stop",
    "call",
    "name",
    "args",
    "continuation_count",
    "hook_event_name",
    "tool_name",
    "records",
    "protocol_version",
    "invocation_id",
    "deadline",
    "snapshot_id",
    "00000000-0000-4000-8000-000000000001",
    "2030-01-02T03:04:05Z",
    "99999999999999999999",
    "1e300",
    "true",
]);

/// A stream that gives a few bytes at a time.
struct Parts<'a> {
    rest: &'a [u8],
    size: usize,
    seed: u64,
}

impl AsyncRead for Parts<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let size = if self.size == 0 { 1 + (self.seed >> 60) as usize } else { self.size };
        let (part, rest) = self.rest.split_at(size.min(self.rest.len()).min(buffer.remaining()));
        buffer.put_slice(part);
        self.rest = rest;
        Poll::Ready(Ok(()))
    }
}

/// The result of something that never has to wait.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("waits although everything is there"),
    }
}

fn split(bytes: &[u8], limit: usize, size: usize) -> Vec<Option<Vec<u8>>> {
    let parts = Parts { rest: bytes, size, seed: bytes.len() as u64 };
    let mut lines = Lines::new(parts, limit, Arc::<PartialLineBudget>::default().lease());
    let mut all = Vec::new();
    loop {
        match at_once(lines.next()).unwrap() {
            Line::End => return all,
            Line::TooLong => all.push(None),
            Line::Complete(line) => all.push(Some(line.to_vec())),
            Line::Cut => panic!("nobody else is there to give way to"),
        }
    }
}

/// Any split of the bytes gives the same lines, and those are what stands between line ends.
pub(super) fn frames(data: &[u8]) {
    for limit in [1, 16, 1024] {
        let mut pieces: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
        if pieces.last().is_some_and(|last| last.is_empty()) {
            pieces.pop();
        }
        let line = |piece: &&[u8]| {
            (piece.len() <= limit).then(|| piece.strip_suffix(b"\r").unwrap_or(piece).to_vec())
        };
        let expected: Vec<Option<Vec<u8>>> = pieces.iter().map(line).collect();
        for size in [usize::MAX, 1, 7, 0] {
            assert_eq!(split(data, limit, size), expected, "limit {limit}, parts of {size}");
        }
    }
}

/// Our reader accepts what serde_json's does, no more and no less, and what both can hold they read alike.
pub(super) fn json(data: &[u8]) {
    let data = text(data, JSON);
    let Ok(text) = std::str::from_utf8(&data) else { return };
    let strict = Value::parse(text, Dialect::Strict);
    let python = Value::parse(text, Dialect::Python);
    // A raw value is checked for syntax alone, without limits of numbers or depth.
    let theirs = serde_json::from_str::<&RawValue>(text);
    assert_eq!(strict.is_ok(), theirs.is_ok(), "ours: {:?}, theirs: {theirs:?}", strict.as_ref().err());
    if let (Ok(ours), Ok(theirs)) = (&strict, theirs) {
        assert_eq!(ours.raw(), theirs.get());
        RawJson::new(ours.raw().to_owned()).expect("what was read can be passed on");
        let python = python.as_ref().expect("Python reads all of JSON");
        assert_eq!((python.raw(), python.depth()), (ours.raw(), ours.depth()));
        let spaced = super::shape::spaced(text);
        let again = Value::parse(&spaced, Dialect::Strict).expect("white space means nothing");
        assert_eq!(again.depth(), ours.depth());
    }
    // Theirs gives up at depth 128, at numbers beyond a double and at lone surrogates.
    if let Ok(theirs) = serde_json::from_str::<serde_json::Value>(text) {
        same(&strict.expect("what theirs holds is JSON"), &theirs);
    }
    if let Ok(value) = python {
        let _ = read::<Decision_>(&value, Reading::Lenient);
        let _ = Decision::read(&value);
    }
}

/// Some of everything a type can ask the reader for.
#[derive(serde::Deserialize)]
#[allow(dead_code, reason = "only reading matters")]
struct Decision_ {
    text: Option<String>,
    number: Option<u64>,
    float: Option<f64>,
    list: Option<Vec<bool>>,
    raw: Option<RawJson>,
}

fn same(ours: &Value<'_>, theirs: &serde_json::Value) {
    match (ours.kind(), theirs) {
        (Kind::Object, serde_json::Value::Object(members)) => {
            let entries = ours.entries();
            assert_eq!(entries.len(), members.len(), "{}", ours.raw());
            for (name, value) in entries {
                let member = members.get(name.as_ref()).unwrap_or_else(|| panic!("no member {name}"));
                same(&value, member);
                assert_eq!(
                    ours.get(&name).map(|value| value.raw()),
                    Some(value.raw()),
                    "the last one counts"
                );
            }
        }
        (Kind::Array, serde_json::Value::Array(items)) => {
            let own = ours.items();
            assert_eq!(own.len(), items.len());
            own.iter().zip(items).for_each(|(ours, theirs)| same(ours, theirs));
        }
        (Kind::String(text), serde_json::Value::String(theirs)) => {
            assert_eq!(text.as_ref(), theirs);
            assert!(!ours.has_lone_surrogate());
        }
        (Kind::Number(digits), theirs @ serde_json::Value::Number(_)) => {
            // Theirs may miss the nearest double by the last digit.
            let (own, theirs) = (digits.parse::<f64>().expect("digits"), theirs.as_f64().expect("a double"));
            assert!((own - theirs).abs() <= own.abs() * 2.0 * f64::EPSILON, "{digits}");
        }
        (Kind::Null, serde_json::Value::Null) => {}
        (Kind::Bool(ours), serde_json::Value::Bool(theirs)) => assert_eq!(ours, *theirs),
        (ours, theirs) => panic!("{ours:?} is not {theirs}"),
    }
}

fn params<T: DeserializeOwned>(value: &Value<'_>) -> Result<(), ReadError> {
    read::<T>(value, Reading::Strict).map(|_| ())
}

/// A line is a request, or one error that can be answered on one line; params are read or an error names the field.
pub(super) fn requests(data: &[u8]) {
    let data = text(data, REQUEST);
    let is_json = serde_json::from_slice::<&RawValue>(&data).is_ok();
    let frame = match Frame::read(&data) {
        Ok(frame) => frame,
        Err(bad) => {
            assert_eq!(bad.error.code == error_code::PARSE_ERROR, !is_json, "{}", bad.error.message);
            return answerable(&response_line::<()>(&bad.id, Err(&bad.error)));
        }
    };
    assert!(is_json);
    if let Some(id) = &frame.id {
        answerable(&response_line(id, Ok(&methods::Done {})));
    }
    let Some(given) = frame.params.filter(Value::is_object) else { return };
    let outcome = match frame.method.as_ref() {
        "initialize" => params::<methods::Initialize>(&given),
        "session/open" => params::<methods::SessionOpen>(&given),
        "session/reload" => params::<methods::SessionReload>(&given),
        "session/attach" => params::<methods::SessionAttach>(&given),
        "session/close" => params::<methods::SessionClose>(&given),
        "hook/cancel" => params::<methods::HookCancel>(&given),
        "config/check" => params::<methods::ConfigCheck>(&given),
        "config/show" => params::<methods::ConfigShow>(&given),
        "trust/status" | "trust/revoke" => params::<methods::TrustQuery>(&given),
        "trust/grant" => params::<methods::TrustGrant>(&given),
        "events/subscribe" => params::<methods::EventsSubscribe>(&given),
        "events/unsubscribe" => params::<methods::EventsUnsubscribe>(&given),
        "journal/query" => params::<methods::JournalQuery>(&given),
        "daemon/shutdown" => params::<methods::DaemonShutdown>(&given),
        "transcript/append" => methods::SessionRef::read(given.get("session").as_ref()).map(|_| ()),
        _ => event(&given),
    };
    if let Err(error) = outcome {
        assert!(!error.message.is_empty());
        let error = hooksd_protocol::rpc::RpcError::invalid_params(&error);
        answerable(&response_line::<()>(&frame.id.unwrap_or_else(RawJson::null), Err(&error)));
    }
}

/// `hook/invoke` and what is inside it.
fn event(given: &Value<'_>) -> Result<(), ReadError> {
    let _ = methods::SessionRef::read(given.get("session").as_ref());
    let _ = ServerRequest::read(given);
    if let Some(payload) = given.get("payload") {
        let _ = hooksd_engine::legacy::stdin(methods::LegacyName::ToolResult, Some(&payload));
        let payload = PayloadInput::read(&payload)?;
        assert!(serde_json::from_slice::<&RawValue>(&payload.raw).is_ok());
    }
    if let Some(invocation) = given.get("invocation") {
        let invocation = Invocation::read(&invocation, Reading::Strict)?;
        invocation_projects(&invocation);
    }
    params::<methods::InvokeOptions>(given)
}

/// What was read can be written and read again, and what handlers get of it is JSON on one line.
fn invocation_projects(invocation: &Invocation) {
    let written = serde_json::to_string(invocation).expect("an invocation can be written");
    let value = Value::parse(&written, Dialect::Strict).expect("what was written is JSON");
    let again = Invocation::read(&value, Reading::Strict).expect("what was written can be read");
    assert_eq!(&again, invocation);
    let _ = (subject(&invocation.event), Facts::of(&invocation.event));
    if let Ok(payload) =
        stdin(invocation, &Transcripts { session: "/t".to_owned(), agent: Some("/a".to_owned()) })
    {
        assert!(!payload.contains('\n') || written.contains('\n'), "{payload}");
        assert!(serde_json::from_str::<&RawValue>(&payload).is_ok(), "{payload}");
    }
}

fn answerable(line: &str) {
    assert!(line.ends_with('\n'));
    serde_json::from_str::<&RawValue>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
}
