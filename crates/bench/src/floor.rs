//! The floors of handlers: a process, or a line there and back through pipes, and nothing around them.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::daemon::command;
use crate::sample::timed;

/// One process with three pipes: spawned (the standard library uses posix_spawn here), fed, read to the end, waited for.
pub(crate) fn run(program: &str, arguments: &[&str], payload: &str) -> Result<()> {
    let mut command = command(Path::new(program));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot start {program}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read is fine.
        let _ = stdin.write_all(payload.as_bytes());
    }
    let mut output = Vec::new();
    if let Some(stdout) = &mut child.stdout {
        stdout.read_to_end(&mut output).context("cannot read")?;
    }
    if let Some(stderr) = &mut child.stderr {
        stderr.read_to_end(&mut output).context("cannot read")?;
    }
    child.wait().context("cannot wait")?;
    Ok(())
}

/// The same, timed.
pub(crate) fn timed_run(program: &str, arguments: &[&str], payload: &str) -> Result<Duration> {
    timed(|| run(program, arguments, payload))
}

/// A persistent handler without anything between. Killed when it is dropped.
pub(crate) struct Loop {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Loop {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn start(program: &str, arguments: &[&str]) -> Result<Loop> {
        let mut command = command(Path::new(program));
        command.args(arguments).env("HOOKSD_LIFECYCLE", "persistent");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start {program}"))?;
        let (stdin, stdout) =
            (child.stdin.take().context("no pipe")?, child.stdout.take().context("no pipe")?);
        Ok(Loop { child, stdin, stdout: BufReader::new(stdout), line: Vec::new() })
    }

    /// A line there and back, timed.
    pub(crate) fn trip(&mut self, line: &[u8]) -> Result<Duration> {
        timed(|| {
            self.stdin.write_all(line).context("cannot write")?;
            self.line.clear();
            self.stdout.read_until(b'\n', &mut self.line).context("no answer")?;
            Ok(())
        })
    }
}
