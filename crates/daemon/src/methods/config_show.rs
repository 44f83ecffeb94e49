//! `config/show`: what a new interactive session in a folder would get, each handler with its document.

use std::path::PathBuf;
use std::sync::Arc;

use hooksd_config::trust::consent::handler_info;
use hooksd_protocol::methods::{ConfigShow, ConfigShown, Mode};
use hooksd_protocol::rpc::{Frame, RpcError};

use super::{Work, later, params};
use crate::daemon::Daemon;
use crate::invoke::blocking;
use crate::session::{check_cwd, pin};

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let wanted: ConfigShow = params(frame)?;
    check_cwd(&wanted.cwd)?;
    let daemon = daemon.clone();
    later(move |_| blocking(move || Ok(show(&daemon, wanted.cwd))))
}

fn show(daemon: &Daemon, cwd: String) -> ConfigShown {
    let pinned = pin(&daemon.settings, PathBuf::from(cwd), Mode::Interactive, None, None, None);
    let handlers = pinned.snapshot.handlers().iter().map(handler_info).collect();
    ConfigShown {
        snapshot: pinned.snapshot_info(),
        project: pinned.project_info(),
        handlers,
        legacy: pinned.snapshot.legacy.clone(),
    }
}
