//! `hooksctl`: the commands people type to drive hooksd.
//!
//! Exit status: 0 done; 1 `check` or `doctor` found something, or `replay` or `conformance` a difference; 2 the command line or an input is
//! wrong, or `hooks-conformance` is not installed; 3 no daemon answers; 4 the daemon refused, is of another protocol or its answer cannot be read; 5 trust was not changed; 6 an agent's
//! configuration was not changed; 7 the service manager refused; 128 and the signal's number when one has stopped
//! `conformance`. Output is plain when it is not a terminal; `--json` is for machines and holds exactly one JSON value, and one a line from `tail`.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod connect;
mod daemon_info;
mod daemon_process;
mod failure;
mod hook;
mod input;
mod journal;
mod lint;
mod print;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::commands::agents::install::Direction;
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
        Command::Hook(hook) => commands::run::hook::run(&arguments, hook),
        Command::Invoke(invoke) => commands::run::invoke::run(&arguments, invoke, &mut printer),
        Command::Status => commands::see::status::run(&arguments, &mut printer),
        Command::Check(check) => commands::see::check::run(check, &mut printer),
        Command::Explain(explain) => commands::see::explain::run(&arguments, explain, &mut printer),
        Command::Log(log) => commands::see::log::run(log, &mut printer),
        Command::Timeline(timeline) => commands::see::timeline::run(timeline, &mut printer),
        Command::Replay(replay) => commands::run::replay::run(&arguments, replay, &mut printer),
        Command::Report(report) => commands::see::report::run(report, &mut printer),
        Command::Top(top) => commands::see::top::run(&arguments, top, &mut printer),
        Command::Stats(stats) => commands::see::stats::run(&arguments, stats, &mut printer),
        Command::Tail(tail) => commands::see::tail::run(&arguments, tail, &mut printer),
        Command::Conformance(_) => commands::run::conformance::run(&words),
        Command::Show(show) => commands::see::show::run(&arguments, show, &mut printer),
        Command::Trust(trust) => commands::set::trust::run(trust, &mut printer),
        Command::Install(install) => commands::agents::install::run(install, Direction::In, &mut printer),
        Command::Uninstall(install) => commands::agents::install::run(install, Direction::Out, &mut printer),
        Command::Agents => commands::agents::list::run(&mut printer),
        Command::Init(init) => commands::set::init::run(init, &mut printer),
        Command::Doctor(doctor) => commands::see::doctor::run(&arguments, doctor, &mut printer),
        Command::Sessions => commands::see::sessions::run(&arguments, &mut printer),
        Command::Reload => commands::set::reload::run(&arguments, &mut printer),
        Command::Kill(kill) => commands::run::kill::run(&arguments, kill, &mut printer),
        Command::Completions(completions) => commands::pages::completions(completions, &mut printer),
        Command::Man(man) => commands::pages::man(man, &mut printer),
        Command::Restart(restart) => commands::set::restart::run(&arguments, restart, &mut printer),
        Command::Service(service) => commands::set::service::run(&arguments, service, &mut printer),
        Command::Shutdown(shutdown) => commands::set::shutdown::run(&arguments, shutdown, &mut printer),
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
