//! `hooksctl conformance`: how well a hook engine does what hooks rely on.

use std::process::ExitCode;
use std::time::Duration;

use super::socket;
use crate::arguments::{Arguments, Conformance};
use crate::conformance::{Engine, How, Stop, Suite, Tally, describe, export, run as run_all};
use crate::failure::Failure;
use crate::input::absolute;
use crate::print::{Printer, safe};

pub(crate) fn run(
    arguments: &Arguments,
    wanted: &Conformance,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    if let Some(folder) = &wanted.export {
        let written = export(&absolute(Some(folder))?)?;
        return printer.result(&written, |lines| {
            lines.extend(written.iter().map(|path| safe(&path.display().to_string())));
        });
    }
    let mut suite = match &wanted.suite {
        Some(folder) => Suite::of(&absolute(Some(folder))?)?,
        None => Suite::ours()?,
    };
    suite.only(&wanted.areas, wanted.only.as_deref())?;
    let (engine, name) = match (&wanted.agent_command, &arguments.socket) {
        (Some(_), Some(_)) => {
            return Err(Failure::Input("--agent-command and --socket name two engines; give one".to_owned()));
        }
        (Some(command), None) => (Engine::Command(command.clone()), command.clone()),
        (None, Some(_)) => {
            let path = socket(arguments)?;
            let name = path.display().to_string();
            (Engine::Daemon(path), name)
        }
        (None, None) => (Engine::OwnDaemons, "hooksd".to_owned()),
    };
    let how = How {
        jobs: usize::from(wanted.jobs),
        limit: Duration::from_secs(wanted.timeout),
        is_verbose: wanted.verbose,
        stop: Stop::listen()?,
    };
    let outcomes = run_all(&engine, &suite.scenarios, &how)?;
    let tally = Tally::new(name, &suite.scenarios, &outcomes);
    printer.result(&tally, |lines| describe(&tally, wanted.verbose, lines))?;
    Ok(ExitCode::from(u8::from(!tally.is_clean())))
}
