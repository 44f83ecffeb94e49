//! `config/explain`: for every handler of an event whether it would run, and if not why. Runs nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hooksd_config::now::{DocumentNow, documents};
use hooksd_config::project;
use hooksd_config::trust::Store;
use hooksd_engine::explain::{Circumstances, explain};
use hooksd_engine::plan::Input;
use hooksd_protocol::methods::{ConfigExplained, Mode};
use hooksd_protocol::rpc::{Frame, RpcError};

use super::hook_invoke::event_of;
use super::{Work, invalid, later};
use crate::daemon::Daemon;
use crate::invoke::blocking;
use crate::opening::Target;
use crate::pinned::{MAX_DEPTH, Pinned};
use crate::plugins::plugin_documents;
use crate::session::field_error;
use crate::sessions::open_inline;

/// The params by name.
const KNOWN: [&str; 3] = ["session", "invocation", "payload"];

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let params = frame.params.as_ref().filter(|params| params.is_object());
    let Some(params) = params else {
        let message = "expected an object with session and invocation or payload";
        return Err(invalid(field_error("params", message)));
    };
    if let Some(key) = params.unknown_key(&KNOWN) {
        let message = format!("unknown field; known here: {}", KNOWN.join(", "));
        return Err(invalid(field_error(&key, &message)));
    }
    let (input, _) = event_of(params).map_err(invalid)?;
    let target = daemon.openings.target(params, &daemon.sessions)?;
    let daemon = daemon.clone();
    later(move |_| blocking(move || look(&daemon, target, &input)))
}

fn look(daemon: &Daemon, target: Target, input: &Input) -> Result<ConfigExplained, RpcError> {
    let (session, pinned_session) = match target {
        Target::Open(session) => (session, true),
        Target::Inline(opening) => {
            (open_inline(&daemon.settings, &daemon.documents, &opening, &daemon.killing)?, false)
        }
    };
    let pinned = session.pinned.load_full();
    let circumstances = Circumstances {
        root: pinned.root.display().to_string(),
        reports_legacy: session.reports_legacy.load(Ordering::Acquire),
        too_deep: pinned.depth() >= MAX_DEPTH,
        headless: pinned.view.mode == Mode::Headless,
        pinned: pinned_session,
    };
    let documents = documents_now(daemon, &pinned)?;
    Ok(explain(pinned.snapshot(), &documents, input, &circumstances, pinned.diagnostics()))
}

/// The documents as they are now, in the order of precedence.
fn documents_now(daemon: &Daemon, pinned: &Pinned) -> Result<Vec<DocumentNow>, RpcError> {
    let settings = &daemon.settings;
    let served = pinned.project().fingerprint.clone();
    let counts = pinned.project().trusted && pinned.still_trusted(settings)?;
    // Other bytes than those that serve need trust of their own.
    let trusted = |fingerprint: &str| match &served {
        Some(served) if served == fingerprint => counts,
        _ => {
            pinned.view.mode == Mode::Interactive
                && Store::read(&settings.config_dir).trusts(&pinned.root, fingerprint)
        }
    };
    let (plugins, _) = plugin_documents(settings, pinned.view.plugins.as_ref(), &pinned.root);
    let project = project::document(&pinned.root);
    Ok(documents(&settings.config_dir, &settings.user_document(), Some(&project), &trusted, &plugins))
}
