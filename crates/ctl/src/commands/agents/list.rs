//! `hooksctl agents`: which agents call hooksd, from which file, and whether what they call is this program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hooksd_journal::{JournalError, last_of_agents};
use hooksd_protocol::methods::JournalRecord;
use serde::Serialize;

use super::entry::Entry;
use super::install::InstallContext;
use super::known::{ALL, Agent, Scope};
use super::{plan, versions};
use crate::arguments::config_dir;
use crate::failure::Failure;
use crate::print::{Printer, moment, safe};

#[derive(Debug, Serialize)]
struct Report {
    /// This program.
    program: String,
    agents: Vec<AgentReport>,
}

#[derive(Debug, Serialize)]
struct AgentReport {
    name: &'static str,
    /// The agent's own program; `null` when it is not in PATH.
    program: Option<PathBuf>,
    /// `null` when it cannot be seen without starting it.
    version: Option<String>,
    installed: Vec<Installation>,
    /// Its newest event in the journal; `null` when there is none.
    last_event: Option<LastEvent>,
}

#[derive(Debug, Clone, Serialize)]
struct LastEvent {
    /// RFC 3339, UTC.
    time: String,
    event: String,
    outcome: String,
    invocation_id: String,
}

#[derive(Debug, Serialize)]
struct Installation {
    scope: Scope,
    path: PathBuf,
    entries: Vec<EntryReport>,
    /// Events of the agent that an installation would add.
    missing: Vec<&'static str>,
    /// Why the file was not understood.
    problem: Option<String>,
}

#[derive(Debug, Serialize)]
struct EntryReport {
    #[serde(flatten)]
    entry: Entry,
    /// `this`: this program; `other`: another one that exists; `gone`: nothing is there.
    calls: &'static str,
}

pub(crate) fn run(printer: &mut Printer) -> Result<ExitCode, Failure> {
    let here = InstallContext::find()?;
    let last = last_events(printer);
    let agents = ALL.into_iter().map(|agent| report(agent, &here, &last)).collect();
    let report = Report { program: here.program.clone(), agents };
    printer.result(&report, |lines| text(&report, lines))
}

/// What the journal says. None, or one that cannot be read, costs nothing else.
fn last_events(printer: &mut Printer) -> BTreeMap<String, LastEvent> {
    let Ok(config_dir) = config_dir() else { return BTreeMap::new() };
    let records = match last_of_agents(&hooksd_journal::path(&config_dir)) {
        Ok(records) => records,
        Err(JournalError::Absent(_)) => BTreeMap::new(),
        Err(error) => {
            printer.remark(&error.to_string());
            BTreeMap::new()
        }
    };
    let last = |record: JournalRecord| LastEvent {
        time: record.time.to_string(),
        event: record.event,
        outcome: record.outcome.to_string(),
        invocation_id: record.invocation_id,
    };
    records.into_iter().map(|(agent, record)| (agent, last(record))).collect()
}

fn report(agent: &'static Agent, here: &InstallContext, last: &BTreeMap<String, LastEvent>) -> AgentReport {
    let seen = versions::find(agent, std::env::var_os("PATH"));
    let (program, version) = seen.map_or((None, None), |(program, version)| (Some(program), version));
    let mut installed: Vec<Installation> = Vec::new();
    for scope in Scope::BOTH {
        for path in plan::files(agent, scope, &here.bases()) {
            // In the home folder, a project's files are the user's.
            if installed.iter().any(|one| one.path == path) {
                continue;
            }
            let (entries, problem) = match plan::entries(agent, &path) {
                Ok(entries) => (entries, None),
                Err(problem) => (Vec::new(), Some(problem)),
            };
            if entries.is_empty() && problem.is_none() {
                continue;
            }
            let has = |name: &str| entries.iter().any(|entry| entry.event == name);
            let missing = agent.events.iter().map(|event| event.name).filter(|name| !has(name)).collect();
            let entries = entries
                .into_iter()
                .map(|entry| {
                    let calls = calls(&entry.program, &here.program);
                    EntryReport { entry, calls }
                })
                .collect();
            installed.push(Installation { scope, path, entries, missing, problem });
        }
    }
    // The bridge calls itself by the dialect that it speaks.
    let spoken = hooksd_dialects::dialect(agent.name).map_or(agent.name, |dialect| dialect.name);
    let last_event = last.get(spoken).cloned();
    AgentReport { name: agent.name, program, version, installed, last_event }
}

fn calls(program: &str, this: &str) -> &'static str {
    match (std::fs::canonicalize(program), std::fs::canonicalize(this)) {
        (Ok(program), Ok(this)) if program == this => "this",
        (Ok(program), _) if Path::new(&program).is_file() => "other",
        _ => "gone",
    }
}

fn text(report: &Report, lines: &mut Vec<String>) {
    for agent in &report.agents {
        let version = match (&agent.program, &agent.version) {
            (None, _) => "not in PATH".to_owned(),
            (Some(_), None) => "version not known".to_owned(),
            (Some(_), Some(version)) => safe(version),
        };
        let none = if agent.installed.is_empty() { ", not installed" } else { "" };
        lines.push(format!("{} ({version}){none}", agent.name));
        if let Some(last) = &agent.last_event {
            let time = moment(&last.time);
            lines.push(format!("    last     {} {}, {time}", safe(&last.event), safe(&last.outcome)));
        }
        for installed in &agent.installed {
            let path = safe(&installed.path.display().to_string());
            lines.push(format!("    {:<8} {path}", installed.scope.word()));
            if let Some(problem) = &installed.problem {
                lines.push(format!("        {}", safe(problem)));
                continue;
            }
            let events: Vec<&str> =
                installed.entries.iter().map(|entry| entry.entry.event.as_str()).collect();
            lines.push(format!("        {}", safe(&events.join(", "))));
            if !installed.missing.is_empty() && !agent_is_shared(agent.name) {
                lines.push(format!("        missing: {}; install again", installed.missing.join(", ")));
            }
            let mut told: Vec<&str> = Vec::new();
            for entry in installed.entries.iter().filter(|entry| entry.calls != "this") {
                if told.contains(&entry.entry.program.as_str()) {
                    continue;
                }
                told.push(&entry.entry.program);
                let program = safe(&entry.entry.program);
                lines.push(match entry.calls {
                    "gone" => format!("        calls {program}, which is not there: install again"),
                    _ => format!("        calls {program}, which is not this hooksctl"),
                });
            }
        }
    }
}

/// Whether the agent's document is the daemon's too, so that no entry belongs there.
fn agent_is_shared(name: &str) -> bool {
    ALL.iter().any(|agent| agent.name == name && agent.reads_with_us)
}
