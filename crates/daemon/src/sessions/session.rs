//! One conversation of one agent, pinned to the snapshot it was opened with (contract section 10).

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use hooksd_json::Text;
use hooksd_protocol::diagnostic::Diagnostic;
use hooksd_protocol::methods::{
    Capability, ItemBody, Mode, ResourceLimits, SessionInfo, SessionOpen, SnapshotChanged,
};
use hooksd_protocol::rpc::request_line;
use hooksd_runner::{Limited, Rlimit, Rlimits};

use tokio_util::sync::CancellationToken;

use crate::base::caller::Caller;
use crate::base::lock::lock;
use crate::base::outbox::WeakOutbox;
use crate::base::settings::Settings;
use crate::documents::{Documents, Shortage, outlast};
use crate::observe::feed::Feed;
use crate::observe::items::diagnostic_item;
use crate::observe::items::{About, cut};
use crate::sessions::delivery::DeliveryCache;
use crate::sessions::params::SessionParams;
use crate::sessions::resolved::{ResolvedConfig, resolve};
use crate::sessions::transcripts::{self, Order};

/// How long a session outlives its last connection, so that an agent that reconnects can go on. Seconds (PROTOCOL).
pub(crate) const GRACE_SECONDS: u64 = 60;

/// How long a session may be idle while its connection lives. Seconds. A day: an agent that comes back after that
/// opens a new one.
pub(crate) const IDLE_SECONDS: u64 = 86_400;

/// The connections that hear of a session.
#[derive(Default)]
struct Owners {
    connections: Vec<(u64, WeakOutbox)>,
    /// Since when no connection hears of the session; `None` while one does.
    orphaned: Option<Instant>,
}

/// What a pinned session was told about the documents as they are now: the snapshot's id and its diagnostics.
type Announced = Option<(String, Vec<Diagnostic>)>;

/// One session: a conversation of an agent.
pub(crate) struct Session {
    pub(crate) id: Arc<str>,
    pub(crate) thread_id: Text,
    pub(crate) mode: Mode,
    pub(crate) accepts: Vec<Capability>,
    /// The file mode mask of its handlers; none inherits the daemon's (D14).
    pub(crate) umask: Option<u32>,
    /// The resource limits of its handlers (D14).
    pub(crate) rlimits: Rlimits,
    pub(crate) config: ArcSwap<ResolvedConfig>,
    /// The answers to its events, for repetitions.
    pub(crate) deliveries: Arc<DeliveryCache>,
    /// The order of its transcripts' records.
    pub(crate) transcript: Arc<Order>,
    /// The daemon's own transcript of it, where events do not name one. Made once: its name takes a hash.
    own_transcript: OnceLock<String>,
    /// Set by the first `legacy/emit`: from then on nothing of the older form is derived from events of today.
    pub(crate) reports_legacy: AtomicBool,
    /// Cancelled when the session is closed: its events stop.
    pub(crate) closed: CancellationToken,
    /// Whether the session moves to edited documents by itself, instead of staying pinned until a reload.
    follow: bool,
    /// Held while the session moves to another snapshot: a newer one is never overwritten by an older one (B62).
    moving: Mutex<Announced>,
    owners: Mutex<Owners>,
    running: AtomicUsize,
    last_used: Mutex<Instant>,
    /// Whether the session has used warm processes, which are let go when it is closed.
    holds_warm: AtomicBool,
}

fn rlimits(given: Option<ResourceLimits>) -> Rlimits {
    let ResourceLimits { address_space, core, cpu, data, fsize, nofile, stack } = given.unwrap_or_default();
    let all = [
        (Limited::As, address_space),
        (Limited::Core, core),
        (Limited::Cpu, cpu),
        (Limited::Data, data),
        (Limited::Fsize, fsize),
        (Limited::Nofile, nofile),
        (Limited::Stack, stack),
    ];
    all.into_iter().filter_map(|(resource, soft)| Some(Rlimit { resource, soft: soft? })).collect()
}

impl Session {
    pub(crate) fn new(
        id: Arc<str>,
        open: &SessionOpen,
        config: ResolvedConfig,
        closed: CancellationToken,
    ) -> Session {
        Session {
            id,
            thread_id: open.thread_id.clone(),
            mode: open.mode,
            accepts: open.accepts.clone(),
            umask: open.umask,
            rlimits: rlimits(open.rlimits),
            config: ArcSwap::from_pointee(config),
            deliveries: Arc::default(),
            transcript: Arc::default(),
            own_transcript: OnceLock::new(),
            reports_legacy: AtomicBool::new(false),
            closed,
            follow: open.follow,
            moving: Mutex::new(None),
            owners: Mutex::new(Owners { connections: Vec::new(), orphaned: Some(Instant::now()) }),
            running: AtomicUsize::new(0),
            last_used: Mutex::new(Instant::now()),
            holds_warm: AtomicBool::new(false),
        }
    }

    /// Counts an event as running until the guard is dropped.
    pub(crate) fn begin_event(self: &Arc<Session>) -> RunningEvent {
        self.touch();
        self.running.fetch_add(1, Ordering::AcqRel);
        RunningEvent(self.clone())
    }

    /// The path of the daemon's own transcript of the session; the file may not exist.
    pub(crate) fn own_transcript(&self, config_dir: &Path) -> &str {
        let path = || transcripts::path(config_dir, &self.thread_id.decoded(), None).display().to_string();
        self.own_transcript.get_or_init(path)
    }

