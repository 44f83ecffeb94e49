//! What a session says of itself when it is opened, or with each of its requests (PROTOCOL, inline sessions). An agent
//! that calls once an event says the same every time: what was read is kept, and found again by its text. Nothing of
//! what was found on disk is kept here; the disk is looked at for every request.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use hooksd_json::Value;
use hooksd_protocol::methods::SessionRef;
use hooksd_protocol::rpc::RpcError;

use crate::base::lock::lock;
use crate::sessions::params::Opening;
use crate::sessions::registry::Sessions;
use crate::sessions::session::Session;

/// How many openings are kept. Openings. The ones used last stay: as many as agents that call at a time.
const KEPT: usize = 16;

/// How much text the kept ones may hold. Bytes. A longer one is read anew each time.
const KEPT_BYTES: usize = 512 * 1024;

/// The session that a request is for.
pub(crate) enum SessionTarget {
    /// A session that was opened before.
    Open(Arc<Session>),
    /// A session that is for this request only.
    Inline(Arc<Opening>),
}

/// The openings that came with the most recent requests.
#[derive(Default)]
pub(crate) struct OpeningCache {
    known: Mutex<VecDeque<(Box<str>, Arc<Opening>)>>,
}

impl OpeningCache {
    /// Reads the `session` of a request's params.
    ///
    /// # Errors
    /// -32602 when the param names or describes no session; the code of an unknown session when it is not open.
    pub(crate) fn target(&self, params: &Value<'_>, sessions: &Sessions) -> Result<SessionTarget, RpcError> {
        let session = params.get("session");
        let text = session.as_ref().filter(|session| session.is_object()).map(Value::raw);
        if let Some(known) = text.and_then(|text| self.find(text)) {
            return Ok(SessionTarget::Inline(known));
        }
        let invalid = |error| RpcError::invalid_params(&error);
        match SessionRef::read(session.as_ref()).map_err(invalid)? {
            SessionRef::Id(id) => Ok(SessionTarget::Open(sessions.get(&id)?)),
            SessionRef::Inline(open) => {
                let opening = Opening::new(*open).map_err(|error| invalid(error.within("session")))?;
                let opening = Arc::new(opening);
                if let Some(text) = text {
                    self.keep(text, opening.clone());
                }
                Ok(SessionTarget::Inline(opening))
            }
        }
    }

    fn find(&self, text: &str) -> Option<Arc<Opening>> {
        let mut known = lock(&self.known);
        let at = known.iter().position(|(kept, _)| **kept == *text)?;
        let found = known.remove(at)?;
        let opening = found.1.clone();
        known.push_front(found);
        Some(opening)
    }

    fn keep(&self, text: &str, opening: Arc<Opening>) {
        if text.len() > KEPT_BYTES {
            return;
        }
        let mut known = lock(&self.known);
        known.push_front((text.into(), opening));
        known.truncate(KEPT);
        let mut held = 0;
        known.retain(|(text, _)| {
            let has_room = held + text.len() <= KEPT_BYTES;
            if has_room {
                held += text.len();
            }
            has_room
        });
    }
}

#[cfg(test)]
mod tests {
    use hooksd_json::Dialect;

    use super::*;
    use crate::observe::feed::Feed;

    fn read(openings: &OpeningCache, env: &str) -> Arc<Opening> {
        let text = format!(
            r#"{{"session": {{"thread_id": "t", "cwd": "/", "mode": "headless", "env": {{"A": "{env}"}}}}}}"#
        );
        let params = Value::parse(&text, Dialect::Strict).unwrap();
        match openings.target(&params, &Sessions::new(Arc::new(Feed::new(false)))) {
            Ok(SessionTarget::Inline(opening)) => opening,
            _ => panic!("no inline session"),
        }
    }

    #[test]
    fn the_same_text_is_read_once_and_what_was_used_last_stays() {
        let openings = OpeningCache::default();
        let first = read(&openings, "first");
        for other in 0..KEPT - 1 {
            read(&openings, &other.to_string());
        }
        assert!(Arc::ptr_eq(&first, &read(&openings, "first")));
        read(&openings, "one more");
        assert!(Arc::ptr_eq(&first, &read(&openings, "first")));
        for other in 0..KEPT {
            read(&openings, &format!("again {other}"));
        }
        assert!(!Arc::ptr_eq(&first, &read(&openings, "first")));
    }

    #[test]
    fn what_is_kept_is_bounded_in_bytes() {
        let openings = OpeningCache::default();
        // As many variables as it takes: each is below its own limit.
        let long = |c: &str, bytes: usize| vec![c.repeat(1024); bytes / 1024].join("\", \"A\": \"");
        let small = read(&openings, "small");
        let is_kept = || Arc::ptr_eq(&small, &read(&openings, "small"));
        let large = long("x", KEPT_BYTES);
        let first = read(&openings, &large);
        assert!(!Arc::ptr_eq(&first, &read(&openings, &large)));
        assert!(is_kept(), "one that is too long costs no other");
        // Two have no room together.
        read(&openings, &long("1", KEPT_BYTES / 2));
        read(&openings, &long("2", KEPT_BYTES / 2));
        assert!(is_kept(), "only what has no room goes");
        let held: usize = openings.known.lock().unwrap().iter().map(|(text, _)| text.len()).sum();
        assert!(held <= KEPT_BYTES, "{held}");
    }

    #[test]
    fn a_wrong_one_is_named_and_not_kept() {
        let openings = OpeningCache::default();
        let text = r#"{"session": {"thread_id": "t", "cwd": "relative", "mode": "headless"}}"#;
        let params = Value::parse(text, Dialect::Strict).unwrap();
        let sessions = Sessions::new(Arc::new(Feed::new(false)));
        let Err(error) = openings.target(&params, &sessions) else { panic!("taken") };
        assert!(error.message.contains("session.cwd"), "{}", error.message);
        assert!(openings.known.lock().unwrap().is_empty());
    }
}
