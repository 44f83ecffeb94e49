//! Options that several commands take.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hooksd_protocol::methods::JournalQuery;
use hooksd_protocol::socket;

use crate::commands::log::time;
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

/// How an event is run.
#[derive(Debug, Args)]
pub(crate) struct Running {
    /// The session's folder; default the event's cwd, else the current folder
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Whether a person is there: decides if persisted trust counts
    #[arg(long, value_enum, default_value_t = ModeArgument::Interactive)]
    pub(crate) mode: ModeArgument,
    /// Trust the project's hooks.json: "explicit", or the SHA-256 of its bytes
    #[arg(long, value_name = "explicit|SHA256")]
    pub(crate) trust: Option<String>,
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
