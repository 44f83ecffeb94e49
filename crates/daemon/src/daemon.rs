//! The server: accepts connections until it is told to stop, then lets running events finish.

use std::future::pending;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hooksd_runner::warm::Warm;
use hooksd_runner::{Bounds, Runner};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Notify, watch};
use tokio::time::Interval;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connection;
use crate::feed::Feed;
use crate::gate::Gate;
use crate::held::Room;
use crate::hot::Documents;
use crate::hot::watch::{WatchMode, run as watch_documents};
use crate::journal::Journal;
use crate::once::Once;
use crate::opening::Openings;
use crate::service;
use crate::sessions::Sessions;
use crate::settings::Settings;
use crate::stats::Stats;
use crate::underway::Underway;
use crate::unfinished::Unfinished;

/// How long to wait before accepting again when the system has no descriptor left. Milliseconds.
const ACCEPT_RETRY_MS: u64 = 50;

/// How long killed events and closing connections may still take. Seconds. After that the process ends anyway, and
/// the kernel closes what is open.
const CLOSE_SECONDS: u64 = 3;

/// How often abandoned sessions are looked for. Seconds.
const RECLAIM_SECONDS: u64 = 5;

/// How often within the time after which an idle daemon stops it is looked whether it is. Looks.
const IDLE_LOOKS: u32 = 8;

/// The shortest time between two such looks. Milliseconds are enough for nobody to notice.
const IDLE_LOOK_LEAST: Duration = Duration::from_millis(20);

/// What all connections share.
pub(crate) struct Daemon {
    pub(crate) settings: Settings,
    pub(crate) runner: Runner,
    pub(crate) warm: Warm,
    pub(crate) sessions: Sessions,
    /// What inline sessions said of themselves last.
    pub(crate) openings: Openings,
    pub(crate) documents: Arc<Documents>,
    pub(crate) watch_mode: WatchMode,
    /// What those hear who look on.
    pub(crate) feed: Arc<Feed>,
    /// What is counted.
    pub(crate) stats: Stats,
    /// What is kept.
    pub(crate) journal: Journal,
    /// The answers of requests that bring their session with them.
    pub(crate) once: Arc<Once>,
    /// The running events by invocation id.
    pub(crate) underway: Arc<Underway>,
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
    /// How many there may be.
    pub(crate) gate: Gate,
    /// For what their requests hold.
    pub(crate) room: Room,
    /// What their unfinished lines hold.
    pub(crate) unfinished: Arc<Unfinished>,
    next_connection: AtomicU64,
    answered: AtomicU64,
    drain: watch::Sender<Duration>,
}

impl Daemon {
    fn new(settings: Settings, stopping: CancellationToken, killing: CancellationToken) -> Daemon {
        let (drain, _) = watch::channel(settings.drain);
        let feed = Arc::new(Feed::new(settings.journal.enabled));
        let journal = Journal::start(&settings.config_dir, &settings.journal, feed.clone());
        Daemon {
            warm: Warm::new(settings.warm.clone()),
            runner: Runner::with_bounds(
                Bounds::of_this_process().at_most(settings.max_handlers.unwrap_or(usize::MAX)),
            ),
            gate: Gate::of_this_process(settings.max_connections),
            settings,
            sessions: Sessions::new(feed.clone()),
            openings: Openings::default(),
            feed,
            stats: Stats::default(),
            journal,
            documents: Arc::default(),
            watch_mode: WatchMode::default(),
            once: Arc::default(),
            underway: Arc::default(),
            events: TaskTracker::new(),
            stopping,
            killing,
            closing: CancellationToken::new(),
            started: Instant::now(),
            connections: AtomicUsize::new(0),
            room: Room::of_all(),
            unfinished: Arc::default(),
            next_connection: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            drain,
        }
    }

