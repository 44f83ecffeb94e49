//! What a service manager is told (sd_notify): that the daemon is ready, reloads, stops, and lives. Without one,
//! nothing; with one that does not listen, a line in the log.

use std::time::Duration;

use sd_notify::NotifyState;

/// The daemon listens, or has reloaded.
pub fn ready() {
    tell(&[NotifyState::Ready]);
}

/// The daemon looks at its documents anew; `ready` ends it. The time is what `Type=notify-reload` wants.
pub fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(_) => tell(&[NotifyState::Reloading]),
    }
}

/// The daemon takes no new events.
pub fn stopping() {
    tell(&[NotifyState::Stopping]);
}

/// The daemon's accept loop runs.
pub(crate) fn alive() {
    tell(&[NotifyState::Watchdog]);
}

/// How often to say so: twice within what the service manager allows. `None` when it does not ask.
#[must_use]
pub fn heartbeat() -> Option<Duration> {
    sd_notify::watchdog_enabled().map(|longest| longest / 2).filter(|every| !every.is_zero())
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "the service manager cannot be told");
    }
}
