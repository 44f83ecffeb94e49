//! The state machine as a table, and two sweeps over all orders of inputs.

use super::*;
use Input::*;

const ZERO: Input = Exited(Status::Code(0));

fn done(end: End, output_left_open: bool) -> Step {
    Step::Finish(Verdict { end, output_left_open })
}

/// The steps that a row of inputs leads to.
fn steps(inputs: &[Input]) -> Vec<Step> {
    let mut supervision = Supervision::new();
    inputs.iter().map(|input| supervision.apply(*input)).collect()
}

#[test]
fn table() {
    use Step::{Drain, Kill, Wait};
    let two = Exited(Status::Code(2));
    let killed = Exited(Status::Signal(9));
    let rows: Vec<(&str, Vec<Input>, Vec<Step>)> = vec![
        (
            "ordinary",
            vec![Fed, StdoutEof, StderrEof, ZERO],
            vec![Wait, Wait, Wait, done(End::Exited(0), false)],
        ),
        ("exit first", vec![two, StdoutEof, StderrEof], vec![Drain, Wait, done(End::Exited(2), false)]),
        ("exit in between", vec![StderrEof, two, StdoutEof], vec![Wait, Drain, done(End::Exited(2), false)]),
        ("never read", vec![two, StderrEof, StdoutEof], vec![Drain, Wait, done(End::Exited(2), false)]),
        (
            "D1 helper keeps stdout",
            vec![StderrEof, two, GraceOver],
            vec![Wait, Drain, done(End::Exited(2), true)],
        ),
        ("D1 deadline in grace", vec![two, Deadline], vec![Drain, done(End::Exited(2), true)]),
        ("cancel in grace", vec![two, Cancelled], vec![Drain, done(End::Exited(2), true)]),
        ("fed in grace", vec![ZERO, Fed, GraceOver], vec![Drain, Wait, done(End::Exited(0), true)]),
        (
            "streams closed, runs on",
            vec![StdoutEof, StderrEof, Deadline, killed],
            vec![Wait, Wait, Kill, done(End::TimedOut, false)],
        ),
        ("timeout", vec![Fed, Deadline, killed], vec![Wait, Kill, done(End::TimedOut, false)]),
        ("timeout, exit wins no more", vec![Deadline, ZERO], vec![Kill, done(End::TimedOut, false)]),
        (
            "timeout, EOF first",
            vec![Deadline, StdoutEof, StderrEof, killed],
            vec![Kill, Wait, Wait, done(End::TimedOut, false)],
        ),
        ("unkillable", vec![Deadline, KillWaitOver], vec![Kill, done(End::TimedOut, false)]),
        ("cancel", vec![Cancelled, killed], vec![Kill, done(End::Cancelled, false)]),
        (
            "cancel after timeout",
            vec![Deadline, Cancelled, killed],
            vec![Kill, Wait, done(End::TimedOut, false)],
        ),
        (
            "timeout after cancel",
            vec![Cancelled, Deadline, killed],
            vec![Kill, Wait, done(End::Cancelled, false)],
        ),
        (
            "signal",
            vec![StdoutEof, StderrEof, Exited(Status::Signal(2))],
            vec![Wait, Wait, done(End::Signaled(2), false)],
        ),
        ("early timers", vec![GraceOver, KillWaitOver, Fed], vec![Wait, Wait, Wait]),
        (
            "after the answer",
            vec![Deadline, killed, ZERO, Cancelled, StdoutEof],
            vec![Kill, done(End::TimedOut, false), Wait, Wait, Wait],
        ),
    ];
    for (name, inputs, expected) in rows {
        assert_eq!(steps(&inputs), expected, "{name}");
    }
}

/// Every order of up to six inputs, each at most once.
fn every_order(visit: &mut impl FnMut(&[Input])) {
    fn extend(so_far: &mut Vec<Input>, rest: &[Input], visit: &mut impl FnMut(&[Input])) {
        visit(so_far);
        for (index, input) in rest.iter().enumerate() {
            let mut rest = rest.to_vec();
            rest.remove(index);
            so_far.push(*input);
            extend(so_far, &rest, visit);
            so_far.pop();
        }
    }
    let all = [Fed, StdoutEof, StderrEof, ZERO, Deadline, GraceOver, KillWaitOver, Cancelled];
    extend(&mut Vec::new(), &all, visit);
}

#[test]
fn in_every_order_one_answer_and_no_kill_after_exit() {
    every_order(&mut |inputs| {
        let steps = steps(inputs);
        let finishes = steps.iter().filter(|step| matches!(step, Step::Finish(_))).count();
        assert!(finishes <= 1, "{inputs:?}");
        let exit = inputs.iter().position(|input| *input == ZERO).unwrap_or(usize::MAX);
        let kill = steps.iter().position(|step| *step == Step::Kill);
        assert!(kill.is_none_or(|kill| kill < exit), "kill of a reaped leader: {inputs:?}");
        for (index, step) in steps.iter().enumerate() {
            if let Step::Finish(verdict) = step {
                let by_itself = kill.is_none_or(|kill| kill > index);
                assert_eq!(by_itself, verdict.end == End::Exited(0), "{inputs:?}");
            }
        }
    });
}

#[test]
fn in_every_order_exit_and_one_timer_are_enough_to_answer() {
    every_order(&mut |inputs| {
        let has = |input: Input| inputs.contains(&input);
        let steps = steps(inputs);
        let place = |input: Input| inputs.iter().position(|i| *i == input).unwrap_or(usize::MAX);
        let timer_after_exit = has(ZERO) && has(GraceOver) && place(GraceOver) > place(ZERO);
        if timer_after_exit {
            assert!(steps.iter().any(|step| matches!(step, Step::Finish(_))), "{inputs:?}");
        }
    });
}
