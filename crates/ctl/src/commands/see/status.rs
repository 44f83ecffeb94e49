//! `hooksctl status`

use std::process::ExitCode;

use hooksd_client::ClientError;
use hooksd_protocol::methods::{DaemonStatus, NoParams};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::connect::connect;
use crate::daemon_info::DaemonInfo;
use crate::daemon_process::DaemonProcess;
use crate::failure::Failure;
use crate::print::{Printer, many, safe};

pub(crate) fn run(arguments: &Arguments, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let mut client = connect(arguments)?;
    let raw = match client.call_raw("daemon/status", &NoParams {}) {
        Ok(raw) => raw,
        Err(ClientError::Refused(_) | ClientError::BadAnswer(_)) => "null".to_owned(),
        Err(error) => return Err(error.into()),
    };
    let status: Value = serde_json::from_str(&raw).unwrap_or_default();
    if let Ok(status) = serde_json::from_value::<DaemonStatus>(status.clone()) {
        if let Some(difference) = DaemonInfo::read(&json!(&status)).difference() {
            printer.remark(&difference);
        }
        return print(&status, printer);
    }
    // Another version, with another answer or none: what can be known of it all the same (B73).
    let info = if status.is_null() { DaemonInfo::greet(&mut client)? } else { DaemonInfo::read(&status) };
    let pid = DaemonProcess::of(&mut client).map(|process| process.pid);
    if let Some(difference) = info.difference() {
        printer.remark(&difference);
    }
    let known = json!({ "version": info.version, "pid": pid, "status": status });
    printer.result(&known, |lines| {
        let process = pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
        lines.push(format!("{}{process}", safe(&info.name())));
        lines.push("its answer is not one that this hooksctl can read".to_owned());
    })
}

fn print(status: &DaemonStatus, printer: &mut Printer) -> Result<ExitCode, Failure> {
    printer.result(status, |lines| {
        lines.push(format!(
            "hooksd {} (protocol {}), process {}",
            status.version, status.protocol_version, status.pid
        ));
        lines.push(format!("up for       {}", duration(status.uptime_seconds)));
        lines.push(format!("socket       {}", safe(status.socket.as_deref().unwrap_or("not known"))));
        lines.push(format!("config dir   {}", safe(&status.config_dir)));
        lines.push(format!("changes      {}", safe(&status.changes)));
        lines.push(format!("connections  {}", status.connections));
        let fallback = match status.sessions_without_environment {
            0 => String::new(),
            count => format!(" ({count} with the daemon's environment)"),
        };
        lines.push(format!("sessions     {}{fallback}", status.sessions));
        lines.push(format!(
            "events       {} answered, {} running, {} waiting (at most {} at once), {} warm",
            status.events,
            many(status.running_handlers, "handler"),
            status.queued_handlers,
            status.max_handlers,
            many(status.warm_processes, "process")
        ));
        let journal = &status.journal;
        if journal.lost > 0 || journal.problem.is_some() {
            let problem = journal.problem.as_deref().map(|problem| format!(": {}", safe(problem)));
            lines.push(format!(
                "journal      {} lost{}",
                many(journal.lost, "event"),
                problem.unwrap_or_default()
            ));
        }
    })
}

fn duration(seconds: u64) -> String {
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, seconds) => format!("{seconds} s"),
        (0, 0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (0, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (days, hours, _, _) => format!("{days} d {hours} h"),
    }
}
