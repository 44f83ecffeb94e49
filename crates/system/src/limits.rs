//! Resource limits, with "unlimited" as `None` instead of a number.
#![allow(unsafe_code)]

use nix::errno::Errno;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit, rlim_t, setrlimit};

/// The limits of one resource, in the unit of setrlimit(2). `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The one that counts.
    pub soft: Option<u64>,
    /// The one that the soft limit can be raised to.
    pub hard: Option<u64>,
}

impl Limits {
    fn of((soft, hard): (rlim_t, rlim_t)) -> Limits {
        let known = |limit| (limit != RLIM_INFINITY).then_some(limit);
        Limits { soft: known(soft), hard: known(hard) }
    }
}

fn raw(limit: Option<u64>) -> rlim_t {
    limit.unwrap_or(RLIM_INFINITY)
}

/// This process's limits of a resource.
#[must_use]
pub fn limits(resource: Resource) -> Limits {
    // It fails for resources that the system does not know, and those are not limited.
    Limits::of(getrlimit(resource).unwrap_or((RLIM_INFINITY, RLIM_INFINITY)))
}

/// Sets this process's limits of a resource.
///
/// # Errors
/// When the system refuses: the limits are what they were.
pub fn set_limits(resource: Resource, limits: Limits) -> Result<(), Errno> {
    setrlimit(resource, raw(limits.soft), raw(limits.hard))
}

/// Sets another process's limits of a resource (prlimit(2)), and says what they were: `nix` sets those of this process
/// alone.
///
/// # Errors
/// When the system refuses, or there is no such process.
#[cfg(target_os = "linux")]
pub fn set_limits_of(process: nix::unistd::Pid, resource: Resource, limits: Limits) -> Result<Limits, Errno> {
    let new = libc::rlimit { rlim_cur: raw(limits.soft), rlim_max: raw(limits.hard) };
    let mut old = new;
    // SAFETY: the new limits are read from one value and the old ones written to another; both outlive the call.
    let result = unsafe { libc::prlimit(process.as_raw(), resource as _, &raw const new, &raw mut old) };
    Errno::result(result)?;
    Ok(Limits::of((old.rlim_cur, old.rlim_max)))
}

/// How many processes this process's user may have.
#[must_use]
#[cfg(not(target_vendor = "apple"))]
pub fn processes() -> Option<u64> {
    limits(Resource::RLIMIT_NPROC).soft
}

/// How many processes this process's user may have: `nix` has no name for this resource here.
#[must_use]
#[cfg(target_vendor = "apple")]
pub fn processes() -> Option<u64> {
    let mut found = libc::rlimit { rlim_cur: RLIM_INFINITY, rlim_max: RLIM_INFINITY };
    // SAFETY: the limits are written to a value that outlives the call; after an error it is what it was.
    unsafe { libc::getrlimit(libc::RLIMIT_NPROC, &raw mut found) };
    Limits::of((found.rlim_cur, found.rlim_max)).soft
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlimited_is_none_and_zero_is_zero() {
        assert_eq!(Limits::of((RLIM_INFINITY, 0)), Limits { soft: None, hard: Some(0) });
        assert_eq!((raw(None), raw(Some(7))), (RLIM_INFINITY, 7));
    }

    #[test]
    #[cfg(target_os = "linux")]
    #[allow(clippy::disallowed_methods, reason = "a process to look at, and no handler")]
    fn the_limits_of_a_process_are_set_from_outside() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
        let own = limits(Resource::RLIMIT_CORE);
        let none = Limits { soft: Some(0), ..own };
        assert_eq!(set_limits_of(pid, Resource::RLIMIT_CORE, none), Ok(own));
        let shown = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let core = shown.lines().find(|line| line.starts_with("Max core file size")).unwrap();
        assert_eq!(core.split_ascii_whitespace().nth(4), Some("0"), "{core}");
        let gone = set_limits_of(pid, Resource::RLIMIT_CORE, none);
        assert_eq!(gone, Err(Errno::ESRCH));
    }
}
