//! The laws of reduction, over every order of a set of answers.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails to set up has failed")]

use std::fs;
use std::time::Duration;

use hooksd_config::{Handler, layers::load};
use hooksd_engine::projection::Facts;
use hooksd_engine::reduce::reduce;
use hooksd_protocol::decision::{Behavior, Body, Decision};
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::{Capability, HandlerStatus};
use hooksd_protocol::outcome::{Captured, End, Outcome};

fn handlers(count: usize, on_failure: &str) -> Vec<Handler> {
    let folder = tempfile::tempdir().unwrap();
    let one = format!(r#"{{"type":"command","command":"guard","onFailure":"{on_failure}"}}"#);
    let list = vec![one; count].join(",");
    let path = folder.path().join("hooks.json");
    fs::write(&path, format!(r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{list}]}}]}}}}"#)).unwrap();
    load(&path, None, &|_| false, &[]).snapshot.handlers().to_vec()
}

fn outcome(end: End, stdout: &str, stderr: &str) -> Outcome {
    let captured = |text: &str| Captured { bytes: text.as_bytes().to_vec(), total: text.len() as u64 };
    Outcome {
        stdout: captured(stdout),
        stderr: captured(stderr),
        duration: Duration::from_millis(1),
        ..Outcome::without_process(end)
    }
}

fn said(word: &str) -> Outcome {
    let stdout = format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{word}","permissionDecisionReason":"{word}"}}}}"#
    );
    outcome(End::Exited(0), &stdout, "")
}

fn decide(
    handlers: &[Handler],
    outcomes: &[Outcome],
    accepts: &[Capability],
) -> (Decision, Vec<HandlerStatus>) {
    let facts = Facts { event: EventName::PreToolUse, continuation_count: 0 };
    let ran: Vec<_> = handlers.iter().zip(outcomes.iter().map(Some)).collect();
    reduce(&facts, accepts, Vec::new(), &ran)
}

fn permission(decision: &Decision) -> (Behavior, Option<&str>) {
    let permission = decision.permission().unwrap();
    (permission.behavior, permission.reason.as_deref())
}

/// Every order of the items.
fn orders<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    let [only] = items else {
        return (0..items.len())
            .flat_map(|first| {
                let mut rest = items.to_vec();
                let head = rest.remove(first);
                orders(&rest).into_iter().map(move |mut order| {
                    order.insert(0, head.clone());
                    order
                })
            })
            .collect();
    };
    vec![vec![only.clone()]]
}

#[test]
fn the_strongest_permission_wins_in_any_order() {
    let handlers = handlers(5, "ignore");
    let failed = outcome(End::TimedOut, "", "");
    let broken = outcome(End::Exited(0), "{broken", "");
    for strongest in ["deny", "ask", "allow"] {
        let weaker: Vec<Outcome> = match strongest {
            "deny" => vec![said("ask"), said("allow"), failed.clone(), broken.clone(), said("deny")],
            "ask" => vec![said("allow"), failed.clone(), broken.clone(), said("allow"), said("ask")],
            _ => vec![failed.clone(), broken.clone(), said("defer"), failed.clone(), said("allow")],
        };
        for order in orders(&weaker) {
            let (decision, _) = decide(&handlers, &order, &[]);
            let (behavior, reason) = permission(&decision);
            assert_eq!(
                (format!("{behavior:?}").to_lowercase().as_str(), reason),
                (strongest, Some(strongest))
            );
        }
    }
}

/// An exit 0 of which more was written than kept.
fn cut(kept: &str) -> Outcome {
    let mut outcome = outcome(End::Exited(0), kept, "");
    outcome.stdout.total += 1;
    outcome
}

#[test]
fn d8_an_answer_followed_by_too_much_padding_is_still_an_answer() {
    let mut padded = said("allow");
    padded.stdout.bytes.extend([b' '; 100]);
    padded.stdout.total = 1_000_000;
    let (decision, statuses) = decide(&handlers(1, "block"), &[padded], &[]);
    assert_eq!((permission(&decision).0, statuses.as_slice()), (Behavior::Allow, &[HandlerStatus::Ok][..]));
    let codes: Vec<&str> = decision.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    assert_eq!(codes, ["stdout_truncated"]);
}

