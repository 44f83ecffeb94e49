//! Catches a panic where it happens, so that it costs one request or one handler, without a task of its own.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A panic was caught; the hook of the process has reported it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Calls a function and catches its panic.
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|_| Panicked)
}

/// Polls a future once and catches its panic. After a panic the future must not be polled again; what it held is dropped with it.
pub(crate) fn poll_unwound<F: Future + ?Sized>(
    future: Pin<&mut F>,
    context: &mut Context<'_>,
) -> Poll<Result<F::Output, Panicked>> {
    match caught(|| future.poll(context)) {
        Ok(poll) => poll.map(Ok),
        Err(panicked) => Poll::Ready(Err(panicked)),
    }
}

/// Runs a future to its end, or to a panic.
pub(crate) async fn unwound<F: Future + ?Sized>(mut future: Pin<Box<F>>) -> Result<F::Output, Panicked> {
    poll_fn(|context| poll_unwound(future.as_mut(), context)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_caught_where_it_happens() {
        assert_eq!(unwound(Box::pin(async { 1 })).await, Ok(1));
        let panics = async {
            tokio::task::yield_now().await;
            panic!("on purpose")
        };
        assert_eq!(unwound::<_>(Box::pin(panics)).await, Err::<(), _>(Panicked));
    }
}
