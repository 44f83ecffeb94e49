//! The arguments of commands that change how hooks run.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::ConfigDir;

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
