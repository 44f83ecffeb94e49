//! Why a run came to nothing, in one sentence with the fix, and the exit status that goes with it.

use hooksd_client::ClientError;
use hooksd_protocol::rpc::error_code;
use hooksd_protocol::socket::SocketPathError;

/// Why a run came to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// An argument or a suite is wrong: which, why, and what to do.
    #[error("{0}")]
    Input(String),
    /// There is no usable socket path.
    #[error(transparent)]
    Socket(#[from] SocketPathError),
    /// The daemon could not be asked.
    #[error("{0}")]
    Client(#[from] ClientError),
    /// The daemon's answer is not that of a daemon that can be measured.
    #[error("{0}")]
    Foreign(String),
    /// It was stopped by this signal, and has taken away what it had laid out.
    #[error("stopped by signal {0}; nothing of it is left")]
    Stopped(u8),
    /// A folder could not be made, or the result could not be printed.
    #[error("cannot write the output: {0}")]
    Output(#[from] std::io::Error),
}

impl Failure {
    /// See the program's documentation.
    pub(crate) fn exit_status(&self) -> u8 {
        match self {
            Failure::Input(_) | Failure::Socket(_) | Failure::Output(_) => 2,
            Failure::Client(ClientError::Refused(error)) if error.code == error_code::INVALID_PARAMS => 2,
            Failure::Client(ClientError::NotRunning { .. } | ClientError::CannotStart { .. }) => 3,
            Failure::Client(_) | Failure::Foreign(_) => 4,
            // As shells tell it.
            Failure::Stopped(signal) => signal.saturating_add(128),
        }
    }
}
