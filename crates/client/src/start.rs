//! A daemon on demand: connects to the daemon, and starts one before if there is none.
//!
//! Guarantees:
//! 1. Of any number of programs that find no daemon at once, one starts one and the others wait for it.
//! 2. Where a service manager owns the socket, it starts the daemon and nobody else does.
//! 3. The daemon says when it listens, or why it does not. Nobody asks again and again, and nobody waits past the deadline.
//! 4. The daemon keeps nothing of the program that has started it: no descriptor, no session, no working directory.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::error::ClientError;
use crate::socket_folder::{Lock, SocketFolderError, prepare_folder};
use crate::{owner, peer, program};

/// How long a daemon on demand may take until it listens. Seconds. It takes milliseconds, unless a daemon before it
/// still drains (10 s) and cleans up after the handlers that it has killed.
pub const START_SECONDS: u64 = 20;

/// The variable that forbids, when it is `0`, to start a daemon on demand.
pub const AUTOSTART_VARIABLE: &str = "HOOKSD_AUTOSTART";

/// The option that makes `hooksd` start itself again in the background and end.
const BACKGROUND: &str = "--background";

/// What a daemon in the background prints for its starter when it listens.
pub const LISTENING: &str = "listening";

/// Variables that a daemon on demand does not inherit. They belong to the program that starts it: they say which
/// handler that program runs in, and what its own service manager has told it.
const NOT_INHERITED: [&str; 11] = [
    "HOOKSD_RUN",
    "HOOKSD_SESSION",
    "HOOKSD_INVOCATION",
    "HOOKSD_DEPTH",
    "HOOKSD_SOCKET",
    "NOTIFY_SOCKET",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "WATCHDOG_USEC",
    "WATCHDOG_PID",
];

/// Connects to the daemon, and starts one before if there is none.
pub(crate) fn connect_or_start(path: &Path, deadline: Instant) -> Result<UnixStream, ClientError> {
    let source = match connect(path, deadline) {
        Ok(stream) => return Ok(stream),
        Err(source) => source,
    };
    let nobody_is_there = matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused);
    if !nobody_is_there || std::env::var_os(AUTOSTART_VARIABLE).is_some_and(|value| value == "0") {
        return Err(ClientError::NotRunning { path: path.to_owned(), source });
    }
    let failed = |Failed { reason, ended }| ClientError::CannotStart { path: path.to_owned(), reason, ended };
    let cannot = |reason: String| failed(Failed::from(reason));
    if owner::owns(path, deadline) {
        owner::start(deadline).map_err(cannot)?;
        return connect(path, deadline)
            .map_err(|error| cannot(format!("systemd owns the socket, and nobody answers there: {error}")));
    }
    start(path, deadline).map_err(failed)
}

/// Why no daemon was started.
struct Failed {
    /// The reason, in a sentence for people.
    reason: String,
    /// Whether one was started and has ended at once.
    ended: bool,
}

impl From<String> for Failed {
    fn from(reason: String) -> Failed {
        Failed { reason, ended: false }
    }
}

/// Starts a daemon, unless somebody else has just done so, and connects to it.
fn start(path: &Path, deadline: Instant) -> Result<UnixStream, Failed> {
    prepare_folder(path).map_err(|error| error.to_string())?;
    let lock = Lock::Start.take(path, Some(deadline)).map_err(|error| match error {
        SocketFolderError::Held(file) => {
            format!("somebody else has been starting it for too long (who holds {}?)", file.display())
        }
        other => other.to_string(),
    })?;
    if let Ok(stream) = connect(path, deadline) {
        return Ok(stream);
    }
    let hooksd = program::find()?;
    let mut command = program::command(&hooksd);
    command.arg(BACKGROUND).arg("--socket").arg(path);
    for name in NOT_INHERITED {
        command.env_remove(name);
    }
    // The daemon inherits the lock and holds it until it listens, whatever becomes of this process.
    command.stdin(Stdio::from(lock));
    let asked = program::ask(command, deadline);
    // What the daemon has said does not matter when somebody answers on the socket.
    if let Ok(stream) = connect(path, deadline) {
        return Ok(stream);
    }
    let ended = |reason: String| Failed { reason, ended: true };
    Err(match asked {
        Ok((_, words)) if words == LISTENING => ended("it listened, and has gone again".to_owned()),
        Ok((status, words)) if words.is_empty() => {
            ended(format!("{} ended before it listened ({status})", hooksd.display()))
        }
        Ok((_, reason)) => reason.into(),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => {
            format!("{} does not listen yet; is an old daemon still stopping?", hooksd.display()).into()
        }
        Err(error) => format!("{}: {error}", hooksd.display()).into(),
    })
}

/// Connects to the socket. A daemon that is stopped or overrun may have no room for another connection. The kernel then
/// waits until the deadline instead of for ever.
#[cfg(target_os = "linux")]
fn connect(path: &Path, deadline: Instant) -> io::Result<UnixStream> {
    use nix::sys::socket::sockopt::SendTimeout;
    use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, UnixAddr, setsockopt, socket};
    use nix::sys::time::TimeVal;
    use std::os::fd::AsRawFd;

    /// The shortest wait. To the kernel, zero would mean that there is no limit.
    const SHORTEST: Duration = Duration::from_millis(1);
    const NONE: Duration = Duration::ZERO;
    let socket = socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    let left = deadline.saturating_duration_since(Instant::now()).max(SHORTEST);
    let limit = |limit: Duration| -> io::Result<()> {
        let seconds = limit.as_secs().try_into().unwrap_or(i64::MAX);
        let limit = TimeVal::new(seconds, limit.subsec_micros().into());
        Ok(setsockopt(&socket, SendTimeout, &limit)?)
    };
    limit(left)?;
    socket::connect(socket.as_raw_fd(), &UnixAddr::new(path)?)?;
    limit(NONE)?;
    peer::own(UnixStream::from(socket))
}

/// Connects to the socket. On systems other than Linux a daemon without room for another connection refuses at once.
#[cfg(not(target_os = "linux"))]
fn connect(path: &Path, _deadline: Instant) -> io::Result<UnixStream> {
    UnixStream::connect(path)
}
