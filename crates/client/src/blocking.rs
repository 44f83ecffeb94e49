//! The blocking client: one call at a time, no runtime. For one-shot programs.
//!
//! The first call of a connection by [`Client::connect_or_start`] outlives the daemon's end: when the connection breaks
//! before the answer, it is made anew (by then to the next daemon) and the request is sent again, within the same
//! deadline. A request that the daemon had not read is sent again whatever it is. One that it may have begun is sent
//! again once, if that cannot do harm: [`Client::call_raw_again`] and [`Client::invoke`].

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hooksd_protocol::json::{Dialect, Reading, Value, read};
use hooksd_protocol::methods::{HookInvoke, InvokeResult};
use hooksd_protocol::rpc::{MAX_LINE, error_code, request_line};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ClientError;
use crate::response::read_invoke_result;
use crate::wire::{Incoming, Notification, parse};
use crate::{CALL_TIMEOUT, LONGEST_TIMEOUT, SHORTEST_TIMEOUT, peer, start};

/// Notifications kept while an answer is awaited. Notifications. The oldest are dropped first.
const MAX_NOTIFICATIONS: usize = 1024;

/// How often a connection may break before the request on it was read. Times: the socket of a daemon that was killed
/// takes connections until the system has closed it, a tenth of a second on a busy machine.
const MOST_UNREAD: usize = 10;

/// How long to wait before the next. Milliseconds: 50.
const UNREAD_PAUSE: Duration = Duration::from_millis(50);

/// How the daemon's end leaves a request.
enum Fate {
    /// Not read: the system tells who writes, or waits, that what is there will never be read.
    Unread,
    /// Read, and perhaps begun.
    Read,
}

impl Fate {
    /// `None` when the daemon has not ended.
    fn of(error: &ClientError) -> Option<Fate> {
        match error {
            ClientError::Connection(error) => match error.kind() {
                io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Some(Fate::Unread),
                _ => None,
            },
            ClientError::Closed => Some(Fate::Read),
            ClientError::Refused(error) if error.code == error_code::SHUTTING_DOWN => Some(Fate::Read),
            _ => None,
        }
    }
}

