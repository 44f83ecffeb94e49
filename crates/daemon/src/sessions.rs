//! The open sessions.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use hooksd_protocol::invocation::check_cwd;
use hooksd_protocol::methods::{SessionOpen, SessionReload, SessionRow};
use hooksd_protocol::rpc::{RpcError, error_code};
use tokio::task::block_in_place;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::account::session_changed;
use crate::daemon::Daemon;
use crate::feed::Feed;
use crate::hot::{Documents, Shortage, outlast};
use crate::invoke::blocking;
use crate::opening::Opening;
use crate::pinned::{Pinned, View, pin};
use crate::session::{Session, check_env, check_trust};
use crate::settings::Settings;
use crate::variables::SessionVariables;

/// The most open sessions. Sessions. One more closes the one that was idle longest; when all are busy it is refused.
const MAX_SESSIONS: usize = 10_000;

/// How long a client should wait before it asks again. Milliseconds.
pub(crate) const RETRY_AFTER_MS: u64 = 200;

/// The open sessions, by id.
pub(crate) struct Sessions {
    feed: Arc<Feed>,
    by_id: RwLock<HashMap<Arc<str>, Arc<Session>>>,
}

/// Opens a session without listing it: for one request whose params were checked. Reads files: not for an async thread.
pub(crate) fn open_inline(
    settings: &Settings,
    documents: &Documents,
    opening: &Opening,
    stop: &CancellationToken,
) -> Result<Arc<Session>, Shortage> {
    let view = view(opening);
    let pinned = outlast(|| pin(settings, documents, view.clone()))?;
    Ok(unlisted(opening, pinned, stop))
}

/// The same where an event waits for it: on the thread that is here, since a look at files that are known takes less
/// than waking another thread. The thread's other tasks move elsewhere, and so does the waiting in a shortage.
pub(crate) async fn open_for_event(
    daemon: &Arc<Daemon>,
    opening: Arc<Opening>,
) -> Result<Arc<Session>, RpcError> {
    let view = view(&opening);
    let first = block_in_place(|| pin(&daemon.settings, &daemon.documents, view));
    if let Ok(pinned) = first {
        return Ok(unlisted(&opening, pinned, &daemon.killing));
    }
    let daemon = daemon.clone();
    blocking(move || Ok(open_inline(&daemon.settings, &daemon.documents, &opening, &daemon.killing)?)).await
}

fn view(opening: &Opening) -> View {
    let open = &opening.open;
    View {
        cwd: PathBuf::from(&open.cwd),
        mode: open.mode,
        trust: open.trust.clone(),
        env: opening.env.clone(),
        plugins: open.plugins.clone(),
    }
}

fn unlisted(opening: &Opening, pinned: Pinned, stop: &CancellationToken) -> Arc<Session> {
    let id = Uuid::new_v4().simple().to_string().into();
    Arc::new(Session::new(id, &opening.open, pinned, stop.child_token()))
}

impl Sessions {
    /// No session; what becomes of them is told to this feed.
    pub(crate) fn new(feed: Arc<Feed>) -> Sessions {
        Sessions { feed, by_id: RwLock::default() }
    }

    /// Opens and lists a session. Reads files: not for an async thread.
    pub(crate) fn open(
        &self,
        settings: &Settings,
        documents: &Documents,
        open: SessionOpen,
        stop: &CancellationToken,
    ) -> Result<Arc<Session>, RpcError> {
        let opening = Opening::new(open).map_err(|error| RpcError::invalid_params(&error))?;
        let session = open_inline(settings, documents, &opening, stop)?;
        let mut by_id = self.by_id.write().unwrap_or_else(PoisonError::into_inner);
        if by_id.len() >= MAX_SESSIONS {
            let idle = by_id.values().filter(|session| session.running() == 0);
            let Some(longest) =
                idle.min_by_key(|session| session.last_used()).map(|session| session.id.clone())
            else {
                let message = format!("all {MAX_SESSIONS} sessions are busy; close some or try again");
                return Err(RpcError::new(error_code::OVERLOADED, message)
                    .with(serde_json::json!({ "retry_after_ms": RETRY_AFTER_MS })));
            };
            tracing::warn!(session = %longest, "closed the session that was idle longest: there are {MAX_SESSIONS}");
            if let Some(closed) = by_id.remove(&longest) {
                closed.closed.cancel();
                session_changed(&self.feed, &closed, "evicted");
            }
        }
        by_id.insert(session.id.clone(), session.clone());
        drop(by_id);
        session_changed(&self.feed, &session, "opened");
        Ok(session)
    }

