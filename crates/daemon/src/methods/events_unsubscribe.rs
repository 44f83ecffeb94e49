//! `events/unsubscribe`: ends a subscription of the connection.

use hooksd_protocol::methods::{Done, EventsUnsubscribe};
use hooksd_protocol::rpc::{Frame, RpcError};

use super::{Work, invalid, now, params};
use crate::connection::Caller;
use crate::daemon::Daemon;
use crate::session::field_error;

pub(super) fn work(daemon: &Daemon, frame: &Frame<'_>, caller: &Caller) -> Result<Work, RpcError> {
    let EventsUnsubscribe { subscription } = params(frame)?;
    if !daemon.feed.unsubscribe(caller.id, subscription) {
        let message =
            format!("this connection has no subscription {subscription}: it has ended, or never began");
        return Err(invalid(field_error("subscription", &message)));
    }
    now(Done {})
}
