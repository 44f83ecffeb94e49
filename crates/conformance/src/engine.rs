//! What is measured, and how it is asked.

pub(crate) mod daemon;
pub(crate) mod program;

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::layout::World;
use crate::scenario::Scenario;
use crate::stop::Stop;

/// What is measured.
#[derive(Debug, Clone)]
pub(crate) enum Engine {
    /// Daemons that are started for it, each with a config dir of its own.
    OwnDaemons,
    /// The daemon at this socket, whose config dir holds no hooks.json.
    Daemon(PathBuf),
    /// This shell command, once for each scenario.
    Command(String),
}

/// How it is measured.
#[derive(Debug, Clone)]
pub(crate) struct How {
    /// How many scenarios run at once.
    pub(crate) jobs: usize,
    /// How long an engine may take for one.
    pub(crate) limit: Duration,
    /// Whether what an engine's program says on standard error is shown.
    pub(crate) is_verbose: bool,
    /// What ends it early.
    pub(crate) stop: Stop,
}

/// What an engine says of a scenario.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct EngineAnswer {
    /// What is to happen. What it does not mention is as if no hook had spoken.
    pub(crate) decision: Option<Value>,
    /// What was remarked when the documents were read.
    pub(crate) load_diagnostics: Option<Vec<Value>>,
    /// Why the scenario is beyond this engine.
    pub(crate) unsupported: Option<String>,
}

/// Someone who answers scenarios, one after the other.
pub(crate) trait Respondent {
    /// Gets ready for a scenario before it is laid out; the config dir that is read, where it is not the scenario's own.
    fn prepare(&mut self, scenario: &Scenario) -> Result<Option<PathBuf>, Failure>;

    /// Answers, or says why there is no answer.
    fn answer(&mut self, scenario: &Scenario, world: &World) -> Result<EngineAnswer, String>;
}
