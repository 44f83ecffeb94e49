//! Any engine as a program: one line of JSON on its standard input, one on its standard output, once for each scenario.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::PoisonError;
use std::thread;
use std::time::{Duration, Instant};

use hooksd_client::program::command;
use hooksd_engine::projection::{Transcripts, stdin};
use hooksd_json::{Dialect, Reading, Value as Json};
use hooksd_protocol::invocation::Invocation;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{EngineAnswer, How, Respondent};
use crate::failure::Failure;
use crate::layout::{STARTING, World};
use crate::scenario::{SCHEMA, Scenario};
use crate::stop::{LOOK, Stop};

/// The longest answer. Bytes.
const MAX_ANSWER: usize = 4 << 20;

/// How long an engine may go on after its answer. Seconds.
const END_SECONDS: u64 = 2;

/// Between two looks whether it has ended. Milliseconds.
const PAUSE: Duration = Duration::from_millis(2);

/// The most that is shown of what was no answer. Characters.
const SHOWN: usize = 200;

/// An engine that is a shell command.
pub(crate) struct Program {
    command: String,
    limit: Duration,
    is_verbose: bool,
    stop: Stop,
}

/// What the engine reads.
#[derive(Serialize)]
struct Request<'a> {
    schema: u32,
    scenario: &'a str,
    config_dir: String,
    home: String,
    cwd: String,
    mode: &'a str,
    trust: &'a Option<String>,
    plugins: Box<RawValue>,
    env: serde_json::Map<String, serde_json::Value>,
    invocation: &'a RawValue,
    /// What a handler reads of the event; null where that is the question.
    payload: Option<Box<RawValue>>,
    transcript_path: &'a Option<String>,
    agent_transcript_path: &'a Option<String>,
}

impl Program {
    pub(crate) fn new(command: String, how: &How) -> Program {
        Program { command, limit: how.limit, is_verbose: how.is_verbose, stop: how.stop.clone() }
    }

    /// Starts it with its request as its standard input, in a process group of its own.
    fn start(&self, scenario: &Scenario, world: &World, answers: UnixStream) -> std::io::Result<Child> {
        let mut command = command("/bin/sh");
        command.args(["-c", &self.command]).process_group(0).current_dir(world.at("project"));
        command.env_clear().envs(world.environment(scenario));
        command.stdin(File::open(world.at("request.json"))?).stdout(OwnedFd::from(answers));
        command.stderr(if self.is_verbose { Stdio::inherit() } else { Stdio::null() });
        let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        command.spawn()
    }
}

impl Respondent for Program {
    fn prepare(&mut self, _: &Scenario) -> Result<Option<PathBuf>, Failure> {
        Ok(None)
    }

    fn answer(&mut self, scenario: &Scenario, world: &World) -> Result<EngineAnswer, String> {
        let request =
            request(scenario, world).map_err(|error| format!("the request cannot be written: {error}"))?;
        std::fs::write(world.at("request.json"), request).map_err(|error| error.to_string())?;
        let cannot = |error: std::io::Error| format!("the engine cannot be started: {error}");
        let (mut ours, theirs) = UnixStream::pair().map_err(cannot)?;
        let child = self.start(scenario, world, theirs).map_err(cannot)?;
        let line = first_line(&mut ours, Instant::now() + self.limit, &|| self.stop.signal().is_some());
        drop(ours);
        let ended = end(child);
        let line = line.map_err(|problem| format!("{problem}{ended}"))?;
        serde_json::from_str(&line).map_err(|error| {
            let shown: String = line.chars().take(SHOWN).collect();
            format!("the engine's line is no answer ({error}): {shown:?}")
        })
    }
}

