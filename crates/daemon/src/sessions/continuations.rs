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
pub(crate) struct CountedAgent {
    /// The agent's name, if a bridge says it, and the conversation's id.
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
    by_agent: HashMap<CountedAgent, Count>,
    /// Stops of the daemon's life that were answered by going on.
    stops: u64,
}

#[derive(Default)]
struct Count {
    /// How often in a row hooks made the agent go on.
    in_a_row: i64,
    /// When last, in stops.
    last: u64,
    /// Whether its events have said that it goes on: then one that does not say so begins another turn.
    says_so: bool,
}

impl Continuations {
    /// How often in a row hooks made this agent go on before a stop; no more than the cap matters. `says_so` is the flag of
    /// the event: once an agent has set it, a stop without it begins another turn.
    pub(crate) fn so_far(&self, agent: &CountedAgent, says_so: bool) -> i64 {
        let mut counts = lock(&self.counts);
        let Some(count) = counts.by_agent.get_mut(agent) else { return 0 };
        if count.says_so && !says_so {
            counts.by_agent.remove(agent);
            return 0;
        }
        count.says_so |= says_so;
        count.in_a_row
    }

    /// Notes how a stop of this agent was answered: hooks made it go on, or it may stop.
    pub(crate) fn answered(&self, agent: &CountedAgent, goes_on: bool) {
        let mut counts = lock(&self.counts);
        if !goes_on {
            counts.by_agent.remove(agent);
            return;
        }
        counts.stops += 1;
        let now = counts.stops;
        let count = counts.by_agent.entry(agent.clone()).or_default();
        count.in_a_row = (count.in_a_row + 1).min(CONTINUATION_CAP);
        count.last = now;
        if counts.by_agent.len() > MAX_COUNTED {
            let oldest = counts.by_agent.iter().min_by_key(|(_, count)| count.last);
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

    fn agent(thread: &str, subagent: Option<&str>) -> CountedAgent {
        CountedAgent { thread: thread.to_owned(), subagent: subagent.map(str::to_owned) }
    }

    #[test]
    fn d33_stops_in_a_row_are_counted_by_conversation_and_subagent() {
        let continuations = Continuations::default();
        let (main, sub, other) = (agent("t", None), agent("t", Some("s")), agent("u", None));
        (0..3).for_each(|_| continuations.answered(&main, true));
        continuations.answered(&sub, true);
        assert_eq!([&main, &sub, &other].map(|agent| continuations.so_far(agent, false)), [3, 1, 0]);
        continuations.answered(&sub, false);
        assert_eq!([&main, &sub].map(|agent| continuations.so_far(agent, false)), [3, 0]);
        continuations.answered(&other, true);
        continuations.begin_anew("t");
        assert_eq!([&main, &sub, &other].map(|agent| continuations.so_far(agent, false)), [0, 0, 1]);
    }

    #[test]
    fn a_stop_without_the_flag_begins_another_turn_of_an_agent_that_sets_it() {
        let (continuations, agent) = (Continuations::default(), agent("t", None));
        continuations.answered(&agent, true);
        assert_eq!([true, true, false, false].map(|flag| continuations.so_far(&agent, flag)), [1, 1, 0, 0]);
        // One that never sets it stays bounded.
        (0..9).for_each(|_| continuations.answered(&agent, true));
        assert_eq!(continuations.so_far(&agent, false), CONTINUATION_CAP);
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
        assert_eq!(continuations.so_far(&agent("oldest", None), false), 0);
        assert_eq!(continuations.so_far(&kept, false), CONTINUATION_CAP);
        assert_eq!(lock(&continuations.counts).by_agent.len(), MAX_COUNTED);
    }
}
