//! One conversation of one agent, pinned to the snapshot it was opened with (BEHAVIOUR section 10).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use hooksd_json::{ReadError, Text};
use hooksd_protocol::diagnostic::Diagnostic;
use hooksd_protocol::methods::{
    Capability, ItemBody, Mode, ResourceLimits, SessionInfo, SessionOpen, SnapshotChanged, Trust,
};
use hooksd_protocol::rpc::request_line;
use hooksd_runner::{Limited, Rlimit, Rlimits};

use tokio_util::sync::CancellationToken;

use crate::account::diagnostic_item;
use crate::connection::Caller;
use crate::daemon::Daemon;
use crate::feed::{About, Feed};
use crate::hot::{Documents, Shortage, outlast};
use crate::once::Once;
use crate::outbox::WeakOutbox;
use crate::pinned::{Pinned, View, pin};
use crate::settings::Settings;
use crate::transcripts::{self, Order};

/// How long a session outlives its last connection, so that an agent that reconnects can go on. Seconds (PROTOCOL).
pub(crate) const GRACE_SECONDS: u64 = 60;

/// How long a session may be idle while its connection lives. Seconds. A day: an agent that comes back after that
/// opens a new one.
pub(crate) const IDLE_SECONDS: u64 = 86_400;

/// Who hears of a session.
#[derive(Default)]
struct Owners {
    connections: Vec<(u64, WeakOutbox)>,
    /// Since when there is none.
    orphaned: Option<Instant>,
}

/// What a pinned session was told about the documents as they are now.
type Announced = Option<(String, Vec<Diagnostic>)>;

/// One session.
pub(crate) struct Session {
    pub(crate) id: Arc<str>,
    pub(crate) thread_id: Text,
    pub(crate) mode: Mode,
    pub(crate) accepts: Vec<Capability>,
    /// The file mode mask of its handlers; none inherits the daemon's (D14).
    pub(crate) umask: Option<u32>,
    /// The resource limits of its handlers (D14).
    pub(crate) rlimits: Rlimits,
    pub(crate) pinned: ArcSwap<Pinned>,
    pub(crate) once: Arc<Once>,
    /// The order of its transcripts' records.
    pub(crate) transcript: Arc<Order>,
    /// The daemon's own transcript of it, where events do not name one. Made once: its name takes a hash.
    own_transcript: OnceLock<String>,
    /// Set by the first `legacy/emit`: from then on nothing of the older form is derived from events of today.
    pub(crate) reports_legacy: AtomicBool,
    /// Cancelled when the session is closed: its events stop.
    pub(crate) closed: CancellationToken,
    /// Whether edits reach it by themselves.
    follow: bool,
    /// Held while the session moves to another snapshot: a newer one is never overwritten by an older one (B62).
    moving: Mutex<Announced>,
    owners: Mutex<Owners>,
    running: AtomicUsize,
    last_used: Mutex<Instant>,
    /// Whether it has used warm processes.
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    pub(crate) fn new(
        id: Arc<str>,
        open: &SessionOpen,
        pinned: Pinned,
        closed: CancellationToken,
    ) -> Session {
        Session {
            id,
            thread_id: open.thread_id.clone(),
            mode: open.mode,
            accepts: open.accepts.clone(),
            umask: open.umask,
            rlimits: rlimits(open.rlimits),
            pinned: ArcSwap::from_pointee(pinned),
            once: Arc::default(),
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

    /// Events now running.
    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Acquire)
    }

    /// From now on what the session holds of warm processes is let go when it is closed, however that comes.
    pub(crate) fn release_when_closed(&self, daemon: &Arc<Daemon>) {
        if self.holds_warm.swap(true, Ordering::AcqRel) {
            return;
        }
        let (id, closed, daemon) = (self.id.clone(), self.closed.clone(), daemon.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = closed.cancelled() => daemon.warm.release(&id),
                () = daemon.closing.cancelled() => {}
            }
        });
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

    /// A connection has ended.
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
    pub(crate) fn repin(
        &self,
        settings: &Settings,
        documents: &Documents,
        change: impl FnOnce(View) -> View,
    ) -> Result<(), Shortage> {
        let mut announced = lock(&self.moving);
        let view = change(self.pinned.load().view.clone());
        self.pinned.store(Arc::new(outlast(|| pin(settings, documents, view.clone()))?));
        *announced = None;
        self.touch();
        Ok(())
    }

    /// Documents have changed: a session that follows moves, a pinned one is told once. True when it has moved. Reads
    /// files.
    pub(crate) fn documents_changed(&self, settings: &Settings, documents: &Documents, feed: &Feed) -> bool {
        let mut announced = lock(&self.moving);
        let old = self.pinned.load_full();
        let new = match pin(settings, documents, old.view.clone()) {
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
            self.pinned.store(Arc::new(new));
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

    /// The session as `session/open`, `session/attach` and `session/reload` answer it.
    pub(crate) fn info(&self) -> SessionInfo {
        let pinned = self.pinned.load();
        SessionInfo {
            session: self.id.to_string(),
            snapshot: pinned.snapshot_info(),
            project: pinned.project_info(),
            environment: if pinned.view.env.is_some() { "session" } else { "daemon" }.to_owned(),
        }
    }
}

/// Counts an event as running.
pub(crate) struct RunningEvent(Arc<Session>);

impl RunningEvent {
    /// Whose event it is.
    pub(crate) fn session(&self) -> &Session {
        &self.0
    }
}

impl Drop for RunningEvent {
    fn drop(&mut self) {
        self.0.touch();
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Checks what a request says of a session, as far as types do not.
pub(crate) fn check_open(open: &SessionOpen) -> Result<(), ReadError> {
    hooksd_protocol::invocation::check_cwd(&open.cwd)?;
    check_env(open.env.as_ref())?;
    check_trust(open.trust.as_ref())
}

/// The longest variable of a session's environment, with name and `=`. Bytes. The kernel takes 128 KiB with the NUL
/// that ends it (execve(2), MAX_ARG_STRLEN); one that is longer would keep every handler from starting.
const MAX_VARIABLE: usize = 128 * 1024 - 1;

/// The largest environment of a session. Bytes. The kernel's limit for it is a quarter of the stack's, 2 MiB as a
/// rule, arguments included.
const MAX_ENVIRONMENT: usize = 1024 * 1024;

pub(crate) fn check_env(env: Option<&BTreeMap<String, String>>) -> Result<(), ReadError> {
    let mut total = 0;
    for (name, value) in env.into_iter().flatten() {
        let length = name.len() + 1 + value.len();
        if length > MAX_VARIABLE {
            let message = format!(
                "is {length} bytes long with its name; no process can have more than {MAX_VARIABLE}: leave it out"
            );
            return Err(field_error(&format!("env.{name}"), &message));
        }
        total += length + 1;
    }
    if total > MAX_ENVIRONMENT {
        let message =
            format!("is {total} bytes long; the limit is {MAX_ENVIRONMENT}: send what handlers need");
        return Err(field_error("env", &message));
    }
    Ok(())
}

pub(crate) fn check_trust(trust: Option<&Trust>) -> Result<(), ReadError> {
    let Some(Trust::Fingerprint(grant)) = trust else { return Ok(()) };
    let digits = &grant.fingerprint;
    if digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    {
        return Ok(());
    }
    Err(field_error("trust.fingerprint", "expected a SHA-256 in 64 lowercase hexadecimal digits"))
}

pub(crate) fn field_error(field: &str, message: &str) -> ReadError {
    ReadError { path: field.to_owned(), message: message.to_owned() }
}
