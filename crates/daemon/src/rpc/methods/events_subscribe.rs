//! `events/subscribe`: tells what the daemon does while it does it.

use hooksd_protocol::methods::EventsSubscribe;
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::caller::Caller;
use crate::base::work::{Work, now};
use crate::observe::feed::Begun;
use crate::rpc::params::{params, refuse_when_stopping};
use crate::state::Daemon;

pub(crate) fn work(daemon: &Daemon, frame: &Frame<'_>, caller: &Caller) -> Result<Work, RpcError> {
    refuse_when_stopping(daemon)?;
    let wanted: EventsSubscribe = params(frame)?;
    let Begun { subscriber, answer } = daemon.feed.subscribe(caller.id, wanted)?;
    let (who, outbox) = (caller.peer.clone(), caller.outbox.clone());
    // Ends with the subscription, or with the connection.
    tokio::spawn(async move { subscriber.carry(&who, &outbox).await });
    now(answer)
}
