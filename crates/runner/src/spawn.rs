//! The calls that have no safe door: `posix_spawn` above all. The only unsafe code of the crate.
//!
//! Why not `std::process::Command`: a session of its own, an empty signal mask and default signal actions need
//! a `pre_exec` closure there, which turns the spawn into a fork of the whole daemon.
//!
//! Guarantees: the child leads its own session and group (pid = pgid = sid), blocks no signal, ignores none,
//! and has the three given descriptors as 0, 1 and 2; whatever goes wrong up to and including exec is the
//! error returned here, not an exit status.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_short};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;

use rustix::io::Errno;
use rustix::process::Pid;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// One process to start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan<'a> {
    /// The file to execute; a relative one is taken from `folder`.
    pub(crate) program: &'a CStr,
    pub(crate) argv: &'a [CString],
    pub(crate) envp: &'a [&'a CStr],
    pub(crate) folder: &'a CStr,
    /// What becomes 0, 1 and 2; all above 2 themselves.
    pub(crate) standard: [BorrowedFd<'a>; 3],
}

/// `sys/spawn.h` of macOS; the libc crate does not have it.
#[cfg(target_vendor = "apple")]
const FLAGS: c_int = libc::POSIX_SPAWN_SETSIGMASK
    | libc::POSIX_SPAWN_SETSIGDEF
    | 0x0400 // POSIX_SPAWN_SETSID
    | libc::POSIX_SPAWN_CLOEXEC_DEFAULT;
#[cfg(not(target_vendor = "apple"))]
const FLAGS: c_int = libc::POSIX_SPAWN_SETSIGMASK as c_int
    | libc::POSIX_SPAWN_SETSIGDEF as c_int
    | libc::POSIX_SPAWN_SETSID as c_int;

/// Starts the process with the daemon's file mode mask.
pub(crate) fn spawn(plan: Plan<'_>) -> Result<Pid, Errno> {
    let attributes = Attributes::new()?;
    let actions = Actions::new(&plan)?;
    let argv = pointers(plan.argv.iter().map(CString::as_c_str));
    let envp = pointers(plan.envp.iter().copied());
    let mut pid = 0;
    // SAFETY: every pointer is valid for the call: program, argv and envp are strings ended by NUL in arrays
    // ended by null, borrowed from the plan; attributes and actions are initialised and live to the end of
    // this function. posix_spawn does not write to the strings, whatever the type of the arrays says.
    check(unsafe {
        libc::posix_spawn(
            &mut pid,
            plan.program.as_ptr(),
            &actions.0,
            &attributes.0,
            argv.as_ptr(),
            envp.as_ptr(),
        )
    })?;
    Pid::from_raw(pid).ok_or(Errno::CHILD)
}

/// Starts the process with another file mode mask (D14). `posix_spawn` cannot set one and the mask belongs to
/// the whole daemon, so a thread takes leave of what threads share, sets its own, spawns and ends.
#[cfg(target_os = "linux")]
pub(crate) fn spawn_with_umask(plan: Plan<'_>, mask: u32) -> Result<Pid, Errno> {
    let spawn_apart = || {
        // SAFETY: takes no pointers; from here on cwd and umask of this thread are its own copies.
        if unsafe { libc::unshare(libc::CLONE_FS) } == 0 {
            // SAFETY: takes no pointers and cannot fail; changes this thread's copy only.
            unsafe { libc::umask(mask & 0o777) };
        } else {
            tracing::warn!(error = %io::Error::last_os_error(), "handler runs with the daemon's umask");
        }
        spawn(plan)
    };
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("hooksd-umask".to_owned());
        match builder.spawn_scoped(scope, spawn_apart) {
            Ok(thread) => thread.join().unwrap_or(Err(Errno::AGAIN)),
            Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::AGAIN)),
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

/// Takes back an inherited "ignore SIGCHLD", under which the kernel throws exit statuses away.
pub(crate) fn keep_exit_statuses() {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a null new action only asks; the old one is written to `action`, which is large enough. A zeroed
    // sigaction is a valid value (SIG_DFL, no flags, empty mask), so reading it is sound even after an error.
    let action = unsafe {
        libc::sigaction(libc::SIGCHLD, ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    if action.sa_sigaction == libc::SIG_IGN || action.sa_flags & libc::SA_NOCLDWAIT != 0 {
        // SAFETY: SIG_DFL runs no code of ours.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    }
}

/// Sees to it that no descriptor which this process has inherited reaches a handler (D14): sets close-on-exec
/// on all but 0, 1 and 2. For the start of the daemon; what it opens later is close-on-exec by itself.
///
/// # Errors
/// If the descriptors of the process cannot be listed.
pub fn seal_descriptors() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        // The system call, not the function of the C library, which older ones do not have.
        // SAFETY: takes no pointers; close-on-exec changes nothing for this process itself.
        let sealed = unsafe {
            libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC as c_int)
        };
        if sealed == 0 {
            return Ok(());
        }
    }
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    for entry in std::fs::read_dir(folder)? {
        let Some(fd) = entry?.file_name().to_str().and_then(|name| name.parse::<c_int>().ok()) else {
            continue;
        };
        if fd > 2 {
            // SAFETY: takes no pointers; on a descriptor closed meanwhile it fails and changes nothing.
            unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

/// Closes every descriptor but 0, 1 and 2. For the very start of a daemon in the background, which keeps nothing of the
/// program that has started it: an inherited pipe that stays open has `$(...)` wait for ever.
///
/// # Errors
/// If the descriptors of the process cannot be listed.
pub fn close_inherited_descriptors() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: takes no pointers. Nothing in this process owns a descriptor yet, as the caller promises.
        if unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0) } == 0 {
            return Ok(());
        }
    }
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    let numbers = |entry: std::fs::DirEntry| entry.file_name().to_str().and_then(|name| name.parse().ok());
    // The list itself is read to its end and closed first.
    let open: Vec<c_int> = std::fs::read_dir(folder)?.flatten().filter_map(numbers).collect();
    for fd in open.into_iter().filter(|fd| *fd > 2) {
        // SAFETY: as above; closing one that is closed fails and changes nothing.
        unsafe { libc::close(fd) };
    }
    Ok(())
}

