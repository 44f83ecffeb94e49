//! Spawning with a file mode mask of the handler's own, which `posix_spawn` cannot set.

#[cfg(target_os = "linux")]
use std::io;

pub(crate) use hooksd_system::{Plan, spawn};
use nix::errno::Errno;
use nix::unistd::Pid;

/// Starts the process with another file mode mask (D14). `posix_spawn` cannot set one and the mask belongs to
/// the whole daemon, so a thread takes leave of what threads share, sets its own, spawns and ends.
#[cfg(target_os = "linux")]
pub(crate) fn spawn_with_umask(plan: Plan<'_>, mask: u32) -> Result<Pid, Errno> {
    use nix::sched::{CloneFlags, unshare};
    use nix::sys::stat::{Mode, umask};

    let spawn_apart = || {
        // From here on cwd and umask of this thread are its own copies.
        match unshare(CloneFlags::CLONE_FS) {
            Ok(()) => drop(umask(Mode::from_bits_truncate(mask & 0o777))),
            Err(errno) => {
                tracing::warn!(error = %io::Error::from(errno), "handler runs with the daemon's umask");
            }
        }
        spawn(plan)
    };
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("hooksd-umask".to_owned());
        match builder.spawn_scoped(scope, spawn_apart) {
            Ok(thread) => thread.join().unwrap_or(Err(Errno::EAGAIN)),
            Err(error) => Err(error.raw_os_error().map_or(Errno::EAGAIN, Errno::from_raw)),
        }
    })
}

/// No other system gives a thread a mask of its own: the daemon's is inherited.
#[cfg(not(target_os = "linux"))]
pub(crate) fn spawn_with_umask(plan: Plan<'_>, _mask: u32) -> Result<Pid, Errno> {
    spawn(plan)
}

/// The process's file mode mask, where it can be read without changing it.
pub(crate) fn own_umask() -> Option<u32> {
    use std::io::Read;
    let mut status = String::new();
    std::fs::File::open("/proc/self/status").ok()?.take(4096).read_to_string(&mut status).ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(mask.trim(), 8).ok()
}
