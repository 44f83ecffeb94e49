//! Asks again. A daemon that is stopped, replaced or overrun in the middle of a call has decided nothing. The next
//! daemon decides, or the same one a moment later, for as long as the caller can wait.
//!
//! Guarantees: a request that was not run is made again until the deadline. A request that may have been run is made
//! once more, under the same invocation id: a guard that runs twice costs less than a deny that is lost. No request
//! is made after the deadline.

use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use hooksd_protocol::rpc::{RpcError, error_code};

use crate::ClientError;
use crate::blocking::Client;

/// How long to wait before a daemon that has gone is looked for again. Milliseconds. It is long enough for the daemon
/// to remove its socket, and for many waiting programs not to keep the next daemon from starting.
const GONE_MS: u64 = 20;

/// How long to wait for an overrun daemon that does not say how long. Milliseconds.
const OVERRUN_MS: u64 = 200;

/// The longest wait for an overrun daemon. Milliseconds. One that wants more time is asked sooner.
const LONGEST_MS: u64 = 5_000;

/// What an error says about another attempt, where one may get an answer.
enum Fate {
    /// Nothing was run. The duration is how long to wait before the next attempt.
    NotRun(Duration),
    /// Something may have been run, or the cause may last.
    Unknown,
}

/// What to do about a request that a daemon may have begun when it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// Make it once more: to run it twice does no harm, or less than to miss its answer.
    AskOnceMore,
    /// Leave it: its handlers would run twice for nothing.
    Leave,
}

