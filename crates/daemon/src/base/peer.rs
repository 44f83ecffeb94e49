//! Who is at the other end of a connection, and whose texts it may read.
//!
//! Guarantee: a connection that has opened or attached sessions reads the texts of those and of no other; one that has
//! none reads texts only when it has said in `initialize` that it only looks on (`observer`).

use std::sync::{Arc, Mutex, MutexGuard};

use crate::base::lock::lock;
use hooksd_protocol::methods::ClientInfo;
use hooksd_protocol::rpc::{RpcError, error_code};

/// The longest name of a client that is kept. Characters.
const MAX_NAME: usize = 100;

/// The client at the other end of a connection, as far as it has said who it is.
#[derive(Debug, Default)]
pub(crate) struct PeerIdentity {
    state: Mutex<PeerState>,
}

/// What is known of a client so far.
#[derive(Debug, Default)]
struct PeerState {
    client: Option<Arc<str>>,
    observer: bool,
    sessions: Vec<String>,
}

impl PeerIdentity {
    fn lock(&self) -> MutexGuard<'_, PeerState> {
        lock(&self.state)
    }

    /// Notes what a client says of itself in `initialize`.
    ///
    /// # Errors
    /// When the client has sessions and also wants to be an observer, who reads the texts of all sessions.
    pub(crate) fn greet(&self, client: &ClientInfo) -> Result<(), RpcError> {
        let mut said = self.lock();
        if client.observer && !said.sessions.is_empty() {
            let message = "client.observer: this connection has sessions; look on from another connection";
            return Err(RpcError::new(error_code::INVALID_PARAMS, message)
                .with(serde_json::json!({ "field": "client.observer" })));
        }
        said.client = Some(client.name.chars().take(MAX_NAME).collect::<String>().into());
        said.observer = client.observer;
        Ok(())
    }

    /// Refuses sessions to an observer.
    pub(crate) fn may_have_sessions(&self) -> Result<(), RpcError> {
        if !self.lock().observer {
            return Ok(());
        }
        let message = "an observer has no sessions: open it from another connection";
        Err(RpcError::new(error_code::INVALID_REQUEST, message))
    }

    /// What the client has called itself.
    pub(crate) fn client(&self) -> Option<Arc<str>> {
        self.lock().client.clone()
    }

    /// Notes that the connection hears of a session.
    pub(crate) fn hears_of(&self, session: &str) {
        let mut said = self.lock();
        if !said.sessions.iter().any(|known| known == session) {
            said.sessions.push(session.to_owned());
        }
    }

    /// Forgets the sessions that the connection hears of, and returns them.
    pub(crate) fn leave(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().sessions)
    }

    /// Whether it may read the texts of a session, or those that belong to none.
    pub(crate) fn may_read(&self, session: Option<&str>) -> bool {
        let said = self.lock();
        match session {
            _ if said.sessions.is_empty() => said.observer,
            Some(session) => said.sessions.iter().any(|known| known == session),
            None => false,
        }
    }
}
