//! `hooksctl install` and `hooksctl uninstall`: our entries into agents' configurations and out again. One agent's
//! trouble does not keep another's from being done.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use similar::TextDiff;

use super::disk;
use super::known::{ALL, Agent, BaseFolders, Scope, named};
use super::plan::{self, Change, Plan};
use crate::arguments::Install;
use crate::failure::Failure;
use crate::print::{Printer, safe};

/// Lines around a difference that are shown with it.
const DIFF_CONTEXT: usize = 3;

/// What is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
}

#[derive(Debug, Serialize)]
struct Report {
    dry_run: bool,
    agents: Vec<AgentReport>,
}

#[derive(Debug, Serialize)]
struct AgentReport {
    agent: &'static str,
    scope: Scope,
    files: Vec<FileReport>,
    notes: Vec<String>,
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct FileReport {
    path: PathBuf,
    /// `created`, `updated`, `removed` or `unchanged`; in a dry run what it would be.
    action: &'static str,
    backup: Option<PathBuf>,
    diff: String,
}

/// What was found around us: the folders, and the path of this program.
pub(crate) struct InstallContext {
    home: PathBuf,
    project: PathBuf,
    /// This program, as it is to be called.
    pub(crate) program: String,
}

impl InstallContext {
    /// Looks around.
    ///
    /// # Errors
    /// When there is no home or folder, or no path that could be written into a configuration.
    pub(crate) fn find() -> Result<InstallContext, Failure> {
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let home = home.ok_or_else(|| Failure::Input("HOME is not set to an absolute path".to_owned()))?;
        let folder = std::env::current_dir()
            .map_err(|error| Failure::Input(format!("the current folder cannot be found: {error}")))?;
        let project = hooksd_config::project::root(&folder).unwrap_or(folder);
        let program = std::env::current_exe()
            .map_err(|error| Failure::Input(format!("the path of this program cannot be found: {error}")))?;
        let program = program.to_str().filter(|_| program.is_file()).map(str::to_owned);
        let program = program.ok_or_else(|| {
            Failure::Input(
                "this program has been moved or its path is not UTF-8: start it from where it is".to_owned(),
            )
        })?;
        Ok(InstallContext { home, project, program })
    }

    pub(crate) fn bases(&self) -> BaseFolders<'_> {
        BaseFolders { home: &self.home, project: &self.project, variable: &|name| std::env::var_os(name) }
    }
}

pub(crate) fn run(
    install: &Install,
    direction: Direction,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let agents = chosen(&install.agents)?;
    let here = InstallContext::find()?;
    let scope = if install.project { Scope::Project } else { Scope::User };
    let mut report = Report { dry_run: install.dry_run, agents: Vec::new() };
    for agent in agents {
        let plan = match direction {
            Direction::In => plan::install(agent, scope, &here.bases(), &here.program),
            Direction::Out => plan::uninstall(agent, scope, &here.bases()),
        };
        let mut done =
            AgentReport { agent: agent.name, scope, files: Vec::new(), notes: Vec::new(), error: None };
        match plan {
            Ok(plan) => carry_out(&plan, install.dry_run, scope, &mut done, printer)?,
            Err(error) => done.error = Some(error),
        }
        report.agents.push(done);
    }
    let errors: Vec<String> = report
        .agents
        .iter()
        .filter_map(|done| done.error.as_ref().map(|error| format!("{}: {error}", done.agent)))
        .collect();
    printer.result(&report, |_| {})?;
    if errors.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::NotInstalled(errors.join("\n")))
}

/// The agents of these names.
fn chosen(names: &[String]) -> Result<Vec<&'static Agent>, Failure> {
    let mut agents: Vec<&'static Agent> = Vec::new();
    for name in names {
        let of_name = named(name);
        if of_name.is_empty() {
            let known: Vec<&str> = ALL.iter().map(|agent| agent.name).collect();
            let message = format!("there is no agent {name:?}; known are {}", known.join(", "));
            return Err(Failure::Input(message));
        }
        agents.extend(of_name);
    }
    agents.dedup_by_key(|agent| agent.name);
    Ok(agents)
}

/// Shows what changes, then changes it, file by file; the first that cannot be changed ends it.
fn carry_out(
    plan: &Plan,
    dry_run: bool,
    scope: Scope,
    done: &mut AgentReport,
    printer: &mut Printer,
) -> Result<(), Failure> {
    for change in &plan.changes {
        let mut file = FileReport {
            path: change.path.clone(),
            action: action(change),
            backup: None,
            diff: difference(change),
        };
        let path = safe(&change.path.display().to_string());
        let verb = if dry_run && file.action != "unchanged" { "would be " } else { "" };
        let mut lines: Vec<String> = file.diff.lines().map(safe).collect();
        lines.insert(0, format!("{}: {path} {verb}{}", done.agent, file.action));
        printer.lines(&lines)?;
        if !dry_run && file.action != "unchanged" {
            match make(change, scope) {
                Ok(backup) => file.backup = backup,
                Err(error) => {
                    done.error = Some(error);
                    return Ok(());
                }
            }
            if let Some(backup) = &file.backup {
                printer.lines(&[format!(
                    "    what it held is kept in {}",
                    safe(&backup.display().to_string())
                )])?;
            }
        }
        done.files.push(file);
    }
    if let Some(folder) = plan.folder.as_ref().filter(|_| !dry_run) {
        disk::remove_empty(folder);
    }
    done.notes.clone_from(&plan.notes);
    let nothing = done.files.is_empty() && done.notes.is_empty();
    let mut lines: Vec<String> = plan.notes.iter().map(|note| format!("    note: {}", safe(note))).collect();
    if nothing {
        lines.push(format!("{}: nothing of ours is there", done.agent));
    }
    printer.lines(&lines)
}

fn make(change: &Change, scope: Scope) -> Result<Option<PathBuf>, String> {
    let backup = match &change.before {
        // A file that goes as a whole is ours as a whole.
        Some(text) if change.after.is_some() => Some(disk::backup(&change.path, text)?),
        _ => None,
    };
    let mode = if scope == Scope::Project { disk::SHARED } else { disk::PRIVATE };
    match (&change.before, &change.after) {
        (before, Some(after)) => disk::write(&change.path, before.as_deref(), after, mode)?,
        (Some(before), None) => disk::remove(&change.path, before)?,
        (None, None) => {}
    }
    Ok(backup)
}

fn action(change: &Change) -> &'static str {
    match (&change.before, &change.after) {
        (before, after) if before == after => "unchanged",
        (None, _) => "created",
        (_, None) => "removed",
        _ => "updated",
    }
}

fn difference(change: &Change) -> String {
    if change.before == change.after {
        return String::new();
    }
    let (before, after) =
        (change.before.as_deref().unwrap_or_default(), change.after.as_deref().unwrap_or_default());
    let path = change.path.display().to_string();
    let name = |there: bool| if there { path.as_str() } else { "/dev/null" };
    let diff = TextDiff::from_lines(before, after);
    let mut unified = diff.unified_diff();
    unified.context_radius(DIFF_CONTEXT).header(name(change.before.is_some()), name(change.after.is_some()));
    unified.to_string()
}
