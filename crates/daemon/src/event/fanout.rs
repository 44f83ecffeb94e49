//! One event's handlers, all at once: from a plan to outcomes in configuration order.

use std::sync::Arc;
use std::time::Instant;

use hooksd_config::model::Source;
use hooksd_config::{Handler, Lifecycle};
use hooksd_engine::plan::{Plan, Selected};
use hooksd_protocol::outcome::{End, Outcome};
use hooksd_protocol::seconds;
use hooksd_runner::{Job, JobTemplate, Program, Runner};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::base::handled::Handled;
use crate::base::panic::unwound;
use crate::event::lifecycle::{Warmth, serve};

/// How the handlers of an event are run.
#[derive(Debug, Clone)]
pub struct HandlerJobs {
    /// What is the same for all of them; the environment is without plugin overlays.
    pub template: Arc<JobTemplate>,
    /// The same for handlers of the project's own document, where those have other variables (D36).
    pub of_project: Option<Arc<JobTemplate>>,
    /// Instead of the event's default time limit. Seconds.
    pub default_timeout: Option<f64>,
    /// Stops handlers of the older form, which nobody waits for: neither a client that goes nor a cancel does (D11).
    pub killing: CancellationToken,
    /// Processes that are there already; without, every handler runs per event.
    pub warmth: Option<Warmth>,
}

impl HandlerJobs {
    /// Every handler runs per event, with this template and nothing special.
    #[must_use]
    pub fn new(template: JobTemplate) -> HandlerJobs {
        HandlerJobs {
            template: Arc::new(template),
            of_project: None,
            default_timeout: None,
            killing: CancellationToken::new(),
            warmth: None,
        }
    }

    fn job(&self, handler: &Handler, stdin: Arc<[u8]>) -> Job {
        let program = match &handler.argv {
            Some(argv) => Program::Argv(argv.clone()),
            None => Program::Shell(handler.command.clone()),
        };
        let default = self.default_timeout.unwrap_or(handler.event.default_timeout_seconds());
        let own = self.of_project.as_ref().filter(|_| matches!(*handler.source, Source::Project(_)));
        Job {
            template: own.unwrap_or(&self.template).clone(),
            program,
            overlay: handler.env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            stdin,
            timeout: seconds::to_duration(handler.timeout.unwrap_or(default)),
        }
    }
}

/// Hears when a handler begins (nothing yet), which is when it has its place, and ends (what became of it).
pub type Progress = Arc<dyn Fn(&Handler, Option<&Handled>) + Send + Sync>;

/// Runs the selected handlers concurrently.
///
/// Dropping the future kills everything that runs; so does `cancel`, and then the outcomes say so.
pub async fn fan_out(
    runner: &Runner,
    plan: &Plan,
    jobs: &HandlerJobs,
    cancel: &CancellationToken,
    progress: Option<Progress>,
) -> Vec<Handled> {
    if let [selected] = plan.selected.as_slice()
        && selected.handler.lifecycle == Lifecycle::Persistent
    {
        return vec![alone(runner, selected, jobs, cancel, progress).await];
    }
    let mut running = JoinSet::new();
    let asked = Some(Instant::now());
    let mut outcomes = vec![Handled { asked, ..Handled::default() }; plan.selected.len()];
    for (index, selected) in plan.selected.iter().enumerate() {
        let Some(stdin) = selected.stdin.clone() else { continue };
        let job = jobs.job(&selected.handler, stdin);
        let (runner, progress) = (runner.clone(), progress.clone());
        let warmth = jobs.warmth.clone();
        let may_be_warm = warmth.is_some() && selected.handler.lifecycle != Lifecycle::PerEvent;
        let handler = selected.handler.clone();
        let cancel = if handler.legacy.is_some() { &jobs.killing } else { cancel }.clone();
        // A task each: a spawn holds its thread until the new process has started.
        running.spawn(async move {
            // A warm process has its place already; without one the job asks for it.
            let admission = match may_be_warm {
                true => None,
                false => match runner.admit(&job, &cancel).await {
                    Ok(admission) => Some(admission),
                    Err(outcome) => {
                        return (index, Handled { outcome: Some(outcome), ..Handled::default() });
                    }
                },
            };
            if let Some(progress) = &progress {
                progress(&handler, None);
            }
            #[cfg(feature = "failpoints")]
            fail::fail_point!("handler");
            let handled = serve(&runner, warmth.as_ref(), &handler, job, admission, &cancel).await;
            if let Some(progress) = &progress {
                progress(&handler, Some(&handled));
            }
            (index, handled)
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
                    *slot = Handled { asked, ..outcome };
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
    jobs: &HandlerJobs,
    cancel: &CancellationToken,
    progress: Option<Progress>,
) -> Handled {
    let Some(stdin) = selected.stdin.clone() else { return Handled::default() };
    let job = jobs.job(&selected.handler, stdin);
    let tell =
        |ended: Option<&Handled>| progress.iter().for_each(|progress| progress(&selected.handler, ended));
    tell(None);
    let asked = Some(Instant::now());
    let serving = Box::pin(serve(runner, jobs.warmth.as_ref(), &selected.handler, job, None, cancel));
    let handled = unwound(serving).await;
    let handled = handled.unwrap_or_else(|_| Handled { outcome: Some(lost()), ..Handled::default() });
    tell(Some(&handled));
    Handled { asked, ..handled }
}