fn request(scenario: &Scenario, world: &World) -> Result<String, serde_json::Error> {
    let session = &scenario.session;
    let invocation = RawValue::from_string(world.real(scenario.invocation.get()))?;
    let plugins = session
        .plugins
        .as_ref()
        .map_or_else(|| "null".to_owned(), |plugins| world.real(&plugins.to_string()));
    let environment = world.environment(scenario).into_iter().map(|(name, value)| (name, value.into()));
    let request = Request {
        schema: SCHEMA,
        scenario: &scenario.id,
        config_dir: world.config_dir().display().to_string(),
        home: world.at("home").display().to_string(),
        cwd: world.cwd(scenario),
        mode: session.mode.as_deref().unwrap_or("interactive"),
        trust: &session.trust,
        plugins: RawValue::from_string(plugins)?,
        env: environment.collect(),
        invocation: &invocation,
        payload: payload(scenario, &invocation).and_then(|text| RawValue::from_string(text).ok()),
        transcript_path: &scenario.transcript_path,
        agent_transcript_path: &scenario.agent_transcript_path,
    };
    Ok(serde_json::to_string(&request)? + "\n")
}

/// The event as handlers read it.
fn payload(scenario: &Scenario, invocation: &RawValue) -> Option<String> {
    if !scenario.expect.stdin.is_empty() {
        return None;
    }
    let value = Json::parse(invocation.get(), Dialect::Strict).ok()?;
    let invocation = Invocation::read(&value, Reading::Lenient).ok()?;
    let transcripts = Transcripts {
        session: scenario.transcript_path.clone().unwrap_or_default(),
        agent: scenario.agent_transcript_path.clone(),
    };
    stdin(&invocation, &transcripts).ok()
}

/// The first line with something in it, or why there is none.
fn first_line(
    stream: &mut UnixStream,
    deadline: Instant,
    is_stopped: &dyn Fn() -> bool,
) -> Result<String, String> {
    let (mut line, mut total) = (Vec::new(), 0);
    let mut part = [0; 16 * 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err("no answer in time".to_owned());
        }
        if is_stopped() {
            return Err("no answer before the run was stopped".to_owned());
        }
        let length = match stream.set_read_timeout(Some(left.min(LOOK))).and_then(|()| stream.read(&mut part))
        {
            Ok(length) => length,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => continue,
            // It has ended without reading what was in its way.
            Err(_) => 0,
        };
        let is_end = length == 0;
        total += length;
        let mut pieces = part.get(..length).unwrap_or_default().split_inclusive(|byte| *byte == b'\n');
        while let Some(piece) = pieces.next().or(is_end.then_some(&[])) {
            line.extend_from_slice(piece);
            if is_end || piece.ends_with(b"\n") {
                match line.trim_ascii() {
                    [] if is_end => return Err("the engine ended without an answer".to_owned()),
                    [] => line.clear(),
                    _ => {
                        return String::from_utf8(line)
                            .map_err(|_| "the engine's line is not UTF-8".to_owned());
                    }
                }
            }
        }
        if total > MAX_ANSWER {
            return Err(format!("the engine wrote more than {MAX_ANSWER} bytes without an answer"));
        }
    }
}

/// Waits a moment for its end, and kills what is left of its group; how it ended, if that was worth telling.
fn end(mut child: Child) -> String {
    let deadline = Instant::now() + Duration::from_secs(END_SECONDS);
    let mut status = child.try_wait().ok().flatten();
    while status.is_none() && Instant::now() < deadline {
        thread::sleep(PAUSE);
        status = child.try_wait().ok().flatten();
    }
    if let Some(group) = i32::try_from(child.id()).ok().map(Pid::from_raw) {
        // Nobody may be left of it.
        let _ = killpg(group, Signal::SIGKILL);
    }
    let ended = status.or_else(|| child.wait().ok());
    ended.filter(|status| !status.success()).map(|status| format!(" ({status})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn line_of(bytes: &[u8]) -> Result<String, String> {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(bytes).unwrap();
        drop(theirs);
        first_line(&mut ours, Instant::now() + Duration::from_secs(10), &|| false)
    }

    #[test]
    fn the_first_line_with_something_in_it_is_the_answer() {
        assert_eq!(line_of(b"\n \r\n{}\n[]\n"), Ok("{}\n".to_owned()));
        assert_eq!(line_of(b"{}"), Ok("{}".to_owned()));
        for nothing in [&b""[..], b"\n\n", b" "] {
            assert_eq!(line_of(nothing), Err("the engine ended without an answer".to_owned()));
        }
        assert_eq!(line_of(b"\xff\n"), Err("the engine's line is not UTF-8".to_owned()));
    }
}
