//! A run without a task of its own for as long as somebody waits for it: one hop less on the way of an answer.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;

use tokio::runtime::Handle;

use crate::unwound::poll_unwound;

/// A run. The request that began it drives it for as long as it waits; after that the run goes on by itself.
pub(crate) struct Driven {
    running: Option<Running>,
}

/// A run under way.
pub(crate) type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Driven {
    /// Of a run, or of none when somebody else drives it.
    pub(crate) fn new(running: Option<Running>) -> Driven {
        Driven { running }
    }

    /// Drives it to its end; whoever waits for the answer hears of that elsewhere.
    pub(crate) async fn drive(&mut self) -> Infallible {
        if let Some(running) = &mut self.running {
            // After a panic there is nothing left to drive; the waiters are told so when it is dropped.
            let _ended = poll_fn(|context| poll_unwound(running.as_mut(), context)).await;
            self.running = None;
        }
        std::future::pending().await
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        if let (Some(running), Ok(runtime)) = (self.running.take(), Handle::try_current()) {
            runtime.spawn(running);
        }
    }
}
