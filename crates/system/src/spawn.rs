//! `posix_spawn` with a session, signals and a folder of its own, which `nix` has no safe function for.
//!
//! Why not `std::process::Command`: a session of its own, an empty signal mask and default signal actions need
//! a `pre_exec` closure there, which turns the spawn into a fork of the whole daemon.
//!
//! Guarantees: the child leads its own session and group (pid = pgid = sid), blocks no signal, ignores none,
//! and has the three given descriptors as 0, 1 and 2; whatever goes wrong up to and including exec is the
//! error returned here, not an exit status.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_short};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use nix::errno::Errno;
use nix::unistd::Pid;

/// One process to start.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// The file to execute; a relative one is taken from `folder`.
    pub program: &'a CStr,
    /// Its arguments, the program's name first.
    pub argv: &'a [CString],
    /// Its environment, each variable as `NAME=value`.
    pub envp: &'a [&'a CStr],
    /// Where it runs.
    pub folder: &'a CStr,
    /// What becomes 0, 1 and 2; all above 2 themselves.
    pub standard: [BorrowedFd<'a>; 3],
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

/// Starts the process, with the file mode mask of the calling thread.
///
/// # Errors
/// Whatever goes wrong up to and including exec.
pub fn spawn(plan: Plan<'_>) -> Result<Pid, Errno> {
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
    Ok(Pid::from_raw(pid))
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
            added.map_err(|errno| if errno == Errno::EBADF { Errno::EMFILE } else { errno })?;
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
    if result == 0 { Ok(()) } else { Err(Errno::from_raw(result)) }
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
        assert_eq!(Actions::new(&plan).err(), Some(Errno::EMFILE));
    }
}
