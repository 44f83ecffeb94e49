//! The arguments of the command that proves what an engine does.

use std::path::PathBuf;

use clap::Args;

/// Runs scenarios (documents, an event, what each handler does) and compares the decision, who ran, and what they read.
/// Without --agent-command it measures hooksd: daemons that it starts for it, or with --socket one that has an empty
/// config dir. docs/conformance.md says what an engine reads and answers.
#[derive(Debug, Args)]
pub(crate) struct Conformance {
    /// Measure the engine behind this shell command: it is run once for each scenario, reads one line of JSON and
    /// answers one
    #[arg(long, value_name = "CMD")]
    pub(crate) agent_command: Option<String>,
    /// The scenarios of this folder's *.jsonl; default those that came with this program
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// Only these areas
    #[arg(long = "area", value_name = "NAME")]
    pub(crate) areas: Vec<String>,
    /// Only scenarios with this text in their ids
    #[arg(long, value_name = "ID")]
    pub(crate) only: Option<String>,
    /// Tell of each scenario that failed what was expected and what came, and show what the engine says on standard error
    #[arg(long)]
    pub(crate) verbose: bool,
    /// How many scenarios run at once; with --socket one
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) jobs: u8,
    /// Give up on a scenario after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// Write the scenarios that came with this program into a folder, and run nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["agent_command", "suite", "areas", "only"])]
    pub(crate) export: Option<PathBuf>,
}
