//! The blocking client: it makes one call at a time and needs no runtime. It suits programs that ask something and end.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use hooksd_json::{Dialect, Reading, Value, read};
use hooksd_protocol::methods::{HookInvoke, InvokeResult};
use hooksd_protocol::rpc::{MAX_LINE, request_line};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ClientError;
use crate::response::read_invoke_result;
use crate::wire::{Incoming, Notification, parse};
use crate::{CALL_TIMEOUT, LONGEST_TIMEOUT, SHORTEST_TIMEOUT, peer, start};

/// How many notifications are kept while an answer is awaited. Notifications. The oldest ones are dropped first.
const MAX_NOTIFICATIONS: usize = 1024;

/// A connection to the daemon.
///
/// When it is dropped, the daemon cancels what calls that ran out of time have asked for. The handlers of a session's
/// end are an exception: they finish.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
    next_id: u64,
    timeout: Duration,
    notifications: VecDeque<Notification>,
    /// What has come of a line whose end has not come yet.
    begun: Vec<u8>,
    /// The rest of a line whose call has given up. It is written before anything else.
    unwritten: Vec<u8>,
}

impl Client {
    /// Connects to the socket at `path`.
    ///
    /// # Errors
    /// [`ClientError::NotRunning`] when nobody listens there.
    pub fn connect(path: &Path) -> Result<Client, ClientError> {
        let stream = UnixStream::connect(path)
            .and_then(peer::own)
            .map_err(|source| ClientError::NotRunning { path: path.to_owned(), source })?;
        Ok(Client::on(stream))
    }

    /// Connects to the socket at `path`. When nobody listens there, it has a daemon started first ([`start`] says
    /// how), and waits for it until the deadline. `HOOKSD_AUTOSTART=0` forbids that. Where a daemon listens already,
    /// it costs what [`Client::connect`] costs.
    ///
    /// # Errors
    /// [`ClientError::CannotStart`] when no daemon could be started, with the reason; [`ClientError::NotRunning`]
    /// when none may be started.
    pub fn connect_or_start(path: &Path, deadline: Instant) -> Result<Client, ClientError> {
        start::connect_or_start(path, deadline).map(Client::on)
    }

    fn on(stream: UnixStream) -> Client {
        Client {
            stream: BufReader::new(stream),
            next_id: 1,
            timeout: CALL_TIMEOUT,
            notifications: VecDeque::new(),
            begun: Vec::new(),
            unwritten: Vec::new(),
        }
    }

    /// Sets how long each call may take: at least a millisecond and at most a year. Without it, that is
    /// [`CALL_TIMEOUT`].
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Client {
        self.timeout = timeout.clamp(SHORTEST_TIMEOUT, LONGEST_TIMEOUT);
        self
    }