#[test]
fn queued_out_is_told_apart() {
    let outcome = Outcome { queued: Duration::from_millis(1500), ..Outcome::without_process(End::QueuedOut) };
    let (decision, statuses) = decide(&handlers(1, "ignore"), &[outcome], &[]);
    assert_eq!(statuses, [HandlerStatus::QueuedOut]);
    let [diagnostic] = decision.diagnostics.as_slice() else { panic!("{:?}", decision.diagnostics) };
    assert_eq!(
        (diagnostic.code.as_str(), diagnostic.message.as_str()),
        ("queued_out", "never got its turn: too many handlers were running for 1.500 s")
    );
}

#[test]
fn d8_every_kind_of_failure_blocks_when_it_is_set_to() {
    let ends = [
        outcome(End::Exited(1), "", ""),
        outcome(End::Exited(127), "", ""),
        outcome(End::Signaled(9), "", ""),
        outcome(End::TimedOut, "", ""),
        outcome(End::InvalidCommand, "", ""),
        outcome(End::QueuedOut, "", ""),
        cut(r#"{"systemMessage":"aaaa"#),
        outcome(End::LaunchFailed { message: "no such program".to_owned() }, "", ""),
        outcome(End::Exited(0), "not json", ""),
        outcome(End::Exited(0), "[]", ""),
        outcome(End::Exited(0), r#"{"hookSpecificOutput":{"hookEventName":"Stop"}}"#, ""),
    ];
    let (open, closed) = (handlers(1, "ignore"), handlers(1, "block"));
    for end in ends {
        let (decision, _) = decide(&open, std::slice::from_ref(&end), &[]);
        assert_eq!(permission(&decision).0, Behavior::None, "{end:?}");
        let (decision, statuses) = decide(&closed, std::slice::from_ref(&end), &[]);
        let (behavior, reason) = permission(&decision);
        assert_eq!(
            (behavior, statuses.as_slice()),
            (Behavior::Deny, &[HandlerStatus::Blocked][..]),
            "{end:?}"
        );
        let reason = reason.unwrap();
        assert!(reason.contains("PreToolUse:0:0") && reason.contains("guard"), "{reason}");
    }
    let (decision, statuses) = decide(&closed, &[outcome(End::Exited(0), "", "")], &[]);
    assert_eq!((permission(&decision).0, statuses.as_slice()), (Behavior::None, &[HandlerStatus::Ok][..]));
}

#[test]
fn d7_a_guard_whose_matcher_reached_its_bound_counts_as_failed() {
    let handlers = handlers(1, "block");
    let facts = Facts { event: EventName::PreToolUse, continuation_count: 0 };
    let ran: Vec<_> = handlers.iter().map(|handler| (handler, None)).collect();
    let (decision, _) = reduce(&facts, &[], Vec::new(), &ran);
    assert_eq!(permission(&decision).0, Behavior::Deny);
}

#[test]
fn d10_the_first_rewrite_wins_and_the_later_is_said() {
    let handlers = handlers(2, "ignore");
    let rewrite = |text: &str| {
        let stdout = format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{text}}}}}"#
        );
        outcome(End::Exited(0), &stdout, "")
    };
    let outcomes = [rewrite(r#"{"b":1.0,"a":1e5}"#), rewrite(r#"{"c":1}"#)];
    let (decision, _) = decide(&handlers, &outcomes, &[Capability::UpdatedInput]);
    assert_eq!(decision.accepted.get("updated_input").unwrap().get(), r#"{"b":1.0,"a":1e5}"#);
    assert_eq!(permission(&decision).0, Behavior::Allow);
    let codes: Vec<&str> = decision.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    assert_eq!(codes, ["ignored_update"]);

    // NaN cannot be passed on: the rewrite is void, and so is the allow that relied on it.
    let (decision, _) = decide(&handlers, &[rewrite(r#"{"a":NaN}"#)], &[Capability::UpdatedInput]);
    assert_eq!((permission(&decision).0, decision.accepted.len()), (Behavior::None, 0));

    let (decision, _) = decide(&handlers, &outcomes, &[]);
    assert_eq!(permission(&decision).0, Behavior::None, "an allow of an input that is not used is void");
}

#[test]
fn cancelled_or_cut_output_is_never_read() {
    let handlers = handlers(1, "ignore");
    let deny = said("deny");
    for end in [End::TimedOut, End::Cancelled, End::Signaled(15), End::Exited(1)] {
        let cut = Outcome { end, ..deny.clone() };
        let (decision, _) = decide(&handlers, &[cut], &[]);
        let Body::PreTool { permission, context } = decision.body else { panic!("another body") };
        assert_eq!((permission.behavior, context.len()), (Behavior::None, 0));
    }
}
