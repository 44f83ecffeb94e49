//! What handlers print, and what many of them come to.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use arbitrary::Unstructured;
use hooksd_config::Handler;
use hooksd_config::contents::Contents;
use hooksd_config::layers::compile;
use hooksd_config::read::Found;
use hooksd_engine::projection::Facts;
use hooksd_engine::reduce::reduce;
use hooksd_engine::terminal;
use hooksd_json::{Dialect, Value};
use hooksd_protocol::decision::{Behavior, Body, Decision};
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::{Capability, HandlerStatus};
use hooksd_protocol::outcome::{Captured, End, EventOutcome, Outcome};

use super::shape::{self, Words};
use super::{SHAPED, text};

pub(super) const OUTPUT: Words = Words(&[
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "terminalSequence",
    "decision",
    "block",
    "reason",
    "why",
    "hookSpecificOutput",
    "hookEventName",
    "PreToolUse",
    "Stop",
    "PermissionRequest",
    "additionalContext",
    "permissionDecision",
    "allow",
    "deny",
    "ask",
    "defer",
    "permissionDecisionReason",
    "updatedInput",
    "behavior",
    "message",
    "interrupt",
    "updatedPermissions",
    "sessionTitle",
    "watchPaths",
    "suppressOriginalPrompt",
    "yes",
    "1",
    "\u{1b}]0;x\u{7}",
    "\u{1b}[2J",
    r#"{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"a":1}}"#,
    r#"{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why"}"#,
    r#"{"behavior":"deny","message":"why","interrupt":true}"#,
    r#"{"hookEventName":"Stop","additionalContext":"more"}"#,
]);

/// Output fields that an agent may apply (D10).
const ALL_FIELDS: [Capability; 8] = [
    Capability::UpdatedInput,
    Capability::UpdatedPermissions,
    Capability::UpdatedToolOutput,
    Capability::UpdatedMcpToolOutput,
    Capability::SessionTitle,
    Capability::InitialUserMessage,
    Capability::WatchPaths,
    Capability::ReloadSkills,
];

/// The most handlers of one decision. Handlers.
const MOST: usize = 6;

/// Handlers of an event, every other one set to block on failure.
fn handlers(event: EventName) -> &'static [Handler] {
    static ALL: LazyLock<BTreeMap<EventName, Vec<Handler>>> =
        LazyLock::new(|| EventName::ALL.into_iter().map(|event| (event, compiled(event))).collect());
    &ALL[&event]
}

fn compiled(event: EventName) -> Vec<Handler> {
    let one = |index: usize| {
        let word = if index.is_multiple_of(2) { "ignore" } else { "block" };
        format!(r#"{{"type":"command","command":"guard","onFailure":"{word}"}}"#)
    };
    let list: Vec<String> = (0..MOST).map(one).collect();
    let document = format!(r#"{{"hooks":{{"{event}":[{{"hooks":[{}]}}]}}}}"#, list.join(","));
    let found = Found::File(Contents::new("/hooks.json".into(), document.into_bytes()));
    compile(&found, &Found::Absent, &|_| false, &[]).snapshot.handlers().to_vec()
}

/// A handler that has ended so and printed this.
fn outcome(end: End, stdout: &[u8], stderr: &[u8]) -> Outcome {
    let captured = |bytes: &[u8]| Captured { bytes: bytes.to_vec(), total: bytes.len() as u64 };
    Outcome {
        stdout: captured(stdout),
        stderr: captured(stderr),
        duration: Duration::from_millis(1),
        ..Outcome::without_process(end)
    }
}

fn decide(
    facts: &Facts,
    handlers: &[Handler],
    outcomes: &[Outcome],
    accepts: &[Capability],
) -> (Decision, Vec<HandlerStatus>) {
    let ran: Vec<_> = handlers.iter().zip(outcomes.iter().map(Some)).collect();
    reduce(facts, accepts, Vec::new(), &ran)
}

/// What an answer says is a decision that a client reads as it was meant, and takes no deny away.
pub(super) fn outputs(data: &[u8]) {
    let data = text(data, OUTPUT);
    for event in EventName::ALL {
        let handlers = handlers(event);
        let facts = Facts { event, continuation_count: 0 };
        for end in [End::Exited(0), End::Exited(2), End::Exited(1)] {
            let outcomes = [outcome(end.clone(), &data, &data), outcome(end, &data, &data)];
            let (decision, statuses) = decide(&facts, handlers, &outcomes, &ALL_FIELDS);
            readable(&decision);
            assert_eq!(statuses.len(), 2);
            assert!(!matches!(statuses[1], HandlerStatus::Failed), "a failure blocks where it is set to");
        }
        if matches!(event, EventName::PreToolUse | EventName::PermissionRequest) {
            a_deny_stays(&facts, handlers, &data);
        }
    }
}

fn a_deny_stays(facts: &Facts, handlers: &[Handler], data: &[u8]) {
    let deny = || outcome(End::Exited(2), b"", b"the guard");
    let other = || outcome(End::Exited(0), data, b"");
    for accepts in [&ALL_FIELDS[..], &[]] {
        let (before, _) = decide(facts, handlers, &[deny(), other()], accepts);
        let (after, _) = decide(facts, handlers, &[other(), deny()], accepts);
        let permission = before.permission().unwrap();
        assert_eq!((permission.behavior, permission.reason.as_deref()), (Behavior::Deny, Some("the guard")));
        assert_eq!(after.permission().unwrap().behavior, Behavior::Deny);
    }
}

fn readable(decision: &Decision) {
    assert!(decision.terminal_sequences.iter().all(|sequence| terminal::is_allowed(sequence)));
    assert!(decision.continue_processing || decision.outcome() != EventOutcome::None);
    let line = serde_json::to_string(decision).expect("a decision can be written");
    let value = Value::parse(&line, Dialect::Strict).expect("what was written is JSON");
    assert_eq!(&Decision::read(&value).expect("a client can read it"), decision);
}

/// Some outcomes of handlers, chosen by bytes: raw output, built output, and every way to end.
#[must_use]
pub fn chosen(choices: &mut Unstructured<'_>) -> (Facts, Vec<Outcome>) {
    let event = *choices.choose(&EventName::ALL).unwrap_or(&EventName::PreToolUse);
    let facts = Facts { event, continuation_count: i64::from(choices.int_in_range(0..=9).unwrap_or(0u8)) };
    let count = choices.int_in_range(1..=MOST).unwrap_or(1);
    let one = |_| {
        let bytes = choices.arbitrary::<&[u8]>().unwrap_or_default().to_vec();
        let stdout = match choices.int_in_range(0..=7u8).unwrap_or(0) {
            0 => bytes.clone(),
            1 => Vec::new(),
            2 => format!(r#"{{"continue":false,"stopReason":"{}"}}"#, bytes.len()).into_bytes(),
            3 => format!(r#"{{"decision":"block","reason":"{}","systemMessage":"said"}}"#, bytes.len())
                .into_bytes(),
            4 => format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"{event}","permissionDecision":"allow"}}}}"#
            )
            .into_bytes(),
            5 => format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"{event}","additionalContext":"{}"}}}}"#,
                bytes.len()
            )
            .into_bytes(),
            _ => shape::json(&bytes, OUTPUT).into_bytes(),
        };
        let end = match choices.int_in_range(0..=11u8).unwrap_or(0) {
            0 => End::Exited(2),
            1 => End::Exited(1),
            2 => End::Signaled(9),
            3 => End::TimedOut,
            4 => End::Cancelled,
            5 => End::LaunchFailed { message: "no such program".to_owned() },
            _ => End::Exited(0),
        };
        outcome(end, &stdout, &bytes)
    };
    (facts, (0..count).map(one).collect())
}

