//! The open sessions.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use hooksd_protocol::invocation::check_cwd;
use hooksd_protocol::methods::{SessionOpen, SessionReload, SessionRow};
use hooksd_protocol::rpc::{RpcError, error_code};
use hooksd_runner::warm::Warm;
use tokio::task::block_in_place;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::base::lock::{read, write};
use crate::base::settings::Settings;
use crate::base::variables::SessionVariables;
use crate::base::work::blocking;
use crate::documents::{Documents, Shortage, outlast};
use crate::observe::feed::Feed;
use crate::sessions::params::{Opening, SessionParams, check_env, check_trust};
use crate::sessions::resolved::{ResolvedConfig, resolve};
use crate::sessions::session::Session;

/// The most open sessions. Sessions. One more closes the one that was idle longest; when all are busy it is refused.
const MAX_SESSIONS: usize = 10_000;

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
    let config = outlast(|| resolve(settings, documents, opening.params()))?;
    Ok(unlisted(opening, config, stop))
}

/// Opens a session without listing it, for an event that waits for it: on the thread that is here, since a look at files
/// that are known takes less than waking another thread. The thread's other tasks move elsewhere, and so does the
/// waiting in a shortage.
pub(crate) async fn open_for_event(
    settings: &Arc<Settings>,
    documents: &Arc<Documents>,
    opening: Arc<Opening>,
    stop: &CancellationToken,
) -> Result<Arc<Session>, RpcError> {
    let first = block_in_place(|| resolve(settings, documents, opening.params()));
    if let Ok(config) = first {
        return Ok(unlisted(&opening, config, stop));
    }
    let (settings, documents, stop) = (settings.clone(), documents.clone(), stop.clone());
    blocking(move || Ok(open_inline(&settings, &documents, &opening, &stop)?)).await
}

fn unlisted(opening: &Opening, config: ResolvedConfig, stop: &CancellationToken) -> Arc<Session> {
    let id = Uuid::new_v4().simple().to_string().into();
    Arc::new(Session::new(id, &opening.open, config, stop.child_token()))
}

impl Sessions {
    /// A registry without sessions, which tells the feed what becomes of them.
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
        let mut by_id = write(&self.by_id);
        if by_id.len() >= MAX_SESSIONS {
            let idle = by_id.values().filter(|session| session.running() == 0);
            let Some(longest) =
                idle.min_by_key(|session| session.last_used()).map(|session| session.id.clone())
            else {
                let message = format!("all {MAX_SESSIONS} sessions are busy; close some or try again");
                return Err(RpcError::overloaded(message));
            };
            tracing::warn!(session = %longest, "closed the session that was idle longest: there are {MAX_SESSIONS}");
            if let Some(closed) = by_id.remove(&longest) {
                closed.closed.cancel();
                closed.announce(&self.feed, "evicted");
            }
        }
        by_id.insert(session.id.clone(), session.clone());
        drop(by_id);
        session.announce(&self.feed, "opened");
        Ok(session)
    }

    /// The session with this id.
    pub(crate) fn get(&self, id: &str) -> Result<Arc<Session>, RpcError> {
        let by_id = read(&self.by_id);
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
        session.resolve_again(settings, documents, |params| {
            let cwd = reload.cwd.map_or_else(|| params.cwd.clone(), PathBuf::from);
            // A grant is for the folder it was given in: moving resolves trust anew (contract section 10).
            let kept = params.trust.filter(|_| cwd == params.cwd);
            let env = reload.env.map(|env| Arc::new(SessionVariables::sent(env))).or(params.env);
            let plugins = reload.plugins.or(params.plugins);
            SessionParams { cwd, mode: params.mode, trust: reload.trust.or(kept), env, plugins }
        })?;
        session.announce(&self.feed, "reloaded");
        Ok(session)
    }

    /// Looks at all documents now, and tells the sessions when anything has changed; returns whether it has. Reads
    /// files: not for an async thread.
    pub(crate) fn look_at_documents(&self, settings: &Settings, documents: &Documents, warm: &Warm) -> bool {
        let changed = documents.refresh();
        if changed {
            self.documents_changed(settings, documents, warm);
        } else {
            warm.retire_unowned();
        }
        changed
    }

    /// Tells every session that documents have changed, and retires the processes that were started for what has
    /// changed. Reads files: not for an async thread.
    pub(crate) fn documents_changed(&self, settings: &Settings, documents: &Documents, warm: &Warm) {
        let sessions: Vec<Arc<Session>> = read(&self.by_id).values().cloned().collect();
        for session in sessions {
            if session.documents_changed(settings, documents, &self.feed) {
                warm.release(&session.id);
            }
        }
        // Events without a session hold nothing: what they have used may be for documents that are gone.
        warm.retire_unowned();
    }

    /// Closes the sessions that nobody will miss.
    pub(crate) fn reclaim(&self) {
        let mut by_id = write(&self.by_id);
        by_id.retain(|id, session| {
            let abandoned = session.is_abandoned();
            if abandoned {
                tracing::info!(session = %id, "closed: its agent did not come back");
                session.closed.cancel();
                session.announce(&self.feed, "abandoned");
            }
            !abandoned
        });
    }

    /// Closes a session and stops its events.
    pub(crate) fn close(&self, id: &str) -> Result<(), RpcError> {
        let session = self.get(id)?;
        write(&self.by_id).remove(id);
        session.closed.cancel();
        session.announce(&self.feed, "closed");
        Ok(())
    }

    /// One row per session, least recently used first.
    pub(crate) fn rows(&self) -> Vec<SessionRow> {
        let by_id = read(&self.by_id);
        let mut sessions: Vec<&Arc<Session>> = by_id.values().collect();
        sessions.sort_by_key(|session| session.last_used());
        sessions
            .into_iter()
            .map(|session| {
                let config = session.config.load();
                SessionRow {
                    session: session.id.to_string(),
                    thread_id: session.thread_id.clone(),
                    cwd: config.params.cwd.display().to_string(),
                    mode: session.mode,
                    snapshot_id: config.snapshot().id.clone(),
                    running: session.running(),
                    idle_seconds: session.last_used().elapsed().as_secs(),
                }
            })
            .collect()
    }

    /// How many are open, and how many of those have sent no environment.
    pub(crate) fn count(&self) -> (usize, usize) {
        let by_id = read(&self.by_id);
        let without = by_id.values().filter(|session| session.config.load().params.env.is_none()).count();
        (by_id.len(), without)
    }
}
