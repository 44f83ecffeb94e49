//! What can go wrong between a client and the daemon.

use std::io;
use std::path::PathBuf;

use hooksd_protocol::rpc::RpcError;

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens on the socket, and no daemon was to be started.
    #[error("no daemon answers on {}: start it with `hooksd` ({source})", .path.display())]
    NotRunning {
        /// The path of the socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Nobody listens on the socket, and no daemon could be started.
    #[error("no daemon answers on {}, and none could be started: {reason}", .path.display())]
    CannotStart {
        /// The path of the socket.
        path: PathBuf,
        /// Why none could be started, and what to do, in a sentence for people.
        reason: String,
        /// Whether one was started and has ended at once, so that another attempt may do better.
        ended: bool,
    },
    /// The connection broke.
    #[error("the connection to the daemon broke: {0}")]
    Connection(#[from] io::Error),
    /// The daemon closed the connection before it answered.
    #[error("the daemon closed the connection before it answered")]
    Closed,
    /// The answer did not come in time: how long the call might take.
    #[error("the daemon did not answer within {0:?}")]
    TimedOut(std::time::Duration),
    /// The daemon answered with an error.
    #[error("{}", .0.message)]
    Refused(RpcError),
    /// The daemon has sent something that is no answer, or that does not fit the type of the result: why not.
    #[error("the daemon's answer cannot be read: {0}")]
    BadAnswer(String),
    /// The params cannot be spelled in JSON.
    #[error("the request cannot be written: {0}")]
    BadRequest(serde_json::Error),
}

/// An answer to another question than the one asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer's {field} is {got}, expected {expected}")]
pub struct ResponseMismatch {
    /// The field that differs: `invocation_id` or `snapshot_id`.
    pub field: &'static str,
    /// The id that was asked for.
    pub expected: String,
    /// The id that came back.
    pub got: String,
}