/// A connection to the daemon.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
    /// Where the next daemon is to be found, for the first call of a connection that may be made anew.
    again: Option<PathBuf>,
    next_id: u64,
    timeout: Duration,
    notifications: VecDeque<Notification>,
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

    /// Connects to the socket at `path`; when nobody listens there, has a daemon started first, and waits for it until
    /// the deadline. [`start`] says how; `HOOKSD_AUTOSTART=0` forbids it. A connection that is there costs
    /// what [`Client::connect`] costs.
    ///
    /// # Errors
    /// [`ClientError::CannotStart`] when none could be started, with the reason; [`ClientError::NotRunning`] when none
    /// may be.
    pub fn connect_or_start(path: &Path, deadline: Instant) -> Result<Client, ClientError> {
        let stream = start::connect_or_start(path, deadline)?;
        Ok(Client { again: Some(path.to_owned()), ..Client::on(stream) })
    }

    fn on(stream: UnixStream) -> Client {
        Client {
            stream: BufReader::new(stream),
            again: None,
            next_id: 1,
            timeout: CALL_TIMEOUT,
            notifications: VecDeque::new(),
        }
    }

    /// Each call may take this long; from a millisecond to a year.
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

    /// Runs an event. One with an `invocation_id` is sent again when the daemon has ended in the middle of it: the same
    /// daemon runs it once, another one anew, so that a guard of it that denies is heard.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn invoke(&mut self, invoke: &HookInvoke) -> Result<InvokeResult, ClientError> {
        let has_id = invoke.options.invocation_id.is_some();
        read_invoke_result(&self.exchange("hook/invoke", invoke, has_id)?)
    }

    /// Calls a method; the result as the daemon spelled it.
    ///
    /// # Errors
    /// As [`Client::call`], except that the result is not looked at.
    pub fn call_raw<P: Serialize>(&mut self, method: &str, params: &P) -> Result<String, ClientError> {
        self.exchange(method, params, false)
    }

    /// The same for a request that may be sent again although the daemon has perhaps begun it.
    ///
    /// # Errors
    /// As [`Client::call_raw`].
    pub fn call_raw_again<P: Serialize>(&mut self, method: &str, params: &P) -> Result<String, ClientError> {
        self.exchange(method, params, true)
    }

    fn exchange<P: Serialize>(
        &mut self,
        method: &str,
        params: &P,
        mut once_more: bool,
    ) -> Result<String, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        let line = request_line(Some(id), method, params).map_err(ClientError::BadRequest)?;
        let deadline = Instant::now() + self.timeout;
        let again = self.again.take();
        let mut unread = 0;
        loop {
            let error = match self.send(id, &line, deadline) {
                Err(error) => error,
                answered => return answered,
            };
            match (Fate::of(&error), &again) {
                (Some(Fate::Unread), Some(_)) if unread < MOST_UNREAD => unread += 1,
                (Some(Fate::Read), Some(_)) if once_more => once_more = false,
                _ => return Err(error),
            }
            let Some(path) = &again else { return Err(error) };
            let left = deadline.saturating_duration_since(Instant::now());
            std::thread::sleep(UNREAD_PAUSE.min(left));
            self.stream = BufReader::new(start::connect_or_start(path, deadline)?);
        }
    }

    /// Sends a request and waits for its answer.
    fn send(&mut self, id: u64, line: &str, deadline: Instant) -> Result<String, ClientError> {
        let left = deadline.saturating_duration_since(Instant::now()).max(SHORTEST_TIMEOUT);
        self.stream.get_ref().set_write_timeout(Some(left))?;
        self.stream.get_mut().write_all(line.as_bytes()).map_err(|error| self.broken(error))?;
        loop {
            match parse(&self.line(deadline)?)? {
                Incoming::Answer { id: answered, result } if answered == id => {
                    return result.map_err(ClientError::Refused);
                }
                // The answer to a call that was given up.
                Incoming::Answer { .. } => {}
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

    /// The oldest notification that arrived while answers were awaited.
    pub fn notification(&mut self) -> Option<Notification> {
        self.notifications.pop_front()
    }

    /// The process that listens on the socket, as far as the system tells: where a service manager made the socket, that
    /// is the service manager.
    #[must_use]
    #[cfg(target_os = "linux")]
    pub fn peer(&self) -> Option<u32> {
        let peer = rustix::net::sockopt::socket_peercred(self.stream.get_ref()).ok()?;
        u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
    }

    /// Other systems do not tell.
    #[must_use]
    #[cfg(not(target_os = "linux"))]
    pub fn peer(&self) -> Option<u32> {
        None
    }

    /// Waits until the daemon closes the connection, as it does when it ends. False when it has not at the deadline.
    pub fn wait_closed(mut self, deadline: Instant) -> bool {
        loop {
            match self.line(deadline) {
                Ok(_) => {}
                Err(ClientError::TimedOut(_)) => return false,
                Err(_) => return true,
            }
        }
    }

    /// The next notification, also one that has yet to come.
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
                Incoming::Answer { .. } => {}
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

    fn line(&mut self, deadline: Instant) -> Result<String, ClientError> {
        let mut line = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ClientError::TimedOut(self.timeout));
            }
            self.stream.get_ref().set_read_timeout(Some(left))?;
            // An answer holds at most what the handlers may print, far below this.
            let limit = (2 * MAX_LINE).saturating_sub(line.len()) as u64;
            match (&mut self.stream).take(limit).read_until(b'\n', &mut line) {
                Ok(0) if limit == 0 => {
                    return Err(ClientError::BadAnswer("the answer is too long".to_owned()));
                }
                Ok(0) => return Err(ClientError::Closed),
                Ok(_) if line.last() == Some(&b'\n') => {
                    return String::from_utf8(line)
                        .map_err(|_| ClientError::BadAnswer("the answer is not UTF-8".to_owned()));
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(error)),
            }
        }
    }
}
