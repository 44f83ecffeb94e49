//! What goes to the terminal. Text of handlers and documents cannot move the cursor or change colours (B82).

use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use hooksd_protocol::diagnostic::{Diagnostic, Severity};
use hooksd_protocol::methods::{HandlerInfo, LegacyCommand};
use serde::Serialize;

use crate::failure::Failure;

/// How many of something: `1 handler`, `2 handlers`.
pub(crate) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

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
            writeln!(out, "{}", escaped(&json))?;
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
    let terminal = rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    let said = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    terminal.filter(|columns| *columns > 0).or_else(said).unwrap_or(80).clamp(20, 400)
}

/// `text` in a colour.
pub(crate) fn paint(color: AnsiColor, text: &str) -> String {
    let style = Style::new().fg_color(Some(color.into())).bold();
    format!("{style}{text}{style:#}")
}

/// `text` with control characters escaped; line breaks stay, indented.
pub(crate) fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\n    "),
            '\t' => out.push('\t'),
            c if steers(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// `text` on one line, with control characters escaped.
pub(crate) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            '\n' | '\t' => out.push(' '),
            c if steers(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// JSON with the characters that steer a terminal written as escapes. They can only stand inside its strings.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if steers(c) {
            // All of them are in the first plane.
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

/// Whether a terminal may act on a character instead of showing it: controls, and those that turn the direction of
/// what follows (UAX 9).
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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
    fn b82_nothing_that_steers_a_terminal_gets_out() {
        assert_eq!(safe("a\u{1b}[2J\u{9b}\u{202e}b"), "a\\u{1b}[2J\\u{9b}\\u{202e}b");
        let json = serde_json::to_string("\u{1b}\u{7f}\u{9b}\u{202e}é").unwrap();
        assert_eq!(escaped(&json), r#""\u001b\u007f\u009b\u202eé""#);
        assert_eq!(serde_json::from_str::<String>(&escaped(&json)).unwrap(), "\u{1b}\u{7f}\u{9b}\u{202e}é");
    }
}
