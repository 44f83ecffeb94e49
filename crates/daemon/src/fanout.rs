//! One event's handlers, all at once: from a plan to outcomes in configuration order.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hooksd_config::{Handler, Lifecycle};
use hooksd_engine::outcome::{End, Outcome};
use hooksd_engine::plan::{Plan, Selected};
use hooksd_protocol::seconds;
use hooksd_runner::{OUTPUT_CAP, Program, Run, Runner};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::lifecycle::{Handled, Warmth, overlaid, serve};
use crate::unwound::unwound;

/// What is the same for all handlers of an event.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The environment, without plugin overlays.
    pub env: Vec<(OsString, OsString)>,
    /// The event's working directory.
    pub cwd: PathBuf,
    /// Where to run when that is gone (D3), best first.
    pub fallback_cwds: Vec<PathBuf>,
    /// When the answer is no longer wanted (D22): no handler runs longer.
    pub deadline: Option<Instant>,
    /// Instead of the event's default time limit. Seconds.
    pub default_timeout: Option<f64>,
    /// Bytes kept of each output stream.
    pub output_cap: usize,
    /// Processes that are there already; without, every handler runs per event.
    pub warmth: Option<Warmth>,
}

impl Surroundings {
    /// Handlers run in `cwd` with this environment and nothing special.
    #[must_use]
    pub fn new(cwd: PathBuf, env: Vec<(OsString, OsString)>) -> Surroundings {
        Surroundings {
            env,
            cwd,
            fallback_cwds: Vec::new(),
            deadline: None,
            default_timeout: None,
            output_cap: OUTPUT_CAP,
            warmth: None,
        }
    }

    fn run(&self, handler: &Handler, stdin: Arc<[u8]>) -> Run {
        let program = match &handler.argv {
            Some(argv) => Program::Argv(argv.clone()),
            None => Program::Shell(handler.command.clone()),
        };
        let default = self.default_timeout.unwrap_or(handler.event.default_timeout_seconds());
        let own = seconds::to_duration(handler.timeout.unwrap_or(default));
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        Run {
            program,
            cwd: self.cwd.clone(),
            fallback_cwds: self.fallback_cwds.clone(),
            env: overlaid(&self.env, handler),
            payload: stdin,
            timeout: own.min(left.unwrap_or(Duration::MAX)),
            output_cap: self.output_cap,
            umask: None,
        }
    }
}

/// Hears when a handler begins (true) and ends (false).
pub type Progress = Arc<dyn Fn(&Handler, bool) + Send + Sync>;

/// Runs the selected handlers concurrently.
///
/// Dropping the future kills everything that runs; so does `cancel`, and then the outcomes say so.
pub async fn fan_out(
    runner: &Runner,
    plan: &Plan,
    surroundings: &Surroundings,
    cancel: &CancellationToken,
    progress: Option<Progress>,
) -> Vec<Handled> {
    if let [selected] = plan.selected.as_slice()
        && selected.handler.lifecycle == Lifecycle::Persistent
    {
        return vec![alone(runner, selected, surroundings, cancel, progress).await];
    }
    let mut running = JoinSet::new();
    let mut outcomes = vec![Handled::default(); plan.selected.len()];
    for (index, selected) in plan.selected.iter().enumerate() {
        let Some(stdin) = selected.stdin.clone() else { continue };
        let run = surroundings.run(&selected.handler, stdin);
        let (runner, cancel, progress) = (runner.clone(), cancel.clone(), progress.clone());
        let warmth = surroundings.warmth.clone();
        let handler = selected.handler.clone();
        // A task each: a spawn holds its thread until the new process has started.
        running.spawn(async move {
            if let Some(progress) = &progress {
                progress(&handler, true);
            }
            let outcome = serve(&runner, warmth.as_ref(), &handler, run, &cancel).await;
            if let Some(progress) = &progress {
                progress(&handler, false);
            }
            (index, outcome)
        });
    }
    for (outcome, selected) in outcomes.iter_mut().zip(&plan.selected) {
        if selected.stdin.is_some() {
            outcome.outcome = Some(lost());
        }
    }
    while let Some(joined) = running.join_next().await {
        match joined {
            Ok((index, outcome)) => {
                if let Some(slot) = outcomes.get_mut(index) {
                    *slot = outcome;
                }
            }
            Err(error) => tracing::error!(%error, "a handler run was lost"),
        }
    }
    outcomes
}

/// A run that panicked has no outcome; that is a fault of ours, and it costs that handler alone.
fn lost() -> Outcome {
    let message = "the run was lost inside the daemon; please report this".to_owned();
    Outcome::without_process(End::LaunchFailed { message })
}

/// Runs the only handler, which has its process already: a task of its own would cost more than it saves.
async fn alone(
    runner: &Runner,
    selected: &Selected,
    surroundings: &Surroundings,
    cancel: &CancellationToken,
    progress: Option<Progress>,
) -> Handled {
    let Some(stdin) = selected.stdin.clone() else { return Handled::default() };
    let run = surroundings.run(&selected.handler, stdin);
    let tell = |active| progress.iter().for_each(|progress| progress(&selected.handler, active));
    tell(true);
    let serving = Box::pin(serve(runner, surroundings.warmth.as_ref(), &selected.handler, run, cancel));
    let handled = unwound(serving).await;
    tell(false);
    handled.unwrap_or_else(|_| Handled { outcome: Some(lost()), ..Handled::default() })
}
