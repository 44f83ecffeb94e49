//! The arguments of commands that have something run, or stopped.

use std::path::PathBuf;

use clap::Args;

use super::{ConfigDir, RunOptions};

/// Reads an event in any of three forms: {"context", "event"}, the event alone ({"event": "PreToolUse", ...}), or the
/// payload that agents hand to command hooks ({"hook_event_name": ...}).
#[derive(Debug, Args)]
pub(crate) struct Invoke {
    /// The event's JSON; standard input when absent or "-"
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// An open session to run in, instead of one for this event only
    #[arg(long, value_name = "ID", conflicts_with_all = ["mode", "trust"])]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) how: RunOptions,
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
    pub(crate) how: RunOptions,
    #[command(flatten)]
    pub(crate) config_dir: ConfigDir,
}

/// Whoever waits for the event is told that it was cancelled; its handlers are killed.
#[derive(Debug, Args)]
pub(crate) struct Kill {
    /// The invocation's id, as `tail` and `log` show it; its beginning is enough
    #[arg(value_name = "INVOCATION")]
    pub(crate) invocation: String,
}
