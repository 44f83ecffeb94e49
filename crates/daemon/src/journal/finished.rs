//! An event that has ended, as the journal takes it in.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use hooksd_config::Handler;
use hooksd_engine::reduce::Verdict;
use hooksd_protocol::methods::InvokeResult;

use crate::base::handled::Handled;
use crate::sessions::context::EventContext;

/// What an event holds beside its texts. Bytes, about.
const EVENT_BYTES: usize = 2048;

/// An event that has ended.
pub(crate) struct Finished {
    /// What was known of it when it began.
    pub(crate) context: Arc<EventContext>,
    /// When it came, by the clock.
    pub(crate) time: SystemTime,
    /// What it came to, and why.
    pub(crate) verdict: Verdict,
    /// From the request to the answer.
    pub(crate) duration: Duration,
    /// The handlers that were for it, and what became of each.
    pub(crate) ran: Vec<(Handler, Handled)>,
    /// The answer; `None` when it was an error.
    pub(crate) answer: Option<Arc<InvokeResult>>,
    /// What handlers have read, if payloads are kept.
    pub(crate) payload: Option<Arc<[u8]>>,
}

impl Finished {
    /// When it had ended.
    pub(crate) fn ended(&self) -> Instant {
        self.context.received + self.duration
    }

    /// What it holds until it is written. Bytes, about.
    pub(crate) fn bytes(&self) -> usize {
        let kept = |handled: &Handled| {
            handled
                .outcome
                .as_ref()
                .map_or(0, |outcome| outcome.stdout.bytes.len() + outcome.stderr.bytes.len())
        };
        let outputs: usize = self.ran.iter().map(|(_, handled)| EVENT_BYTES + kept(handled)).sum();
        EVENT_BYTES + outputs + self.payload.as_ref().map_or(0, |payload| payload.len())
    }
}
