//! `daemon/settings`: what the daemon was told when it started, and where each value comes from.

use hooksd_protocol::methods::{DaemonSettings, NoParams};
use hooksd_protocol::rpc::{Frame, RpcError};

use crate::base::settings::SETTINGS_FILE;
use crate::base::work::{Work, now};
use crate::rpc::params::params;
use crate::state::Daemon;

pub(crate) fn work(daemon: &Daemon, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let _: NoParams = params(frame)?;
    now(DaemonSettings {
        file: daemon.settings.config_dir.join(SETTINGS_FILE).display().to_string(),
        settings: daemon.settings.told.clone(),
    })
}