/// Makes a call until it has an answer or the deadline comes, and returns the answer with its connection. Each
/// attempt has a connection of its own, for which a daemon is started if there is none.
///
/// `call` must not rely on anything of an earlier connection: it brings its session along.
///
/// # Errors
/// The error of the last attempt.
pub fn insist<T>(
    path: &Path,
    deadline: Instant,
    begun: Begun,
    mut call: impl FnMut(&mut Client) -> Result<T, ClientError>,
) -> Result<(T, Client), ClientError> {
    let left = || deadline.saturating_duration_since(Instant::now());
    let mut is_last = begun == Begun::Leave;
    loop {
        let asked = Client::connect_or_start(path, deadline).and_then(|client| {
            let mut client = client.with_timeout(left());
            Ok((call(&mut client)?, client))
        });
        let error = match asked {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let pause = match fate(&error) {
            Some(Fate::NotRun(pause)) => pause,
            Some(Fate::Unknown) if !is_last => {
                is_last = true;
                Duration::from_millis(GONE_MS)
            }
            _ => return Err(error),
        };
        if pause >= left() {
            return Err(error);
        }
        sleep(pause);
    }
}

/// What this error says about another attempt; `None` when another one would not help.
fn fate(error: &ClientError) -> Option<Fate> {
    let gone = || Fate::NotRun(Duration::from_millis(GONE_MS));
    match error {
        ClientError::Refused(error) if error.code == error_code::SHUTTING_DOWN => {
            let was_cut = error.data.as_ref().is_some_and(|data| data["cut"] == true);
            Some(if was_cut { Fate::Unknown } else { gone() })
        }
        ClientError::Refused(error) => overrun(error).map(Fate::NotRun),
        ClientError::Connection(error) => match error.kind() {
            // Nobody reads a request that could not be written to its end.
            io::ErrorKind::BrokenPipe => Some(gone()),
            // On Linux this says that some of the request was unread when the connection was closed (unix(7)).
            io::ErrorKind::ConnectionReset if cfg!(target_os = "linux") => Some(gone()),
            io::ErrorKind::ConnectionReset => Some(Fate::Unknown),
            _ => None,
        },
        // The daemon was stopped as soon as it was there, or it fails each time. One more attempt tells which.
        ClientError::Closed | ClientError::CannotStart { ended: true, .. } => Some(Fate::Unknown),
        _ => None,
    }
}

/// How long to wait before an overrun daemon, which has run nothing, is asked again; `None` for every other refusal.
pub(crate) fn overrun(error: &RpcError) -> Option<Duration> {
    let said = error.data.as_ref().and_then(|data| data.get("retry_after_ms")?.as_u64());
    let pause = said.unwrap_or(OVERRUN_MS).clamp(GONE_MS, LONGEST_MS);
    (error.code == error_code::OVERLOADED).then(|| Duration::from_millis(pause))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::net::UnixListener;

    use super::*;

    /// What a scripted daemon does with one connection.
    #[derive(Clone, Copy)]
    enum Does {
        /// Reads a request and says this.
        Says(&'static str),
        /// Reads a request and closes.
        Leaves,
        /// Says this and closes, unasked, as one with too many connections does.
        Refuses(&'static str),
    }

    const DONE: &str = r#"{"jsonrpc": "2.0", "id": 1, "result": "done"}"#;
    const BUSY: &str = r#"{"jsonrpc": "2.0", "id": 1, "error":
        {"code": -32005, "message": "busy", "data": {"retry_after_ms": 30}}}"#;
    const FULL: &str = r#"{"jsonrpc": "2.0", "id": null, "error": {"code": -32005, "message": "full"}}"#;
    const STOPS: &str = r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": -32006, "message": "stops"}}"#;
    const CUT: &str =
        r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": -32006, "message": "cut", "data": {"cut": true}}}"#;

    /// What comes of a call that may take this long, and how many connections of the script are left.
    fn asked(script: &[Does], patience: Duration) -> (String, usize) {
        asked_with(script, patience, Begun::AskOnceMore)
    }

    fn asked_with(script: &[Does], patience: Duration, begun: Begun) -> (String, usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let script = script.to_vec();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let daemon = std::thread::spawn(move || {
            let mut left = script.len();
            for does in script {
                let (mut stream, _) = listener.accept().unwrap();
                if stopped.try_recv() != Err(std::sync::mpsc::TryRecvError::Empty) {
                    break;
                }
                left -= 1;
                if !matches!(does, Does::Refuses(_)) {
                    BufReader::new(&stream).read_line(&mut String::new()).unwrap();
                }
                if let Does::Says(line) | Does::Refuses(line) = does {
                    stream.write_all(format!("{}\n", line.replace('\n', " ")).as_bytes()).unwrap();
                }
            }
            left
        });
        let result = insist(&path, Instant::now() + patience, begun, |client| client.call_raw("x", &()));
        let said = result.map_or_else(|error| error.to_string(), |(answer, _)| answer);
        drop(stop);
        // Wakes a script that has connections left; where it has none, nobody is there.
        let _ = std::os::unix::net::UnixStream::connect(&path);
        (said, daemon.join().unwrap())
    }

    #[test]
    fn what_was_not_run_is_asked_until_it_is() {
        use Does::{Refuses, Says};
        let script = [Says(BUSY), Says(STOPS), Refuses(FULL), Says(BUSY), Says(STOPS), Says(DONE)];
        assert_eq!(asked(&script, Duration::from_secs(20)), ("\"done\"".to_owned(), 0));
    }

    #[test]
    fn what_may_have_been_run_is_asked_once_more() {
        use Does::{Leaves, Says};
        let patience = Duration::from_secs(20);
        assert_eq!(asked(&[Leaves, Says(BUSY), Says(DONE)], patience), ("\"done\"".to_owned(), 0));
        assert_eq!(asked(&[Says(CUT), Says(DONE)], patience), ("\"done\"".to_owned(), 0));
        let gone = ClientError::Closed.to_string();
        assert_eq!(asked(&[Leaves, Says(STOPS), Leaves, Says(DONE)], patience), (gone.clone(), 1));
        // What must not run twice is asked only as long as it has not run.
        assert_eq!(asked_with(&[Says(STOPS), Leaves, Says(DONE)], patience, Begun::Leave), (gone, 1));
    }

    #[test]
    fn nothing_is_asked_after_the_deadline() {
        let began = Instant::now();
        let script = [Does::Says(BUSY); 64];
        let (said, left) = asked(&script, Duration::from_millis(100));
        assert_eq!(said, "busy");
        assert!((59..64).contains(&left), "{left}");
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}