    /// How many of its events run now.
    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Acquire)
    }

    /// Notes that the session uses warm processes; true the first time.
    pub(crate) fn begins_to_hold_warm(&self) -> bool {
        !self.holds_warm.swap(true, Ordering::AcqRel)
    }

    /// Notes that the session is in use.
    pub(crate) fn touch(&self) {
        *lock(&self.last_used) = Instant::now();
    }

    /// When the session was last in use.
    pub(crate) fn last_used(&self) -> Instant {
        *lock(&self.last_used)
    }

    /// Lets a connection hear of the session.
    pub(crate) fn attach(&self, caller: &Caller) {
        let mut owners = lock(&self.owners);
        owners.connections.retain(|(id, _)| *id != caller.id);
        owners.connections.push((caller.id, caller.outbox.downgrade()));
        owners.orphaned = None;
    }

    /// Notes that a connection has ended, so that the session no longer hears of it.
    pub(crate) fn detach(&self, connection: u64) {
        let mut owners = lock(&self.owners);
        owners.connections.retain(|(id, _)| *id != connection);
        if owners.connections.is_empty() {
            owners.orphaned.get_or_insert_with(Instant::now);
        }
    }

    /// Whether nobody will miss the session any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        if self.running() > 0 {
            return false;
        }
        let idle = self.last_used().elapsed();
        match lock(&self.owners).orphaned {
            Some(since) => since.elapsed().min(idle) > Duration::from_secs(GRACE_SECONDS),
            None => idle > Duration::from_secs(IDLE_SECONDS),
        }
    }

    /// Moves the session: to the documents as they are now, and to another view if one is given. Reads files.
    pub(crate) fn resolve_again(
        &self,
        settings: &Settings,
        documents: &Documents,
        change: impl FnOnce(SessionParams) -> SessionParams,
    ) -> Result<(), Shortage> {
        let mut announced = lock(&self.moving);
        let params = change(self.config.load().params.clone());
        self.config.store(Arc::new(outlast(|| resolve(settings, documents, params.clone()))?));
        *announced = None;
        self.touch();
        Ok(())
    }

    /// Documents have changed: a session that follows moves, a pinned one is told once. True when it has moved. Reads
    /// files.
    pub(crate) fn documents_changed(&self, settings: &Settings, documents: &Documents, feed: &Feed) -> bool {
        let mut announced = lock(&self.moving);
        let old = self.config.load_full();
        let new = match resolve(settings, documents, old.params.clone()) {
            Ok(new) => new,
            Err(Shortage(reason)) => {
                tracing::warn!(session = %self.id, %reason, "the session stays as it is for now");
                documents.tell_again();
                return false;
            }
        };
        let (id, diagnostics) = (new.snapshot().id.clone(), new.diagnostics());
        if (id.as_str(), &diagnostics) == (old.snapshot().id.as_str(), &old.diagnostics()) {
            *announced = None;
            return false;
        }
        let news = Some((id.clone(), diagnostics.clone()));
        if *announced == news {
            return false;
        }
        if self.follow {
            self.config.store(Arc::new(new));
        } else {
            *announced = news;
        }
        let about = About::session(&self.id);
        feed.publish(about, || ItemBody::Snapshot {
            old_id: old.snapshot().id.clone(),
            new_id: id.clone(),
            applied: self.follow,
        });
        diagnostics.iter().for_each(|diagnostic| feed.publish(about, || diagnostic_item(diagnostic)));
        self.tell(&SnapshotChanged {
            session: self.id.to_string(),
            old_id: old.snapshot().id.clone(),
            new_id: id,
            applied: self.follow,
            diagnostics,
        });
        self.follow
    }

    /// Sends a notification to everybody who hears of the session. A client that does not keep up misses it; it finds
    /// the same in the next `session/reload`.
    fn tell(&self, changed: &SnapshotChanged) {
        let Ok(line) = request_line(None, "snapshot/changed", changed) else { return };
        for (_, outbox) in &lock(&self.owners).connections {
            if let Some(outbox) = outbox.upgrade()
                && outbox.try_send(line.clone()).is_err()
            {
                tracing::debug!(session = %self.id, "a client that does not keep up has missed snapshot/changed");
            }
        }
    }

    /// Tells the feed what became of the session; when its documents were read for that, also what in them does not
    /// count.
    pub(crate) fn announce(&self, feed: &Feed, change: &str) {
        if !feed.is_heard() {
            return;
        }
        let (about, config) = (About::session(&self.id), self.config.load());
        feed.publish(about, || ItemBody::Session {
            change: change.to_owned(),
            snapshot_id: config.snapshot().id.clone(),
            cwd: Some(cut(&config.params.cwd.display().to_string())),
        });
        if matches!(change, "opened" | "reloaded") {
            for diagnostic in config.diagnostics() {
                feed.publish(about, || diagnostic_item(&diagnostic));
            }
        }
    }

    /// The session as `session/open`, `session/attach` and `session/reload` answer it.
    pub(crate) fn info(&self) -> SessionInfo {
        let config = self.config.load();
        SessionInfo {
            session: self.id.to_string(),
            snapshot: config.snapshot_info(),
            project: config.project_info(),
            environment: if config.params.env.is_some() { "session" } else { "daemon" }.to_owned(),
        }
    }
}

/// Counts an event as running.
pub(crate) struct RunningEvent(Arc<Session>);

impl Drop for RunningEvent {
    fn drop(&mut self) {
        self.0.touch();
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}
