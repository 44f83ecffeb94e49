//! The resource limits of a session's handlers (D14).
//!
//! `posix_spawn` cannot set them and threads share them, so they are set from outside as soon as the process is there
//! (prlimit(2), Linux only): what it starts later inherits them. A soft limit is set, never above the daemon's hard one.
//!
//! The daemon raises its own soft limit of descriptors; its handlers have the one it was started with.

use std::sync::{Arc, OnceLock};

use nix::errno::Errno;
use nix::sys::resource::Resource;
use nix::unistd::Pid;

/// A limit of one session's handlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rlimit {
    /// What is limited.
    pub resource: Limited,
    /// The soft limit, in the unit of setrlimit(2): bytes, seconds, descriptors.
    pub soft: u64,
}

/// The limits of one session's handlers; those that are not named are the daemon's.
pub type Rlimits = Arc<[Rlimit]>;

/// What can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limited {
    /// Address space. Bytes.
    As,
    /// Core file. Bytes.
    Core,
    /// Processor time. Seconds.
    Cpu,
    /// Data segment. Bytes.
    Data,
    /// File that is written. Bytes.
    Fsize,
    /// Open descriptors.
    Nofile,
    /// Stack. Bytes.
    Stack,
}

impl Limited {
    fn resource(self) -> Resource {
        match self {
            Limited::As => Resource::RLIMIT_AS,
            Limited::Core => Resource::RLIMIT_CORE,
            Limited::Cpu => Resource::RLIMIT_CPU,
            Limited::Data => Resource::RLIMIT_DATA,
            Limited::Fsize => Resource::RLIMIT_FSIZE,
            Limited::Nofile => Resource::RLIMIT_NOFILE,
            Limited::Stack => Resource::RLIMIT_STACK,
        }
    }
}

/// The soft limit of descriptors that this process was started with, if it has another one now.
static STARTED_WITH: OnceLock<Rlimit> = OnceLock::new();

/// Raises this process's soft limit of descriptors to the hard one. Handlers get the soft one that it was: programs that
/// use select(2), or close every descriptor there may be, count on a low one. Only on Linux, where they can get it.
///
/// # Errors
/// When the system refuses: the limit is what it was.
pub fn raise_descriptors() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use hooksd_system::{Limits, limits, set_limits};
        let before = limits(Resource::RLIMIT_NOFILE);
        if let Some(soft) = before.soft.filter(|_| before.soft != before.hard) {
            set_limits(Resource::RLIMIT_NOFILE, Limits { soft: before.hard, hard: before.hard })?;
            STARTED_WITH.get_or_init(|| Rlimit { resource: Limited::Nofile, soft });
        }
    }
    Ok(())
}

/// Sets the limits of a process that was just started.
pub(crate) fn set(process: Pid, limits: &[Rlimit]) {
    let named = limits.iter().any(|limit| limit.resource == Limited::Nofile);
    for limit in limits.iter().chain(STARTED_WITH.get().filter(|_| !named)) {
        if let Err(errno) = set_one(process, *limit) {
            // It may have ended already.
            tracing::debug!(error = %std::io::Error::from(errno), ?limit, "a handler has the daemon's limit");
        }
    }
}

#[cfg(target_os = "linux")]
fn set_one(process: Pid, limit: Rlimit) -> Result<(), Errno> {
    use hooksd_system::{Limits, limits, set_limits_of};
    let resource = limit.resource.resource();
    let hard = limits(resource).hard;
    let soft = Some(hard.map_or(limit.soft, |hard| hard.min(limit.soft)));
    set_limits_of(process, resource, Limits { soft, hard }).map(drop)
}

#[cfg(not(target_os = "linux"))]
fn set_one(_: Pid, limit: Rlimit) -> Result<(), Errno> {
    let _ = limit.resource.resource();
    Err(Errno::ENOSYS)
}
