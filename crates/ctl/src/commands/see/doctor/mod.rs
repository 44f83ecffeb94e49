//! `hooksctl doctor`: what keeps hooks from running, or will one day, each with a fix. Starts nothing, changes nothing.

mod checks;

use std::process::ExitCode;

use anstyle::AnsiColor;
use hooksd_client::ClientError;
use hooksd_client::blocking::Client;
use hooksd_protocol::methods::{DaemonStatus, NoParams};
use serde::Serialize;
use serde_json::Value;

use crate::arguments::{Arguments, Doctor};
use crate::connect::{patient, socket};
use crate::daemon_info::DaemonInfo;
use crate::failure::Failure;
use crate::input::absolute;
use crate::print::{Printer, many, paint, safe};

/// Exit status when something is wrong.
const SOMETHING_IS_WRONG: u8 = 1;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// What was looked at: `socket`, `daemon`, `version`, `changes`, `service`, `path`, `limits`, `journal`, `trust`,
    /// `hooks`.
    area: &'static str,
    /// Whether it is as it should be.
    ok: bool,
    /// How it is.
    message: String,
    /// What to do, when it is not as it should be.
    fix: Option<String>,
}

impl Finding {
    fn good(area: &'static str, message: impl Into<String>) -> Finding {
        Finding { area, ok: true, message: message.into(), fix: None }
    }

    fn bad(area: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding { area, ok: false, message: message.into(), fix: Some(fix.into()) }
    }
}

#[derive(Serialize)]
struct Report {
    ok: bool,
    findings: Vec<Finding>,
}

pub(crate) fn run(
    arguments: &Arguments,
    wanted: &Doctor,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let config_dir = wanted.config_dir.path()?;
    let socket = socket(arguments)?;
    let mut findings = vec![checks::socket(&socket)];
    let status = match Client::connect(&socket).map(patient) {
        Ok(mut client) => {
            let (more, status) = met(&mut client)?;
            findings.extend(more);
            status
        }
        Err(_) => {
            findings.push(Finding::good("daemon", "none runs; the first event starts one"));
            None
        }
    };
    if let Some(status) = &status {
        findings.push(checks::changes(&status.changes));
        findings.push(checks::path_of(status.pid, status.sessions_without_environment));
        findings.push(checks::same_folder(&status.config_dir, &config_dir));
    }
    findings.extend(checks::service());
    findings.push(checks::descriptors(status.as_ref().map(|status| (status.pid, status.max_handlers))));
    findings.push(checks::journal(&config_dir, status.as_ref().map(|status| &status.journal)));
    findings.push(checks::trust(&config_dir));
    findings.extend(checks::hooks(&config_dir, &absolute(None)?));
    let report = Report { ok: findings.iter().all(|finding| finding.ok), findings };
    printer.result(&report, |lines| {
        for finding in &report.findings {
            let word = match finding.ok {
                true => paint(AnsiColor::Green, "ok   "),
                false => paint(AnsiColor::Red, "wrong"),
            };
            lines.push(format!("{word} {:<8} {}", finding.area, safe(&finding.message)));
            lines.extend(finding.fix.as_deref().map(|fix| format!("               fix: {}", safe(fix))));
        }
    })?;
    Ok(if report.ok { ExitCode::SUCCESS } else { ExitCode::from(SOMETHING_IS_WRONG) })
}

/// Who answers, and how it is.
fn met(client: &mut Client) -> Result<(Vec<Finding>, Option<DaemonStatus>), Failure> {
    let info = DaemonInfo::greet(client)?;
    let mut findings = vec![match info.difference() {
        None => Finding::good("version", format!("{}, as this hooksctl", info.name())),
        Some(difference) => Finding::bad("version", difference, "hooksctl restart"),
    }];
    let raw = match client.call_raw("daemon/status", &NoParams {}) {
        Ok(raw) => raw,
        Err(ClientError::Refused(_) | ClientError::BadAnswer(_)) => String::new(),
        Err(error) => return Err(error.into()),
    };
    let value: Value = serde_json::from_str(&raw).unwrap_or_default();
    let status = serde_json::from_value::<DaemonStatus>(value).ok();
    findings.push(match &status {
        Some(status) => Finding::good(
            "daemon",
            format!(
                "process {}, up for {} s, {}",
                status.pid,
                status.uptime_seconds,
                many(status.sessions, "session")
            ),
        ),
        None => Finding::bad("daemon", "it does not say how it is", "hooksctl restart"),
    });
    Ok((findings, status))
}
