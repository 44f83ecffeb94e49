//! Why a command did not do what it should, in one sentence with the fix, and the exit status that goes with it.

use hooksd_client::ClientError;
use hooksd_config::trust::consent::ConsentError;
use hooksd_journal::JournalError;
use hooksd_protocol::rpc::error_code;
use hooksd_protocol::socket::SocketPathError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// An input is wrong: which, why, and what to do.
    #[error("{0}")]
    Input(String),
    /// There is no usable socket path.
    #[error(transparent)]
    Socket(#[from] SocketPathError),
    /// The daemon could not be asked.
    #[error("{0}")]
    Client(#[from] ClientError),
    /// The daemon that was listened to is no more.
    #[error("the daemon has ended")]
    Ended,
    /// The daemon speaks another protocol.
    #[error("{0}")]
    Foreign(String),
    /// The service manager, or a file that it reads, did not let itself be changed.
    #[error("{0}")]
    Service(String),
    /// The journal cannot be read.
    #[error("{0}")]
    Journal(#[from] JournalError),
    /// Trust was not changed.
    #[error("{0}")]
    Trust(#[from] ConsentError),
    /// A grant without consent, or a store that cannot be used.
    #[error("{0}")]
    NotTrusted(String),
    /// An agent's configuration was left as it was: which, and why.
    #[error("{0}")]
    NotInstalled(String),
    /// The answer could not be printed.
    #[error("cannot write the output: {0}")]
    Output(#[from] std::io::Error),
}

impl Failure {
    /// See the program's documentation.
    pub(crate) fn exit_status(&self) -> u8 {
        match self {
            Failure::Input(_) | Failure::Socket(_) | Failure::Output(_) => 2,
            Failure::Client(ClientError::Refused(error)) if error.code == error_code::INVALID_PARAMS => 2,
            Failure::Trust(_) | Failure::NotTrusted(_) => 5,
            Failure::Ended
            | Failure::Client(ClientError::NotRunning { .. } | ClientError::CannotStart { .. }) => 3,
            Failure::Client(_) | Failure::Foreign(_) | Failure::Journal(_) => 4,
            Failure::NotInstalled(_) => 6,
            Failure::Service(_) => 7,
        }
    }
}
