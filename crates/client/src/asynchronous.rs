//! The async client: it makes many calls at once on one connection, and hands notifications over one by one. When an
//! overrun daemon refuses a call, the client makes it again on the same connection, for as long as the call may take.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hooksd_json::{Dialect, Reading, Value, read};
use hooksd_protocol::methods::{HookInvoke, InvokeResult};
use hooksd_protocol::rpc::request_line;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::error::ClientError;
use crate::response::read_invoke_result;
use crate::wire::{Incoming, Notification, Raw, parse};
use crate::{CALL_TIMEOUT, LONGEST_TIMEOUT, SHORTEST_TIMEOUT, peer, retry, start};

/// How many notifications wait to be taken. Notifications. When there are that many, nobody is listening, and new
/// ones are dropped.
const MAX_NOTIFICATIONS: usize = 1024;

/// How many requests wait to be written. Requests. One more waits until there is room, within its own time.
const MAX_UNWRITTEN: usize = 64;

/// A line to be written. A request holds its permit until it is written. A cancellation needs none: there is at most
/// one for each request that was sent.
type Unwritten = (String, Option<OwnedSemaphorePermit>);

/// Who waits for the answer to the request of this id.
type Waiters = HashMap<u64, oneshot::Sender<Raw>>;

/// The calls that wait for an answer; `None` once the connection has ended.
#[derive(Debug, Clone)]
struct Waiting(Arc<Mutex<Option<Waiters>>>);

/// A call that waits for its answer. If there is none when this is dropped, the request is cancelled.
struct Call<'a> {
    client: &'a Client,
    id: u64,
    /// Whether the request was handed to the task that writes, so that the daemon has it or will have it.
    sent: bool,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let unanswered = self.client.waiting.take(self.id).is_some();
        if unanswered && self.sent {
            let line = request_line(None, "$/cancelRequest", &BTreeMap::from([("id", self.id)]));
            // Without a connection there is nothing to cancel.
            let _ = line.map(|line| self.client.lines.send((line, None)));
        }
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Option<Waiters>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, id: u64) -> Result<oneshot::Receiver<Raw>, ClientError> {
        let (sender, answer) = oneshot::channel();
        self.lock().as_mut().ok_or(ClientError::Closed)?.insert(id, sender);
        Ok(answer)
    }

    fn take(&self, id: u64) -> Option<oneshot::Sender<Raw>> {
        self.lock().as_mut()?.remove(&id)
    }

    /// Tells everybody who waits that the connection has ended.
    fn end(&self) {
        self.lock().take();
    }
}

/// A connection to the daemon, for any number of concurrent calls. A call may be dropped at any time: that, and running
/// out of time, cancels its request, also that of a session's end.
///
/// ```
/// # use std::io::{BufRead, BufReader, Write};
/// # use std::os::unix::net::UnixListener;
/// use hooksd_client::asynchronous::Client;
/// use hooksd_protocol::methods::NoParams;
///
/// # let folder = tempfile::tempdir()?;
/// # let socket = folder.path().join("hooksd.sock");
/// # let listener = UnixListener::bind(&socket)?;
/// # let daemon = std::thread::spawn(move || -> std::io::Result<()> {
/// #     let (stream, _) = listener.accept()?;
/// #     let mut requests = BufReader::new(&stream).lines();
/// #     (requests.next().transpose()?, requests.next().transpose()?);
/// #     for id in [2, 1] {
/// #         writeln!(&stream, r#"{{"jsonrpc": "2.0", "id": {id}, "result": {id}}}"#)?;
/// #     }
/// #     Ok(())
/// # });
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let client = Client::connect(&socket).await?;
/// // Both calls are under way at once, whatever is answered first.
/// let (sessions, status) = tokio::join!(
///     client.call_raw("session/list", &NoParams {}),
///     client.call_raw("daemon/status", &NoParams {}),
/// );
/// assert_eq!((sessions?, status?), ("1".to_owned(), "2".to_owned()));
/// # Ok::<(), hooksd_client::ClientError>(())
/// # })?;
/// # daemon.join().expect("the listener has not panicked")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Client {
    /// Leads to the task that writes. It writes a line whole, even when the line's call has given up meanwhile.
    lines: mpsc::UnboundedSender<Unwritten>,
    /// Has a permit for each request that may wait to be written.
    room: Arc<Semaphore>,
    waiting: Waiting,
    next_id: AtomicU64,
    timeout: Duration,
    notifications: AsyncMutex<mpsc::Receiver<Notification>>,
    tasks: [JoinHandle<()>; 2],
}

