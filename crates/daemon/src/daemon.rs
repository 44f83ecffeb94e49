//! The server: accepts connections until it is told to stop, then lets running events finish.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hooksd_runner::Runner;
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connection;
use crate::sessions::Sessions;
use crate::settings::Settings;

/// How long to wait before accepting again when the system has no descriptor left. Milliseconds.
const ACCEPT_RETRY_MS: u64 = 50;

/// How long killed events and closing connections may still take. Seconds. After that the process ends anyway, and
/// the kernel closes what is open.
const CLOSE_SECONDS: u64 = 3;

/// What all connections share.
pub(crate) struct Daemon {
    pub(crate) settings: Settings,
    pub(crate) runner: Runner,
    pub(crate) sessions: Sessions,
    /// Running events. They outlive the connection they came by, if they must (D11).
    pub(crate) events: TaskTracker,
    /// Told to stop: no new events, running ones may finish.
    pub(crate) stopping: CancellationToken,
    /// The time for that is over: running events are cut.
    pub(crate) killing: CancellationToken,
    /// Connections should end.
    pub(crate) closing: CancellationToken,
    pub(crate) started: Instant,
    pub(crate) connections: AtomicUsize,
    answered: AtomicU64,
    drain: Mutex<Duration>,
}

impl Daemon {
    fn new(settings: Settings, stopping: CancellationToken) -> Daemon {
        let drain = Mutex::new(settings.drain);
        Daemon {
            settings,
            runner: Runner::new(),
            sessions: Sessions::default(),
            events: TaskTracker::new(),
            stopping,
            killing: CancellationToken::new(),
            closing: CancellationToken::new(),
            started: Instant::now(),
            connections: AtomicUsize::new(0),
            answered: AtomicU64::new(0),
            drain,
        }
    }

    /// Counts an event that was answered.
    pub(crate) fn count_event(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    /// Events answered since the start.
    pub(crate) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Stops the daemon: running events may take this long.
    pub(crate) fn shutdown(&self, drain: Option<Duration>) {
        if let Some(drain) = drain {
            *self.drain.lock().unwrap_or_else(PoisonError::into_inner) = drain;
        }
        self.stopping.cancel();
    }

    fn drain(&self) -> Duration {
        *self.drain.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves `listener` until `shutdown` is cancelled or a client asks for it, then drains and returns. The caller owns
/// the socket file.
pub async fn run(listener: UnixListener, settings: Settings, shutdown: CancellationToken) {
    let daemon = Arc::new(Daemon::new(settings, shutdown.child_token()));
    let connections = TaskTracker::new();
    loop {
        tokio::select! {
            () = daemon.stopping.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => accept(&daemon, &connections, stream),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection; trying again");
                    tokio::time::sleep(Duration::from_millis(ACCEPT_RETRY_MS)).await;
                }
            },
        }
    }
    drop(listener);
    stop(&daemon, &connections).await;
}

fn accept(daemon: &Arc<Daemon>, connections: &TaskTracker, stream: UnixStream) {
    // The socket's mode keeps others out already; this holds even if somebody has changed it (B72).
    let own = rustix::process::geteuid().as_raw();
    match stream.peer_cred() {
        Ok(peer) if peer.uid() == own => {}
        Ok(peer) => {
            tracing::warn!(uid = peer.uid(), "refused a connection of another user");
            return;
        }
        Err(error) => {
            tracing::warn!(%error, "refused a connection whose user is unknown");
            return;
        }
    }
    let daemon = daemon.clone();
    daemon.connections.fetch_add(1, Ordering::AcqRel);
    connections.spawn(async move {
        connection::serve(daemon.clone(), stream).await;
        daemon.connections.fetch_sub(1, Ordering::AcqRel);
    });
}

async fn stop(daemon: &Arc<Daemon>, connections: &TaskTracker) {
    let drain = daemon.drain();
    tracing::info!(?drain, running = daemon.events.len(), "stopping");
    daemon.events.close();
    if tokio::time::timeout(drain, daemon.events.wait()).await.is_err() {
        tracing::warn!(running = daemon.events.len(), "cutting events that did not end in time");
        daemon.killing.cancel();
        let _ = tokio::time::timeout(Duration::from_secs(CLOSE_SECONDS), daemon.events.wait()).await;
    }
    // What the killed handlers have left behind goes before the process that can find it does.
    daemon.runner.cleaned(Duration::from_secs(CLOSE_SECONDS)).await;
    daemon.closing.cancel();
    connections.close();
    let _ = tokio::time::timeout(Duration::from_secs(CLOSE_SECONDS), connections.wait()).await;
    tracing::info!(children = daemon.runner.children(), "stopped");
}
