//! `hooksctl`: the commands people type to drive hooksd.
//!
//! Exit status: 0 done; 1 `check` or `doctor` found something, or `replay` or `conformance` a difference; 2 the command line or an input is
//! wrong, or `hooks-conformance` is not installed; 3 no daemon answers; 4 the daemon refused, is of another protocol or its answer cannot be read; 5 trust was not changed; 6 an agent's
//! configuration was not changed; 7 the service manager refused; 128 and the signal's number when one has stopped
//! `conformance`. Output is plain when it is not a terminal; `--json` is for machines and holds exactly one JSON value, and one a line from `tail`.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod failure;
mod hook;
mod input;
mod install;
mod lint;
mod met;
mod print;
mod waterfall;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::commands::install::Direction;
use crate::failure::Failure;
use crate::print::Printer;

fn main() -> ExitCode {
    // What agents wait for takes the short way.
    let words: Vec<OsString> = std::env::args_os().collect();
    if let [_, first, rest @ ..] = words.as_slice()
        && first == "hook"
        && let Some(code) = hook::run(rest)
    {
        return code;
    }
    let arguments = Arguments::parse_from(&words);
    let mut printer = Printer::new(arguments.json);
    let done = match &arguments.command {
        Command::Hook(hook) => commands::hook::run(&arguments, hook),
        Command::Invoke(invoke) => commands::invoke::run(&arguments, invoke, &mut printer),
        Command::Status => commands::status::run(&arguments, &mut printer),
        Command::Check(check) => commands::check::run(check, &mut printer),
        Command::Explain(explain) => commands::explain::run(&arguments, explain, &mut printer),
        Command::Log(log) => commands::log::run(log, &mut printer),
        Command::Timeline(timeline) => commands::timeline::run(timeline, &mut printer),
        Command::Replay(replay) => commands::replay::run(&arguments, replay, &mut printer),
        Command::Report(report) => commands::report::run(report, &mut printer),
        Command::Top(top) => commands::top::run(&arguments, top, &mut printer),
        Command::Stats(stats) => commands::stats::run(&arguments, stats, &mut printer),
        Command::Tail(tail) => commands::tail::run(&arguments, tail, &mut printer),
        Command::Conformance(_) => commands::conformance::run(&words),
        Command::Show(show) => commands::show::run(&arguments, show, &mut printer),
        Command::Trust(trust) => commands::trust::run(trust, &mut printer),
        Command::Install(install) => commands::install::run(install, Direction::In, &mut printer),
        Command::Uninstall(install) => commands::install::run(install, Direction::Out, &mut printer),
        Command::Agents => commands::agents::run(&mut printer),
        Command::Init(init) => commands::init::run(init, &mut printer),
        Command::Doctor(doctor) => commands::doctor::run(&arguments, doctor, &mut printer),
        Command::Sessions => commands::sessions::run(&arguments, &mut printer),
        Command::Reload => commands::reload::run(&arguments, &mut printer),
        Command::Kill(kill) => commands::kill::run(&arguments, kill, &mut printer),
        Command::Completions(completions) => commands::pages::completions(completions, &mut printer),
        Command::Man(man) => commands::pages::man(man, &mut printer),
        Command::Restart(restart) => commands::restart::run(&arguments, restart, &mut printer),
        Command::Service(service) => commands::service::run(&arguments, service, &mut printer),
        Command::Shutdown(shutdown) => commands::shutdown::run(&arguments, shutdown, &mut printer),
    };
    match done {
        Ok(code) => code,
        // Whoever has read enough, like `head`, need not be told so.
        Err(Failure::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            printer.error(&failure.to_string());
            ExitCode::from(failure.exit_status())
        }
    }
}
