//! How the handlers of an event are run: in its folder, with its session's variables, mask and limits.

use std::sync::Arc;

use hooksd_config::Lifecycle;
use hooksd_runner::{Environment, JobTemplate};

use crate::event::fanout::HandlerJobs;
use crate::sessions::context::EventContext;
use crate::sessions::resolved::EnvironmentLayer;
use crate::state::Daemon;

/// The jobs of an event's handlers. Handlers of the project's own document also have what its `.env` fills in (D36).
pub(crate) fn handler_jobs(daemon: &Arc<Daemon>, context: &EventContext) -> HandlerJobs {
    let template = template(daemon, context, EnvironmentLayer::Session);
    let own = context.config.has_project_variables();
    let of_project = own.then(|| {
        let env = environment(daemon, context, EnvironmentLayer::Project);
        Arc::new(JobTemplate { env: Arc::new(env), ..template.clone() })
    });
    HandlerJobs { of_project, ..HandlerJobs::new(template) }
}

fn template(daemon: &Arc<Daemon>, context: &EventContext, layer: EnvironmentLayer) -> JobTemplate {
    let mut fallback_cwds = vec![context.config.root.clone()];
    fallback_cwds.extend(daemon.settings.home.clone());
    JobTemplate {
        fallback_cwds,
        deadline: context.deadline,
        umask: context.session.umask,
        rlimits: context.session.rlimits.clone(),
        lane: context.session.id.clone(),
        depth: context.config.depth(),
        ..JobTemplate::new(context.cwd.clone(), Arc::new(environment(daemon, context, layer)))
    }
}

/// The variables of a layer, made when the first handler needs them.
fn environment(daemon: &Arc<Daemon>, context: &EventContext, layer: EnvironmentLayer) -> Environment {
    let (config, settings) = (context.config.clone(), daemon.settings.clone());
    let (session, invocation) = (context.session.id.clone(), context.id);
    Environment::later(move || {
        let invocation = invocation.to_string();
        config.handler_environment(&settings, &session, &invocation, Lifecycle::PerEvent, layer)
    })
}
