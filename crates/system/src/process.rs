//! Processes and threads: descriptors that stand for a process, exit statuses as they are, and priority.
#![allow(unsafe_code)]

#[cfg(target_os = "linux")]
use std::io;
use std::mem::MaybeUninit;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::ptr;

use nix::errno::Errno;
#[cfg(target_os = "linux")]
use nix::sys::signal::Signal;
use nix::unistd::Pid;

/// A descriptor of a process, closed on exec: whatever becomes of its number, it stands for the same process
/// (pidfd_open(2)).
///
/// # Errors
/// `ESRCH` when there is no such process; `EMFILE` and others when the system is short of descriptors.
#[cfg(target_os = "linux")]
pub fn pidfd_open(pid: Pid) -> Result<OwnedFd, Errno> {
    // SAFETY: takes no pointers.
    let opened = Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) })?;
    let number = i32::try_from(opened).map_err(|_| Errno::EBADF)?;
    // SAFETY: the call has just made this descriptor, and nobody else knows its number.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Sends a signal to the process that a descriptor stands for (pidfd_send_signal(2)).
///
/// # Errors
/// `ESRCH` when it has ended and was reaped.
#[cfg(target_os = "linux")]
pub fn pidfd_send_signal(process: impl AsFd, signal: Signal) -> Result<(), Errno> {
    let number = process.as_fd().as_raw_fd();
    let no_details = ptr::null::<libc::siginfo_t>();
    // SAFETY: the descriptor is open as long as it is borrowed; a null pointer gives no details of the signal.
    let sent =
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, number, signal as libc::c_int, no_details, 0) };
    Errno::result(sent).map(drop)
}

/// Reaps a child if it has ended, and says how; `None` while it has not. `nix` has no name for real-time signals and
/// would lose the status of a child that one of them has killed.
///
/// # Errors
/// `ECHILD` when it is no child, or was reaped already.
pub fn reap(child: Pid) -> Result<Option<ExitStatus>, Errno> {
    let mut status = 0;
    // SAFETY: the status is written to a value that outlives the call.
    let ended = Errno::result(unsafe { libc::waitpid(child.as_raw(), &raw mut status, libc::WNOHANG) })?;
    Ok((ended != 0).then(|| ExitStatus::from_raw(status)))
}

/// Takes back an inherited "ignore SIGCHLD", under which the kernel throws exit statuses away. What a signal does is set by
/// unsafe functions of `nix` alone.
pub fn keep_exit_statuses() {
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

/// The turn that a thread of lower priority asks for. Nanoseconds; the most that Linux takes (sched_setattr(2)). A thread
/// that wakes up takes the core at once from one that has asked for a longer turn than itself; from others not before
/// their turn is over, or the clock ticks: an event would wait for 4 ms.
#[cfg(target_os = "linux")]
const LONG_TURN: u64 = 100_000_000;

/// Lets other threads have this one's core as soon as they want it, and more of it by `nice` (nice(2), 0 to 19). Threads
/// that it starts inherit that (sched_setattr(2), which `nix` does not have).
///
/// # Errors
/// When the kernel does not let it.
#[cfg(target_os = "linux")]
pub fn lower_priority(nice: i32) -> io::Result<()> {
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

#[cfg(all(test, target_os = "linux"))]
#[allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests: processes to look at, and no handlers"
)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn start(line: &str) -> (Child, Pid) {
        let child = Command::new("/bin/sh").args(["-c", line]).spawn().unwrap();
        let pid = Pid::from_raw(child.id().try_into().unwrap());
        (child, pid)
    }

    /// How it has ended, once it has.
    fn ended(pid: Pid) -> ExitStatus {
        loop {
            match reap(pid) {
                Ok(Some(status)) => return status,
                Ok(None) => std::thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// 40 is a real-time signal, for which there is no name.
    #[test]
    fn every_end_of_a_child_is_told() {
        let (_exits, pid) = start("exit 7");
        assert_eq!(ended(pid).code(), Some(7));
        assert_eq!(reap(pid), Err(Errno::ECHILD));
        for signal in [9, 40] {
            let (_killed, pid) = start(&format!("kill -{signal} $$; sleep 60"));
            let status = ended(pid);
            assert_eq!((status.code(), status.signal()), (None, Some(signal)));
        }
    }

    #[test]
    fn a_signal_reaches_the_process_of_the_descriptor() {
        use nix::fcntl::{FcntlArg, FdFlag, fcntl};
        let (mut child, pid) = start("exec sleep 60");
        let process = pidfd_open(pid).unwrap();
        assert_eq!(fcntl(&process, FcntlArg::F_GETFD), Ok(FdFlag::FD_CLOEXEC.bits()));
        pidfd_send_signal(&process, Signal::SIGTERM).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM));
        assert_eq!(pidfd_send_signal(&process, Signal::SIGTERM), Err(Errno::ESRCH));
        assert_eq!(pidfd_open(pid).map(drop), Err(Errno::ESRCH));
    }

    #[test]
    fn a_lower_priority_is_that_of_the_thread() {
        let nice = std::thread::spawn(|| {
            lower_priority(5).unwrap();
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            // The 19th field of proc(5); the state, after the name, is the third.
            stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(16).unwrap().to_owned()
        });
        assert_eq!(nice.join().unwrap(), "5");
    }
}
