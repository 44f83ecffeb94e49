//! `config/show`: what a new interactive session in a folder would get, each handler with its document.

use std::path::PathBuf;
use std::sync::Arc;

use hooksd_config::trust::consent::handler_info;
use hooksd_protocol::invocation::check_cwd;
use hooksd_protocol::methods::{ConfigShow, ConfigShown, Mode};
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::caller::Call;
use crate::base::work::{Work, blocking, later};
use crate::documents::{Shortage, outlast};
use crate::rpc::params::params;
use crate::sessions::params::SessionParams;
use crate::sessions::resolved::resolve;
use crate::state::Daemon;

pub(crate) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    let wanted: ConfigShow = params(frame)?;
    check_cwd(&wanted.cwd).map_err(|error| RpcError::invalid_params(&error))?;
    let daemon = daemon.clone();
    later(call, blocking(move || Ok(show(&daemon, wanted.cwd)?)))
}

fn show(daemon: &Daemon, cwd: String) -> Result<ConfigShown, Shortage> {
    let params = SessionParams {
        cwd: PathBuf::from(cwd),
        mode: Mode::Interactive,
        trust: None,
        env: None,
        plugins: None,
    };
    let config = outlast(|| resolve(&daemon.settings, &daemon.documents, params.clone()))?;
    Ok(ConfigShown {
        snapshot: config.snapshot_info(),
        project: config.project_info(),
        handlers: config.snapshot().handlers().iter().map(handler_info).collect(),
        legacy: config.snapshot().legacy.clone(),
    })
}
