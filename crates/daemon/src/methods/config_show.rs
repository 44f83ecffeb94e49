//! `config/show`: what a new interactive session in a folder would get, each handler with its document.

use std::path::PathBuf;
use std::sync::Arc;

use hooksd_config::trust::consent::handler_info;
use hooksd_protocol::invocation::check_cwd;
use hooksd_protocol::methods::{ConfigShow, ConfigShown, Mode};
use hooksd_protocol::rpc::{Frame, RpcError};

use super::{Work, later, params};
use crate::daemon::Daemon;
use crate::hot::{Shortage, outlast};
use crate::invoke::blocking;
use crate::pinned::{View, pin};

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let wanted: ConfigShow = params(frame)?;
    check_cwd(&wanted.cwd).map_err(|error| RpcError::invalid_params(&error))?;
    let daemon = daemon.clone();
    later(move |_| blocking(move || Ok(show(&daemon, wanted.cwd)?)))
}

fn show(daemon: &Daemon, cwd: String) -> Result<ConfigShown, Shortage> {
    let view =
        View { cwd: PathBuf::from(cwd), mode: Mode::Interactive, trust: None, env: None, plugins: None };
    let pinned = outlast(|| pin(&daemon.settings, &daemon.documents, view.clone()))?;
    Ok(ConfigShown {
        snapshot: pinned.snapshot_info(),
        project: pinned.project_info(),
        handlers: pinned.snapshot().handlers().iter().map(handler_info).collect(),
        legacy: pinned.snapshot().legacy.clone(),
    })
}
