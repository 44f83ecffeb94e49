//! The command line, defined once.

mod conformance;
mod looking;
mod shared;
mod why;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use self::conformance::Conformance;
pub(crate) use self::looking::{Replay, Report, Timeline, Top};
pub(crate) use self::shared::{ConfigDir, ModeArgument, Period, Running, config_dir};
pub(crate) use self::why::*;
use crate::commands::hook::Hook;

/// The heading of the options that every command has.
const EVERYWHERE: &str = "Options of every command";

/// Drive hooksd, the daemon that runs hooks for coding agents.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit status: 0 done, 1 check or doctor found something, or replay or conformance a difference, \
                  2 wrong command line or input, \
                  3 no daemon answers, 4 the daemon refused, 5 trust was not changed, \
                  6 an agent's configuration was not changed, 7 the service manager refused, \
                  128 + N signal N has stopped conformance."
)]
pub(crate) struct Arguments {
    /// The daemon's socket; default $HOOKSD_SOCKET, else $XDG_RUNTIME_DIR/hooksd/hooksd.sock
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Print one JSON value for machines
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Answer an agent that calls this as its hook: its event on standard input, its answer on standard output; starts a daemon
    Hook(Hook),
    /// Run an event through the daemon and print the decision; starts a daemon
    Invoke(Invoke),
    /// What the daemon does, while it does it
    Tail(Tail),
    /// What ran and why it was decided so; needs no daemon
    Log(Log),
    /// One event of the journal as bars: who waited, ran and for how long; needs no daemon
    Timeline(Timeline),
    /// Run recorded or hand-written events against today's hooks, and compare the decisions; starts a daemon
    Replay(Replay),
    /// An HTML page of what ran: costs, slow events, decisions, failures; needs no daemon
    Report(Report),
    /// What the daemon does right now, as a screen
    Top(Top),
    /// Measure how well a hook engine, ours or another, does what hooks rely on; needs no daemon
    Conformance(Conformance),
    /// Counters and latencies since the daemon's start
    Stats(Stats),
    /// How the daemon is
    Status,
    /// Find what is wrong with hooks.json files, without loading them; needs no daemon
    Check(Check),
    /// Why a handler runs on an event, or why not; needs no daemon
    Explain(Explain),
    /// The handlers that a new session in a folder would get, each with its document; starts a daemon
    Show(Show),
    /// Trust a project's hooks.json, or trust it no longer; needs no daemon
    Trust(Trust),
    /// Make agents call hooksd: add our entries to their configurations; needs no daemon
    Install(Install),
    /// Take our entries out of agents' configurations again; needs no daemon
    Uninstall(Install),
    /// Which agents are installed, where, and what they call; needs no daemon
    Agents,
    /// Write a hooks.json with a guard to begin with; needs no daemon
    Init(Init),
    /// What keeps hooks from running, or will one day; needs no daemon
    Doctor(Doctor),
    /// The open sessions
    Sessions,
    /// Have the daemon look at all documents now
    Reload,
    /// Stop a running event and its handlers
    Kill(Kill),
    /// Print completions for a shell; needs no daemon
    Completions(Completions),
    /// Write manual pages; needs no daemon
    Man(Man),
    /// Stop the daemon
    Shutdown(Shutdown),
    /// Stop the daemon and start the one that came with this program; starts a daemon
    Restart(Shutdown),
    /// Have the daemon started by systemd or launchd; needs no daemon
    Service(Service),
}

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
    pub(crate) how: Running,
}

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

/// Trusting a project lets its hooks.json run commands as you. What is trusted is exactly the bytes that are shown:
/// after an edit the project is untrusted until you look again.
#[derive(Debug, Args)]
pub(crate) struct Trust {
    #[command(subcommand)]
    pub(crate) action: Option<TrustAction>,
    #[command(flatten)]
    pub(crate) config_dir: ConfigDir,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrustAction {
    /// The trusted projects (the default)
    List,
    /// What a project's hooks.json would run, and whether it is trusted
    Status(Project),
    /// Show what a project's hooks.json would run, and trust it with --fingerprint or --yes
    Grant(Grant),
    /// Trust a project no longer, from the next event on
    Revoke(Project),
}

#[derive(Debug, Args)]
pub(crate) struct Project {
    /// A folder in the project; default the current one
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Grant {
    /// A folder in the project; default the current one
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Trust the document if it has this SHA-256, as `trust status` shows it
    #[arg(long, value_name = "SHA256", conflicts_with = "yes")]
    pub(crate) fingerprint: Option<String>,
    /// Trust the document as it is now
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Files are edited as text: everything that is not ours stays as it is. The difference is shown, what a file held is kept
/// beside it, and a file that cannot be understood is left alone.
#[derive(Debug, Args)]
pub(crate) struct Install {
    /// The agents, by the names that `hooksctl agents` lists
    #[arg(value_name = "AGENT", required = true)]
    pub(crate) agents: Vec<String>,
    /// In your own configuration (the default)
    #[arg(long, conflicts_with = "project")]
    pub(crate) user: bool,
    /// In the configuration of the project around the current folder
    #[arg(long)]
    pub(crate) project: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Shutdown {
    /// How long running events may still take; the daemon's default is 10 seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) drain: Option<u64>,
}

/// Puts a unit (systemd) or an agent (launchd) in place for you alone, and takes it away again.
#[derive(Debug, Args)]
pub(crate) struct Service {
    #[command(subcommand)]
    pub(crate) action: ServiceAction,
    /// Say what would be done, and do nothing
    #[arg(long, global = true)]
    pub(crate) dry_run: bool,
    /// Which service manager; default that of this system
    #[arg(long, global = true, value_enum, default_value_t = ServiceManager::of_this_system())]
    pub(crate) manager: ServiceManager,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub(crate) enum ServiceAction {
    /// Write the files and switch the service on
    Install,
    /// Switch the service off and remove the files
    Uninstall,
    /// Whether the files are there, as they should be, and what the service manager says
    Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServiceManager {
    Systemd,
    Launchd,
}

impl ServiceManager {
    fn of_this_system() -> ServiceManager {
        if cfg!(target_os = "macos") { ServiceManager::Launchd } else { ServiceManager::Systemd }
    }
}
