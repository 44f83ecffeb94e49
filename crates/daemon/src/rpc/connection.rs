//! One connection: lines in, lines out, in any order. One error inside it costs that line, a panic inside a request
//! costs that request, and a client that goes takes its requests with it (D11).

use std::collections::HashMap;
use std::future::poll_fn;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use hooksd_json::{RawJson, Reading, read};
use hooksd_protocol::methods::CancelRequest;
use hooksd_protocol::rpc::{BadFrame, Frame, MAX_LINE, RpcError, error_code, response_line};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::task::consume_budget;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::base::budget::{Exhausted, MemoryBudget, OF_A_CONNECTION, RequestPermit};
use crate::base::caller::{Call, Caller};
use crate::base::lock::lock;
use crate::base::outbox::Outbox;
use crate::base::panic::{Panicked, caught, poll_unwound, unwound};
use crate::base::work::{Response, Work};
use crate::rpc::dispatch::dispatch;
use crate::rpc::lines::{Line, Lines};
use crate::state::Daemon;

/// The most requests of one connection that run at once. Requests. One more is refused with -32005.
const MAX_IN_FLIGHT: usize = 1024;

/// How many bytes of answers are gathered while more requests are there already, before they are written. Bytes.
const GATHER: usize = 64 * 1024;

/// How often a half-closed connection is looked at for being closed entirely. Milliseconds. D11 allows two seconds.
const HANGUP_POLL_MS: u64 = 100;

/// The requests of one connection that are running, so that the client can cancel them.
#[derive(Default)]
struct Running {
    by_id: Mutex<HashMap<String, CancellationToken>>,
}

/// A request whose work takes time.
struct Request {
    id: Option<RawJson>,
    key: Option<String>,
    future: Pin<Box<dyn Future<Output = Response> + Send>>,
}

/// What became of a line.
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
    /// The memory that its requests may hold.
    memory: MemoryBudget,
    /// Cancelled when the client has gone.
    gone: CancellationToken,
}

/// Serves a connection to its end.
pub(crate) async fn serve(daemon: Arc<Daemon>, stream: UnixStream) {
    let closing = daemon.stop.closing.clone();
    let (read_half, write_half) = stream.into_split();
    let outbox = Outbox::new(write_half);
    let gone = CancellationToken::new();
    let writer = tokio::spawn(outbox.clone().write(gone.clone()));
    let number = daemon.connections_begun.fetch_add(1, Ordering::Relaxed);
    let caller = Caller { id: number, outbox, peer: Arc::default() };
    let connection = Connection {
        daemon,
        caller,
        running: Arc::default(),
        tasks: TaskTracker::new(),
        memory: MemoryBudget::of_one_connection(),
        gone: gone.clone(),
    };
    let lease = connection.daemon.partial_lines.lease();
    let mut lines = Lines::new(read_half, MAX_LINE, lease);
    let (mut is_gone, mut is_closing) = (pin!(gone.cancelled()), pin!(closing.cancelled()));
    // Answers that are there at once are written together, as long as the next request has arrived already.
    let mut answers = String::new();
    loop {
        if !answers.is_empty() && (answers.len() >= GATHER || !lines.has_line()) {
            connection.send(std::mem::take(&mut answers)).await;
        }
        // A client that sends without a pause holds up neither others nor the end.
        consume_budget().await;
        if gone.is_cancelled() || closing.is_cancelled() {
            break;
        }
        let line = tokio::select! {
            biased;
            line = lines.next() => line,
            () = &mut is_gone => break,
            () = &mut is_closing => break,
        };
        match line {
            Ok(Line::Complete(line)) => {
                if let Some(answer) = connection.line(line).await {
                    match answers.is_empty() {
                        true => answers = answer,
                        false => answers.push_str(&answer),
                    }
                }
            }
            Ok(Line::TooLong) => {
                let message = format!("the line is longer than {MAX_LINE} bytes and was thrown away");
                answers.push_str(&error_line(&RawJson::null(), error_code::LINE_TOO_LONG, message));
            }
            Ok(Line::Cut) => {
                let message =
                    "the line took room that others needed; it was thrown away: send it again at once";
                let error = RpcError::overloaded(message);
                answers.push_str(&response_line::<()>(&RawJson::null(), Err(&error)));
            }
            Ok(Line::End) => {
                connection.half_closed(lines.reader(), &closing).await;
                break;
            }
            Err(error) => {
                tracing::debug!(%error, "connection lost");
                gone.cancel();
                break;
            }
        }
    }
    // What was answered before the end is still written.
    if !answers.is_empty() {
        connection.send(answers).await;
    }
    connection.tasks.close();
    if !closing.is_cancelled() {
        gone.cancel();
    }
    connection.tasks.wait().await;
    connection.daemon.feed.leave(connection.caller.id);
    connection.leave_sessions();
    connection.caller.outbox.finish();
    let _ = writer.await;
}

/// Says why a connection is not served. Never waits: what does not fit the socket is not said.
pub(crate) fn refuse(stream: UnixStream, most: usize) {
    let message = format!(
        "{most} connections are open; close some, or raise limits.connections or the limit on descriptors"
    );
    tracing::warn!(most, "refused a connection: there are too many");
    // A client that has gone already needs no reason.
    let _ = stream
        .try_write(response_line::<()>(&RawJson::null(), Err(&RpcError::overloaded(message))).as_bytes());
}