    /// Calls a method and reads its result.
    ///
    /// # Errors
    /// When the connection breaks, the answer does not come in time, is an error, or does not fit.
    pub fn call<P: Serialize, R: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &P,
    ) -> Result<R, ClientError> {
        let raw = self.call_raw(method, params)?;
        let bad = |message: String| ClientError::BadAnswer(message);
        let value = Value::parse(&raw, Dialect::Strict).map_err(|error| bad(error.to_string()))?;
        read(&value, Reading::Strict).map_err(|error| bad(error.to_string()))
    }

    /// Has the daemon run the handlers of an event (`hook/invoke`), and returns its decision.
    ///
    /// # Errors
    /// The errors of [`Client::call`].
    pub fn invoke(&mut self, invoke: &HookInvoke) -> Result<InvokeResult, ClientError> {
        read_invoke_result(&self.call_raw("hook/invoke", invoke)?)
    }

    /// Calls a method, and returns the result as the daemon spelled it.
    ///
    /// # Errors
    /// The errors of [`Client::call`], except that the result is not looked at.
    pub fn call_raw<P: Serialize>(&mut self, method: &str, params: &P) -> Result<String, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        let line = request_line(Some(id), method, params).map_err(ClientError::BadRequest)?;
        let deadline = Instant::now() + self.timeout;
        self.write(line.as_bytes(), deadline)?;
        loop {
            match parse(&self.line(deadline)?)? {
                Incoming::Response { id: answered, result } if answered == id => {
                    return result.map_err(ClientError::Refused);
                }
                // This answers a call that was given up.
                Incoming::Response { .. } => {}
                Incoming::Notification(notification) => {
                    if self.notifications.len() == MAX_NOTIFICATIONS {
                        self.notifications.pop_front();
                    }
                    self.notifications.push_back(notification);
                }
                Incoming::Complaint(error) => return Err(ClientError::Refused(error)),
            }
        }
    }

    /// Takes the oldest notification that arrived while answers were awaited. It does not wait for one.
    pub fn notification(&mut self) -> Option<Notification> {
        self.notifications.pop_front()
    }

    /// The id of the process that made the socket listen, as far as the system tells. Where a service manager made the
    /// socket, that is the service manager.
    #[must_use]
    #[cfg(target_os = "linux")]
    pub fn peer(&self) -> Option<u32> {
        use nix::sys::socket::getsockopt;
        use nix::sys::socket::sockopt::PeerCredentials;
        let peer = getsockopt(self.stream.get_ref(), PeerCredentials).ok()?;
        u32::try_from(peer.pid()).ok().filter(|pid| *pid > 0)
    }

    /// The id of the process that made the socket listen. Systems other than Linux do not tell, so that it is always
    /// `None`.
    #[must_use]
    #[cfg(not(target_os = "linux"))]
    pub fn peer(&self) -> Option<u32> {
        None
    }

    /// Waits until the daemon closes the connection, which it does when it ends. Returns false when it has not done
    /// so at the deadline.
    pub fn wait_closed(mut self, deadline: Instant) -> bool {
        loop {
            match self.line(deadline) {
                Ok(_) => {}
                Err(ClientError::TimedOut(_)) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Takes the next notification, and waits for it if none is there.
    ///
    /// # Errors
    /// When the connection breaks, or none comes in time: [`ClientError::TimedOut`], after which waiting can go on.
    pub fn wait_for_notification(&mut self, patience: Duration) -> Result<Notification, ClientError> {
        let deadline = Instant::now() + patience.clamp(SHORTEST_TIMEOUT, LONGEST_TIMEOUT);
        loop {
            if let Some(notification) = self.notifications.pop_front() {
                return Ok(notification);
            }
            match parse(&self.line(deadline)?)? {
                Incoming::Notification(notification) => return Ok(notification),
                Incoming::Response { .. } => {}
                Incoming::Complaint(error) => return Err(ClientError::Refused(error)),
            }
        }
    }

    fn broken(&self, error: io::Error) -> ClientError {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ClientError::TimedOut(self.timeout),
            _ => ClientError::Connection(error),
        }
    }

    /// Writes a line. The rest of a line that cannot be written in time is kept for the next call.
    fn write(&mut self, line: &[u8], deadline: Instant) -> Result<(), ClientError> {
        let before = self.unwritten.len();
        self.unwritten.extend_from_slice(line);
        let mut all = std::mem::take(&mut self.unwritten);
        let (written, result) = self.write_until(&all, deadline);
        if written <= before {
            all.truncate(before);
        }
        all.drain(..written);
        self.unwritten = all;
        result
    }

    /// Writes until the deadline, and says how many bytes were written. Each part may take what is left of the time,
    /// so that a daemon which takes a byte now and then holds up nobody.
    fn write_until(&mut self, bytes: &[u8], deadline: Instant) -> (usize, Result<(), ClientError>) {
        let mut written = 0;
        while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
            let part = self.left(deadline).and_then(|left| {
                self.stream.get_ref().set_write_timeout(Some(left))?;
                match self.stream.get_mut().write(rest) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
                    part => part.map_err(|error| self.broken(error)),
                }
            });
            match part {
                Ok(part) => written += part,
                Err(error) => return (written, Err(error)),
            }
        }
        (written, Ok(()))
    }

    /// Reads the next line. What has come of it at the deadline is kept for the next call. Each part may take what is
    /// left of the time.
    fn line(&mut self, deadline: Instant) -> Result<String, ClientError> {
        loop {
            self.stream.get_ref().set_read_timeout(Some(self.left(deadline)?))?;
            let arrived = match self.stream.fill_buf() {
                Ok([]) => return Err(ClientError::Closed),
                Ok(arrived) => arrived,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.broken(error)),
            };
            let part = arrived.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
            let (length, ended) = (part.len(), part.ends_with(b"\n"));
            self.begun.extend_from_slice(part);
            self.stream.consume(length);
            // An answer is no longer than what handlers may print, which is far below this.
            if self.begun.len() > 2 * MAX_LINE {
                return Err(ClientError::BadAnswer("the answer is too long".to_owned()));
            }
            if ended {
                return String::from_utf8(std::mem::take(&mut self.begun))
                    .map_err(|_| ClientError::BadAnswer("the answer is not UTF-8".to_owned()));
            }
        }
    }

    fn left(&self, deadline: Instant) -> Result<Duration, ClientError> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ClientError::TimedOut(self.timeout)) } else { Ok(left) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_gave_up_leaves_a_whole_line() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut client = Client::on(ours).with_timeout(Duration::from_millis(50));
        let long = "x".repeat(4 * 1024 * 1024);
        for _ in 0..2 {
            // More than the socket takes while nobody reads; of the second not a byte is written.
            let error = client.call_raw("long", &long).unwrap_err();
            assert!(matches!(error, ClientError::TimedOut(_)), "{error}");
        }
        let daemon = std::thread::spawn(move || {
            let (mut answers, mut methods) = (theirs.try_clone().unwrap(), Vec::new());
            for line in BufReader::new(theirs).lines().take(2) {
                let request: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
                let answer = format!("{{\"jsonrpc\": \"2.0\", \"id\": {}, \"result\": 7}}\n", request["id"]);
                answers.write_all(answer.as_bytes()).unwrap();
                methods.push(request["method"].as_str().unwrap().to_owned());
            }
            methods
        });
        let mut client = client.with_timeout(Duration::from_secs(20));
        assert_eq!(client.call_raw("short", &()).unwrap(), "7");
        assert_eq!(daemon.join().unwrap(), ["long", "short"]);
    }

    /// A daemon that says a byte now and then, in `wait_for_notification` as in a call, takes no more time than it has.
    #[test]
    fn a_trickle_is_cut_at_the_deadline_and_what_has_come_is_kept() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let patience = Duration::from_millis(200);
        let mut client = Client::on(ours).with_timeout(patience);
        let (told, heard) = std::sync::mpsc::channel::<()>();
        let trickle = std::thread::spawn(move || {
            let mut theirs = theirs;
            for byte in br#"{"method": "hook/progress", "params": {}}"# {
                theirs.write_all(&[*byte]).unwrap();
                // Until the client has given up, a byte comes long before each read would time out.
                let _ = heard.recv_timeout(Duration::from_millis(20));
            }
            theirs.write_all(b"\n").unwrap();
        });
        let began = Instant::now();
        assert!(matches!(client.wait_for_notification(patience), Err(ClientError::TimedOut(_))));
        assert!(began.elapsed() < patience * 3, "{:?}", began.elapsed());
        drop(told);
        let whole = client.wait_for_notification(Duration::from_secs(20)).unwrap();
        assert_eq!(whole, Notification { method: "hook/progress".to_owned(), params: "{}".to_owned() });
        trickle.join().unwrap();
    }
}
