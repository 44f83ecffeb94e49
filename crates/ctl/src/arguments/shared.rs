//! Options that several commands take.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::{Args, ValueEnum};
use hooksd_protocol::methods::{JournalQuery, Plugins, PluginsWord};
use hooksd_protocol::socket;
use hooksd_protocol::timestamp::Timestamp;

use crate::failure::Failure;
use crate::input::absolute;

/// Where the user's documents and the journal are.
#[derive(Debug, Args)]
pub(crate) struct ConfigDir {
    /// The folder of the user's hooks.json; default $HOOKSD_CONFIG_DIR, else ~/.deepagents
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) config_dir: Option<PathBuf>,
}

impl ConfigDir {
    /// The folder, absolute.
    pub(crate) fn path(&self) -> Result<PathBuf, Failure> {
        match &self.config_dir {
            Some(folder) => absolute(Some(folder)),
            None => config_dir(),
        }
    }

    /// The journal in it.
    pub(crate) fn journal(&self) -> Result<PathBuf, Failure> {
        Ok(hooksd_journal::path(&self.path()?))
    }
}

/// The folder of the user's documents, for who has no option for it.
pub(crate) fn config_dir() -> Result<PathBuf, Failure> {
    socket::config_dir(&|name| std::env::var_os(name)).ok_or_else(|| {
        Failure::Input("there is no config dir: set HOME or HOOKSD_CONFIG_DIR to an absolute path".to_owned())
    })
}

/// Which part of the journal.
#[derive(Debug, Args)]
pub(crate) struct Period {
    /// Only from this time on: RFC 3339, or so long ago, like 90s, 10m, 2h, 7d
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only before this time
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
}

impl Period {
    /// What asks for it, and for nothing else.
    pub(crate) fn query(&self) -> Result<JournalQuery, Failure> {
        let point =
            |flag: &str, text: &Option<String>| text.as_deref().map(|text| time(flag, text)).transpose();
        Ok(JournalQuery {
            since: point("--since", &self.since)?,
            until: point("--until", &self.until)?,
            ..JournalQuery::default()
        })
    }
}

/// RFC 3339, or how long ago.
fn time(flag: &str, text: &str) -> Result<Timestamp, Failure> {
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

/// Which plugins take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PluginsArgument {
    Discover,
    None,
}

impl PluginsArgument {
    /// As a session asks for it.
    pub(crate) fn wanted(self) -> Plugins {
        Plugins::Word(match self {
            PluginsArgument::Discover => PluginsWord::Discover,
            PluginsArgument::None => PluginsWord::None,
        })
    }
}

/// How an event is run.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// The session's folder; default the event's cwd, else the current folder
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Whether a person is there: decides if persisted trust counts
    #[arg(long, value_enum, default_value_t = ModeArgument::Interactive)]
    pub(crate) mode: ModeArgument,
    /// Trust the project's hooks.json: "explicit", or the SHA-256 of its bytes
    #[arg(long, value_name = "explicit|SHA256")]
    pub(crate) trust: Option<String>,
    /// Whether the hooks of the agent's enabled plugins take part
    #[arg(long, value_enum, default_value_t = PluginsArgument::Discover)]
    pub(crate) plugins: PluginsArgument,
    /// Give up on an event after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = hooksd_client::CALL_SECONDS,
        value_parser = seconds)]
    pub(crate) timeout: u64,
}

/// A time to wait.
fn seconds(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|seconds| *seconds > 0)
        .ok_or("expected a whole number of seconds, 1 or more".to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArgument {
    Interactive,
    Headless,
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
    }
}
