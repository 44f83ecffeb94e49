//! The envelope of the socket's messages: JSON-RPC 2.0, with one JSON value on each line.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use hooksd_json::{Dialect, RawJson, ReadError, Value};

/// The longest line, without its line end. Bytes. A longer one costs an error and not the connection.
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// For how long an answer there is room at first. Bytes. The room grows for a longer one.
const USUAL_ANSWER: usize = 1024;

/// The codes of errors (PROTOCOL, "Errors").
#[allow(missing_docs, reason = "the names say it; docs/protocol.md describes each")]
pub mod error_code {
    pub const PARSE_ERROR: i64 = -32700;
    pub const INVALID_REQUEST: i64 = -32600;
    pub const METHOD_NOT_FOUND: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const INTERNAL_ERROR: i64 = -32603;
    pub const LINE_TOO_LONG: i64 = -32001;
    pub const UNKNOWN_SESSION: i64 = -32002;
    pub const SNAPSHOT_MISMATCH: i64 = -32003;
    pub const UNTRUSTED_WORKSPACE: i64 = -32004;
    pub const OVERLOADED: i64 = -32005;
    pub const SHUTTING_DOWN: i64 = -32006;
    /// The deadline of the request was past before there was an answer (D22).
    pub const DEADLINE_PASSED: i64 = -32007;
    /// The trust store was not changed.
    pub const TRUST_NOT_SAVED: i64 = -32010;
    /// A transcript could not be written; nothing else is affected.
    pub const TRANSCRIPT_NOT_WRITTEN: i64 = -32011;
    /// The journal is off, or cannot be read.
    pub const JOURNAL_UNUSABLE: i64 = -32012;
    pub const CANCELLED: i64 = -32800;
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// The code, which is one of [`error_code`].
    pub code: i64,
    /// What happened and what to do, for people.
    pub message: String,
    /// What programs may want to know, such as `{"field": ...}` or `{"expected": ..., "got": ...}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
}

/// How long a client that was told -32005 should wait before it asks again. Milliseconds.
pub const RETRY_AFTER_MS: u64 = 200;

impl RpcError {
    /// Makes an error without data.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None }
    }

    /// The error with this data.
    #[must_use]
    pub fn with(self, data: serde_json::Value) -> RpcError {
        RpcError { data: Some(data), ..self }
    }

    /// -32005: too much is going on, and the same request may be served a little later. Says when to ask again.
    #[must_use]
    pub fn overloaded(message: impl Into<String>) -> RpcError {
        RpcError::new(error_code::OVERLOADED, message)
            .with(serde_json::json!({ "retry_after_ms": RETRY_AFTER_MS }))
    }

    /// -32602 that names the field.
    #[must_use]
    pub fn invalid_params(error: &ReadError) -> RpcError {
        RpcError::new(error_code::INVALID_PARAMS, format!("invalid params: {error}"))
            .with(serde_json::json!({ "field": error.path }))
    }
}

/// A request or a notification from a client, which is one line.
#[derive(Debug)]
pub struct Frame<'a> {
    /// The id of the request, as it was spelled. `None` makes it a notification, which gets no answer.
    pub id: Option<RawJson>,
    /// The name of the method.
    pub method: Cow<'a, str>,
    /// The params; `None` when there are none.
    pub params: Option<Value<'a>>,
}

/// Why a line is no request, and what is needed to answer it.
#[derive(Debug)]
pub struct BadFrame {
    /// The id as it was spelled, or null when none could be read.
    pub id: RawJson,
    /// What is wrong.
    pub error: RpcError,
}

