//! The arguments of commands that look back at what ran, or at what runs now.

use std::path::PathBuf;

use clap::Args;

use super::ModeArgument;

/// A bar for each handler that was for the event: when it waited, was started, ran, and was done with its output still
/// open.
#[derive(Debug, Args)]
pub(crate) struct Timeline {
    /// The invocation's id, or the beginning of it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The folder of the user's hooks.json; default $HOOKSD_CONFIG_DIR, else ~/.deepagents
    #[arg(long, value_name = "DIR")]
    pub(crate) config_dir: Option<PathBuf>,
}

/// Runs the handlers for real. An ID needs an event that was recorded with `journal.payloads`; a FILE is NAME.event.json
/// with NAME.decision.json beside it; a folder stands for all such files in it.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Events of the journal, by the beginning of their ids, and files or folders of them
    #[arg(value_name = "ID|FILE", required = true)]
    pub(crate) events: Vec<String>,
    /// Write the decisions of today beside the files, as what is expected from now on
    #[arg(long)]
    pub(crate) update: bool,
    /// The sessions' folder; default each event's cwd, else the current folder
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
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: u64,
    /// The folder of the user's hooks.json; default $HOOKSD_CONFIG_DIR, else ~/.deepagents
    #[arg(long, value_name = "DIR")]
    pub(crate) config_dir: Option<PathBuf>,
}

/// One HTML page that needs nothing else; with --json the figures in it.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Where the page is written; default standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Only from this time on: RFC 3339, or so long ago, like 90s, 10m, 2h, 7d
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only before this time
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// The folder of the user's hooks.json; default $HOOKSD_CONFIG_DIR, else ~/.deepagents
    #[arg(long, value_name = "DIR")]
    pub(crate) config_dir: Option<PathBuf>,
}

/// Ends with q or ctrl-c. One look and no more where standard output is not a terminal.
#[derive(Debug, Args)]
pub(crate) struct Top {
    /// One look and no more
    #[arg(long)]
    pub(crate) once: bool,
}
