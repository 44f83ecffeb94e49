//! The arguments of commands that look.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{ConfigDir, ModeArgument, Period, PluginsArgument};

/// One line for each event, with its handlers; diagnostics, and what becomes of sessions, documents and trust. Ends with
/// the daemon, with its reader, or with ctrl-c.
#[derive(Debug, Args)]
pub(crate) struct Tail {
    /// Only these events
    #[arg(long = "event", value_name = "NAME")]
    pub(crate) events: Vec<String>,
    /// Only these sessions
    #[arg(long = "session", value_name = "ID")]
    pub(crate) sessions: Vec<String>,
    /// Only these kinds; default all but received and handler, which a decision's line sums up
    #[arg(long = "kind", value_name = "KIND", value_enum)]
    pub(crate) kinds: Vec<KindArgument>,
    /// Only diagnostics that matter so much
    #[arg(long, value_enum)]
    pub(crate) severity: Option<SeverityArgument>,
    /// Begin after the item of this number, as --json shows it
    #[arg(long, value_name = "SEQ")]
    pub(crate) since: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArgument {
    Received,
    Handler,
    Decision,
    Diagnostic,
    Snapshot,
    Session,
    Trust,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SeverityArgument {
    Debug,
    Warning,
    Error,
}

/// Newest first.
#[derive(Debug, Args)]
pub(crate) struct Log {
    #[command(subcommand)]
    pub(crate) action: Option<LogAction>,
    /// Only this event
    #[arg(long, value_name = "NAME")]
    pub(crate) event: Option<String>,
    /// Only calls of this tool, by the agent's own name
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only events for which this handler was
    #[arg(long, value_name = "ID")]
    pub(crate) handler: Option<String>,
    /// Only events with this outcome (deny, allow, ...) or a handler with this status (failed, timeout, ...)
    #[arg(long, value_name = "WORD")]
    pub(crate) outcome: Option<String>,
    #[command(flatten)]
    pub(crate) period: Period,
    /// At most so many
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) config_dir: ConfigDir,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogAction {
    /// Everything about one event
    Show(LogShow),
}

#[derive(Debug, Args)]
pub(crate) struct LogShow {
    /// The invocation's id, or the beginning of it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

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

#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Print OpenMetrics text, for Prometheus and the like
    #[arg(long, conflicts_with = "json")]
    pub(crate) openmetrics: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The folder; default the current one
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// The daemon's own settings instead, each with where it comes from
    #[arg(long, conflicts_with = "folder")]
    pub(crate) settings: bool,
}

/// The event comes from a file or standard input (in the three forms that `invoke` reads), from --event and what goes
/// with it, or from the journal by its id. Runs nothing and needs no daemon, unless --run or --session asks for it.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A file, "-" for standard input, or the id of an event in the journal (its beginning is enough)
    #[arg(value_name = "FILE|ID", conflicts_with = "event")]
    pub(crate) what: Option<String>,
    /// The event, instead of a file
    #[arg(long, value_name = "NAME")]
    pub(crate) event: Option<String>,
    /// The tool it is about, by the agent's own name or by the one handlers know
    #[arg(long, value_name = "NAME", requires = "event")]
    pub(crate) tool: Option<String>,
    /// The tool's input, or the prompt, message or text of another event
    #[arg(long, value_name = "JSON|TEXT", requires = "event")]
    pub(crate) input: Option<String>,
    /// What matchers are compared with on events without a tool: startup, auto, agent_completed, ...
    #[arg(long, value_name = "WORD", requires = "event")]
    pub(crate) subject: Option<String>,
    /// The folder; default the event's cwd, else the current one
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// What an open session of the daemon would do, instead of a new one
    #[arg(long, value_name = "ID", conflicts_with_all = ["mode", "plugins"])]
    pub(crate) session: Option<String>,
    /// Whether a person is there: decides if persisted trust counts
    #[arg(long, value_enum, default_value_t = ModeArgument::Interactive)]
    pub(crate) mode: ModeArgument,
    /// Whether the hooks of the agent's enabled plugins take part
    #[arg(long, value_enum, default_value_t = PluginsArgument::Discover, num_args = 0..=1,
        default_missing_value = "discover")]
    pub(crate) plugins: PluginsArgument,
    /// Run the handlers for real, outside any session, and show how the decision came about
    #[arg(long, conflicts_with = "session")]
    pub(crate) run: bool,
    #[command(flatten)]
    pub(crate) config_dir: ConfigDir,
}

/// Looks at documents without loading them, and at what they name. Without PATH at yours and at that of the project
/// around the current folder, as far as they are there.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The documents
    #[arg(value_name = "PATH")]
    pub(crate) files: Vec<PathBuf>,
    /// How to print what is found
    #[arg(long, value_enum, default_value_t = FormatArgument::Human)]
    pub(crate) format: FormatArgument,
    #[command(flatten)]
    pub(crate) config_dir: ConfigDir,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArgument {
    Human,
    Json,
    Sarif,
}

/// Exit status 1 when something is wrong.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) config_dir: ConfigDir,
}