/// The turn that a thread which gives way asks for. Nanoseconds; the most that Linux takes (sched_setattr(2)). A thread
/// that wakes up takes the core at once from one that has asked for a longer turn than itself; from others not before
/// their turn is over, or the clock ticks: an event would wait for 4 ms.
#[cfg(target_os = "linux")]
const LONG_TURN: u64 = 100_000_000;

/// Lets other threads have this one's core as soon as they want it, and more of it by `nice` (nice(2), 0 to 19). Threads
/// that it starts inherit that.
///
/// # Errors
/// When the kernel does not let it.
#[cfg(target_os = "linux")]
pub fn give_way(nice: i32) -> io::Result<()> {
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: 0,
        sched_nice: nice,
        sched_priority: 0,
        // Since Linux 6.12; those before take no notice of it.
        sched_runtime: LONG_TURN,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel reads `size` bytes of the object, which is as large as that; 0 is this thread.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Has the runtime watch a descriptor.
pub(crate) fn watch(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor must stay the same and open while it is registered: an OwnedFd gives the same one
    // each time, AsyncFd lends it out as a shared reference only, and deregisters it before it is closed.
    Ok(unsafe { AsyncFd::register_with_interest(fd, interest) }?)
}

/// Own session, empty signal mask, default signal actions.
struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn new() -> Result<Attributes, Errno> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: init writes the whole object or fails, and only then is it taken as initialised.
        let mut attributes = unsafe {
            check(libc::posix_spawnattr_init(raw.as_mut_ptr()))?;
            Attributes(raw.assume_init())
        };
        let mut none = MaybeUninit::uninit();
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: the signal sets are initialised by sigemptyset and sigfillset before they are used; the
        // setters copy them. On Linux a set is an array of bits, for which all ones is a valid value.
        unsafe {
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigfillset(all.as_mut_ptr());
            if cfg!(target_os = "linux") {
                // sigfillset leaves out the two signals that glibc keeps to itself, and its posix_spawn lets
                // the child ignore them.
                all.as_mut_ptr().write_bytes(0xff, 1);
            }
            // These have no action to set, and macOS says so with an error.
            libc::sigdelset(all.as_mut_ptr(), libc::SIGKILL);
            libc::sigdelset(all.as_mut_ptr(), libc::SIGSTOP);
            check(libc::posix_spawnattr_setsigmask(&mut attributes.0, none.as_ptr()))?;
            check(libc::posix_spawnattr_setsigdefault(&mut attributes.0, all.as_ptr()))?;
            check(libc::posix_spawnattr_setflags(&mut attributes.0, FLAGS as c_short))?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: initialised in `new`, destroyed once.
        unsafe { libc::posix_spawnattr_destroy(&mut self.0) };
    }
}

/// The three redirections and the change of folder.
struct Actions(libc::posix_spawn_file_actions_t);

impl Actions {
    fn new(plan: &Plan<'_>) -> Result<Actions, Errno> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: init writes the whole object or fails, and only then is it taken as initialised.
        let mut actions = unsafe {
            check(libc::posix_spawn_file_actions_init(raw.as_mut_ptr()))?;
            Actions(raw.assume_init())
        };
        for (target, fd) in (0..).zip(plan.standard) {
            // SAFETY: the object is initialised; descriptors are plain numbers, open as long as the plan.
            let added = check(unsafe {
                libc::posix_spawn_file_actions_adddup2(&mut actions.0, fd.as_raw_fd(), target)
            });
            // It is open: a limit has fallen below it since. To glibc what is above the limit is no descriptor.
            added.map_err(|errno| if errno == Errno::BADF { Errno::MFILE } else { errno })?;
        }
        // SAFETY: the object is initialised; the path is ended by NUL and copied.
        check(unsafe { libc::posix_spawn_file_actions_addchdir_np(&mut actions.0, plan.folder.as_ptr()) })?;
        Ok(actions)
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: initialised in `new`, destroyed once.
        unsafe { libc::posix_spawn_file_actions_destroy(&mut self.0) };
    }
}

/// The array of pointers, ended by null, that exec takes.
fn pointers<'a>(strings: impl Iterator<Item = &'a CStr>) -> Vec<*mut c_char> {
    strings.map(|string| string.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

/// These functions return the error number instead of setting errno.
fn check(result: c_int) -> Result<(), Errno> {
    if result == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(result)) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::fd::BorrowedFd;

    use super::*;

    /// A limit that falls between the pipes and the spawn is waited out as any other shortage of descriptors.
    #[test]
    fn a_descriptor_above_the_limit_is_a_shortage() {
        // SAFETY: nothing is done with it: no process may have so many.
        let above = unsafe { BorrowedFd::borrow_raw(c_int::MAX) };
        let plan = Plan { program: c"/bin/true", argv: &[], envp: &[], folder: c"/", standard: [above; 3] };
        assert_eq!(Actions::new(&plan).err(), Some(Errno::MFILE));
    }
}
