//! `events/unsubscribe`: ends a subscription of the connection.

use hooksd_json::ReadError;
use hooksd_protocol::methods::{Done, EventsUnsubscribe};
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::caller::Caller;
use crate::base::work::{Work, now};
use crate::rpc::params::{invalid, params};
use crate::state::Daemon;

pub(crate) fn work(daemon: &Daemon, frame: &Frame<'_>, caller: &Caller) -> Result<Work, RpcError> {
    let EventsUnsubscribe { subscription } = params(frame)?;
    if !daemon.feed.unsubscribe(caller.id, subscription) {
        let message =
            format!("this connection has no subscription {subscription}: it has ended, or never began");
        return Err(invalid(ReadError::new("subscription", message)));
    }
    now(Done {})
}
