//! One connection: lines in, lines out, in any order. One error inside it costs that line, a panic inside a request
//! costs that request, and a client that goes takes its requests with it (D11).

use std::collections::HashMap;
use std::future::poll_fn;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use hooksd_protocol::json::{RawJson, Reading, read};
use hooksd_protocol::methods::CancelRequest;
use hooksd_protocol::rpc::{BadFrame, Frame, MAX_LINE, RpcError, error_code, response_line};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::daemon::Daemon;
use crate::invoke::Interrupts;
use crate::lines::{Line, Lines};
use crate::methods::{self, Answer, Work};
use crate::sessions::RETRY_AFTER_MS;
use crate::unwound::{Panicked, poll_unwound, unwound};

/// Answers and notifications waiting to be written. Lines. A request whose answer does not fit waits; a progress
/// notification that does not fit is dropped.
const OUTBOX: usize = 256;

/// The most requests of one connection that run at once. Requests. One more is refused with -32005.
const MAX_IN_FLIGHT: usize = 1024;

/// How long a client may read nothing at all while answers wait for it. Seconds. Then it is cut off: its
/// answers would otherwise be held for ever.
const WRITE_STALL_SECONDS: u64 = 30;

/// How often a half-closed connection is looked at for being closed entirely. Milliseconds. D11 allows two seconds.
const HANGUP_POLL_MS: u64 = 100;

/// Lines to be written.
pub(crate) type Outbox = mpsc::Sender<String>;

/// The connection a request came by.
#[derive(Clone)]
pub(crate) struct Caller {
    /// Tells connections apart.
    pub(crate) id: u64,
    /// Its lines.
    pub(crate) outbox: Outbox,
    /// The sessions it hears of.
    sessions: Arc<Mutex<Vec<String>>>,
}

impl Caller {
    /// Notes that the connection hears of a session.
    pub(crate) fn hears_of(&self, session: &str) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).push(session.to_owned());
    }
}

/// The requests of one connection that are running.
#[derive(Default)]
struct Running {
    by_id: Mutex<HashMap<String, CancellationToken>>,
}

impl Running {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request on its way.
struct Request {
    id: Option<RawJson>,
    key: Option<String>,
    future: Pin<Box<dyn Future<Output = Answer> + Send>>,
}

/// What a line was.
enum Taken {
    Nothing,
    Answer(String),
    Request(Request),
}

impl From<Option<String>> for Taken {
    fn from(answer: Option<String>) -> Taken {
        answer.map_or(Taken::Nothing, Taken::Answer)
    }
}

struct Connection {
    daemon: Arc<Daemon>,
    caller: Caller,
    running: Arc<Running>,
    tasks: TaskTracker,
    /// Cancelled when nobody is there any more.
    gone: CancellationToken,
}

/// Serves a connection to its end.
pub(crate) async fn serve(daemon: Arc<Daemon>, stream: UnixStream) {
    let closing = daemon.closing.clone();
    let (read_half, write_half) = stream.into_split();
    let (outbox, lines) = mpsc::channel(OUTBOX);
    let gone = CancellationToken::new();
    let writer = tokio::spawn(write(write_half, lines, gone.clone()));
    let caller = Caller { id: daemon.next_connection(), outbox, sessions: Arc::default() };
    let connection =
        Connection { daemon, caller, running: Arc::default(), tasks: TaskTracker::new(), gone: gone.clone() };
    let mut lines = Lines::new(BufReader::new(read_half), MAX_LINE);
    loop {
        let line = tokio::select! {
            line = lines.next() => line,
            () = gone.cancelled() => break,
            () = closing.cancelled() => break,
        };
        match line {
            Ok(Line::Complete(line)) => connection.line(&line).await,
            Ok(Line::TooLong) => {
                let message = format!("the line is longer than {MAX_LINE} bytes and was thrown away");
                connection.send(error_line(&RawJson::null(), error_code::LINE_TOO_LONG, message)).await;
            }
            Ok(Line::End) => {
                connection.half_closed(lines.reader().get_ref(), &closing).await;
                break;
            }
            Err(error) => {
                tracing::debug!(%error, "connection lost");
                gone.cancel();
                break;
            }
        }
    }
    connection.tasks.close();
    if !closing.is_cancelled() {
        gone.cancel();
    }
    connection.tasks.wait().await;
    connection.leave_sessions();
    // The last sender goes, so the writer ends once everything is written.
    drop(connection);
    let _ = writer.await;
}

async fn write(mut stream: OwnedWriteHalf, mut lines: mpsc::Receiver<String>, gone: CancellationToken) {
    while let Some(line) = lines.recv().await {
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            let stall = Duration::from_secs(WRITE_STALL_SECONDS);
            match tokio::time::timeout(stall, stream.write(rest)).await {
                Ok(Ok(written)) if written > 0 => rest = rest.get(written..).unwrap_or_default(),
                Ok(closed) => {
                    tracing::debug!(?closed, "the client has gone");
                    gone.cancel();
                    return;
                }
                Err(_) => {
                    tracing::warn!("cut off a client that read nothing for {WRITE_STALL_SECONDS} s");
                    gone.cancel();
                    return;
                }
            }
        }
    }
}

fn error_line(id: &RawJson, code: i64, message: impl Into<String>) -> String {
    response_line::<()>(id, Err(&RpcError::new(code, message)))
}

