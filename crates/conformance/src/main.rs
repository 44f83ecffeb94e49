//! `hooks-conformance`: scenarios that show from outside what a hook engine does, and engines that are asked.
//!
//! Guarantees: a scenario runs in folders of its own; an engine that hangs, crashes, or writes nonsense or without end
//! costs its scenario and no other; nothing of a scenario is left on the disk, also after a signal. docs/conformance.md
//! is the contract.
//!
//! Exit status: 0 nothing failed; 1 something did; 2 wrong arguments or a wrong suite; 3 no daemon answers; 4 the daemon
//! refused, or its answer cannot be read; 128 and the signal's number when one has stopped it.
#![forbid(unsafe_code)]

mod arguments;
mod engine;
mod failure;
mod judge;
mod layout;
mod record;
mod run;
mod scenario;
mod script;
mod stop;
mod suite;
mod tally;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anstyle::AnsiColor;
use clap::Parser;
use hooksd_protocol::socket::check_length;
use hooksd_terminal::{paint, safe, safe_json};
use serde::Serialize;

use crate::arguments::Conformance;
use crate::engine::{Engine, How};
use crate::failure::Failure;
use crate::stop::Stop;
use crate::suite::Suite;
use crate::tally::Tally;

/// Measure how well a hook engine does what hooks.json files and hooks rely on.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit status: 0 nothing failed, 1 something did, 2 wrong command line or suite, 3 no daemon answers, \
                  4 the daemon refused, 128 + N signal N has stopped it."
)]
struct Arguments {
    /// Measure the daemon at this socket, whose config dir has to be empty
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Print one JSON value for machines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    wanted: Conformance,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match measure(&arguments) {
        Ok(code) => code,
        // Whoever has read enough, like `head`, need not be told so.
        Err(Failure::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            let label = paint(AnsiColor::Red, "error:");
            // Nobody is left to be told when standard error is closed.
            let _ = writeln!(anstream::stderr(), "{label} {}", safe(&failure.to_string()));
            ExitCode::from(failure.exit_status())
        }
    }
}

fn measure(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Arguments { json, wanted, .. } = arguments;
    if let Some(folder) = &wanted.export {
        let written = suite::export(&absolute(folder)?)?;
        print(*json, &written, |lines| {
            lines.extend(written.iter().map(|path| safe(&path.display().to_string())));
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut suite = match &wanted.suite {
        Some(folder) => Suite::of(&absolute(folder)?)?,
        None => Suite::ours()?,
    };
    suite.only(&wanted.areas, wanted.only.as_deref())?;
    let (engine, name) = engine(arguments)?;
    let how = How {
        jobs: usize::from(wanted.jobs),
        limit: Duration::from_secs(wanted.timeout),
        is_verbose: wanted.verbose,
        stop: Stop::listen()?,
    };
    let outcomes = run::run(&engine, &suite.scenarios, &how)?;
    let tally = Tally::new(name, &suite.scenarios, &outcomes);
    print(*json, &tally, |lines| tally::describe(&tally, wanted.verbose, lines))?;
    Ok(ExitCode::from(u8::from(!tally.is_clean())))
}

/// What is measured, and its name in the result.
fn engine(arguments: &Arguments) -> Result<(Engine, String), Failure> {
    Ok(match (&arguments.wanted.agent_command, &arguments.socket) {
        (Some(_), Some(_)) => {
            return Err(Failure::Input("--agent-command and --socket name two engines; give one".to_owned()));
        }
        (Some(command), None) => (Engine::Command(command.clone()), command.clone()),
        (None, Some(socket)) => {
            let path = absolute(socket)?;
            check_length(&path)?;
            let name = path.display().to_string();
            (Engine::Daemon(path), name)
        }
        (None, None) => (Engine::OwnDaemons, "hooksd".to_owned()),
    })
}

/// Prints a result: as JSON, or as the text that `text` makes.
fn print<T: Serialize>(
    is_json: bool,
    result: &T,
    text: impl FnOnce(&mut Vec<String>),
) -> Result<(), Failure> {
    let mut lines = Vec::new();
    if is_json {
        lines.push(safe_json(&serde_json::to_string(result).map_err(|error| Failure::Output(error.into()))?));
    } else {
        text(&mut lines);
    }
    let mut out = anstream::stdout();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// A path made absolute from the current folder.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path)
        .map(|path| path.components().collect())
        .map_err(|error| Failure::Input(format!("{} cannot be resolved: {error}", path.display())))
}
