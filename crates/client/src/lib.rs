//! Talks to hooksd from Rust: finds the daemon's socket, connects to it, calls methods and reads notifications.
//!
//! It is for agents, and for programs such as hooksctl. [`blocking::Client`] makes one call at a time and needs no
//! runtime; [`asynchronous::Client`] makes many at once on one connection. Both have the same methods.
//!
//! What a caller may rely on:
//!
//! * Every call ends at a deadline ([`CALL_TIMEOUT`], or what the caller sets).
//! * An answer that does not fit its type is an error, never a guess: a guard's verdict is either read whole or known to be
//!   missing.
//! * On Linux, a socket that another user serves is refused.
//! * A daemon can be started on demand; [`start`] says what holds then, and [`retry`] how a call outlives a daemon that is
//!   replaced in the middle of it.
//!
//! Most programs do this:
//!
//! ```no_run
//! use std::time::{Duration, Instant};
//!
//! use hooksd_client::{blocking::Client, default_socket};
//! use hooksd_protocol::methods::{DaemonStatus, NoParams};
//!
//! let deadline = Instant::now() + Duration::from_secs(10);
//! let mut client = Client::connect_or_start(&default_socket()?, deadline)?;
//! let status: DaemonStatus = client.call("daemon/status", &NoParams {})?;
//! println!("hooksd {} has answered {} events", status.version, status.events);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Anything that speaks the protocol can stand in for the daemon, as here:
//!
//! ```
//! use std::io::{BufRead, BufReader, Write};
//! use std::os::unix::net::UnixListener;
//!
//! use hooksd_client::{ClientError, blocking::Client};
//! use hooksd_protocol::methods::{NoParams, SessionList};
//!
//! let folder = tempfile::tempdir()?;
//! let socket = folder.path().join("hooksd.sock");
//! let listener = UnixListener::bind(&socket)?;
//! let daemon = std::thread::spawn(move || -> std::io::Result<()> {
//!     let (stream, _) = listener.accept()?;
//!     let (mut requests, mut answers) = (BufReader::new(&stream).lines(), &stream);
//!     assert_eq!(
//!         requests.next().transpose()?.as_deref(),
//!         Some(r#"{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}"#),
//!     );
//!     writeln!(answers, r#"{{"jsonrpc": "2.0", "id": 1, "result": {{"sessions": []}}}}"#)?;
//!     requests.next().transpose()?;
//!     writeln!(answers, r#"{{"jsonrpc": "2.0", "id": 2, "error": {{"code": -32601, "message": "no such method"}}}}"#)
//! });
//!
//! let mut client = Client::connect(&socket)?;
//! let list: SessionList = client.call("session/list", &NoParams {})?;
//! assert_eq!(list.sessions, []);
//! match client.call_raw("session/dance", &NoParams {}) {
//!     Err(ClientError::Refused(error)) => assert_eq!(error.code, -32601),
//!     other => panic!("expected a refusal, got {other:?}"),
//! }
//! daemon.join().expect("the listener has not panicked")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod asynchronous;
pub mod blocking;
mod error;
pub mod owner;
mod peer;

pub mod program;
mod response;
pub mod retry;
pub mod socket_folder;
pub mod start;
mod wire;

pub use error::{ClientError, ResponseMismatch};
pub use response::{check_response, read_invoke_result};
pub use wire::Notification;

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hooksd_protocol::socket::{SOCKET_VARIABLE, SocketPathError, check_length, config_dir, socket_path};
use nix::fcntl::OFlag;
use toml::de::DeTable;

/// How long a call may take unless the caller says otherwise. Seconds. It is above the longest default timeout of a
/// handler (600 s), so that the daemon's answer about a slow handler still arrives.
pub const CALL_SECONDS: u64 = 630;

/// [`CALL_SECONDS`] as a duration.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(CALL_SECONDS);

/// The shortest time that a call is given. To the system, zero would mean that there is no limit.
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(1);

/// The longest time that a call is given, one year, so that adding it to the clock does not overflow.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The name of the daemon's own settings file, in the config dir.
pub const SETTINGS_FILE: &str = "hooksd.toml";

/// The largest settings file that is looked at for the socket. Bytes. The daemon refuses larger ones.
const MAX_SETTINGS: u64 = 64 * 1024;

/// The path of the socket: what `HOOKSD_SOCKET` names, else what `socket` in hooksd.toml names, else what the rest of
/// the environment leads to ([`socket_path`]).
///
/// # Errors
/// When nothing says where the socket is, or when its path is relative or too long.
pub fn default_socket() -> Result<PathBuf, SocketPathError> {
    let variable = |name: &str| std::env::var_os(name);
    let named = variable(SOCKET_VARIABLE).is_some_and(|path| !path.is_empty());
    match config_dir(&variable).filter(|_| !named).and_then(|folder| socket_of(&folder)) {
        Some(path) => {
            check_length(&path)?;
            Ok(path)
        }
        None => socket_path(&variable),
    }
}

/// The path of the socket that the settings file names. A file that cannot be read names none here: the daemon tells
/// what is wrong with it when it is started.
fn socket_of(config_dir: &Path) -> Option<PathBuf> {
    let mut options = OpenOptions::new();
    // A FIFO in the place of the file must not block.
    let file = options.read(true).custom_flags(OFlag::O_NONBLOCK.bits());
    let file = file.open(config_dir.join(SETTINGS_FILE)).ok()?;
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return None;
    }
    let mut text = String::new();
    file.take(MAX_SETTINGS).read_to_string(&mut text).ok()?;
    let table = DeTable::parse(&text).ok()?;
    let path = PathBuf::from(table.get_ref().get("socket")?.get_ref().as_str()?);
    path.is_absolute().then_some(path)
}
