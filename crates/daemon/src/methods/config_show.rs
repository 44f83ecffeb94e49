//! `config/show`: what a new interactive session in a folder would get, each handler with its document.

use std::path::PathBuf;
use std::sync::Arc;

use hooksd_protocol::methods::{ConfigShow, ConfigShown, HandlerInfo, Mode};
use hooksd_protocol::rpc::{Frame, RpcError};

use super::{Work, later, params};
use crate::daemon::Daemon;
use crate::invoke::blocking;
use crate::pinned::{View, pin};
use crate::session::check_cwd;

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let wanted: ConfigShow = params(frame)?;
    check_cwd(&wanted.cwd)?;
    let daemon = daemon.clone();
    later(move |_| blocking(move || Ok(show(&daemon, wanted.cwd))))
}

fn show(daemon: &Daemon, cwd: String) -> ConfigShown {
    let view = View { cwd: PathBuf::from(cwd), mode: Mode::Interactive, trust: None, env: None };
    let pinned = pin(&daemon.settings, &daemon.documents, view);
    let handlers = pinned
        .snapshot()
        .handlers()
        .iter()
        .map(|handler| HandlerInfo {
            id: handler.id.clone(),
            event: handler.event,
            matcher: handler.matcher_text.clone(),
            command: handler.command.clone(),
            argv: handler.argv.clone(),
            timeout: handler.timeout,
            status_message: handler.status_message.clone(),
            on_failure: handler.on_failure.as_str().to_owned(),
            lifecycle: handler.lifecycle.as_str().to_owned(),
            workers: handler.workers,
            source: handler.source.label(),
        })
        .collect();
    ConfigShown { snapshot: pinned.snapshot_info(), project: pinned.project_info(), handlers }
}
