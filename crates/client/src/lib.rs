//! Talks to hooksd: finds its socket, connects, calls, reads notifications. Blocking and async, the same methods.
//!
//! Every call has a deadline. An answer that does not fit its type is an error, never a guess: a guard's verdict is
//! either read or known to be missing.

pub mod asynchronous;
pub mod blocking;
mod error;
mod response;
mod wire;

pub use error::{ClientError, ResponseMismatch};
pub use response::{check_response, read_invoke_result};
pub use wire::Notification;

use std::path::PathBuf;
use std::time::Duration;

use hooksd_protocol::socket::{SocketPathError, socket_path};

/// How long a call may take unless the caller says otherwise. Seconds. Above the longest default timeout of a handler
/// (600 s), so that the daemon's answer about a slow handler still arrives.
pub const CALL_SECONDS: u64 = 630;

/// [`CALL_SECONDS`] as a duration.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(CALL_SECONDS);

/// The shortest time a call is given: to the system, zero means no limit.
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(1);

/// The longest time a call is given, one year: clocks overflow.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The socket's path, from the process environment.
///
/// # Errors
/// When nothing says where it is, or the path is unusable.
pub fn default_socket() -> Result<PathBuf, SocketPathError> {
    socket_path(&|name| std::env::var_os(name))
}