impl Connection {
    async fn send(&self, line: String) {
        tokio::select! {
            _ = self.caller.outbox.send(line) => {}
            () = self.gone.cancelled() => {}
        }
    }

    async fn line(&self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let answer = match self.take(line) {
            Taken::Nothing => None,
            Taken::Answer(answer) => Some(answer),
            Taken::Request(request) => self.begin(request).await,
        };
        if let Some(answer) = answer {
            self.send(answer).await;
        }
    }

    /// Takes one line in.
    fn take(&self, line: &[u8]) -> Taken {
        let frame = match Frame::read(line) {
            Ok(frame) => frame,
            Err(BadFrame { id, error }) => return Taken::Answer(response_line::<()>(&id, Err(&error))),
        };
        if frame.method == "$/cancelRequest" {
            self.cancel(&frame);
            return Taken::Nothing;
        }
        let id = frame.id.clone();
        let key = id.as_ref().map(|id| id.get().to_owned());
        let work = methods::dispatch(&self.daemon, &frame, &self.caller);
        let future = match work {
            Ok(Work::Now(answer)) => return Taken::from(id.map(|id| answer(&id))),
            Ok(Work::Later(future)) => future,
            Err(error) => return Taken::from(id.map(|id| response_line::<()>(&id, Err(&error)))),
        };
        let cancelled = CancellationToken::new();
        if let Err(error) = self.admit(key.as_deref(), &cancelled) {
            return Taken::from(id.map(|id| response_line::<()>(&id, Err(&error))));
        }
        let future = future(Interrupts { cancelled, gone: self.gone.clone() });
        Taken::Request(Request { id, key, future })
    }

    /// Begins a request; the answer, if it is there at once. Most events have no handler, and need no task.
    async fn begin(&self, request: Request) -> Option<String> {
        let Request { id, key, mut future } = request;
        let (outbox, gone, running) = (self.caller.outbox.clone(), self.gone.clone(), self.running.clone());
        // A panic costs this request alone.
        let finish = move |answer: Result<Answer, Panicked>| {
            if let Some(key) = &key {
                running.lock().remove(key);
            }
            let id = id?;
            Some(match answer {
                Ok(answer) => answer(&id),
                Err(Panicked) => {
                    tracing::error!("a request was lost");
                    error_line(
                        &id,
                        error_code::INTERNAL_ERROR,
                        "the request was lost inside the daemon; please report this",
                    )
                }
            })
        };
        if let Poll::Ready(answer) =
            poll_fn(|context| Poll::Ready(poll_unwound(future.as_mut(), context))).await
        {
            return finish(answer);
        }
        self.tasks.spawn(async move {
            let answer = unwound(future).await;
            let Some(line) = finish(answer) else { return };
            tokio::select! {
                _ = outbox.send(line) => {}
                () = gone.cancelled() => {}
            }
        });
        None
    }

    /// Notes a request as running, unless there are too many or its id is taken.
    fn admit(&self, key: Option<&str>, cancelled: &CancellationToken) -> Result<(), RpcError> {
        if self.tasks.len() >= MAX_IN_FLIGHT {
            let message =
                format!("{MAX_IN_FLIGHT} requests of this connection are running; wait for answers");
            return Err(RpcError::new(error_code::OVERLOADED, message)
                .with(serde_json::json!({ "retry_after_ms": RETRY_AFTER_MS })));
        }
        let Some(key) = key else { return Ok(()) };
        let mut running = self.running.lock();
        if running.contains_key(key) {
            let message = "id: a request with this id is still running";
            return Err(RpcError::new(error_code::INVALID_REQUEST, message));
        }
        running.insert(key.to_owned(), cancelled.clone());
        Ok(())
    }

    /// The sessions of the connection have lost it.
    fn leave_sessions(&self) {
        let sessions =
            std::mem::take(&mut *self.caller.sessions.lock().unwrap_or_else(PoisonError::into_inner));
        for session in sessions {
            if let Ok(session) = self.daemon.sessions.get(&session) {
                session.detach(self.caller.id);
            }
        }
    }

    fn cancel(&self, frame: &Frame<'_>) {
        let Some(params) = &frame.params else { return };
        let Ok(CancelRequest { id }) = read(params, Reading::Strict) else { return };
        if let Some(token) = self.running.lock().get(id.get()) {
            token.cancel();
        }
    }

    /// The client will send nothing more. It may still read: its answers are written, unless it closes entirely.
    async fn half_closed(&self, stream: &OwnedReadHalf, closing: &CancellationToken) {
        self.tasks.close();
        loop {
            if hung_up(stream.as_ref().as_fd()) {
                self.gone.cancel();
                return;
            }
            tokio::select! {
                () = self.tasks.wait() => return,
                () = self.gone.cancelled() => return,
                () = closing.cancelled() => return,
                () = tokio::time::sleep(Duration::from_millis(HANGUP_POLL_MS)) => {}
            }
        }
    }
}

/// Whether the other side has closed both directions. Asks the kernel; never waits.
fn hung_up(stream: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(stream, PollFlags::empty())];
    match poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
        Ok(_) => fds.iter().any(|fd| fd.revents().intersects(PollFlags::HUP | PollFlags::ERR)),
        Err(_) => false,
    }
}