impl<'a> Frame<'a> {
    /// Reads one line.
    ///
    /// # Errors
    /// The error -32700 when the line is not UTF-8 or not JSON, and -32600 when it is JSON but no request.
    pub fn read(line: &'a [u8]) -> Result<Frame<'a>, BadFrame> {
        let parse_error = |message: String| BadFrame {
            id: RawJson::null(),
            error: RpcError::new(error_code::PARSE_ERROR, message),
        };
        let text = std::str::from_utf8(line).map_err(|error| {
            parse_error(format!("the line is not UTF-8 (at byte {})", error.valid_up_to()))
        })?;
        let value = Value::parse(text, Dialect::Strict).map_err(|error| {
            parse_error(format!("the line is not JSON: column {}: {}", error.column, error.message))
        })?;
        let [id, version, method, params] = value.pick(["id", "jsonrpc", "method", "params"]);
        let id = id.and_then(|id| RawJson::new(id.raw().to_owned()).ok());
        let invalid = |id: Option<RawJson>, message: &str| BadFrame {
            id: id.unwrap_or_else(RawJson::null),
            error: RpcError::new(error_code::INVALID_REQUEST, message),
        };
        if !value.is_object() {
            return Err(invalid(
                None,
                "a request is a JSON object; batches are not supported: send one request a line",
            ));
        }
        if id.as_ref().is_some_and(|id| id.get().starts_with(['{', '[', 't', 'f'])) {
            return Err(invalid(None, "id: expected a number, a string or null"));
        }
        if version.and_then(|version| version.as_str()).as_deref() != Some("2.0") {
            return Err(invalid(id, "jsonrpc: expected \"2.0\""));
        }
        let Some(method) = method.and_then(|method| method.as_str()) else {
            return Err(invalid(id, "method: expected a string"));
        };
        Ok(Frame { id, method, params })
    }
}

/// Spells the line that answers a request, with its line end.
#[must_use]
pub fn response_line<T: Serialize>(id: &RawJson, answer: Result<&T, &RpcError>) -> String {
    #[derive(Serialize)]
    struct Response<'a, T: Serialize> {
        jsonrpc: &'static str,
        id: &'a RawJson,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a T>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a RpcError>,
    }
    let response = Response { jsonrpc: "2.0", id, result: answer.ok(), error: answer.err() };
    let mut line = Vec::with_capacity(USUAL_ANSWER);
    let written = serde_json::to_writer(&mut line, &response).map_err(|error| error.to_string());
    line.push(b'\n');
    match written.and_then(|()| String::from_utf8(line).map_err(|error| error.to_string())) {
        Ok(line) => line,
        // The result cannot be spelled in JSON. The request still gets an answer.
        Err(error) => {
            let error =
                RpcError::new(error_code::INTERNAL_ERROR, format!("the result cannot be written: {error}"));
            let message = serde_json::Value::String(error.message);
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{{\"code\":{},\"message\":{message}}}}}\n",
                id.get(),
                error.code
            )
        }
    }
}

/// Spells the line of a request, or of a notification when there is no `id`, with its line end.
///
/// # Errors
/// When the params cannot be spelled in JSON.
pub fn request_line<T: Serialize>(
    id: Option<u64>,
    method: &str,
    params: &T,
) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Request<'a, T: Serialize> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        method: &'a str,
        params: &'a T,
    }
    Ok(serde_json::to_string(&Request { jsonrpc: "2.0", id, method, params })? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b78_a_bad_line_is_one_error_with_the_id_if_it_can_be_read() {
        let table: [(&[u8], i64, &str); 9] = [
            (b"{bad", error_code::PARSE_ERROR, "null"),
            (b"\xff\xfe", error_code::PARSE_ERROR, "null"),
            (b"42", error_code::INVALID_REQUEST, "null"),
            (b"[]", error_code::INVALID_REQUEST, "null"),
            (br#"{"id":7}"#, error_code::INVALID_REQUEST, "7"),
            (br#"{"jsonrpc":"1.0","id":"a","method":"x"}"#, error_code::INVALID_REQUEST, "\"a\""),
            (
                br#"{"jsonrpc":"2.0","id":123456789012345678901234567890}"#,
                error_code::INVALID_REQUEST,
                "123456789012345678901234567890",
            ),
            (br#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, error_code::INVALID_REQUEST, "null"),
            (br#"{"jsonrpc":"2.0","id":1,"method":5}"#, error_code::INVALID_REQUEST, "1"),
        ];
        for (line, code, id) in table {
            let bad = Frame::read(line).unwrap_err();
            assert_eq!((bad.error.code, bad.id.get()), (code, id), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn a_request_keeps_its_params_as_they_came() {
        let line =
            br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"b":1e5,"a":"\ud83d"},"params":{"z":-0.0}}"#;
        let frame = Frame::read(line).unwrap();
        assert_eq!(frame.params.unwrap().raw(), r#"{"z":-0.0}"#);
    }
}
