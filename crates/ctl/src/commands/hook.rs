//! `hooksctl hook`, where the full parser has read the command line. See [`crate::hook`].

use std::process::ExitCode;
use std::time::Instant;

use crate::arguments::{Arguments, Hook};
use crate::failure::Failure;
use crate::hook::{Words, options, run_with};

pub(crate) fn run(arguments: &Arguments, hook: &Hook) -> Result<ExitCode, Failure> {
    let words = Words {
        agent: Some(hook.agent.clone()),
        event: hook.event.clone(),
        fail: Some(hook.fail.clone()),
        deadline: hook.deadline.clone(),
        mode: hook.mode.clone(),
        socket: arguments.socket.clone(),
    };
    let options = options(words).map_err(Failure::Input)?;
    Ok(run_with(&options, Instant::now()))
}