impl Drop for Client {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Client {
    /// Connects to the socket at `path`.
    ///
    /// # Errors
    /// [`ClientError::NotRunning`] when nobody listens there.
    pub async fn connect(path: &Path) -> Result<Client, ClientError> {
        let stream = UnixStream::connect(path)
            .await
            .and_then(peer::own)
            .map_err(|source| ClientError::NotRunning { path: path.to_owned(), source })?;
        Ok(Client::on(stream))
    }

    /// Connects to the socket at `path`, and has a daemon started first when nobody listens there. It does what
    /// [`connect_or_start`](crate::blocking::Client::connect_or_start) of the blocking client does, on a thread for
    /// work that blocks.
    ///
    /// # Errors
    /// The errors of the blocking client's method.
    pub async fn connect_or_start(path: &Path, deadline: Instant) -> Result<Client, ClientError> {
        let path = path.to_owned();
        let started = tokio::task::spawn_blocking(move || start::connect_or_start(&path, deadline));
        // The thread does not panic, and is cancelled only when the runtime itself ends.
        let stream = started.await.map_err(|_| ClientError::Closed)??;
        stream.set_nonblocking(true)?;
        Ok(Client::on(UnixStream::from_std(stream)?))
    }

    fn on(stream: UnixStream) -> Client {
        let (read_half, write_half) = stream.into_split();
        let waiting = Waiting(Arc::new(Mutex::new(Some(Waiters::new()))));
        let (sender, notifications) = mpsc::channel(MAX_NOTIFICATIONS);
        let (lines, unwritten) = mpsc::unbounded_channel();
        let reader = tokio::spawn(listen(read_half, waiting.clone(), sender));
        let writer = tokio::spawn(write(write_half, unwritten, waiting.clone()));
        Client {
            lines,
            room: Arc::new(Semaphore::new(MAX_UNWRITTEN)),
            waiting,
            next_id: AtomicU64::new(1),
            timeout: CALL_TIMEOUT,
            notifications: AsyncMutex::new(notifications),
            tasks: [reader, writer],
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
    pub async fn call<P: Serialize, R: DeserializeOwned>(
        &self,
        method: &str,
        params: &P,
    ) -> Result<R, ClientError> {
        let raw = self.call_raw(method, params).await?;
        let bad = |message: String| ClientError::BadAnswer(message);
        let value = Value::parse(&raw, Dialect::Strict).map_err(|error| bad(error.to_string()))?;
        read(&value, Reading::Strict).map_err(|error| bad(error.to_string()))
    }

    /// Has the daemon run the handlers of an event (`hook/invoke`), and returns its decision.
    ///
    /// # Errors
    /// The errors of [`Client::call`].
    pub async fn invoke(&self, invoke: &HookInvoke) -> Result<InvokeResult, ClientError> {
        read_invoke_result(&self.call_raw("hook/invoke", invoke).await?)
    }

    /// Calls a method, and returns the result as the daemon spelled it.
    ///
    /// # Errors
    /// The errors of [`Client::call`], except that the result is not looked at.
    pub async fn call_raw<P: Serialize>(&self, method: &str, params: &P) -> Result<String, ClientError> {
        let deadline = Instant::now() + self.timeout;
        let left = || deadline.saturating_duration_since(Instant::now());
        loop {
            let error = match self.ask(method, params, left()).await {
                Ok(result) => return Ok(result),
                Err(error) => error,
            };
            let pause = match &error {
                ClientError::Refused(refusal) => retry::overrun(refusal),
                _ => None,
            };
            match pause {
                Some(pause) if pause < left() => tokio::time::sleep(pause).await,
                _ => return Err(error),
            }
        }
    }

    /// Makes a call once, without making it again when the daemon is overrun.
    async fn ask<P: Serialize>(
        &self,
        method: &str,
        params: &P,
        patience: Duration,
    ) -> Result<String, ClientError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let line = request_line(Some(id), method, params).map_err(ClientError::BadRequest)?;
        let answer = self.waiting.begin(id)?;
        let mut call = Call { client: self, id, sent: false };
        let call = async {
            let room = self.room.clone().acquire_owned().await.map_err(|_| ClientError::Closed)?;
            self.lines.send((line, Some(room))).map_err(|_| ClientError::Closed)?;
            call.sent = true;
            answer.await.map_err(|_| ClientError::Closed)?.map_err(ClientError::Refused)
        };
        let answered = tokio::time::timeout(patience, call).await;
        answered.unwrap_or(Err(ClientError::TimedOut(self.timeout)))
    }

    /// Waits for the next notification; `None` once the connection has ended.
    pub async fn notification(&self) -> Option<Notification> {
        self.notifications.lock().await.recv().await
    }
}

/// Reads lines and hands each to who waits for it, until the connection ends.
async fn listen(stream: OwnedReadHalf, waiting: Waiting, notifications: mpsc::Sender<Notification>) {
    let mut stream = BufReader::new(stream);
    loop {
        match next(&mut stream).await {
            Ok(Some(Incoming::Response { id, result })) => {
                if let Some(sender) = waiting.take(id) {
                    let _ = sender.send(result);
                }
            }
            Ok(Some(Incoming::Notification(notification))) => {
                let _ = notifications.try_send(notification);
            }
            // The error belongs to no request of ours, so that nobody waits for it.
            Ok(Some(Incoming::Complaint(_))) => {}
            Ok(None) | Err(_) => break,
        }
    }
    waiting.end();
}

/// Writes lines, each to its end, until the connection or its client has ended.
async fn write(mut stream: OwnedWriteHalf, mut lines: mpsc::UnboundedReceiver<Unwritten>, waiting: Waiting) {
    while let Some((line, _room)) = lines.recv().await {
        if stream.write_all(line.as_bytes()).await.is_err() {
            break;
        }
    }
    waiting.end();
}

/// Reads the next line; `None` at the end of the connection.
async fn next(stream: &mut BufReader<OwnedReadHalf>) -> io::Result<Option<Incoming>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    parse(&line).map(Some).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::future::poll_fn;
    use std::task::Poll;

