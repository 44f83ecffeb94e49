//! The end of going on (D33): after so many stops in a row that hooks did not let an agent make, it may stop. An event in
//! the domain form says how often that was; a payload has only a flag, and the daemon's own count is taken.

use hooksd_engine::plan::Input;
use hooksd_engine::projection::Facts;
use hooksd_engine::reduce::CONTINUATION_CAP;
use hooksd_protocol::decision::{Body, Decision};
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::event::EventName;

use crate::sessions::context::EventContext;
use crate::sessions::continuations::{Continuations, CountedAgent};

/// What an event means for the count.
pub(crate) enum CountedStop<'a> {
    /// Nothing: it is no stop, or says itself how often the agent was made to go on.
    No,
    /// A stop that says nothing of those before it.
    Yes {
        /// Where it is counted.
        counts: &'a Continuations,
        /// Whose stop it is.
        agent: CountedAgent,
        /// How often in a row hooks made the agent go on before this stop.
        before: i64,
    },
}

impl<'a> CountedStop<'a> {
    /// Finds out what an event means for the count. A prompt, and the end of a conversation, begin its counts anew. An
    /// event behind a bridge that names no conversation is not counted: it would be counted with those of others.
    pub(crate) fn of(counts: &'a Continuations, context: &EventContext, input: &Input) -> CountedStop<'a> {
        use EventName::{SessionEnd, Stop, SubagentStop, UserPromptSubmit};
        // Most events mean nothing for the count, and cost nothing here.
        if !matches!(input.event(), Some(UserPromptSubmit | SessionEnd | Stop | SubagentStop)) {
            return CountedStop::No;
        }
        let payload = match input {
            Input::Payload(payload) => Some(payload),
            Input::Invocation(_) => None,
        };
        let named = payload.map(|payload| payload.session_id.as_str()).filter(|id| !id.is_empty());
        let thread = match (named, &context.agent) {
            (Some(named), Some(agent)) => format!("{agent}\n{named}"),
            (Some(named), None) => named.to_owned(),
            (None, Some(_)) => return CountedStop::No,
            (None, None) => context.session.thread_id.decoded().into_owned(),
        };
        let subagent = match (input.event(), payload) {
            (Some(UserPromptSubmit | SessionEnd), _) => {
                counts.begin_anew(&thread);
                return CountedStop::No;
            }
            (Some(Stop), Some(_)) => None,
            (Some(SubagentStop), Some(payload)) => Some(payload.agent_id.clone().unwrap_or_default()),
            _ => return CountedStop::No,
        };
        let says_so = payload.is_some_and(|payload| payload.stop_hook_active);
        let agent = CountedAgent { thread, subagent };
        CountedStop::Yes { counts, before: counts.so_far(&agent, says_so), agent }
    }

    /// The facts with which handlers' answers are reduced.
    pub(crate) fn facts(&self, facts: Facts) -> Facts {
        match self {
            CountedStop::Yes { before, .. } if *before >= CONTINUATION_CAP => {
                Facts { continuation_count: CONTINUATION_CAP, ..facts }
            }
            _ => facts,
        }
    }

    /// Counts how the stop was answered. A person is told when the cap has ended it.
    pub(crate) fn answered(self, decision: &mut Decision) {
        let CountedStop::Yes { counts, agent, before } = self else { return };
        let said = |decision: &Decision, kind: &str| {
            decision.diagnostics.iter().any(|diagnostic| diagnostic.code == kind)
        };
        let is_capped = said(decision, code::CONTINUATION_CAP)
            || (before >= CONTINUATION_CAP && said(decision, code::CONTINUATION_GUARD));
        if is_capped {
            let message = format!(
                "hooks made the agent go on {CONTINUATION_CAP} times in a row; now it may stop, until the next prompt"
            );
            if !said(decision, code::CONTINUATION_CAP) {
                decision.diagnostics.push(Diagnostic::warning(code::CONTINUATION_CAP, message.clone()));
            }
            decision.user_notices.push(message);
            return;
        }
        let goes_on = match &decision.body {
            Body::Stop { continue_loop, .. } => *continue_loop && decision.continue_processing,
            _ => said(decision, code::UNSUPPORTED_BLOCK),
        };
        counts.answered(&agent, goes_on);
    }
}
