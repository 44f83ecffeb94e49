//! `explain --run`: the handlers, run for real, and how the decision came about.

use std::path::Path;
use std::time::Duration;

use hooksd_client::CALL_SECONDS;
use hooksd_protocol::decision::Behavior;
use hooksd_protocol::methods::{
    DaemonStatus, HandlerReport, HandlerStatus, HookInvoke, InvokeOptions, InvokeResult, JournalPage,
    JournalQuery, NoParams, SessionRef,
};
use serde::Serialize;

use crate::arguments::{Arguments, Explain};
use crate::commands::run::invoke;
use crate::connect::connect_or_start;
use crate::failure::Failure;
use crate::input::EventInput;
use crate::print::{Printer, safe};

/// What was run, and what came of it.
#[derive(Serialize)]
pub(super) struct RunReport {
    /// One sentence a step, in the order in which the decision was made.
    steps: Vec<String>,
    /// The answer, as the agent would get it.
    result: InvokeResult,
}

/// Runs the event in a session of its own.
pub(super) fn run(
    arguments: &Arguments,
    wanted: &Explain,
    event: EventInput,
    cwd: &Path,
    config_dir: &Path,
    printer: &mut Printer,
) -> Result<RunReport, Failure> {
    let plugins = Some(wanted.plugins.wanted());
    let session = invoke::inline(&event, cwd.display().to_string(), wanted.mode, None, plugins);
    let EventInput { invocation, payload, .. } = event;
    let asked = HookInvoke {
        session: SessionRef::Inline(Box::new(session)),
        invocation,
        payload,
        options: InvokeOptions::default(),
    };
    let mut client = connect_or_start(arguments, printer)?.with_timeout(Duration::from_secs(CALL_SECONDS));
    let status: DaemonStatus = client.call("daemon/status", &NoParams {})?;
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if real(Path::new(&status.config_dir)) != real(config_dir) {
        printer.remark(&format!(
            "the daemon reads the hooks.json of {}, what is explained is that of {}",
            status.config_dir,
            config_dir.display()
        ));
    }
    let result = client.invoke(&asked)?;
    // The journal alone says who has decided; without one the steps say the rest.
    let asked = JournalQuery {
        invocation_id: Some(result.invocation_id.to_string()),
        limit: Some(1),
        ..JournalQuery::default()
    };
    let page: JournalPage = client.call("journal/query", &asked).unwrap_or_default();
    let winner = page.records.into_iter().next().and_then(|record| record.winner);
    Ok(RunReport { steps: steps(&result, winner.as_deref()), result })
}

impl RunReport {
    pub(super) fn describe(&self, lines: &mut Vec<String>) {
        lines.push("run for real, outside any session:".to_owned());
        let steps = self.steps.iter().enumerate();
        lines.extend(steps.map(|(index, step)| format!("  {}. {}", index + 1, safe(step))));
        invoke::describe(&self.result, lines);
    }
}

fn steps(result: &InvokeResult, winner: Option<&str>) -> Vec<String> {
    let mut steps: Vec<String> = result.handlers.iter().map(of_handler).collect();
    if result.handlers.is_empty() {
        steps.push("no handler is for the event, so the agent goes on as if there were none".to_owned());
    }
    let decision = &result.decision;
    let by = winner.map(|winner| format!(" It is that of {winner}.")).unwrap_or_default();
    match decision.permission().map(|permission| permission.behavior) {
        Some(Behavior::Deny) => {
            steps.push(format!("a deny outweighs every ask and allow, whoever came first.{by}"))
        }
        Some(Behavior::Ask) => steps.push(format!("nobody denied; an ask outweighs every allow.{by}")),
        Some(Behavior::Allow) => steps.push(format!("nobody denied or asked; one allow is enough.{by}")),
        Some(Behavior::None) => {
            steps.push("nobody said anything about permission: the agent decides".to_owned())
        }
        None => {}
    }
    if !decision.continue_processing {
        steps.push(format!("a handler said \"continue\": false, so the agent stops.{by}"));
    }
    steps
}

fn of_handler(report: &HandlerReport) -> String {
    let ended = match (report.exit_code, report.signal) {
        (Some(status), _) => format!("exited {status}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "did not end by itself".to_owned(),
    };
    let means = match (report.status, report.exit_code) {
        (HandlerStatus::Ok, _) if report.stdout_bytes == 0 => "it has nothing to say",
        (HandlerStatus::Ok, _) => "its output counts",
        (HandlerStatus::Blocked, Some(2)) => "exit 2 blocks, stderr is the reason",
        (HandlerStatus::Blocked, _) => "it blocks by what it printed, or because its failure does",
        (HandlerStatus::Failed, Some(1)) => "a failure, which does not block: exit 2 does",
        (HandlerStatus::Failed, _) => "a failure, which does not block unless onFailure is \"block\"",
        (HandlerStatus::Timeout, _) => "it took too long and does not count",
        (HandlerStatus::QueuedOut, _) => "there was no place for it in time",
        (HandlerStatus::Cancelled, _) => "it was cancelled",
        (HandlerStatus::Skipped, _) => "it did not run",
    };
    format!("{} {ended}: {means}", report.id)
}
