//! How a process ended, and how the daemon learns of it: by a descriptor of the process, never by a signal
//! (Linux); elsewhere by SIGCHLD; by looking again every few milliseconds where neither is to be had.
//!
//! Guarantee: `try_reap` is the only place where a supervised child is waited for, so that an id is never used after the
//! kernel may have given it to another process.

use std::os::unix::process::ExitStatusExt;

use nix::errno::Errno;
use nix::unistd::Pid;

use crate::family;
use crate::limits::EXIT_POLL;

/// How a process ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// With this exit status, 0 to 255.
    Code(i32),
    /// Killed by this signal.
    Signal(i32),
    /// Somebody else reaped it; how it ended is not known.
    Lost,
}

/// Reaps the child if it has ended.
pub(crate) fn try_reap(pid: Pid) -> Option<Status> {
    family::reap(pid, || wait(pid))
}

fn wait(pid: Pid) -> Option<Status> {
    loop {
        match hooksd_system::reap(pid) {
            Ok(None) => return None,
            Ok(Some(status)) => {
                return match (status.code(), status.signal()) {
                    (Some(code), _) => Some(Status::Code(code)),
                    (None, Some(signal)) => Some(Status::Signal(signal)),
                    // Stopped or continued: not asked for, not an end.
                    (None, None) => None,
                };
            }
            Err(Errno::EINTR) => {}
            Err(_) => return Some(Status::Lost),
        }
    }
}

/// Tells when a child may have ended.
#[derive(Debug)]
pub(crate) struct Notice {
    #[cfg(target_os = "linux")]
    pidfd: Option<tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>>,
    #[cfg(not(target_os = "linux"))]
    sigchld: Option<tokio::signal::unix::Signal>,
}

#[cfg(target_os = "linux")]
impl Notice {
    /// For this child of ours. Never fails: without a descriptor to spare it looks again and again.
    pub(crate) fn new(pid: Pid) -> Notice {
        use tokio::io::Interest;

        let pidfd = hooksd_system::pidfd_open(pid)
            .map_err(std::io::Error::from)
            .and_then(|fd| hooksd_system::watch(fd, Interest::READABLE));
        if let Err(error) = &pidfd {
            tracing::debug!(%error, "no pidfd, polling for the exit");
        }
        Notice { pidfd: pidfd.ok() }
    }

    /// Waits until the child has ended, and reaps it.
    pub(crate) async fn exited(&mut self, pid: Pid) -> Status {
        loop {
            if let Some(pidfd) = &self.pidfd {
                let ready = pidfd.readable().await;
                if let Some(status) = try_reap(pid) {
                    return status;
                }
                if let Ok(mut ready) = ready {
                    ready.clear_ready();
                    continue;
                }
                self.pidfd = None;
            }
            if let Some(status) = try_reap(pid) {
                return status;
            }
            tokio::time::sleep(EXIT_POLL).await;
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Notice {
    /// For this child of ours. Never fails: without the signal it looks again and again.
    pub(crate) fn new(_pid: Pid) -> Notice {
        use tokio::signal::unix::{SignalKind, signal};
        Notice { sigchld: signal(SignalKind::child()).ok() }
    }

    /// Waits until the child has ended, and reaps it.
    pub(crate) async fn exited(&mut self, pid: Pid) -> Status {
        loop {
            // After the signal was asked for, so that no exit falls in between.
            if let Some(status) = try_reap(pid) {
                return status;
            }
            let Some(sigchld) = &mut self.sigchld else {
                tokio::time::sleep(EXIT_POLL).await;
                continue;
            };
            if sigchld.recv().await.is_none() {
                self.sigchld = None;
            }
        }
    }
}