    use super::*;

    const BUSY: &str = r#""error": {"code": -32005, "message": "busy", "data": {"retry_after_ms": 30}}"#;
    const FULL: &str = r#""error": {"code": -32005, "message": "full"}"#;
    const OTHER: &str = r#""error": {"code": -32002, "message": "other", "data": {"retry_after_ms": 30}}"#;
    const DONE: &str = r#""result": "done""#;

    /// What comes of a call that may take this long, and how many answers of a daemon with this script are left.
    async fn asked(script: &[&'static str], patience: Duration) -> (String, usize) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let script = script.to_vec();
        let daemon = tokio::spawn(async move {
            let (requests, mut answers) = theirs.into_split();
            let mut requests = BufReader::new(requests).lines();
            let mut left = script.into_iter();
            while let Ok(Some(request)) = requests.next_line().await {
                let request: serde_json::Value = serde_json::from_str(&request).unwrap();
                let answer = left.next().unwrap();
                let line = format!("{{\"jsonrpc\": \"2.0\", \"id\": {}, {answer}}}\n", request["id"]);
                answers.write_all(line.as_bytes()).await.unwrap();
            }
            left.len()
        });
        let client = Client::on(ours).with_timeout(patience);
        let said = client.call_raw("x", &()).await.unwrap_or_else(|error| error.to_string());
        drop(client);
        (said, daemon.await.unwrap())
    }

    /// A request that is longer than what the socket takes while nobody reads.
    #[tokio::test]
    async fn a_call_that_gave_up_leaves_a_whole_line_and_nothing_behind() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let client = Client::on(ours).with_timeout(Duration::from_millis(50));
        let long = "x".repeat(4 * 1024 * 1024);
        let error = client.call_raw("long", &long).await.unwrap_err();
        assert!(matches!(error, ClientError::TimedOut(_)), "{error}");
        assert!(client.waiting.lock().as_ref().unwrap().is_empty());
        let daemon = tokio::spawn(async move {
            let (requests, mut answers) = theirs.into_split();
            let mut requests = BufReader::new(requests).lines();
            let mut methods = Vec::new();
            while methods.last().is_none_or(|method| method != "short") {
                let line = requests.next_line().await.unwrap().unwrap();
                let request: serde_json::Value = serde_json::from_str(&line).unwrap();
                methods.push(request["method"].as_str().unwrap().to_owned());
                if request["id"].is_null() {
                    assert_eq!(request["params"], serde_json::json!({ "id": 1 }));
                    continue;
                }
                let line = format!("{{\"jsonrpc\": \"2.0\", \"id\": {}, {DONE}}}\n", request["id"]);
                answers.write_all(line.as_bytes()).await.unwrap();
            }
            methods
        });
        let client = client.with_timeout(Duration::from_secs(20));
        assert_eq!(client.call_raw("short", &()).await.unwrap(), "\"done\"");
        assert_eq!(daemon.await.unwrap(), ["long", "$/cancelRequest", "short"]);
    }

