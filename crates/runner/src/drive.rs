//! Drives [`Supervision`] with a real process: waits for whatever happens first and does what it says.
//!
//! Guarantees: cancel, exit and timers are looked at before the streams, so that a flood of output cannot hide
//! them; what is in the pipes when a run ends is read before the answer.

use std::time::{Duration, Instant};

use hooksd_protocol::outcome::Outcome;
use tokio::time::sleep_until;
use tokio_util::sync::CancellationToken;

use crate::launch::Launched;
use crate::limits::{KILL_WAIT, OUTPUT_GRACE};
use crate::supervise::{Input, Step, Supervision, Verdict};

/// Sees a launched handler to its end, by force at the deadline.
pub(crate) async fn drive(launched: Launched, deadline: Instant, cancel: &CancellationToken) -> Outcome {
    let Launched { mut child, mut stdin, mut stdout, mut stderr, ran_in_instead, started, spawn } = launched;
    let mut supervision = Supervision::new();
    let timer = sleep_until(deadline.into());
    tokio::pin!(timer);
    // What the one timer stands for in the present state.
    let mut alarm = Input::Deadline;
    let mut cancelled = false;
    let mut exited = None;
    let Verdict { end, output_left_open } = loop {
        let input = tokio::select! {
            biased;
            () = cancel.cancelled(), if !cancelled => Input::Cancelled,
            status = child.exited(), if exited.is_none() => Input::Exited(status),
            () = &mut timer => alarm,
            () = stdin.finish(), if stdin.is_open() => Input::Fed,
            () = stdout.finish(), if stdout.is_open() => Input::StdoutEof,
            () = stderr.finish(), if stderr.is_open() => Input::StderrEof,
        };
        // It may have ended just before: then its own status counts, and there is nothing to kill.
        let input = match input {
            Input::Deadline | Input::Cancelled if exited.is_none() => {
                child.try_reap().map_or(input, Input::Exited)
            }
            other => other,
        };
        cancelled |= input == Input::Cancelled;
        if matches!(input, Input::Exited(_)) {
            exited.get_or_insert_with(Instant::now);
        }
        match supervision.apply(input) {
            Step::Wait => {}
            Step::Drain => {
                stdin.close();
                alarm = Input::GraceOver;
                timer.as_mut().reset(deadline.min(Instant::now() + OUTPUT_GRACE).into());
            }
            Step::Kill => {
                stdin.close();
                child.kill();
                alarm = Input::KillWaitOver;
                timer.as_mut().reset((Instant::now() + KILL_WAIT).into());
            }
            Step::Finish(verdict) => break verdict,
        }
    };
    stdout.last_look();
    stderr.last_look();
    Outcome {
        end,
        output_left_open: output_left_open && (stdout.is_open() || stderr.is_open()),
        stdout: stdout.into_captured(),
        stderr: stderr.into_captured(),
        ran_in_instead,
        duration: started.elapsed(),
        queued: Duration::ZERO,
        spawn,
        drain: exited.map_or(Duration::ZERO, |exited| exited.elapsed()),
    }
}