    /// Tells connections apart.
    pub(crate) fn next_connection(&self) -> u64 {
        self.next_connection.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts an event that was answered.
    pub(crate) fn count_event(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    /// Events answered since the start.
    pub(crate) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Whether anybody would miss the daemon: a client, an event, a handler.
    fn in_use(&self) -> bool {
        self.connections.load(Ordering::Acquire) > 0 || !self.events.is_empty() || self.runner.children() > 0
    }

    /// Stops the daemon: running events may take this long.
    pub(crate) fn shutdown(&self, drain: Option<Duration>) {
        if let Some(drain) = drain {
            self.drain.send_replace(drain);
        }
        self.stopping.cancel();
    }

    /// Looks at all documents now. True when anything has changed. Reads files: not for an async thread.
    pub(crate) fn reload(&self) -> bool {
        let changed = self.documents.refresh();
        if changed {
            self.documents_changed();
        } else {
            self.warm.retire_unowned();
        }
        changed
    }

    /// Tells the sessions that documents have changed. Reads files: not for an async thread.
    pub(crate) fn documents_changed(&self) {
        for session in self.sessions.documents_changed(&self.settings, &self.documents) {
            self.warm.release(&session);
        }
        // Events without a session hold nothing: what they have used may be for documents that are gone.
        self.warm.retire_unowned();
    }

    /// Waits for running events. False when the time for that is over, which may be made shorter or longer meanwhile.
    async fn drained(&self) -> bool {
        let begun = Instant::now();
        let mut drain = self.drain.subscribe();
        loop {
            let until = begun + *drain.borrow_and_update();
            tokio::select! {
                () = self.events.wait() => return true,
                () = tokio::time::sleep_until(until.into()) => return false,
                () = self.killing.cancelled() => return false,
                _ = drain.changed() => {}
            }
        }
    }
}

/// How a server is told to stop, and to reload.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    /// Take nothing new, let running events finish for as long as the settings allow.
    pub stop: CancellationToken,
    /// Do not wait for them any longer.
    pub cut: CancellationToken,
    /// Look at all documents now.
    pub reload: Reload,
}

impl Shutdown {
    /// Stops; told again, cuts.
    pub fn once_more(&self) {
        let told = if self.stop.is_cancelled() { &self.cut } else { &self.stop };
        told.cancel();
    }
}

/// How a server is told to look at all documents now.
#[derive(Debug, Clone, Default)]
pub struct Reload {
    asked: Arc<Notify>,
    done: Arc<Notify>,
}

impl Reload {
    /// Asks for it and waits until it was done; false when that takes longer.
    pub async fn within(&self, longest: Duration) -> bool {
        self.asked.notify_one();
        tokio::time::timeout(longest, self.done.notified()).await.is_ok()
    }
}

/// Serves `listener` until it is told to stop, here or by a client, then drains and returns. The caller owns the
/// socket file.
pub async fn run(listener: UnixListener, settings: Settings, shutdown: Shutdown) {
    let daemon = Arc::new(Daemon::new(settings, shutdown.stop.child_token(), shutdown.cut.child_token()));
    let connections = TaskTracker::new();
    let background = [
        tokio::spawn(keep_hot(daemon.clone())),
        tokio::spawn(reclaim(daemon.clone())),
        tokio::spawn(reload(daemon.clone(), shutdown.reload)),
        tokio::spawn(leave_when_idle(daemon.clone())),
    ];
    let mut pulse = Pulse::new(daemon.settings.heartbeat);
    loop {
        tokio::select! {
            () = daemon.stopping.cancelled() => break,
            () = pulse.beat() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => accept(&daemon, &connections, stream),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection; trying again");
                    tokio::time::sleep(Duration::from_millis(ACCEPT_RETRY_MS)).await;
                }
            },
        }
    }
    service::stopping();
    accept_waiting(&daemon, &connections, listener);
    {
        let stopped = pin!(stop(&daemon, &connections));
        pulse.beside(stopped).await;
    }
    for task in background {
        task.abort();
        // Aborted, or ended by itself: either way it is over.
        let _ = task.await;
    }
}

/// Whoever is waiting to be accepted when the daemon stops hears so, instead of losing the connection.
fn accept_waiting(daemon: &Arc<Daemon>, connections: &TaskTracker, listener: UnixListener) {
    let Ok(listener) = listener.into_std() else { return };
    // A service manager keeps the socket, and the next daemon accepts them.
    while let (false, Ok((stream, _))) = (daemon.settings.activated, listener.accept()) {
        if stream.set_nonblocking(true).is_ok()
            && let Ok(stream) = UnixStream::from_std(stream)
        {
            accept(daemon, connections, stream);
        }
    }
}

