//! The server: accepts connections until it is told to stop, then lets running events finish.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio_util::task::TaskTracker;

use crate::base::notify;
use crate::base::settings::Settings;
use crate::base::shutdown::{Reload, Shutdown};
use crate::documents::watch::run as watch_documents;
use crate::rpc::connection;
use crate::server::idle::leave_when_idle;
use crate::server::pulse::Pulse;
use crate::server::stop::stop;
use crate::state::Daemon;

/// How long to wait before accepting again when the system has no descriptor left. Milliseconds.
const ACCEPT_RETRY_MS: u64 = 50;

/// How often abandoned sessions are looked for. Seconds.
const RECLAIM_SECONDS: u64 = 5;

/// Serves `listener` until it is told to stop, here or by a client, then drains and returns. The caller owns the
/// socket file.
pub async fn run(listener: UnixListener, settings: Settings, shutdown: Shutdown) {
    let daemon = Arc::new(Daemon::new(settings, shutdown.stop.child_token(), shutdown.cut.child_token()));
    let connections = TaskTracker::new();
    let background = [
        tokio::spawn(keep_hot(daemon.clone())),
        tokio::spawn(reclaim(daemon.clone())),
        tokio::spawn(reload(daemon.clone(), shutdown.reload)),
        tokio::spawn(leave_when_idle(daemon.clone())),
    ];
    let mut pulse = Pulse::new(daemon.settings.heartbeat);
    loop {
        tokio::select! {
            () = daemon.stop.stopping.cancelled() => break,
            () = pulse.beat() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => accept(&daemon, &connections, stream),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection; trying again");
                    tokio::time::sleep(Duration::from_millis(ACCEPT_RETRY_MS)).await;
                }
            },
        }
    }
    notify::stopping();
    accept_waiting(&daemon, &connections, listener);
    {
        let stopped = pin!(stop(&daemon, &connections));
        pulse.beside(stopped).await;
    }
    for task in background {
        task.abort();
        // Aborted, or ended by itself: either way it is over.
        let _ = task.await;
    }
}

/// Whoever is waiting to be accepted when the daemon stops hears so, instead of losing the connection.
fn accept_waiting(daemon: &Arc<Daemon>, connections: &TaskTracker, listener: UnixListener) {
    let Ok(listener) = listener.into_std() else { return };
    // A service manager keeps the socket, and the next daemon accepts them.
    while let (false, Ok((stream, _))) = (daemon.settings.activated, listener.accept()) {
        if stream.set_nonblocking(true).is_ok()
            && let Ok(stream) = UnixStream::from_std(stream)
        {
            accept(daemon, connections, stream);
        }
    }
}

/// Looks at all documents when it is told to.
async fn reload(daemon: Arc<Daemon>, told: Reload) {
    loop {
        told.asked.notified().await;
        let looking = daemon.clone();
        let look = move || {
            let Daemon { sessions, settings, documents, warm, .. } = &*looking;
            sessions.look_at_documents(settings, documents, warm)
        };
        match tokio::task::spawn_blocking(look).await {
            Ok(changed) => tracing::info!(changed, "looked at all documents"),
            Err(error) => tracing::error!(%error, "the documents could not be looked at"),
        }
        told.done.notify_one();
    }
}

/// Watches the documents for as long as the daemon takes events.
async fn keep_hot(daemon: Arc<Daemon>) {
    let (documents, mode, stop) =
        (daemon.documents.clone(), daemon.watch_mode.clone(), daemon.stop.stopping.clone());
    let poll = daemon.settings.poll;
    watch_documents(documents, mode, poll, stop, move || {
        daemon.sessions.documents_changed(&daemon.settings, &daemon.documents, &daemon.warm);
    })
    .await;
}

/// Closes sessions that nobody will miss.
async fn reclaim(daemon: Arc<Daemon>) {
    loop {
        tokio::time::sleep(Duration::from_secs(RECLAIM_SECONDS)).await;
        daemon.sessions.reclaim();
    }
}

fn accept(daemon: &Arc<Daemon>, connections: &TaskTracker, stream: UnixStream) {
    // The socket's mode keeps others out already; this holds even if somebody has changed it (B72).
    let own = nix::unistd::geteuid().as_raw();
    match stream.peer_cred() {
        Ok(peer) if peer.uid() == own => {}
        Ok(peer) => {
            tracing::warn!(uid = peer.uid(), "refused a connection of another user");
            return;
        }
        Err(error) => {
            tracing::warn!(%error, "refused a connection whose user is unknown");
            return;
        }
    }
    if !daemon.gate.admits(&daemon.connections) {
        connection::refuse(stream, daemon.gate.most());
        return;
    }
    let daemon = daemon.clone();
    connections.spawn(async move {
        connection::serve(daemon.clone(), stream).await;
        daemon.connections.fetch_sub(1, Ordering::AcqRel);
    });
}
