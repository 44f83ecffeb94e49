//! hooksd as it is, with what tells of its work on or off: one side of line j each.

use std::path::Path;

use anyhow::{Context, Result};
use hooksd::server::listen::listen;
use hooksd::{Settings, Shutdown};

/// Serves until it is killed. `told`: with the journal and the log.
///
/// # Errors
/// When it cannot listen, or the runtime cannot start.
pub fn serve(socket: &Path, config_dir: &Path, told: bool) -> Result<()> {
    let level = if told { "info" } else { "off" };
    tracing_subscriber::fmt().with_env_filter(level).with_writer(std::io::stderr).init();
    hooksd_system::seal_descriptors().context("cannot keep descriptors from handlers")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no runtime")?;
    runtime.block_on(async {
        let mut settings = Settings::new(config_dir.to_owned());
        settings.environment = std::sync::Arc::new(std::env::vars_os().collect());
        settings.journal.enabled = told;
        let (held, listener) = listen(socket)?;
        let listener = tokio::net::UnixListener::from_std(listener).context("cannot use the socket")?;
        hooksd::run(listener, settings, Shutdown::default()).await;
        drop(held);
        Ok(())
    })
}
