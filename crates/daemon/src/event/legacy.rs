//! Events that agents report in the older form: their commands run in the background, exactly once for each report,
//! whoever is still there (D11), each within its own 5 s (D17). Output means nothing; failures are logged.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hooksd_config::Lifecycle;
use hooksd_config::legacy::LEGACY_TIMEOUT_SECONDS;
use hooksd_engine::plan::Plan;
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::methods::{LegacyCommand, LegacyEmitted, LegacyName};
use hooksd_protocol::outcome::{End, Outcome};
use hooksd_protocol::seconds;
use hooksd_runner::{Job, JobTemplate, Program};
use uuid::Uuid;

use crate::base::budget::RequestPermit;
use crate::base::variables::MAX_DEPTH;
use crate::observe::feed::Feed;
use crate::observe::items::About;
use crate::observe::items::diagnostic_item;
use crate::sessions::session::Session;
use crate::state::Daemon;

/// Starts the commands of an event.
pub(crate) fn emit(
    daemon: &Arc<Daemon>,
    session: &Arc<Session>,
    event: LegacyName,
    stdin: String,
    permit: Option<&RequestPermit>,
) -> LegacyEmitted {
    session.reports_legacy.store(true, Ordering::Release);
    let config = session.config.load_full();
    let commands: Vec<LegacyCommand> =
        config.snapshot().legacy.iter().filter(|command| command.wants(event)).cloned().collect();
    let handlers = commands.len();
    if config.depth() >= MAX_DEPTH {
        tracing::warn!(session = %session.id, %event, "hooks run too deep inside hooks; no command was started");
        return LegacyEmitted { accepted: false, handlers };
    }
    let settings = &daemon.settings;
    let env =
        config.handler_environment(settings, &session.id, &Uuid::new_v4().to_string(), Lifecycle::PerEvent);
    let mut fallback_cwds = vec![config.root.clone()];
    fallback_cwds.extend(settings.home.clone());
    let template = Arc::new(JobTemplate {
        fallback_cwds,
        umask: session.umask,
        rlimits: session.rlimits.clone(),
        lane: session.id.clone(),
        depth: config.depth(),
        ..JobTemplate::new(config.params.cwd.clone(), Arc::new(env.into_iter().collect()))
    });
    let stdin: Arc<[u8]> = stdin.into_bytes().into();
    for command in commands {
        let job = Job {
            template: template.clone(),
            program: Program::Argv(command.argv.clone()),
            overlay: Vec::new(),
            stdin: stdin.clone(),
            timeout: seconds::to_duration(LEGACY_TIMEOUT_SECONDS),
        };
        let (runner, cancel, running) =
            (daemon.runner.clone(), daemon.stop.killing.clone(), session.begin_event());
        let (feed, permit) = (daemon.feed.clone(), permit.cloned());
        daemon.events.spawn(async move {
            let _until_the_end = permit;
            let outcome = runner.run(job, &cancel).await;
            report(running.session(), &feed, event, &command, &outcome);
        });
    }
    LegacyEmitted { accepted: true, handlers }
}

fn report(session: &Session, feed: &Feed, event: LegacyName, command: &LegacyCommand, outcome: &Outcome) {
    let (id, source) = (&session.id, &command.source);
    let (kind, message) = match &outcome.end {
        End::Exited(_) | End::Signaled(_) => {
            tracing::debug!(session = %id, %event, %source, "command ended");
            return;
        }
        End::TimedOut => (code::TIMEOUT, format!("command killed after {LEGACY_TIMEOUT_SECONDS} s")),
        End::Cancelled => (code::CANCELLED, "command cut: the daemon is stopping".to_owned()),
        End::LaunchFailed { message } => (code::LAUNCH_FAILED, format!("command not started: {message}")),
        End::QueuedOut => (code::QUEUED_OUT, "command not started: no place in time".to_owned()),
        End::InvalidCommand => (code::INVALID_COMMAND, "command not started: it is empty".to_owned()),
    };
    tracing::warn!(session = %id, %event, %source, "{message}");
    let name = Cow::Owned(event.to_string());
    let about = About { session: Some(id), event: Some(&name), ..About::default() };
    feed.publish(about, || diagnostic_item(&Diagnostic::warning(kind, message).field(source.clone())));
}

/// A session that reports events of the older form itself would run their commands twice.
pub(crate) fn without_derived(mut plan: Plan, session: &Session) -> Plan {
    if session.reports_legacy.load(Ordering::Acquire) {
        plan.selected.retain(|selected| selected.handler.legacy.is_none());
    }
    plan
}
