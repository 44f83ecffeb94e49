//! Tells the lines apart that come from the daemon: responses, notifications, and errors about a line of ours.

use hooksd_json::{Dialect, Reading, Value, read};
use hooksd_protocol::rpc::RpcError;

use crate::error::ClientError;

/// What a call has come to: its result as the daemon spelled it, or the daemon's error.
pub(crate) type Raw = Result<String, RpcError>;

/// One line from the daemon.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// The response to the request of this id.
    Response { id: u64, result: Raw },
    /// A notification.
    Notification(Notification),
    /// An error that belongs to no request, because the daemon could not read a line of ours.
    Complaint(RpcError),
}

/// A notification from the daemon: something that happened while nobody had asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The name of the notification, such as `hook/progress`.
    pub method: String,
    /// Its params, as JSON that the daemon has spelled.
    pub params: String,
}

/// Reads one line from the daemon.
pub(crate) fn parse(line: &str) -> Result<Incoming, ClientError> {
    let bad = |what: &str| ClientError::BadAnswer(what.to_owned());
    let value =
        Value::parse(line, Dialect::Strict).map_err(|error| ClientError::BadAnswer(error.to_string()))?;
    if let Some(method) = value.get("method").and_then(|method| method.as_str()) {
        let params = value.get("params").map_or("{}", |params| params.raw()).to_owned();
        return Ok(Incoming::Notification(Notification { method: method.into_owned(), params }));
    }
    let result: Raw = match (value.get("result"), value.get("error")) {
        (Some(result), None) => Ok(result.raw().to_owned()),
        (None, Some(error)) => Err(read_error(&error)?),
        _ => return Err(bad("an answer has either a result or an error")),
    };
    match value.get("id").map(|id| id.raw().parse::<u64>()) {
        Some(Ok(id)) => Ok(Incoming::Response { id, result }),
        _ => match result {
            Err(error) => Ok(Incoming::Complaint(error)),
            Ok(_) => Err(bad("an answer without the id of a request")),
        },
    }
}

fn read_error(value: &Value<'_>) -> Result<RpcError, ClientError> {
    #[derive(serde::Deserialize)]
    struct Wire {
        code: i64,
        message: String,
    }
    let wire: Wire =
        read(value, Reading::Strict).map_err(|error| ClientError::BadAnswer(error.to_string()))?;
    let data = value.get("data").and_then(|data| serde_json::from_str(data.raw()).ok());
    Ok(RpcError { code: wire.code, message: wire.message, data })
}
