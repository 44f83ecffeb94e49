//! The command lines of what says why, and of what helps on the way to a first hook.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ConfigDir, ModeArgument};

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
    /// As for an agent that asks for its enabled plugins
    #[arg(long)]
    pub(crate) plugins: bool,
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

/// Writes hooks.json and hooks/guard.sh beside it, a guard for shell commands that works as it is. Refuses to replace
/// anything.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder to write into; default the config dir
    #[arg(value_name = "DIR", conflicts_with = "project")]
    pub(crate) folder: Option<PathBuf>,
    /// Into .deepagents of the project around the current folder
    #[arg(long)]
    pub(crate) project: bool,
}

/// Exit status 1 when something is wrong.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
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

/// To be read by a shell: bash from ~/.local/share/bash-completion/completions/hooksctl, zsh from _hooksctl in a folder
/// of $fpath, fish from ~/.config/fish/completions/hooksctl.fish.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: ShellArgument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellArgument {
    Bash,
    Zsh,
    Fish,
}

/// One page a command, in section 1.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The folder to write into; it is made when it is missing
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}
