//! The command line of `hooksctl hook`, read by hand: the full parser costs more than the rest of the start.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use hooksd_dialects::{Dialect, Failing, dialect};
use hooksd_protocol::methods::Mode;
use hooksd_protocol::seconds::to_duration;

/// What the command line says.
#[derive(Debug)]
pub(crate) struct Options {
    /// The agent; `None` when it is to be made out.
    pub(crate) dialect: Option<&'static Dialect>,
    pub(crate) event: Option<String>,
    pub(crate) failing: Failing,
    pub(crate) deadline: Option<Duration>,
    pub(crate) mode: Option<Mode>,
    pub(crate) socket: Option<PathBuf>,
}

/// The words as given, before they mean anything.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub(crate) agent: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) fail: Option<String>,
    pub(crate) deadline: Option<String>,
    pub(crate) mode: Option<String>,
    pub(crate) socket: Option<PathBuf>,
}

/// Reads the arguments after `hook`. `None` when they ask for help.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Option<Options>, String> {
    let mut words = Words::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_str().ok_or_else(|| format!("{argument:?} is not UTF-8"))?;
        let (name, mut value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(OsString::from(value))),
            None => (text, None),
        };
        if matches!(name, "-h" | "--help" | "-V" | "--version") {
            return Ok(None);
        }
        if !matches!(name, "--agent" | "--event" | "--fail" | "--deadline" | "--mode" | "--socket") {
            return Err(format!("unknown argument {text}"));
        }
        if value.is_none() {
            value = arguments.next().cloned();
        }
        let value = value.ok_or_else(|| format!("{name} needs a value"))?;
        if name == "--socket" {
            words.socket = Some(value.into());
            continue;
        }
        let value = value.into_string().map_err(|value| format!("{name}: {value:?} is not UTF-8"))?;
        let word = match name {
            "--agent" => &mut words.agent,
            "--event" => &mut words.event,
            "--fail" => &mut words.fail,
            "--deadline" => &mut words.deadline,
            _ => &mut words.mode,
        };
        *word = Some(value);
    }
    options(words).map(Some)
}

/// What the words mean.
pub(crate) fn options(words: Words) -> Result<Options, String> {
    let dialect = match words.agent.as_deref() {
        Some("auto") => None,
        Some(name) => Some(dialect(name).ok_or_else(|| format!("no agent {name:?}; known are {}", names()))?),
        None => return Err(format!("--agent is missing; known are {}", names())),
    };
    let failing = match words.fail.as_deref() {
        None | Some("open") => Failing::Open,
        Some("closed") => Failing::Closed,
        Some(other) => return Err(format!("--fail is open or closed, not {other:?}")),
    };
    let mode = match words.mode.as_deref() {
        None => None,
        Some("interactive") => Some(Mode::Interactive),
        Some("headless") => Some(Mode::Headless),
        Some(other) => return Err(format!("--mode is interactive or headless, not {other:?}")),
    };
    let deadline = match words.deadline.as_deref().map(|text| (text, text.parse::<f64>())) {
        None => None,
        Some((_, Ok(seconds))) if seconds > 0.0 && seconds.is_finite() => Some(to_duration(seconds)),
        Some((text, _)) => return Err(format!("--deadline is a number of seconds above 0, not {text:?}")),
    };
    Ok(Options { dialect, event: words.event, failing, deadline, mode, socket: words.socket })
}

/// The agents, for people.
fn names() -> String {
    let names = hooksd_dialects::agents::ALL.iter().map(|dialect| dialect.name);
    names.chain(["auto"]).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Option<Options>, String> {
        parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn both_spellings_and_other_names() {
        let line = "--agent=claude --event Stop --fail closed --deadline 2.5 --mode interactive --socket /s";
        let options = parsed(line).unwrap().unwrap();
        assert_eq!(options.dialect.unwrap().name, "claude-code");
        assert_eq!((options.event.as_deref(), options.failing), (Some("Stop"), Failing::Closed));
        assert_eq!(
            (options.deadline, options.mode),
            (Some(Duration::from_millis(2500)), Some(Mode::Interactive))
        );
        assert_eq!(options.socket, Some("/s".into()));
        assert!(parsed("--agent auto").unwrap().unwrap().dialect.is_none());
        assert!(parsed("--agent codex --help").unwrap().is_none());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, part) in [
            ("", "--agent is missing"),
            ("--agent emacs", "no agent \"emacs\""),
            ("--agent", "--agent needs a value"),
            ("--agent codex --fail maybe", "open or closed"),
            ("--agent codex --deadline 0", "above 0"),
            ("--agent codex --deadline NaN", "above 0"),
            ("--agent codex --mode x", "interactive or headless"),
            ("--agent codex -v", "unknown argument -v"),
        ] {
            let wrong = parsed(line).unwrap_err();
            assert!(wrong.contains(part), "{line}: {wrong}");
        }
    }
}