    /// The session with this id.
    pub(crate) fn get(&self, id: &str) -> Result<Arc<Session>, RpcError> {
        let by_id = self.by_id.read().unwrap_or_else(PoisonError::into_inner);
        by_id.get(id).cloned().ok_or_else(|| {
            let message =
                format!("there is no session {id:?}; it was closed or never opened: use session/open");
            RpcError::new(error_code::UNKNOWN_SESSION, message).with(serde_json::json!({ "session": id }))
        })
    }

    /// Moves a session to the documents as they are now. Reads files: not for an async thread.
    pub(crate) fn reload(
        &self,
        settings: &Settings,
        documents: &Documents,
        reload: SessionReload,
    ) -> Result<Arc<Session>, RpcError> {
        let session = self.get(&reload.session)?;
        if let Some(cwd) = &reload.cwd {
            check_cwd(cwd).map_err(|error| RpcError::invalid_params(&error))?;
        }
        check_env(reload.env.as_ref()).map_err(|error| RpcError::invalid_params(&error))?;
        check_trust(reload.trust.as_ref()).map_err(|error| RpcError::invalid_params(&error))?;
        session.repin(settings, documents, |view| {
            let cwd = reload.cwd.map_or_else(|| view.cwd.clone(), PathBuf::from);
            // A grant is for the folder it was given in: moving resolves trust anew (BEHAVIOUR section 10).
            let kept = view.trust.filter(|_| cwd == view.cwd);
            let env = reload.env.map(|env| Arc::new(SessionVariables::sent(env))).or(view.env);
            let plugins = reload.plugins.or(view.plugins);
            View { cwd, mode: view.mode, trust: reload.trust.or(kept), env, plugins }
        })?;
        session_changed(&self.feed, &session, "reloaded");
        Ok(session)
    }

    /// Tells every session that documents have changed; which have moved. Reads files: not for an async thread.
    pub(crate) fn documents_changed(&self, settings: &Settings, documents: &Documents) -> Vec<String> {
        let sessions: Vec<Arc<Session>> = {
            let by_id = self.by_id.read().unwrap_or_else(PoisonError::into_inner);
            by_id.values().cloned().collect()
        };
        let moved =
            sessions.into_iter().filter(|session| session.documents_changed(settings, documents, &self.feed));
        moved.map(|session| session.id.to_string()).collect()
    }

    /// Closes the sessions that nobody will miss.
    pub(crate) fn reclaim(&self) {
        let mut by_id = self.by_id.write().unwrap_or_else(PoisonError::into_inner);
        by_id.retain(|id, session| {
            let abandoned = session.is_abandoned();
            if abandoned {
                tracing::info!(session = %id, "closed: its agent did not come back");
                session.closed.cancel();
                session_changed(&self.feed, session, "abandoned");
            }
            !abandoned
        });
    }

    /// Closes a session and stops its events.
    pub(crate) fn close(&self, id: &str) -> Result<(), RpcError> {
        let session = self.get(id)?;
        self.by_id.write().unwrap_or_else(PoisonError::into_inner).remove(id);
        session.closed.cancel();
        session_changed(&self.feed, &session, "closed");
        Ok(())
    }

    /// A row each, oldest id order by use.
    pub(crate) fn rows(&self) -> Vec<SessionRow> {
        let by_id = self.by_id.read().unwrap_or_else(PoisonError::into_inner);
        let mut sessions: Vec<&Arc<Session>> = by_id.values().collect();
        sessions.sort_by_key(|session| session.last_used());
        sessions
            .into_iter()
            .map(|session| {
                let pinned = session.pinned.load();
                SessionRow {
                    session: session.id.to_string(),
                    thread_id: session.thread_id.clone(),
                    cwd: pinned.view.cwd.display().to_string(),
                    mode: session.mode,
                    snapshot_id: pinned.snapshot().id.clone(),
                    running: session.running(),
                    idle_seconds: session.last_used().elapsed().as_secs(),
                }
            })
            .collect()
    }

    /// How many are open, and how many of those have sent no environment.
    pub(crate) fn count(&self) -> (usize, usize) {
        let by_id = self.by_id.read().unwrap_or_else(PoisonError::into_inner);
        let without = by_id.values().filter(|session| session.pinned.load().view.env.is_none()).count();
        (by_id.len(), without)
    }
}
