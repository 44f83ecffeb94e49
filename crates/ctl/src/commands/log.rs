//! `hooksctl log`: on the journal itself, so that it works without a daemon.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use hooksd_journal::{MAX_LIMIT, query};
use hooksd_protocol::methods::{JournalHandler, JournalPage, JournalQuery, JournalRecord};
use hooksd_protocol::timestamp::Timestamp;

use super::invoke::no_handler;
use super::tail::outcome;
use crate::arguments::{Log, LogAction};
use crate::failure::Failure;
use crate::print::{Printer, diagnostic, ended, moment, one_line, safe, word};

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

/// The newest records that a query asks for, at most so many.
pub(super) fn pages(path: &Path, mut asked: JournalQuery, most: u32) -> Result<JournalPage, Failure> {
    let (mut found, mut left) = (JournalPage::default(), most);
    while left > 0 {
        asked.limit = Some(left.min(MAX_LIMIT));
        let page = query(path, &asked)?;
        left = left.saturating_sub(u32::try_from(page.records.len()).unwrap_or(u32::MAX));
        found.records.extend(page.records);
        found.cursor = page.cursor;
        asked.cursor = page.cursor;
        if page.cursor.is_none() {
            break;
        }
    }
    Ok(found)
}

/// The one record whose id begins so.
pub(crate) fn one_record(path: &Path, id: &str) -> Result<JournalRecord, Failure> {
    let asked =
        JournalQuery { invocation_id: Some(id.to_owned()), limit: Some(2), ..JournalQuery::default() };
    let mut records = query(path, &asked)?.records.into_iter();
    match (records.next(), records.next()) {
        (None, _) => Err(Failure::Input(format!("no event in the journal has an id that begins with {id}"))),
        (Some(first), Some(second)) if first.invocation_id != second.invocation_id => Err(Failure::Input(
            format!("more than one event has an id that begins with {id}: give more of it"),
        )),
        (Some(record), _) => Ok(record),
    }
}

/// RFC 3339, or how long ago.
pub(crate) fn time(flag: &str, text: &str) -> Result<Timestamp, Failure> {
    if let Some(time) = Timestamp::parse(text) {
        return Ok(time);
    }
    let wrong = || {
        Failure::Input(format!(
            "{flag} {text}: expected RFC 3339 (2030-01-02T03:04:05Z), or how long ago: 90s, 10m, 2h, 7d"
        ))
    };
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err(wrong()),
    };
    let ago = number.parse::<u64>().ok().and_then(|number| number.checked_mul(seconds)).ok_or_else(wrong)?;
    let then = SystemTime::now().checked_sub(Duration::from_secs(ago)).unwrap_or(SystemTime::UNIX_EPOCH);
    Ok(Timestamp::of(then))
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

/// Microseconds as people read them.
pub(crate) fn took(micros: u64) -> String {
    match micros {
        0..10_000 => format!("{}.{} ms", micros / 1000, micros % 1000 / 100),
        10_000..10_000_000 => format!("{} ms", micros / 1000),
        _ => format!("{} s", micros / 1_000_000),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_points_or_ages() {
        let micros = |text: &str| time("--since", text).map(|time| time.micros());
        assert_eq!(micros("1970-01-01T00:00:01Z").unwrap(), 1_000_000);
        let now = Timestamp::of(SystemTime::now()).micros();
        for (text, seconds) in [("90s", 90), ("10m", 600), ("2h", 7200), ("7d", 604_800), ("1w", 604_800)] {
            let off = now - seconds * 1_000_000 - micros(text).unwrap();
            assert!(off.abs() < 60_000_000, "{text} is {off} us off");
        }
        for text in
            ["", "m", "-5m", "5 m", "5x", "yesterday", "é", "99999999999999999999s", "99999999999999999d"]
        {
            assert!(micros(text).is_err(), "{text}");
        }
        assert_eq!(
            [took(0), took(3456), took(45_678), took(12_000_000)],
            ["0.0 ms", "3.4 ms", "45 ms", "12 s"]
        );
    }
}
