//! The command line, defined once.

mod agents;
mod conformance;
mod hook;
mod pages;
mod run;
mod see;
mod set;
mod shared;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use self::agents::Install;
pub(crate) use self::conformance::Conformance;
pub(crate) use self::hook::Hook;
pub(crate) use self::pages::{Completions, Man, ShellArgument};
pub(crate) use self::run::{Invoke, Kill, Replay};
pub(crate) use self::see::*;
pub(crate) use self::set::*;
pub(crate) use self::shared::{ConfigDir, ModeArgument, Period, PluginsArgument, RunOptions, config_dir};

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
