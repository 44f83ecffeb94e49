//! `hooksctl conformance`: scenarios that show from outside what a hook engine does, and engines that are asked.
//!
//! Guarantees: a scenario runs in folders of its own; an engine that hangs, crashes, or writes nonsense or without end
//! costs its scenario and no other; nothing of a scenario is left on the disk, also after a
//! signal. docs/conformance.md is the contract.

mod daemon;
mod judge;
mod layout;
mod program;
mod record;
mod scenario;
mod stop;
mod suite;
mod tally;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

pub(crate) use self::scenario::Scenario;
pub(crate) use self::stop::Stop;
pub(crate) use self::suite::{Suite, export};
pub(crate) use self::tally::{Tally, describe};

use self::daemon::Daemon;
use self::layout::World;
use self::program::Program;
use crate::failure::Failure;

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
#[derive(Debug, Default, serde::Deserialize)]
pub(crate) struct Answer {
    /// What is to happen. What it does not mention is as if no hook had spoken.
    decision: Option<serde_json::Value>,
    /// What was remarked when the documents were read.
    load_diagnostics: Option<Vec<serde_json::Value>>,
    /// Why the scenario is beyond this engine.
    unsupported: Option<String>,
}

/// What came of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All that was looked at is as it has to be.
    Passed {
        /// Whether diagnostics were expected and the engine tells none.
        is_without_diagnostics: bool,
    },
    /// What is not as it has to be.
    Failed(Vec<String>),
    /// The engine's own words.
    Unsupported(String),
}

/// Someone who answers scenarios, one after the other.
trait Respondent {
    /// Gets ready for a scenario before it is laid out; the config dir that is read, where it is not the scenario's own.
    fn prepare(&mut self, scenario: &Scenario) -> Result<Option<PathBuf>, Failure>;

    /// Answers, or says why there is no answer.
    fn answer(&mut self, scenario: &Scenario, world: &World) -> Result<Answer, String>;
}

/// Runs scenarios; what came of each, in their order.
///
/// # Errors
/// When there is no engine to ask, a scenario cannot be laid out, or a signal has come.
pub(crate) fn run(engine: &Engine, scenarios: &[Scenario], how: &How) -> Result<Vec<Outcome>, Failure> {
    let jobs = match engine {
        // Its config dir holds one scenario's document at a time.
        Engine::Daemon(_) => 1,
        _ => how.jobs.min(scenarios.len()).max(1),
    };
    let mut respondents: Vec<Box<dyn Respondent + Send>> = Vec::new();
    for _ in 0..jobs {
        how.stop.check()?;
        respondents.push(match engine {
            Engine::OwnDaemons => Box::new(Daemon::start(how.limit)?),
            Engine::Daemon(socket) => Box::new(Daemon::at(socket, how.limit)?),
            Engine::Command(command) => Box::new(Program::new(command.clone(), how)),
        });
    }
    let queue: Mutex<VecDeque<(usize, &Scenario)>> = Mutex::new(scenarios.iter().enumerate().collect());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let (done, results) = mpsc::channel();
    thread::scope(|scope| {
        for mut respondent in respondents {
            let done = done.clone();
            let next = &next;
            scope.spawn(move || {
                while let Some((number, scenario)) = next() {
                    let outcome = how.stop.check().and_then(|()| one(&mut *respondent, scenario));
                    // Nobody listens any more after another one's error.
                    if done.send((number, outcome)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(done);
        let mut outcomes: Vec<Option<Outcome>> = vec![None; scenarios.len()];
        for (number, outcome) in results {
            // What goes wrong after a signal may have had the same one.
            let outcome = outcome.or_else(|failure| how.stop.check().and(Err(failure)))?;
            if let Some(place) = outcomes.get_mut(number) {
                *place = Some(outcome);
            }
        }
        how.stop.check()?;
        Ok(outcomes.into_iter().flatten().collect())
    })
}

/// Runs one.
fn one(respondent: &mut dyn Respondent, scenario: &Scenario) -> Result<Outcome, Failure> {
    let config_dir = respondent.prepare(scenario)?;
    let unusable = |error| Failure::Input(format!("{} cannot be laid out: {error}", scenario.id));
    let world = World::new(scenario, config_dir).map_err(unusable)?;
    let started = std::time::Instant::now();
    let answer = respondent.answer(scenario, &world);
    let took = started.elapsed();
    Ok(match answer {
        Err(problem) => Outcome::Failed(vec![problem]),
        Ok(Answer { unsupported: Some(reason), .. }) => Outcome::Unsupported(reason),
        Ok(answer) => judge::judge(scenario, &world, &answer, took),
    })
}
