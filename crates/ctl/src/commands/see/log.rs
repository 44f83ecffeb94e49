//! `hooksctl log`: on the journal itself, so that it works without a daemon.

use std::process::ExitCode;

use hooksd_protocol::methods::{JournalHandler, JournalQuery, JournalRecord};

use crate::arguments::{Log, LogAction};
use crate::failure::Failure;
use crate::journal::{one_record, pages};
use crate::print::{Printer, diagnostic, ended, moment, no_handler, one_line, outcome, safe, took, word};

pub(crate) fn run(wanted: &Log, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let path = wanted.config_dir.journal()?;
    if let Some(LogAction::Show(show)) = &wanted.action {
        let record = one_record(&path, &show.id)?;
        return printer.result(&record, |lines| describe(&record, lines));
    }
    let asked = JournalQuery {
        event: wanted.event.clone(),
        tool: wanted.tool.clone(),
        session: wanted.session.clone(),
        handler: wanted.handler.clone(),
        outcome: wanted.outcome.clone(),
        ..wanted.period.query()?
    };
    let found = pages(&path, asked, wanted.limit)?;
    printer.result(&found, |lines| {
        lines.extend(found.records.iter().map(line));
        if found.records.is_empty() {
            lines.push("nothing of that kind is in the journal".to_owned());
        }
    })
}

fn line(record: &JournalRecord) -> String {
    let tool = record.tool.as_deref().map(|tool| format!(" {}", safe(tool))).unwrap_or_default();
    let reason = record.reason.as_deref().map(|reason| format!(": {}", one_line(reason))).unwrap_or_default();
    let handlers = match record.handlers.as_slice() {
        [] => "no handler".to_owned(),
        handlers => handlers.iter().map(inline).collect::<Vec<_>>().join(", "),
    };
    let id = record.invocation_id.get(..8).unwrap_or(&record.invocation_id);
    let (time, id, event) = (moment(&record.time.to_string()), safe(id), safe(&record.event));
    format!(
        "{time} {id} {event}{tool} {}{reason} [{handlers}] {}",
        outcome(record.outcome.as_str()),
        took(record.duration_us)
    )
}

fn inline(handler: &JournalHandler) -> String {
    format!("{} {} {}", safe(&handler.id), word(&handler.status), took(handler.run_us))
}

fn describe(record: &JournalRecord, lines: &mut Vec<String>) {
    let mut row = |name: &str, value: &str| lines.push(format!("{name:<11} {}", safe(value)));
    row("event", &record.event);
    for (name, value) in [("tool", &record.tool), ("client", &record.client)] {
        if let Some(value) = value {
            row(name, value);
        }
    }
    row("time", &record.time.to_string());
    row("id", &record.invocation_id);
    row("session", &record.session);
    row("thread", &record.thread_id);
    row("cwd", &record.cwd);
    row("snapshot", &record.snapshot_id);
    row("took", &took(record.duration_us));
    if let Some(winner) = &record.winner {
        row("decided by", winner);
    }
    let reason = record.reason.as_deref().map(|reason| format!(": {}", safe(reason))).unwrap_or_default();
    lines.push(format!("outcome     {}{reason}", outcome(record.outcome.as_str())));
    if record.handlers.is_empty() {
        lines.push(String::new());
        lines.push(no_handler(&record.invocation_id));
    }
    for handler in &record.handlers {
        lines.push(String::new());
        let ended = ended(handler.status, handler.exit_code, handler.signal);
        lines.push(format!("{} {ended}", safe(&handler.id)));
        lines.push(format!("    {}", safe(&handler.command)));
        lines.push(format!("    from {}", safe(&handler.source)));
        let (warm, cut) =
            (if handler.warm { ", warm" } else { "" }, if handler.truncated { ", cut" } else { "" });
        let ran = if handler.run_us > 0 {
            format!("ran {}", took(handler.run_us))
        } else {
            "did not run".to_owned()
        };
        let queued = took(handler.queue_us);
        let (out, err) = (handler.stdout_bytes, handler.stderr_bytes);
        lines.push(format!("    waited {queued}, {ran}{warm}; {out} bytes on stdout, {err} on stderr{cut}"));
        for (name, text) in [("stdout", &handler.stdout), ("stderr", &handler.stderr)] {
            if let Some(text) = text.as_deref().filter(|text| !text.is_empty()) {
                lines.push(format!("    {name}: {}", safe(text.trim_end())));
            }
        }
    }
    if !record.diagnostics.is_empty() {
        lines.push(String::new());
        lines.extend(record.diagnostics.iter().map(diagnostic));
    }
    if let Some(payload) = &record.payload {
        lines.push(String::new());
        lines.push(format!("payload     {}", safe(payload)));
    }
}
