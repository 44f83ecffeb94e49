//! `rpc.discover`: the daemon's description of itself.

use hooksd_protocol::methods::NoParams;
use hooksd_protocol::rpc::{Frame, RpcError};
use hooksd_protocol::schema;

use crate::base::work::{Work, now};
use crate::rpc::params::params;

pub(crate) fn work(frame: &Frame<'_>) -> Result<Work, RpcError> {
    let _: NoParams = params(frame)?;
    now(schema::openrpc())
}
