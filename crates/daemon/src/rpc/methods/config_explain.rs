//! `config/explain`: for every handler of an event whether it would run, and if not why. Runs nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hooksd_config::now::{DocumentNow, documents};
use hooksd_config::project;
use hooksd_config::trust::Store;
use hooksd_engine::explain::{Circumstances, explain};
use hooksd_engine::plan::Input;
use hooksd_json::ReadError;
use hooksd_protocol::methods::{ConfigExplained, Mode};
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::caller::Call;
use crate::base::variables::MAX_DEPTH;
use crate::base::work::{Work, blocking, later};
use crate::rpc::methods::hook_invoke::event_of;
use crate::rpc::params::invalid;
use crate::sessions::inline::SessionTarget;
use crate::sessions::plugins::plugin_documents;
use crate::sessions::registry::open_inline;
use crate::sessions::resolved::ResolvedConfig;
use crate::state::Daemon;

/// The params by name.
const KNOWN: [&str; 3] = ["session", "invocation", "payload"];

pub(crate) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    let params = frame.params.as_ref().filter(|params| params.is_object());
    let Some(params) = params else {
        let message = "expected an object with session and invocation or payload";
        return Err(invalid(ReadError::new("params", message)));
    };
    if let Some(key) = params.unknown_key(&KNOWN) {
        let message = format!("unknown field; known here: {}", KNOWN.join(", "));
        return Err(invalid(ReadError::new(key, message)));
    }
    let (input, _) = event_of(params).map_err(invalid)?;
    let target = daemon.openings.target(params, &daemon.sessions)?;
    let daemon = daemon.clone();
    later(call, blocking(move || look(&daemon, target, &input)))
}

fn look(daemon: &Daemon, target: SessionTarget, input: &Input) -> Result<ConfigExplained, RpcError> {
    let (session, is_pinned) = match target {
        SessionTarget::Open(session) => (session, true),
        SessionTarget::Inline(opening) => {
            (open_inline(&daemon.settings, &daemon.documents, &opening, &daemon.stop.killing)?, false)
        }
    };
    let config = session.config.load_full();
    let circumstances = Circumstances {
        root: config.root.display().to_string(),
        reports_legacy: session.reports_legacy.load(Ordering::Acquire),
        too_deep: config.depth() >= MAX_DEPTH,
        headless: config.params.mode == Mode::Headless,
        pinned: is_pinned,
    };
    let documents = documents_now(daemon, &config)?;
    Ok(explain(config.snapshot(), &documents, input, &circumstances, config.diagnostics()))
}

/// The documents as they are now, in the order of precedence.
fn documents_now(daemon: &Daemon, config: &ResolvedConfig) -> Result<Vec<DocumentNow>, RpcError> {
    let settings = &daemon.settings;
    let served = config.project().fingerprint.clone();
    let counts = config.project().trusted && config.still_trusted(settings)?;
    // Other bytes than those that serve need trust of their own.
    let trusted = |fingerprint: &str| match &served {
        Some(served) if served == fingerprint => counts,
        _ => {
            config.params.mode == Mode::Interactive
                && Store::read(&settings.config_dir).trusts(&config.root, fingerprint)
        }
    };
    let (plugins, _) = plugin_documents(settings, config.params.plugins.as_ref(), &config.root);
    let project = project::document(&config.root);
    Ok(documents(&settings.config_dir, &settings.user_document(), Some(&project), &trusted, &plugins))
}
