//! One conversation of one agent, pinned to the snapshot it was opened with (BEHAVIOUR section 10).

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use arc_swap::ArcSwap;
use hooksd_config::layers::{ProjectDocument, load};
use hooksd_config::snapshot::Source;
use hooksd_config::trust::{Store, store_path};
use hooksd_config::{Snapshot, project};
use hooksd_engine::environment::is_secret;
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::json::{ReadError, Text};
use hooksd_protocol::methods::{
    Capability, FingerprintTrust, Mode, ProjectInfo, SessionInfo, SessionOpen, SnapshotInfo, SourceInfo,
    Trust,
};
use tokio_util::sync::CancellationToken;

use crate::once::Once;
use crate::settings::Settings;

/// Names how many hooks deep an agent runs (D12).
const DEPTH_VARIABLE: &str = "HOOKSD_DEPTH";

/// At this depth no handlers run: hooks that start agents that have hooks must end somewhere (D12). Levels.
pub(crate) const MAX_DEPTH: u32 = 3;

/// What a session's events run against. Swapped as a whole; an event finishes on the one it began with.
pub(crate) struct Pinned {
    /// The session's working directory.
    pub(crate) cwd: PathBuf,
    /// The project root.
    pub(crate) root: PathBuf,
    /// The compiled configuration.
    pub(crate) snapshot: Snapshot,
    /// What is known of the project's document.
    pub(crate) project: ProjectDocument,
    /// The session's own grant.
    pub(crate) trust: Option<Trust>,
    /// The environment the session has sent.
    pub(crate) env: Option<Vec<(OsString, OsString)>>,
    /// Set when the project's handlers count only because the store says so: the stamp it had when it last did.
    store_stamp: Option<Mutex<Stamp>>,
}

/// Tells whether a file is the one that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp(u64, u64, u64, i64, i64);

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let data = fs::metadata(path).ok()?;
        Some(Stamp(data.dev(), data.ino(), data.size(), data.ctime(), data.ctime_nsec()))
    }
}

/// One session.
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) thread_id: Text,
    pub(crate) mode: Mode,
    pub(crate) accepts: Vec<Capability>,
    pub(crate) pinned: ArcSwap<Pinned>,
    /// Held while the documents are read anew: of two reloads, the one that read first is pinned first (B62).
    pub(crate) reloading: Mutex<()>,
    pub(crate) once: Once,
    /// Cancelled when the session is closed: its events stop.
    pub(crate) closed: CancellationToken,
    running: AtomicUsize,
    last_used: Mutex<Instant>,
}

impl Session {
    pub(crate) fn new(id: String, open: SessionOpen, pinned: Pinned, closed: CancellationToken) -> Session {
        Session {
            id,
            thread_id: open.thread_id,
            mode: open.mode,
            accepts: open.accepts,
            pinned: ArcSwap::from_pointee(pinned),
            reloading: Mutex::new(()),
            once: Once::default(),
            closed,
            running: AtomicUsize::new(0),
            last_used: Mutex::new(Instant::now()),
        }
    }

    /// Counts an event as running until the guard is dropped.
    pub(crate) fn begin_event(self: &Arc<Session>) -> RunningEvent {
        self.touch();
        self.running.fetch_add(1, Ordering::AcqRel);
        RunningEvent(self.clone())
    }

