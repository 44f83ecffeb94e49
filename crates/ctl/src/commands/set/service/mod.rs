//! `hooksctl service`: the daemon as a service of the user's own service manager.
//!
//! Guarantees: nothing outside the user's own folders is written; files appear whole or not at all; a daemon that runs
//! already is stopped before the service manager takes the socket, so that it is never taken from under one.

mod files;
mod manager;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hooksd_client::blocking::Client;
use serde::Serialize;

use crate::arguments::{Arguments, Service, ServiceAction, ServiceManager};
use crate::connect::socket;
use crate::daemon_process::stop;
use crate::failure::Failure;
use crate::print::{Printer, safe};
use files::{ServiceFile, current, remove, write};
use manager::Manager;

/// How long a daemon that runs already may take to end. Seconds: its drain (10 s), then it kills and cleans up.
const END_SECONDS: u64 = 20;

/// What was done, or would be.
#[derive(Default, Serialize)]
struct Report {
    /// Whether this only says what would be done.
    dry_run: bool,
    /// The files.
    files: Vec<FileReport>,
    /// Commands that were run, or would be.
    ran: Vec<String>,
    /// Commands that are left to do, because no service manager of the user's runs here.
    to_run: Vec<String>,
    /// What the service manager says of each unit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    states: Vec<String>,
}

#[derive(Serialize)]
struct FileReport {
    path: String,
    /// `written`, `unchanged`, `removed`, `absent`, `current` or `differs`.
    state: &'static str,
    /// What would be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

pub(crate) fn run(
    arguments: &Arguments,
    service: &Service,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let manager = Manager::new(service.manager)?;
    let mut report = Report { dry_run: service.dry_run, ..Report::default() };
    match service.action {
        ServiceAction::Install => {
            install(&manager.wanted(&socket(arguments)?)?, &manager, arguments, &mut report)?;
        }
        ServiceAction::Uninstall => uninstall(&manager, &mut report)?,
        ServiceAction::Status => {
            for wanted in manager.wanted(&socket(arguments)?)? {
                report.file(&wanted.path, current(&wanted), None);
            }
            report.states = manager.states();
        }
    }
    printer.result(&report, |lines| report.describe(manager.runs(), lines))
}

/// The unit files and how each is: `absent`, `current` or `differs`.
pub(crate) fn unit_states(kind: ServiceManager) -> Result<Vec<(PathBuf, &'static str)>, Failure> {
    let manager = Manager::new(kind)?;
    let wanted = manager.wanted(&hooksd_client::default_socket()?)?;
    Ok(wanted.into_iter().map(|wanted| (wanted.path.clone(), current(&wanted))).collect())
}

fn install(
    wanted: &[ServiceFile],
    manager: &Manager,
    arguments: &Arguments,
    report: &mut Report,
) -> Result<(), Failure> {
    for wanted in wanted {
        if report.dry_run {
            report.file(&wanted.path, "written", Some(wanted.content.clone()));
        } else {
            report.file(&wanted.path, write(wanted)?, None);
        }
    }
    if !report.dry_run {
        manager.prepare(&socket(arguments)?)?;
        if manager.runs() {
            make_way(arguments)?;
        }
    }
    report.run(manager, manager.switch_on())
}

fn uninstall(manager: &Manager, report: &mut Report) -> Result<(), Failure> {
    report.run(manager, manager.switch_off())?;
    for path in manager.paths() {
        let state = match (report.dry_run, path.exists()) {
            (_, false) => "absent",
            (true, true) => "removed",
            (false, true) => remove(&path)?,
        };
        report.file(&path, state, None);
    }
    report.run(manager, manager.forget())
}

/// Has a daemon that runs already end: the service manager would take the socket from under it. One that the service
/// manager itself has started comes back by itself.
fn make_way(arguments: &Arguments) -> Result<(), Failure> {
    let Ok(mut client) = Client::connect(&socket(arguments)?) else { return Ok(()) };
    stop(&mut client, None)?;
    if client.wait_closed(Instant::now() + Duration::from_secs(END_SECONDS)) {
        return Ok(());
    }
    Err(Failure::Service(
        "the daemon that runs was told to stop and has not; nothing was switched on".to_owned(),
    ))
}

impl Report {
    fn file(&mut self, path: &Path, state: &'static str, content: Option<String>) {
        self.files.push(FileReport { path: path.display().to_string(), state, content });
    }

    /// Runs commands, or says that they are to be run.
    fn run(&mut self, manager: &Manager, commands: Vec<Vec<String>>) -> Result<(), Failure> {
        for command in commands {
            let line = command.join(" ");
            if !manager.runs() {
                self.to_run.push(line);
                continue;
            }
            if !self.dry_run {
                manager.run(&command)?;
            }
            self.ran.push(line);
        }
        Ok(())
    }

    fn describe(&self, manager_runs: bool, lines: &mut Vec<String>) {
        let would = if self.dry_run { "would be " } else { "" };
        for file in &self.files {
            let would = if matches!(file.state, "written" | "removed") { would } else { "" };
            lines.push(format!("{}: {would}{}", safe(&file.path), file.state));
            let content = file.content.as_deref().unwrap_or_default();
            lines.extend(content.lines().map(|line| format!("    {}", safe(line)).trim_end().to_owned()));
        }
        let ran = if self.dry_run { "would run" } else { "ran" };
        lines.extend(self.ran.iter().map(|line| format!("{ran}: {}", safe(line))));
        if !self.to_run.is_empty() {
            lines.push("no service manager of yours runs here; once one does, run:".to_owned());
            lines.extend(self.to_run.iter().map(|line| format!("    {}", safe(line))));
        }
        lines.extend(self.states.iter().map(|state| safe(state)));
        if self.states.is_empty() && self.to_run.is_empty() && !manager_runs {
            lines.push("no service manager of yours runs here".to_owned());
        }
    }
}

/// The folder of a file is made when it is missing.
fn make_folder(path: &Path) -> Result<(), Failure> {
    let Some(folder) = path.parent() else { return Ok(()) };
    fs::create_dir_all(folder)
        .map_err(|error| Failure::Service(format!("cannot make {}: {error}", folder.display())))
}
