//! What a request comes to: an answer that is there, or work that takes time.

use std::future::Future;
use std::pin::Pin;

use hooksd_json::RawJson;
use hooksd_protocol::rpc::{RpcError, error_code, response_line};
use serde::Serialize;

use crate::base::caller::Call;

/// The response to a request, to be spelled once its id is known.
pub(crate) struct Response {
    /// The code of the error that it is; `None` for a result.
    pub(crate) error: Option<i64>,
    spell: Box<dyn FnOnce(&RawJson) -> String + Send>,
}

impl Response {
    /// The line for this id.
    pub(crate) fn spell(self, id: &RawJson) -> String {
        (self.spell)(id)
    }
}

/// What a request comes to.
pub(crate) enum Work {
    /// The response is there.
    Now(Response),
    /// The response takes time. Nothing is done before the future is polled.
    Later(Pin<Box<dyn Future<Output = Response> + Send>>),
}

fn response<T: Serialize + Send + 'static>(result: Result<T, RpcError>) -> Response {
    let error = result.as_ref().err().map(|error| error.code);
    Response { error, spell: Box::new(move |id| response_line(id, result.as_ref())) }
}

/// A result that is there.
pub(crate) fn now<T: Serialize + Send + 'static>(result: T) -> Result<Work, RpcError> {
    Ok(Work::Now(response(Ok(result))))
}

/// A result that takes time. The memory of the request's line is held until it is there.
pub(crate) fn later<T, F>(call: &Call<'_>, work: F) -> Result<Work, RpcError>
where
    T: Serialize + Send + 'static,
    F: Future<Output = Result<T, RpcError>> + Send + 'static,
{
    let permit = call.permit();
    Ok(Work::Later(Box::pin(async move {
        let _held_to_the_end = permit;
        response(work.await)
    })))
}

/// Runs something that reads files away from the async threads.
///
/// # Errors
/// Its own; -32603 when it has panicked.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    let lost = |_| RpcError::new(error_code::INTERNAL_ERROR, "the request was lost inside the daemon");
    tokio::task::spawn_blocking(work).await.map_err(lost)?
}