/// Tells the service manager that this loop still runs.
struct Pulse {
    every: Option<Interval>,
}

impl Pulse {
    fn new(every: Option<Duration>) -> Pulse {
        Pulse { every: every.map(tokio::time::interval) }
    }

    async fn beat(&mut self) {
        match &mut self.every {
            Some(every) => {
                every.tick().await;
                service::alive();
            }
            None => pending().await,
        }
    }

    async fn beside(&mut self, mut work: Pin<&mut impl Future<Output = ()>>) {
        loop {
            tokio::select! {
                () = &mut work => return,
                () = self.beat() => {}
            }
        }
    }
}

/// Looks at all documents when it is told to.
async fn reload(daemon: Arc<Daemon>, told: Reload) {
    loop {
        told.asked.notified().await;
        let daemon = daemon.clone();
        match tokio::task::spawn_blocking(move || daemon.reload()).await {
            Ok(changed) => tracing::info!(changed, "looked at all documents"),
            Err(error) => tracing::error!(%error, "the documents could not be looked at"),
        }
        told.done.notify_one();
    }
}

/// Stops a daemon that was started on demand when nobody has needed it for long enough.
async fn leave_when_idle(daemon: Arc<Daemon>) {
    let Some(longest) = daemon.settings.idle_exit else { return };
    let step = (longest / IDLE_LOOKS).max(IDLE_LOOK_LEAST);
    let (mut seen, mut since) = (0, Instant::now());
    loop {
        tokio::time::sleep(step).await;
        // Whoever came and went between two looks counts as well.
        let came = daemon.next_connection.load(Ordering::Relaxed);
        if daemon.in_use() || came != seen {
            (seen, since) = (came, Instant::now());
        } else if since.elapsed() >= longest {
            tracing::info!(idle = ?longest, "nobody has needed the daemon; the next who does starts one");
            return daemon.shutdown(None);
        }
    }
}

/// Watches the documents for as long as the daemon takes events.
async fn keep_hot(daemon: Arc<Daemon>) {
    let (documents, mode, stop) =
        (daemon.documents.clone(), daemon.watch_mode.clone(), daemon.stopping.clone());
    let poll = daemon.settings.poll;
    watch_documents(documents, mode, poll, stop, move || daemon.documents_changed()).await;
}

/// Closes sessions that nobody will miss.
async fn reclaim(daemon: Arc<Daemon>) {
    loop {
        tokio::time::sleep(Duration::from_secs(RECLAIM_SECONDS)).await;
        daemon.sessions.reclaim();
    }
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
    if !daemon.gate.admits(&daemon.connections) {
        connection::refuse(stream, daemon.gate.most());
        return;
    }
    let daemon = daemon.clone();
    connections.spawn(async move {
        connection::serve(daemon.clone(), stream).await;
        daemon.connections.fetch_sub(1, Ordering::AcqRel);
    });
}

async fn stop(daemon: &Arc<Daemon>, connections: &TaskTracker) {
    let drain = *daemon.drain.borrow();
    tracing::info!(?drain, running = daemon.events.len(), "stopping");
    daemon.events.close();
    if !daemon.drained().await {
        tracing::warn!(running = daemon.events.len(), "cutting events that did not end in time");
        daemon.killing.cancel();
        let _ = tokio::time::timeout(Duration::from_secs(CLOSE_SECONDS), daemon.events.wait()).await;
    }
    daemon.warm.stop().await;
    // What the killed handlers have left behind goes before the process that can find it does.
    daemon.runner.cleaned(Duration::from_secs(CLOSE_SECONDS)).await;
    daemon.closing.cancel();
    connections.close();
    let _ = tokio::time::timeout(Duration::from_secs(CLOSE_SECONDS), connections.wait()).await;
    let journal = daemon.clone();
    let written = tokio::task::spawn_blocking(move || journal.journal.stop());
    let _ = tokio::time::timeout(Duration::from_secs(CLOSE_SECONDS), written).await;
    tracing::info!(children = daemon.runner.children(), "stopped");
}