fn too_large() -> RpcError {
    let most = OF_A_CONNECTION / 1024 / 1024;
    RpcError::overloaded(format!(
        "long requests that run hold too much already, at most {most} MiB a connection; wait for answers"
    ))
}

fn error_line(id: &RawJson, code: i64, message: impl Into<String>) -> String {
    response_line::<()>(id, Err(&RpcError::new(code, message)))
}

/// The error line for a request within which something panicked.
fn lost(id: &RawJson) -> String {
    tracing::error!("a request was lost");
    error_line(id, error_code::INTERNAL_ERROR, "the request was lost inside the daemon; please report this")
}

impl Connection {
    async fn send(&self, line: String) {
        tokio::select! {
            biased;
            () = self.caller.outbox.send(line) => {}
            () = self.gone.cancelled() => {}
        }
    }

    /// Serves one line. Returns the response line if it is there at once; else it is sent when it is there.
    async fn line(&self, line: &[u8]) -> Option<String> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let permit = tokio::select! {
            biased;
            permit = RequestPermit::take(&self.memory, &self.daemon.request_memory, line.len()) => permit,
            () = self.gone.cancelled() => return None,
        };
        match caught(|| self.take(line, permit)) {
            Ok(Taken::Nothing) => None,
            Ok(Taken::Answer(answer)) => Some(answer),
            Ok(Taken::Request(request)) => self.begin(request).await,
            Err(Panicked) => {
                let id = caught(|| Frame::read(line).map_or_else(|bad| Some(bad.id), |frame| frame.id));
                Some(lost(&id.unwrap_or_else(|_| Some(RawJson::null()))?))
            }
        }
    }

    /// Reads one line and finds out what it comes to.
    fn take(&self, line: &[u8], permit: Result<Option<RequestPermit>, Exhausted>) -> Taken {
        let frame = match Frame::read(line) {
            Ok(frame) => frame,
            Err(BadFrame { id, error }) => {
                tracing::debug!(connection = self.caller.id, code = error.code, "a line is no request");
                return Taken::Answer(response_line::<()>(&id, Err(&error)));
            }
        };
        if frame.method == "$/cancelRequest" {
            self.cancel(&frame);
            // A notification, but who gives it an id waits for an answer (JSON-RPC 2.0, "Notification").
            return Taken::from(frame.id.map(|id| response_line(&id, Ok(&()))));
        }
        let id = frame.id.clone();
        // A request that holds too much is refused once it is known to take time; an answer that is there costs nothing.
        let (permit, may_take_time) = match permit {
            Ok(permit) => (permit, Ok(())),
            Err(Exhausted) => (None, Err(too_large())),
        };
        let call = Call::new(&self.caller, &self.gone, permit);
        let key = id.as_ref().map(|id| id.get().to_owned());
        let admit = |future| {
            may_take_time.and_then(|()| self.admit(key.as_deref(), call.cancelled()))?;
            Ok(future)
        };
        let future = match dispatch(&self.daemon, &frame, &call) {
            Ok(Work::Now(response)) => return Taken::from(id.map(|id| response.spell(&id))),
            Ok(Work::Later(future)) => admit(future),
            Err(error) => Err(error),
        };
        match future {
            Ok(future) => Taken::Request(Request { id, key, future }),
            Err(error) => Taken::from(id.map(|id| response_line::<()>(&id, Err(&error)))),
        }
    }

    /// Begins a request; the answer, if it is there at once. Most events have no handler, and need no task.
    async fn begin(&self, request: Request) -> Option<String> {
        let Request { id, key, mut future } = request;
        let (outbox, gone, running) = (self.caller.outbox.clone(), self.gone.clone(), self.running.clone());
        // A panic costs this request alone.
        let finish = move |answer: Result<Response, Panicked>| {
            if let Some(key) = &key {
                lock(&running.by_id).remove(key);
            }
            let id = id?;
            Some(match answer {
                Ok(answer) => answer.spell(&id),
                Err(Panicked) => lost(&id),
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
                biased;
                () = outbox.send(line) => {}
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
            return Err(RpcError::overloaded(message));
        }
        let Some(key) = key else { return Ok(()) };
        let mut running = lock(&self.running.by_id);
        if running.contains_key(key) {
            let message = "id: a request with this id is still running";
            return Err(RpcError::new(error_code::INVALID_REQUEST, message));
        }
        running.insert(key.to_owned(), cancelled.clone());
        Ok(())
    }

    /// Tells the sessions of the connection that it no longer hears of them.
    fn leave_sessions(&self) {
        for session in self.caller.peer.leave() {
            if let Ok(session) = self.daemon.sessions.get(&session) {
                session.detach(self.caller.id);
            }
        }
    }

    fn cancel(&self, frame: &Frame<'_>) {
        let Some(params) = &frame.params else { return };
        let Ok(CancelRequest { id }) = read(params, Reading::Strict) else { return };
        if let Some(token) = lock(&self.running.by_id).get(id.get()) {
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
    const GONE: PollFlags = PollFlags::POLLHUP.union(PollFlags::POLLERR);
    let mut fds = [PollFd::new(stream, PollFlags::empty())];
    match poll(&mut fds, PollTimeout::ZERO) {
        Ok(_) => fds.iter().filter_map(PollFd::revents).any(|said| said.intersects(GONE)),
        Err(_) => false,
    }
}
