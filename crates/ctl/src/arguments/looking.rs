//! The arguments of commands that look back at what ran, or at what runs now.

use std::path::PathBuf;

use clap::Args;

use super::{ConfigDir, Period, Running};

/// A bar for each handler that was for the event: when it waited, was started, ran, and was done with its output still
/// open.
#[derive(Debug, Args)]
pub(crate) struct Timeline {
    /// The invocation's id, or the beginning of it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) config_dir: ConfigDir,
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
    #[command(flatten)]
    pub(crate) how: Running,
    #[command(flatten)]
    pub(crate) config_dir: ConfigDir,
}

/// One HTML page that needs nothing else; with --json the figures in it.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Where the page is written; default standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) period: Period,
    #[command(flatten)]
    pub(crate) config_dir: ConfigDir,
}

/// Ends with q or ctrl-c. One look and no more where standard output is not a terminal.
#[derive(Debug, Args)]
pub(crate) struct Top {
    /// One look and no more
    #[arg(long)]
    pub(crate) once: bool,
}