    /// More at once than may wait to be written.
    #[tokio::test]
    async fn every_call_that_is_dropped_is_cancelled() {
        const CALLS: usize = 4 * MAX_UNWRITTEN;
        let (ours, theirs) = UnixStream::pair().unwrap();
        let client = Client::on(ours);
        let mut lines = BufReader::new(theirs).lines();
        // What so many lines say: all the same method, and whose requests they are.
        let mut heard = async |method: &str| {
            let mut ids = BTreeSet::new();
            for _ in 0..CALLS {
                let line = tokio::time::timeout(Duration::from_secs(20), lines.next_line()).await;
                let line = line.expect("a line for each call").unwrap().unwrap();
                let line: serde_json::Value = serde_json::from_str(&line).unwrap();
                assert_eq!(line["method"], method);
                ids.insert(line["id"].as_u64().or(line["params"]["id"].as_u64()).unwrap());
            }
            ids
        };
        let mut calls: Vec<_> = (0..CALLS).map(|_| Box::pin(client.call_raw("x", &()))).collect();
        let ask = poll_fn(|context| {
            let unanswered = calls.iter_mut().all(|call| call.as_mut().poll(context).is_pending());
            if unanswered { Poll::Pending } else { Poll::Ready(()) }
        });
        let asked = tokio::select! {
            () = ask => unreachable!("nobody answers"),
            asked = heard("x") => asked,
        };
        drop(calls);
        assert_eq!(heard("$/cancelRequest").await, asked);
        assert_eq!(asked.len(), CALLS);
    }

    #[tokio::test]
    async fn what_an_overrun_daemon_refused_is_asked_again_until_the_deadline() {
        let patience = Duration::from_secs(20);
        assert_eq!(asked(&[BUSY, FULL, BUSY, DONE], patience).await, ("\"done\"".to_owned(), 0));
        assert_eq!(asked(&[BUSY, OTHER, DONE], patience).await, ("other".to_owned(), 1));
        let began = Instant::now();
        let (said, left) = asked(&[BUSY; 64], Duration::from_millis(100)).await;
        assert_eq!(said, "busy");
        assert!((59..64).contains(&left), "{left}");
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}