    /// Events now running.
    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Acquire)
    }

    /// Notes that the session is in use.
    pub(crate) fn touch(&self) {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// When the session was last in use.
    pub(crate) fn last_used(&self) -> Instant {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session as `session/open` and `session/reload` answer it.
    pub(crate) fn info(&self) -> SessionInfo {
        let pinned = self.pinned.load();
        SessionInfo {
            session: self.id.clone(),
            snapshot: pinned.snapshot_info(),
            project: pinned.project_info(),
            environment: if pinned.env.is_some() { "session" } else { "daemon" }.to_owned(),
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

/// Checks what a request says of a session, as far as types do not.
pub(crate) fn check_open(open: &SessionOpen) -> Result<(), ReadError> {
    hooksd_protocol::invocation::check_cwd(&open.cwd)?;
    if open.follow {
        return Err(field_error(
            "follow",
            "this version does not follow edits by itself; use session/reload",
        ));
    }
    check_trust(open.trust.as_ref())
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

/// Loads what applies to a session. Reads files: not for an async thread.
pub(crate) fn pin(
    settings: &Settings,
    cwd: PathBuf,
    mode: Mode,
    trust: Option<Trust>,
    env: Option<Vec<(OsString, OsString)>>,
) -> Pinned {
    let resolved = project::root(&cwd);
    let root = resolved.clone().unwrap_or_else(|| cwd.clone());
    // Stamped before it is read: a change in between is noticed at the next event.
    let stamp = Stamp::of(&store_path(&settings.config_dir));
    let store = match mode {
        Mode::Interactive => Store::read(&settings.config_dir),
        // Headless sessions ignore the persisted store (BEHAVIOUR section 10).
        Mode::Headless => Store::Absent,
    };
    let granted = |fingerprint: &str| match &trust {
        Some(Trust::Explicit(_)) => resolved.is_some(),
        Some(Trust::Fingerprint(grant)) => resolved.is_some() && grant.fingerprint == fingerprint,
        None => false,
    };
    let trusted = |fingerprint: &str| granted(fingerprint) || store.trusts(&root, fingerprint);
    let document = resolved.as_deref().map(project::document);
    let mut loaded = load(&settings.user_document(), document.as_deref(), &trusted, &[]);
    if let Store::Unreadable(reason) = &store {
        let message = format!("the trust store {reason}; no project is trusted");
        loaded.snapshot.diagnostics.push(Diagnostic::warning(code::TRUST_STORE_UNREADABLE, message));
    }
    if loaded.project.present && !loaded.project.trusted {
        let document = document.unwrap_or_default().display().to_string();
        let message = format!("{document} is present but not trusted; none of its hooks is loaded");
        let diagnostic = Diagnostic::warning(code::PROJECT_UNTRUSTED, message).field(document);
        loaded.snapshot.diagnostics.push(diagnostic);
    }
    let fingerprint = loaded.project.fingerprint.clone();
    let by_store = loaded.project.loaded && !fingerprint.as_deref().is_some_and(granted);
    let store_stamp = by_store.then(|| Mutex::new(stamp.unwrap_or(Stamp(0, 0, 0, 0, 0))));
    // A grant is bound to the bytes it was given for: other bytes need another one (BEHAVIOUR section 10).
    let trust = match trust {
        Some(Trust::Explicit(_)) => {
            fingerprint.map(|fingerprint| Trust::Fingerprint(FingerprintTrust { fingerprint }))
        }
        trust => trust,
    };
    Pinned { cwd, root, snapshot: loaded.snapshot, project: loaded.project, trust, env, store_stamp }
}

impl Pinned {
    /// Whether the project's handlers may still run. Costs one stat unless the store has changed.
    pub(crate) fn still_trusted(&self, settings: &Settings) -> bool {
        let Some(known) = &self.store_stamp else { return true };
        let stamp = Stamp::of(&store_path(&settings.config_dir));
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if stamp == Some(*known) {
            return true;
        }
        let fingerprint = self.project.fingerprint.as_deref().unwrap_or_default();
        let trusted = Store::read(&settings.config_dir).trusts(&self.root, fingerprint);
        if let (true, Some(stamp)) = (trusted, stamp) {
            *known = stamp;
        }
        trusted
    }

    /// How many hooks deep the session runs.
    pub(crate) fn depth(&self, settings: &Settings) -> u32 {
        let depth = self.variables(settings).iter().find(|(name, _)| name == DEPTH_VARIABLE);
        depth.and_then(|(_, depth)| depth.to_str()?.parse().ok()).unwrap_or(0)
    }

    fn variables<'a>(&'a self, settings: &'a Settings) -> &'a [(OsString, OsString)] {
        self.env.as_deref().unwrap_or(&settings.environment)
    }

    /// What handlers get, without plugin overlays: the session's variables without secrets, and ours (D12).
    pub(crate) fn handler_environment(
        &self,
        settings: &Settings,
        session: &str,
        invocation: &str,
    ) -> Vec<(OsString, OsString)> {
        let own: [(&str, OsString); 6] = [
            ("HOOKSD_SOCKET", settings.socket.clone().unwrap_or_default().into_os_string()),
            ("HOOKSD_SESSION", session.into()),
            ("HOOKSD_INVOCATION", invocation.into()),
            (DEPTH_VARIABLE, (self.depth(settings) + 1).to_string().into()),
            ("CLAUDE_PROJECT_DIR", self.root.clone().into_os_string()),
            ("DEEPAGENTS_PROJECT_DIR", self.root.clone().into_os_string()),
        ];
        let kept = |name: &OsString| {
            let name = name.to_string_lossy();
            !is_secret(&name) && !own.iter().any(|(own, _)| *own == name)
        };
        let inherited = self.variables(settings).iter().filter(|(name, _)| kept(name)).cloned();
        let own = own
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.into(), value.clone()));
        inherited.chain(own).collect()
    }

    /// The snapshot as clients see it.
    pub(crate) fn snapshot_info(&self) -> SnapshotInfo {
        let scope = |source: &Source| source.scope().to_owned();
        SnapshotInfo {
            id: self.snapshot.id.clone(),
            events: self.snapshot.events(),
            server_events: self.snapshot.server_events(),
            sources: self
                .snapshot
                .sources
                .iter()
                .map(|state| SourceInfo {
                    scope: scope(&state.source),
                    path: state.source.label(),
                    fingerprint: state.fingerprint.clone(),
                    loaded: state.loaded,
                })
                .collect(),
            diagnostics: self.snapshot.diagnostics.clone(),
        }
    }

    /// The project as clients see it.
    pub(crate) fn project_info(&self) -> ProjectInfo {
        ProjectInfo {
            root: self.root.display().to_string(),
            hooks_present: self.project.present,
            trusted: self.project.trusted,
            fingerprint: self.project.fingerprint.clone(),
        }
    }
}
