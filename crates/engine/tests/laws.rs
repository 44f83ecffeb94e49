//! The laws of a decision (contract section 9), for any outcomes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails to set up has failed")]

use hooksd_config::Handler;
use hooksd_config::contents::Contents;
use hooksd_config::layers::compile;
use hooksd_config::read::Found;
use hooksd_engine::projection::Facts;
use hooksd_engine::reduce::reduce;
use hooksd_protocol::decision::{Behavior, Body, Decision};
use hooksd_protocol::event::EventName;
use hooksd_protocol::outcome::{Captured, End, Outcome};
use proptest::prelude::*;

/// The most handlers of one event. Handlers.
const MOST: usize = 7;

fn handlers(event: EventName) -> Vec<Handler> {
    let list = [r#"{"type":"command","command":"guard"}"#; MOST + 1].join(",");
    let document = format!(r#"{{"hooks":{{"{event}":[{{"hooks":[{list}]}}]}}}}"#);
    let found = Found::File(Contents::new("/hooks.json".into(), document.into_bytes()));
    compile(&found, &Found::Absent, &|_| false, &[]).snapshot.handlers().to_vec()
}

fn outcome(end: End, stdout: &str, stderr: &str) -> Outcome {
    let captured = |text: &str| Captured { bytes: text.as_bytes().to_vec(), total: text.len() as u64 };
    Outcome { stdout: captured(stdout), stderr: captured(stderr), ..Outcome::without_process(end) }
}

fn permission_of(event: EventName, word: &str, reason: &str) -> Outcome {
    outcome(
        End::Exited(0),
        &format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"{event}","permissionDecision":"{word}","permissionDecisionReason":"{reason}"}}}}"#
        ),
        "",
    )
}

/// Anything a handler may do on an event.
fn anything(event: EventName) -> impl Strategy<Value = Outcome> {
    let reason = "[a-z]{1,4}";
    prop_oneof![
        Just(outcome(End::Exited(0), "", "")),
        reason.prop_map(|text| outcome(End::Exited(2), "", &text)),
        reason.prop_map(|text| outcome(End::Exited(1), &text, &text)),
        reason.prop_map(|text| outcome(End::Exited(0), &text, "")),
        Just(outcome(End::TimedOut, "", "")),
        Just(outcome(End::Signaled(9), "", "")),
        Just(outcome(End::LaunchFailed { message: "no such program".to_owned() }, "", "")),
        (prop::sample::select(vec!["allow", "deny", "ask", "defer"]), reason)
            .prop_map(move |(word, text)| permission_of(event, word, &text)),
        (any::<bool>(), reason, reason).prop_map(|(goes_on, why, notice)| {
            let json = format!(r#"{{"continue":{goes_on},"stopReason":"{why}","systemMessage":"{notice}"}}"#);
            outcome(End::Exited(0), &json, "")
        }),
        reason.prop_map(|text| outcome(
            End::Exited(0),
            &format!(r#"{{"decision":"block","reason":"{text}"}}"#),
            ""
        )),
        reason.prop_map(move |text| {
            let specific = format!(r#"{{"hookEventName":"{event}","additionalContext":"{text}"}}"#);
            outcome(End::Exited(0), &format!(r#"{{"hookSpecificOutput":{specific}}}"#), "")
        }),
    ]
}

/// An event and what its handlers did.
fn some() -> impl Strategy<Value = (EventName, Vec<Outcome>)> {
    prop::sample::select(EventName::ALL.to_vec())
        .prop_flat_map(|event| (Just(event), prop::collection::vec(anything(event), 0..MOST)))
}

fn decide(event: EventName, outcomes: &[Outcome]) -> Decision {
    let handlers = handlers(event);
    let ran: Vec<_> = handlers.iter().zip(outcomes.iter().map(Some)).collect();
    reduce(&Facts { event, continuation_count: 0 }, &[], Vec::new(), &ran).0
}

/// What is left of a decision when it does not matter who said what first.
fn unordered(decision: &Decision) -> (bool, Option<Behavior>, Vec<String>) {
    let mut texts = decision.user_notices.clone();
    texts.extend(match &decision.body {
        Body::Context { context } | Body::Prompt { context, .. } | Body::PreTool { context, .. } => {
            context.clone()
        }
        Body::PostTool { feedback, context } => [feedback.clone(), context.clone()].concat(),
        Body::Stop { feedback, .. } => feedback.clone(),
        Body::Permission { .. } | Body::Plain {} => Vec::new(),
    });
    texts.sort();
    (decision.continue_processing, decision.permission().map(|permission| permission.behavior), texts)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn a_deny_wins_wherever_it_stands(
        (outcomes, at) in (prop::collection::vec(anything(EventName::PreToolUse), 0..MOST), 0..MOST)
    ) {
        for event in [EventName::PreToolUse, EventName::PermissionRequest] {
            let mut outcomes = outcomes.clone();
            outcomes.insert(at.min(outcomes.len()), outcome(End::Exited(2), "", "the guard"));
            prop_assert_eq!(decide(event, &outcomes).permission().unwrap().behavior, Behavior::Deny);
        }
    }

    #[test]
    fn among_equals_the_first_reason_wins(
        outcomes in prop::collection::vec(anything(EventName::PreToolUse), 0..MOST)
    ) {
        let denied = |outcomes: &[Outcome]| decide(EventName::PreToolUse, outcomes).permission().cloned();
        let mut first = vec![permission_of(EventName::PreToolUse, "deny", "first")];
        first.extend(outcomes.clone());
        prop_assert_eq!(denied(&first).unwrap().reason.unwrap(), "first");
        let stop = |why: &str| outcome(End::Exited(0), &format!(r#"{{"continue":false,"stopReason":"{why}"}}"#), "");
        let mut first = vec![stop("first")];
        first.extend(outcomes);
        prop_assert_eq!(decide(EventName::PreToolUse, &first).stop_reason.unwrap(), "first");
    }

    #[test]
    fn the_order_of_the_configuration_decides_only_who_is_first(
        (event, outcomes, shuffled) in some().prop_flat_map(|(event, outcomes)| {
            (Just(event), Just(outcomes.clone()), Just(outcomes).prop_shuffle())
        })
    ) {
        prop_assert_eq!(unordered(&decide(event, &outcomes)), unordered(&decide(event, &shuffled)));
    }

    #[test]
    fn who_says_nothing_changes_nothing(((event, outcomes), at) in (some(), 0..MOST)) {
        let mut with = outcomes.clone();
        with.insert(at.min(outcomes.len()), outcome(End::Exited(0), "", ""));
        let without_names = |mut decision: Decision| {
            decision.diagnostics.iter_mut().for_each(|diagnostic| diagnostic.handler_id = None);
            decision
        };
        prop_assert_eq!(without_names(decide(event, &with)), without_names(decide(event, &outcomes)));
    }
}
