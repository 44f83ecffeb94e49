//! `rpc.discover`: the daemon's description of itself.

use hooksd_protocol::methods::NoParams;
use hooksd_protocol::rpc::{Frame, RpcError};
use hooksd_protocol::schema;

use super::{Work, now, params};

pub(super) fn work(frame: &Frame<'_>) -> Result<Work, RpcError> {
    let _: NoParams = params(frame)?;
    now(schema::openrpc())
}
