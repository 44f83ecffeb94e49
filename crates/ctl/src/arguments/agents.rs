//! The arguments of commands about agents.

use clap::Args;

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
