//! Which process runs a handler (D9): one of its own, one that waited for the event, or one that stays. What a warm
//! process cannot serve runs per event, with the same meaning.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use hooksd_config::{Handler, Lifecycle};
use hooksd_engine::outcome::Outcome;
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_runner::warm::{Answer, Ask, Key, Remark, Variables, Warm, Went};
use hooksd_runner::{Run, Runner};
use tokio_util::sync::CancellationToken;

/// What became of one handler.
#[derive(Debug, Clone, Default)]
pub struct Handled {
    /// Its outcome; `None` when it counts as failed without running (D7).
    pub outcome: Option<Outcome>,
    /// Whether its process was there before the event.
    pub warm: bool,
    /// What is to be said of its lifecycle.
    pub remarks: Vec<Diagnostic>,
}

/// Makes the environment of prewarmed processes.
type Environment = dyn Fn() -> Variables + Send + Sync;

/// The warm processes, and what those of this event's handlers are started for.
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
    pub persistent: Variables,
    /// What prewarmed ones get.
    pub prewarmed: Arc<Environment>,
}

impl std::fmt::Debug for Warmth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Warmth").field("owner", &self.owner).field("root", &self.root).finish_non_exhaustive()
    }
}

impl Warmth {
    fn key(&self, handler: &Handler, folder: PathBuf, variables: Variables) -> Key {
        Key { snapshot: self.snapshot.to_string(), handler: handler.id.clone(), folder, variables }
    }

    async fn answer(&self, handler: &Handler, run: &Run, cancel: &CancellationToken) -> Option<Answer> {
        let owner = self.owner.as_deref();
        match handler.lifecycle {
            Lifecycle::PerEvent => None,
            Lifecycle::Persistent => {
                let key = self.key(handler, self.root.clone(), self.persistent.clone());
                let ask = Ask {
                    key: &key,
                    owner,
                    workers: handler.workers,
                    payload: &run.payload,
                    timeout: run.timeout,
                };
                let spec = || Run {
                    cwd: self.root.clone(),
                    env: overlaid(self.persistent.list(), handler),
                    ..run.clone()
                };
                Some(self.warm.persistent(ask, spec, cancel).await)
            }
            Lifecycle::Prewarmed => {
                let variables = (self.prewarmed)();
                let ahead = Run { env: overlaid(variables.list(), handler), ..run.clone() };
                let key = self.key(handler, run.cwd.clone(), variables);
                Some(self.warm.prewarmed(&key, owner, handler.workers, &ahead, cancel).await)
            }
        }
    }
}

/// Runs one handler.
pub(crate) async fn serve(
    runner: &Runner,
    warmth: Option<&Warmth>,
    handler: &Handler,
    run: Run,
    cancel: &CancellationToken,
) -> Handled {
    let answer = match warmth {
        Some(warmth) => warmth.answer(handler, &run, cancel).await,
        None => None,
    };
    let Some(Answer { went, warm, remarks }) = answer else {
        return Handled { outcome: Some(runner.run(run, cancel).await), ..Handled::default() };
    };
    let remarks = remarks.into_iter().map(|remark| diagnostic(handler, remark)).collect();
    match went {
        Went::Ran(outcome) => Handled { outcome: Some(outcome), warm, remarks },
        Went::Cold => Handled { outcome: Some(runner.run(run, cancel).await), warm: false, remarks },
    }
}

/// An environment with the plugin's variables on top.
pub(crate) fn overlaid(variables: &[(OsString, OsString)], handler: &Handler) -> Vec<(OsString, OsString)> {
    let of_plugin = |name: &OsString| handler.env.iter().any(|(own, _)| name == own.as_str());
    let kept = variables.iter().filter(|(name, _)| !of_plugin(name));
    let kept = kept.map(|(name, value)| (name.clone(), value.clone()));
    kept.chain(handler.env.iter().map(|(name, value)| (name.into(), value.into()))).collect()
}

fn diagnostic(handler: &Handler, remark: Remark) -> Diagnostic {
    let (kind, text) = match remark {
        Remark::OutOfStep(text) => (code::OUT_OF_STEP, format!("{text}; the process was killed")),
        Remark::FellBack(text) => (code::LIFECYCLE_FALLBACK, text),
    };
    Diagnostic::warning(kind, text).handler(&handler.id).field("lifecycle")
}
