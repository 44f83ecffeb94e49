//! The real daemon on a real socket in a temporary folder, and calls in the text that a vector has.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hooksd::Settings;
use hooksd_client::ClientError;
use hooksd_client::asynchronous::Client;
use serde_json::value::RawValue;
use tokio::net::UnixListener;
use tokio::task::JoinHandle;

/// No call of a vector takes nearly as long.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// A running daemon.
pub(crate) struct Daemon {
    folder: tempfile::TempDir,
    config_dir: PathBuf,
    shutdown: hooksd::Shutdown,
    server: JoinHandle<()>,
}

impl Daemon {
    /// Starts it with this environment for its handlers; the config dir is empty.
    pub(crate) fn start(environment: Vec<(OsString, OsString)>) -> Result<Daemon, String> {
        let folder =
            tempfile::Builder::new().prefix("conformance").tempdir().map_err(|error| error.to_string())?;
        let top = fs::canonicalize(folder.path()).map_err(|error| error.to_string())?;
        let (config_dir, socket) = (top.join("config"), top.join("socket"));
        fs::create_dir_all(config_dir.join(".state")).map_err(|error| error.to_string())?;
        let listener =
            UnixListener::bind(&socket).map_err(|error| format!("{}: {error}", socket.display()))?;
        let environment = std::sync::Arc::new(environment.into_iter().collect());
        let settings = Settings { socket: Some(socket), environment, ..Settings::new(config_dir.clone()) };
        let shutdown = hooksd::Shutdown::default();
        let server = tokio::spawn(hooksd::run(listener, settings, shutdown.clone()));
        Ok(Daemon { folder, config_dir, shutdown, server })
    }

    /// The folder of the user's hooks.json.
    pub(crate) fn config_dir(&self) -> &Path {
        &self.config_dir
    }

    pub(crate) async fn connect(&self) -> Result<Client, String> {
        let client =
            Client::connect(&self.folder.path().join("socket")).await.map_err(|error| error.to_string())?;
        Ok(client.with_timeout(CALL_TIMEOUT))
    }

    /// Stops it and waits until it has stopped.
    pub(crate) async fn stop(self) -> Result<(), String> {
        self.shutdown.stop.cancel();
        self.server.await.map_err(|error| format!("the daemon was lost: {error}"))
    }
}

/// Calls a method with params spelled by the vector.
pub(crate) async fn call(client: &Client, method: &str, params: String) -> Result<String, ClientError> {
    let params = RawValue::from_string(params).map_err(ClientError::BadRequest)?;
    client.call_raw(method, &params).await
}
