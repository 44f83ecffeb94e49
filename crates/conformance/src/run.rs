//! Scenarios run, as many at once as was asked for.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Instant;

use crate::engine::daemon::Daemon;
use crate::engine::program::Program;
use crate::engine::{Engine, EngineAnswer, How, Respondent};
use crate::failure::Failure;
use crate::judge::{self, Outcome};
use crate::layout::World;
use crate::scenario::Scenario;

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
    let started = Instant::now();
    let answer = respondent.answer(scenario, &world);
    let took = started.elapsed();
    Ok(match answer {
        Err(problem) => Outcome::Failed(vec![problem]),
        Ok(EngineAnswer { unsupported: Some(reason), .. }) => Outcome::Unsupported(reason),
        Ok(answer) => judge::judge(scenario, &world, &answer, took),
    })
}
