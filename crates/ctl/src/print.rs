//! What goes to the terminal. Text of handlers and documents cannot move the cursor or change colours (B82).

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use anstyle::AnsiColor;
use hooksd_protocol::diagnostic::{Diagnostic, Severity};
use hooksd_protocol::methods::{HandlerInfo, HandlerStatus, LegacyCommand};
use hooksd_terminal::safe_json;
use serde::Serialize;

use crate::failure::Failure;

pub(crate) use hooksd_terminal::{one_line, paint, safe};

/// Writes to standard output, plain when it is not a terminal.
pub(crate) struct Printer {
    json: bool,
}

impl Printer {
    pub(crate) fn new(json: bool) -> Printer {
        Printer { json }
    }

    /// Prints a result: as JSON, or as the text that `text` makes.
    pub(crate) fn result<T: Serialize>(
        &mut self,
        result: &T,
        text: impl FnOnce(&mut Vec<String>),
    ) -> Result<ExitCode, Failure> {
        let mut out = anstream::stdout();
        if self.json {
            let json = serde_json::to_string(result).map_err(|error| Failure::Output(error.into()))?;
            writeln!(out, "{}", safe_json(&json))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut lines = Vec::new();
        text(&mut lines);
        for line in lines {
            writeln!(out, "{line}")?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Prints a value as JSON, whatever was asked for.
    pub(crate) fn json<T: Serialize>(&mut self, value: &T) -> Result<ExitCode, Failure> {
        Printer::new(true).result(value, |_| ())
    }

    /// Whether the output is for programs.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints what is being done, for people; with `--json` there is the result alone.
    pub(crate) fn lines(&mut self, lines: &[String]) -> Result<(), Failure> {
        let mut out = anstream::stdout();
        for line in lines.iter().filter(|_| !self.json) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Prints what is to be said beside the result, to standard error.
    pub(crate) fn remark(&mut self, message: &str) {
        let label = paint(AnsiColor::Yellow, "note:");
        // As for errors.
        let _ = writeln!(anstream::stderr(), "{label} {}", safe(message));
    }

    /// Prints one of many: as a line of JSON, or as text. It is out when this returns.
    pub(crate) fn one<T: Serialize>(
        &mut self,
        value: &T,
        text: impl FnOnce(&mut Vec<String>),
    ) -> Result<(), Failure> {
        self.result(value, text)?;
        Ok(anstream::stdout().flush()?)
    }

    /// Prints a text as it is, whatever was asked for.
    pub(crate) fn plain(&mut self, text: &str) -> Result<ExitCode, Failure> {
        write!(anstream::stdout(), "{text}")?;
        Ok(ExitCode::SUCCESS)
    }

    /// Prints why a command failed, to standard error.
    pub(crate) fn error(&mut self, message: &str) {
        let label = paint(AnsiColor::Red, "error:");
        // Nobody is left to be told when standard error is closed.
        let _ = writeln!(anstream::stderr(), "{label} {}", safe(message));
    }
}

/// How wide lines may be: the terminal, else `COLUMNS`, else 80. Columns.
pub(crate) fn width() -> usize {
    let terminal = hooksd_system::window_size(std::io::stdout()).ok().map(|size| usize::from(size.columns));
    let said = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    terminal.filter(|columns| *columns > 0).or_else(said).unwrap_or(80).clamp(20, 400)
}

/// A value of an enum as it is spelled everywhere: in JSON, in the documentation and for people.
pub(crate) fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// How a handler has ended: `blocked, exit 2`
pub(crate) fn ended(status: HandlerStatus, exit_code: Option<i32>, signal: Option<i32>) -> String {
    let status = word(&status);
    match (exit_code, signal) {
        (Some(code), _) => format!("{status}, exit {code}"),
        (None, Some(signal)) => format!("{status}, signal {signal}"),
        (None, None) => status,
    }
}

/// Microseconds as people read them.
pub(crate) fn took(micros: u64) -> String {
    match micros {
        0..10_000 => format!("{}.{} ms", micros / 1000, micros % 1000 / 100),
        10_000..10_000_000 => format!("{} ms", micros / 1000),
        _ => format!("{} s", micros / 1_000_000),
    }
}

/// What is said of an event on which nothing ran, and how to find out why.
pub(crate) fn no_handler(invocation_id: &str) -> String {
    let id = invocation_id.get(..8).unwrap_or(invocation_id);
    format!("no handler ran on this event: `hooksctl explain {}` says why", safe(id))
}

/// An outcome in the colour of what it means.
pub(crate) fn outcome(word: &str) -> String {
    match word {
        "deny" | "stop" | "failed" => paint(AnsiColor::Red, &safe(word)),
        "ask" | "continue" | "feedback" | "cancelled" => paint(AnsiColor::Yellow, &safe(word)),
        _ => paint(AnsiColor::Green, &safe(word)),
    }
}

/// A time of day and its date as people read them, from RFC 3339: `2026-01-31 23:59:59`, UTC.
pub(crate) fn moment(time: &str) -> String {
    safe(&time.get(..19).unwrap_or(time).replace('T', " "))
}

/// So many of something: `1 event`, `2 events`, `2 processes`
pub(crate) fn many(count: impl Display, one: &str) -> String {
    let count = count.to_string();
    let ending = match (count.as_str(), one.ends_with('s')) {
        ("1", _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {one}{ending}")
}

/// Lines for a handler: its id and matcher, what it runs, and how.
pub(crate) fn handler_lines(handler: &HandlerInfo) -> [String; 3] {
    let matcher =
        handler.matcher.as_deref().map(|text| format!(" matcher {}", safe(text))).unwrap_or_default();
    let command = match &handler.argv {
        Some(argv) => argv.join(" "),
        None => handler.command.clone(),
    };
    let timeout = handler.timeout.map(|seconds| format!("{seconds} s, ")).unwrap_or_default();
    let lifecycle = match (handler.lifecycle.as_str(), handler.workers) {
        ("per_event", _) => String::new(),
        (lifecycle, 1) => format!("{}, ", safe(lifecycle)),
        (lifecycle, workers) => format!("{} with {workers} workers, ", safe(lifecycle)),
    };
    [
        format!("{}{matcher}", handler.id),
        format!("    {}", safe(&command)),
        format!("    {timeout}{lifecycle}on failure {}, from {}", handler.on_failure, safe(&handler.source)),
    ]
}

/// Lines for a command of the older form, with a blank one before.
pub(crate) fn legacy_lines(command: &LegacyCommand) -> [String; 4] {
    let events = match &command.events {
        Some(events) => events.join(", "),
        None => "all".to_owned(),
    };
    [
        String::new(),
        format!("older form, on {}", safe(&events)),
        format!("    {}", safe(&command.argv.join(" "))),
        format!("    5 s, from {}", safe(&command.source)),
    ]
}

/// One line for a diagnostic.
pub(crate) fn diagnostic(diagnostic: &Diagnostic) -> String {
    let label = match diagnostic.severity {
        Severity::Debug => paint(AnsiColor::BrightBlack, "debug"),
        Severity::Warning => paint(AnsiColor::Yellow, "warning"),
        Severity::Error => paint(AnsiColor::Red, "error"),
    };
    let handler = diagnostic.handler_id.as_deref().map(|id| format!(" {}", safe(id))).unwrap_or_default();
    format!("{label}[{}]{handler}: {}", diagnostic.code, safe(&diagnostic.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_spelled_as_in_json_and_counts_as_in_english() {
        assert_eq!(ended(HandlerStatus::QueuedOut, None, None), "queued_out");
        assert_eq!(ended(HandlerStatus::Blocked, Some(2), None), "blocked, exit 2");
        assert_eq!(
            [many(0, "event"), many(1, "event"), many(2, "process")],
            ["0 events", "1 event", "2 processes"]
        );
        assert_eq!(
            [took(0), took(3456), took(45_678), took(12_000_000)],
            ["0.0 ms", "3.4 ms", "45 ms", "12 s"]
        );
        assert_eq!(moment("2026-01-31T23:59:59.123456Z"), "2026-01-31 23:59:59");
    }
}
