//! `hooksctl trust [list|status|grant|revoke]`: on the files themselves, so that it works without a daemon. A daemon
//! notices at the next event.

use std::path::Path;
use std::process::ExitCode;

use hooksd_config::trust::consent;
use hooksd_protocol::methods::{TrustListed, TrustStatus};

use crate::arguments::{Grant, Trust, TrustAction};
use crate::failure::Failure;
use crate::input::absolute;
use crate::print::{Printer, diagnostic, handler_lines, legacy_lines, moment, safe};

pub(crate) fn run(wanted: &Trust, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let config_dir = wanted.config_dir.path()?;
    match &wanted.action {
        None | Some(TrustAction::List) => {
            let listed = consent::list(&config_dir);
            printer.result(&listed, |lines| describe_list(&listed, lines))?;
            usable(listed.problem.as_deref())
        }
        Some(TrustAction::Status(project)) => {
            let status = consent::status(&config_dir, &absolute(project.folder.as_deref())?)?;
            printer.result(&status, |lines| describe(&status, lines))?;
            usable(status.problem.as_deref())
        }
        Some(TrustAction::Grant(grant)) => trust(&config_dir, grant, printer),
        Some(TrustAction::Revoke(project)) => {
            let changed = consent::revoke(&config_dir, &absolute(project.folder.as_deref())?)?;
            printer.result(&changed, |lines| {
                let word = if changed.changed { "no longer trusted" } else { "was not trusted" };
                lines.push(format!("{}: {word}", safe(&changed.status.root)));
            })
        }
    }
}

fn trust(config_dir: &Path, grant: &Grant, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let folder = absolute(grant.folder.as_deref())?;
    let seen = consent::status(config_dir, &folder)?;
    let agreed = if grant.yes { seen.fingerprint.clone() } else { grant.fingerprint.clone() };
    let Some(fingerprint) = agreed else {
        printer.result(&seen, |lines| describe(&seen, lines))?;
        return Err(Failure::NotTrusted(match &seen.fingerprint {
            Some(fingerprint) => format!(
                "nothing was changed; to trust exactly this, run: hooksctl trust grant {} --fingerprint {fingerprint}",
                safe(&seen.root)
            ),
            None => {
                format!("{} is not there or cannot be read: there is nothing to trust", safe(&seen.document))
            }
        }));
    };
    let changed = consent::grant(config_dir, &folder, &fingerprint)?;
    printer.result(&changed, |lines| {
        describe(&changed.status, lines);
        lines.push(String::new());
        lines.push(format!("{}: trusted for these bytes", safe(&changed.status.root)));
    })
}

fn usable(problem: Option<&str>) -> Result<ExitCode, Failure> {
    match problem {
        Some(problem) => Err(Failure::NotTrusted(problem.to_owned())),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn describe_list(listed: &TrustListed, lines: &mut Vec<String>) {
    for project in &listed.projects {
        let bytes = match &project.fingerprint {
            Some(fingerprint) => format!("for SHA-256 {}", safe(fingerprint)),
            None => "for whatever its hooks.json holds".to_owned(),
        };
        lines.push(format!("{} since {}, {bytes}", safe(&project.root), moment(&project.trusted_at)));
    }
    if listed.projects.is_empty() {
        lines.push(format!("no project is trusted by {}", safe(&listed.store)));
    }
}

fn describe(status: &TrustStatus, lines: &mut Vec<String>) {
    let state = match (status.hooks_present, status.trusted, &status.entry) {
        (false, ..) => "no hooks.json",
        (true, true, _) => "trusted",
        (true, false, Some(entry)) if entry.fingerprint.is_some() => {
            "NOT trusted: its hooks.json has changed since it was trusted"
        }
        (true, false, _) => "NOT trusted",
    };
    lines.push(format!("project   {} ({state})", safe(&status.root)));
    lines.push(format!("document  {}", safe(&status.document)));
    if let Some(fingerprint) = &status.fingerprint {
        lines.push(format!("SHA-256   {fingerprint}"));
    }
    for handler in &status.handlers {
        lines.push(String::new());
        lines.extend(handler_lines(handler));
    }
    lines.extend(status.legacy.iter().flat_map(legacy_lines));
    if !status.diagnostics.is_empty() {
        lines.push(String::new());
        lines.extend(status.diagnostics.iter().map(diagnostic));
    }
}
