//! What the options of `hooksctl hook` mean.

use std::path::PathBuf;
use std::time::Duration;

use hooksd_dialects::{Dialect, Failing, dialect};
use hooksd_protocol::methods::{ExplicitTrust, FingerprintTrust, Mode, Plugins, PluginsWord, Trust};
use hooksd_protocol::seconds::to_duration;

use super::command_line::{DEFAULT_FAIL, DEFAULT_PLUGINS, RawOptions};

/// What the command line says.
#[derive(Debug)]
pub(crate) struct Options {
    /// The agent; `None` when it is to be made out.
    pub(crate) dialect: Option<&'static Dialect>,
    pub(crate) event: Option<String>,
    pub(crate) failing: Failing,
    pub(crate) deadline: Option<Duration>,
    pub(crate) mode: Option<Mode>,
    /// The trust that the person who wrote the command line gives to the project.
    pub(crate) trust: Option<Trust>,
    /// The plugins whose hooks take part.
    pub(crate) plugins: Plugins,
    pub(crate) socket: Option<PathBuf>,
}

impl Options {
    /// The options that these values stand for.
    ///
    /// # Errors
    /// Which option is wrong, and how it is right.
    pub(crate) fn from_raw(raw: RawOptions) -> Result<Options, String> {
        let dialect = match raw.agent.as_deref() {
            Some("auto") => None,
            Some(name) => {
                Some(dialect(name).ok_or_else(|| format!("no agent {name:?}; known are {}", names()))?)
            }
            None => return Err(format!("--agent is missing; known are {}", names())),
        };
        let failing = match raw.fail.as_deref().unwrap_or(DEFAULT_FAIL) {
            "open" => Failing::Open,
            "closed" => Failing::Closed,
            other => return Err(format!("--fail is open or closed, not {other:?}")),
        };
        let mode = match raw.mode.as_deref() {
            None => None,
            Some("interactive") => Some(Mode::Interactive),
            Some("headless") => Some(Mode::Headless),
            Some(other) => return Err(format!("--mode is interactive or headless, not {other:?}")),
        };
        let deadline = match raw.deadline.as_deref().map(|text| (text, text.parse::<f64>())) {
            None => None,
            Some((_, Ok(seconds))) if seconds > 0.0 && seconds.is_finite() => Some(to_duration(seconds)),
            Some((text, _)) => {
                return Err(format!("--deadline is a number of seconds above 0, not {text:?}"));
            }
        };
        let trust = raw.trust.as_deref().map(trust).transpose()?;
        let plugins = match raw.plugins.as_deref().unwrap_or(DEFAULT_PLUGINS) {
            "discover" => Plugins::Word(PluginsWord::Discover),
            "none" => Plugins::Word(PluginsWord::None),
            other => return Err(format!("--plugins is discover or none, not {other:?}")),
        };
        Ok(Options { dialect, event: raw.event, failing, deadline, mode, trust, plugins, socket: raw.socket })
    }
}

/// What `--trust` gives: to whatever the document says, or to its bytes.
fn trust(given: &str) -> Result<Trust, String> {
    let is_digest = given.len() == 64 && given.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    match given {
        "explicit" => Ok(Trust::Explicit(ExplicitTrust::Explicit)),
        fingerprint if is_digest => {
            Ok(Trust::Fingerprint(FingerprintTrust { fingerprint: fingerprint.to_owned() }))
        }
        other => Err(format!(
            "--trust is explicit, or the SHA-256 that `hooksctl trust status` shows (64 digits), not {other:?}"
        )),
    }
}

/// The agents, for people.
fn names() -> String {
    let names = hooksd_dialects::agents::ALL.iter().map(|dialect| dialect.name);
    names.chain(["auto"]).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::command_line::read;
    use super::*;

    fn parsed(line: &str) -> Result<Option<Options>, String> {
        let words: Vec<_> = line.split_whitespace().map(Into::into).collect();
        read(&words)?.map(Options::from_raw).transpose()
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
            ("--agent codex --trust yes", "explicit, or the SHA-256"),
            ("--agent codex --plugins all", "discover or none"),
            ("--agent codex -v", "unknown argument -v"),
        ] {
            let wrong = parsed(line).unwrap_err();
            assert!(wrong.contains(part), "{line}: {wrong}");
        }
    }
}
