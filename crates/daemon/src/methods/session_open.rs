//! `session/open`: loads the documents that apply and pins a session to the snapshot.

use std::sync::Arc;

use hooksd_protocol::methods::SessionOpen;
use hooksd_protocol::rpc::{Frame, RpcError};

use super::{Work, later, params, refuse_when_stopping};
use crate::connection::Caller;
use crate::daemon::Daemon;
use crate::invoke::blocking;

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, caller: &Caller) -> Result<Work, RpcError> {
    refuse_when_stopping(daemon)?;
    let open: SessionOpen = params(frame)?;
    caller.who.may_have_sessions()?;
    let (daemon, caller) = (daemon.clone(), caller.clone());
    later(move |_| {
        blocking(move || {
            let session = daemon.sessions.open(&daemon.settings, &daemon.documents, open, &daemon.killing)?;
            session.attach(&caller);
            caller.who.hears_of(&session.id);
            Ok(session.info())
        })
    })
}
