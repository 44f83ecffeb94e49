//! Which process runs a handler (D9): one of its own, one that waited for the event, or one that stays. What a warm
//! process cannot serve runs per event, with the same meaning.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hooksd_config::{Handler, Lifecycle};
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_runner::warm::{Answer, Ask, Key, Purpose, Remark, Variables, Warm, Went};
use hooksd_runner::{Admission, Environment, Job, JobTemplate, Runner};
use tokio_util::sync::CancellationToken;

use crate::base::handled::Handled;

/// Makes the environment of a handler's processes: a project's handlers may have others than the rest (D36).
type MakeVariables = dyn Fn(&Handler) -> Variables + Send + Sync;

/// The warm processes, and what a process is started for that may serve handlers of this event.
#[derive(Clone)]
pub struct Warmth {
    /// All of them.
    pub warm: Warm,
    /// The session that holds what it uses; none when it is for this event only.
    pub owner: Option<Arc<str>>,
    /// The snapshot's id.
    pub snapshot: Arc<str>,
    /// Where persistent handlers run.
    pub root: PathBuf,
    /// What persistent handlers get, without plugin overlays.
    pub persistent: Arc<MakeVariables>,
    /// What prewarmed ones get.
    pub prewarmed: Arc<MakeVariables>,
}

impl std::fmt::Debug for Warmth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Warmth").field("owner", &self.owner).field("root", &self.root).finish_non_exhaustive()
    }
}

impl Warmth {
    fn key(&self, handler: &Handler, folder: PathBuf, variables: Variables, job: &Job) -> Key {
        let (umask, rlimits) = (job.template.umask, job.template.rlimits.clone());
        let (snapshot, handler) = (self.snapshot.clone(), handler.id.clone());
        Purpose { snapshot, handler, folder, variables, umask, rlimits }.into()
    }

    async fn answer(&self, handler: &Handler, job: &Job, cancel: &CancellationToken) -> Option<Answer> {
        let owner = self.owner.as_deref();
        match handler.lifecycle {
            Lifecycle::PerEvent => None,
            Lifecycle::Persistent => {
                let variables = (self.persistent)(handler);
                let key = self.key(handler, self.root.clone(), variables.clone(), job);
                let ask = Ask {
                    key: &key,
                    owner,
                    workers: handler.workers,
                    payload: &job.stdin,
                    timeout: until(job),
                };
                let template = || JobTemplate {
                    cwd: self.root.clone(),
                    env: environment(&variables),
                    deadline: None,
                    ..(*job.template).clone()
                };
                let spec = || Job { template: Arc::new(template()), ..job.clone() };
                Some(self.warm.persistent(ask, spec, cancel).await)
            }
            Lifecycle::Prewarmed => {
                let variables = (self.prewarmed)(handler);
                let template = JobTemplate { env: environment(&variables), ..(*job.template).clone() };
                let ahead = Job { template: Arc::new(template), timeout: until(job), ..job.clone() };
                let key = self.key(handler, job.template.cwd.clone(), variables, job);
                Some(self.warm.prewarmed(&key, owner, handler.workers, &ahead, cancel).await)
            }
        }
    }
}

/// The handler's own time, or less where the request's deadline comes first (D22).
fn until(job: &Job) -> Duration {
    let left = job.template.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    job.timeout.min(left.unwrap_or(Duration::MAX))
}

fn environment(variables: &Variables) -> Arc<Environment> {
    Arc::new(variables.list().iter().cloned().collect())
}

/// Runs one handler, which may have its place already.
pub(crate) async fn serve(
    runner: &Runner,
    warmth: Option<&Warmth>,
    handler: &Handler,
    job: Job,
    admission: Option<Admission>,
    cancel: &CancellationToken,
) -> Handled {
    let answer = match warmth {
        Some(warmth) => warmth.answer(handler, &job, cancel).await,
        None => None,
    };
    let Some(Answer { went, warm, remarks }) = answer else {
        let outcome = match admission {
            Some(admission) => runner.run_admitted(job, admission, cancel).await,
            None => runner.run(job, cancel).await,
        };
        return Handled { outcome: Some(outcome), ..Handled::default() };
    };
    let remarks = remarks.into_iter().map(|remark| diagnostic(handler, remark)).collect();
    match went {
        Went::Ran(outcome) => Handled { outcome: Some(outcome), warm, remarks, asked: None },
        Went::Cold => {
            Handled { outcome: Some(runner.run(job, cancel).await), warm: false, remarks, asked: None }
        }
    }
}

fn diagnostic(handler: &Handler, remark: Remark) -> Diagnostic {
    let (kind, text) = match remark {
        Remark::OutOfStep(text) => (code::OUT_OF_STEP, format!("{text}; the process was killed")),
        Remark::FellBack(text) => (code::LIFECYCLE_FALLBACK, text),
    };
    Diagnostic::warning(kind, text).handler(&handler.id).field("lifecycle")
}
