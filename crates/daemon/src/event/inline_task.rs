//! A run without a task of its own for as long as its request waits for it: one hand-over less on the way of an answer.

use std::future::{Future, poll_fn};
use std::pin::Pin;

use tokio::runtime::Handle;

use crate::base::panic::{Panicked, poll_unwound};
use crate::sessions::delivery::EventResult;

/// The run of an event, on its way to the event's answer.
pub(crate) type EventFuture = Pin<Box<dyn Future<Output = EventResult> + Send>>;

/// A run that its request drives for as long as the request waits; after that the run goes on by itself.
pub(crate) struct InlineTask {
    running: Option<EventFuture>,
}

impl InlineTask {
    /// Takes a run that has not begun.
    pub(crate) fn new(running: EventFuture) -> InlineTask {
        InlineTask { running: Some(running) }
    }

    /// Drives the run to its answer. Waits for ever when it is called again after that.
    ///
    /// # Errors
    /// [`Panicked`] when something in the run has panicked: there is nothing left to drive.
    pub(crate) async fn drive(&mut self) -> Result<EventResult, Panicked> {
        let Some(running) = &mut self.running else { return std::future::pending().await };
        let answer = poll_fn(|context| poll_unwound(running.as_mut(), context)).await;
        self.running = None;
        answer
    }
}

impl Drop for InlineTask {
    fn drop(&mut self) {
        if let (Some(running), Ok(runtime)) = (self.running.take(), Handle::try_current()) {
            runtime.spawn(running);
        }
    }
}
