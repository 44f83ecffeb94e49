//! `session/open`: loads the documents that apply and pins a session to the snapshot.

use std::sync::Arc;

use hooksd_protocol::methods::SessionOpen;
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::caller::Call;
use crate::base::work::{Work, blocking, later};
use crate::rpc::params::{params, refuse_when_stopping};
use crate::state::Daemon;

pub(crate) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    refuse_when_stopping(daemon)?;
    let open: SessionOpen = params(frame)?;
    call.caller.peer.may_have_sessions()?;
    let (daemon, caller) = (daemon.clone(), call.caller.clone());
    later(
        call,
        blocking(move || {
            let session =
                daemon.sessions.open(&daemon.settings, &daemon.documents, open, &daemon.stop.killing)?;
            session.attach(&caller);
            caller.peer.hears_of(&session.id);
            Ok(session.info())
        }),
    )
}
