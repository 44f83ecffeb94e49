//! `hooksctl hook`: what agents call as their hook. One event in, one answer in the agent's own words out.
//!
//! Guarantees: stdout is the answer and nothing else; whatever goes wrong (no event, no daemon, a late or bad answer, a
//! fault of ours) is answered as `--fail` says, in the agent's words; the whole takes less than the agent waits. The
//! way here knows no argument parser, runtime or expression: starting is all that a hook mostly costs.

mod ask;
mod command_line;
mod options;
mod stdin;

use std::ffi::OsString;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hooksd_dialects::{Answer, Dialect, Given, Occasion, Surroundings, answer, read, sniff};
use hooksd_protocol::event::EventName;

use stdin::Input;

pub(crate) use command_line::{HookOption, OPTIONS, RawOptions};
pub(crate) use options::Options;

/// Between our answer and the end of the agent's patience. Milliseconds. An agent counts from before it has started
/// the process, and some read what is printed only after the process has ended.
const MARGIN_MS: u64 = 500;

/// The least a bridge takes, whatever is left of the agent's patience. Milliseconds.
const LEAST_MS: u64 = 200;

/// How long before its own answer the bridge wants the daemon's: handlers that are late are then cut by the daemon,
/// and what the others have said still counts. Milliseconds.
const DAEMON_MARGIN_MS: u64 = 100;

/// The exit status of a wrong command line where failures are open: no agent but one takes it for a block.
const WRONG: u8 = 1;

/// The same where they are closed: every agent takes it for a block.
const WRONG_CLOSED: u8 = 2;

/// Runs the command with its arguments, the word `hook` left out. `None` when the full parser has to say something.
pub(crate) fn run(arguments: &[OsString]) -> Option<ExitCode> {
    let began = Instant::now();
    let read = command_line::read(arguments);
    match read.and_then(|raw| raw.map(Options::from_raw).transpose()) {
        Ok(Some(options)) => Some(run_with(&options, began)),
        Ok(None) => None,
        Err(wrong) => {
            let closed = arguments.iter().any(|word| word == "closed" || word == "--fail=closed");
            let _ = writeln!(std::io::stderr(), "hooksctl hook: {wrong}\n{}", command_line::usage());
            Some(ExitCode::from(if closed { WRONG_CLOSED } else { WRONG }))
        }
    }
}

/// Runs the command with its options.
pub(crate) fn run_with(options: &Options, began: Instant) -> ExitCode {
    // A fault of ours must not print anything that an agent takes for an answer.
    std::panic::set_hook(Box::new(|_| {}));
    let input = stdin::read(began, options);
    let dialect = options.dialect.unwrap_or_else(|| sniff(&input.bytes, &variable));
    let said = catch_unwind(AssertUnwindSafe(|| exchange(options, dialect, &input, began)))
        .unwrap_or_else(|_| failure(options, dialect, &input, "hooksctl has a fault; please report it"));
    print(&said);
    ExitCode::from(said.status)
}

/// The answer when there is nothing to ask with or nobody to ask.
fn failure(options: &Options, dialect: &'static Dialect, input: &Input, why: &str) -> Answer {
    let occasion = match read(dialect, &input.bytes, &surroundings(options, "/")) {
        Ok(request) => Occasion::from(&request),
        Err(trouble) => Occasion::from(&trouble),
    };
    answer(dialect, &occasion, Given::Failure(why), options.failing)
}

fn exchange(options: &Options, dialect: &'static Dialect, input: &Input, began: Instant) -> Answer {
    if let Some(why) = &input.trouble {
        return failure(options, dialect, input, why);
    }
    let folder = std::env::current_dir().ok().and_then(|folder| folder.into_os_string().into_string().ok());
    let around = surroundings(options, folder.as_deref().unwrap_or("/"));
    let request = match read(dialect, &input.bytes, &around) {
        Ok(request) => request,
        Err(trouble) => return failure(options, dialect, input, &trouble.message),
    };
    let occasion = Occasion::from(&request);
    if request.skip.is_some() {
        return answer(dialect, &occasion, Given::Nothing, options.failing);
    }
    let until = began + budget(options, dialect, request.event);
    let asked = ask::ask(options, dialect, &request, until);
    let mut said = match &asked {
        Ok(Some(result)) => answer(dialect, &occasion, Given::Decision(&result.decision), options.failing),
        Ok(None) => answer(dialect, &occasion, Given::Nothing, options.failing),
        Err(why) => answer(dialect, &occasion, Given::Failure(why), options.failing),
    };
    said.notes.extend(request.notes.iter().cloned());
    said
}

fn surroundings<'a>(options: &'a Options, folder: &'a str) -> Surroundings<'a> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Surroundings { event: options.event.as_deref(), variable: &variable, folder, now, mode: options.mode }
}

/// How long all of it may take.
fn budget(options: &Options, dialect: &Dialect, event: Option<EventName>) -> Duration {
    let patience = match event {
        Some(EventName::SessionEnd) => dialect.patience_at_end_ms,
        _ => dialect.patience_ms,
    };
    let own = patience.saturating_sub(MARGIN_MS).max(LEAST_MS);
    options.deadline.unwrap_or(Duration::from_millis(own))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Nobody is told when it fails: whoever should read it has gone.
fn print(said: &Answer) {
    if !said.stderr.is_empty() {
        let _ = std::io::stderr().write_all(said.stderr.as_bytes());
    }
    if !said.stdout.is_empty() {
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(said.stdout.as_bytes()).and_then(|()| stdout.flush());
    }
}
