//! How often hooks made an agent go on instead of stopping, where the event does not say (D33): a payload has only a
//! flag, so the daemon counts.

use std::collections::HashMap;
use std::sync::Mutex;

use hooksd_engine::reduce::CONTINUATION_CAP;

use crate::base::lock::lock;

/// How many agents are counted at a time. Agents. The one that stopped longest ago is forgotten first, which costs it
/// nothing but its count.
const MAX_COUNTED: usize = 4096;

/// Whose stops are counted: a conversation, and in it one of its subagents.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Stopping {
    /// The conversation's id.
    pub(crate) thread: String,
    /// The subagent's id; `None` for the agent itself.
    pub(crate) subagent: Option<String>,
}

/// The counts of all conversations.
#[derive(Default)]
pub(crate) struct Continuations {
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    /// How often in a row, and when last, in stops of the daemon's life.
    by_agent: HashMap<Stopping, (i64, u64)>,
    stops: u64,
}

impl Continuations {
    /// How often in a row hooks made this agent go on; no more than the cap matters.
    pub(crate) fn so_far(&self, agent: &Stopping) -> i64 {
        lock(&self.counts).by_agent.get(agent).map_or(0, |(count, _)| *count)
    }

    /// Notes how a stop of this agent was answered: hooks made it go on, or it may stop.
    pub(crate) fn answered(&self, agent: &Stopping, goes_on: bool) {
        let mut counts = lock(&self.counts);
        if !goes_on {
            counts.by_agent.remove(agent);
            return;
        }
        counts.stops += 1;
        let now = counts.stops;
        let (count, last) = counts.by_agent.entry(agent.clone()).or_default();
        (*count, *last) = ((*count + 1).min(CONTINUATION_CAP), now);
        if counts.by_agent.len() > MAX_COUNTED {
            let oldest = counts.by_agent.iter().min_by_key(|(_, (_, last))| *last);
            if let Some(oldest) = oldest.map(|(agent, _)| agent.clone()) {
                counts.by_agent.remove(&oldest);
            }
        }
    }

    /// A prompt of a person, or the end of the conversation, begins all its counts anew.
    pub(crate) fn begin_anew(&self, thread: &str) {
        let mut counts = lock(&self.counts);
        if !counts.by_agent.is_empty() {
            counts.by_agent.retain(|agent, _| agent.thread != thread);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(thread: &str, subagent: Option<&str>) -> Stopping {
        Stopping { thread: thread.to_owned(), subagent: subagent.map(str::to_owned) }
    }

    #[test]
    fn d33_stops_in_a_row_are_counted_by_conversation_and_subagent() {
        let continuations = Continuations::default();
        let (main, sub, other) = (agent("t", None), agent("t", Some("s")), agent("u", None));
        (0..3).for_each(|_| continuations.answered(&main, true));
        continuations.answered(&sub, true);
        assert_eq!([&main, &sub, &other].map(|agent| continuations.so_far(agent)), [3, 1, 0]);
        continuations.answered(&sub, false);
        assert_eq!([&main, &sub].map(|agent| continuations.so_far(agent)), [3, 0]);
        continuations.answered(&other, true);
        continuations.begin_anew("t");
        assert_eq!([&main, &sub, &other].map(|agent| continuations.so_far(agent)), [0, 0, 1]);
    }

    #[test]
    fn no_more_agents_are_counted_than_there_is_room_for() {
        let continuations = Continuations::default();
        let kept = agent("kept", None);
        continuations.answered(&agent("oldest", None), true);
        for number in 0..MAX_COUNTED {
            continuations.answered(&kept, true);
            continuations.answered(&agent(&number.to_string(), None), true);
        }
        assert_eq!(continuations.so_far(&agent("oldest", None)), 0);
        assert_eq!(continuations.so_far(&kept), CONTINUATION_CAP);
        assert_eq!(lock(&continuations.counts).by_agent.len(), MAX_COUNTED);
    }
}