/// The decision of many is made of the decisions of each, in their order.
pub(super) fn decisions(data: &[u8]) {
    let data = data.strip_prefix(&[SHAPED]).unwrap_or(data);
    let (facts, outcomes) = chosen(&mut Unstructured::new(data));
    let handlers = handlers(facts.event);
    let (all, statuses) = decide(&facts, handlers, &outcomes, &[]);
    readable(&all);
    let each: Vec<(Decision, Vec<HandlerStatus>)> = handlers
        .iter()
        .zip(&outcomes)
        .map(|(handler, outcome)| reduce(&facts, &[], Vec::new(), &[(handler, Some(outcome))]))
        .collect();
    let of = |part: fn(&Decision) -> &[String]| -> Vec<String> {
        each.iter().flat_map(|(decision, _)| part(decision).iter().cloned()).collect()
    };
    assert_eq!(statuses, each.iter().flat_map(|(_, status)| status.clone()).collect::<Vec<_>>());
    assert_eq!(all.continue_processing, each.iter().all(|(decision, _)| decision.continue_processing));
    assert_eq!(
        all.stop_reason,
        each.iter().find_map(|(decision, _)| decision.stop_reason.clone()),
        "the first reason"
    );
    assert_eq!(all.user_notices, of(|decision| &decision.user_notices));
    assert_eq!(all.terminal_sequences, of(|decision| &decision.terminal_sequences));
    assert_eq!(
        texts(&all.body).0,
        each.iter().flat_map(|(decision, _)| texts(&decision.body).0).collect::<Vec<_>>()
    );
    assert_eq!(
        texts(&all.body).1,
        each.iter().flat_map(|(decision, _)| texts(&decision.body).1).collect::<Vec<_>>()
    );
    if let Some(permission) = all.permission() {
        let strongest =
            each.iter().filter_map(|(decision, _)| decision.permission()).map(|one| one.behavior).max();
        let first = each
            .iter()
            .filter_map(|(decision, _)| decision.permission())
            .find(|one| Some(one.behavior) == strongest);
        assert_eq!(Some(permission), first, "the strongest, and of those the first");
    }
    if let Body::Stop { continue_loop, .. } = &all.body {
        let goes_on = |decision: &Decision| matches!(decision.body, Body::Stop { continue_loop: true, .. });
        assert_eq!(*continue_loop, each.iter().any(|(decision, _)| goes_on(decision)));
    }
}

/// Context and feedback.
fn texts(body: &Body) -> (Vec<String>, Vec<String>) {
    match body {
        Body::Context { context } | Body::Prompt { context, .. } | Body::PreTool { context, .. } => {
            (context.clone(), Vec::new())
        }
        Body::PostTool { feedback, context } => (context.clone(), feedback.clone()),
        Body::Stop { feedback, .. } => (Vec::new(), feedback.clone()),
        Body::Permission { .. } | Body::Plain {} => (Vec::new(), Vec::new()),
    }
}
