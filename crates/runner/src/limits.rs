//! Every limit of the runner, with its unit and its reason.

use std::time::Duration;

/// Bytes kept of each output stream; the rest is read and thrown away (BEHAVIOUR section 6).
pub const OUTPUT_CAP: usize = 100_000;

/// Time that the pipes of an exited handler get to reach their end before they are closed (D1): long enough
/// for a pipeline's last writer on a busy machine, short enough that nobody notices the wait.
pub const OUTPUT_GRACE: Duration = Duration::from_millis(250);

/// Time that `run` waits for a killed process to be reaped before it answers and leaves the reaping to a
/// task of its own: a process in an uninterruptible system call can ignore SIGKILL for minutes.
pub const KILL_WAIT: Duration = Duration::from_millis(50);

/// The longest time a handler may run, one year: timeouts come from people (1e308 is accepted), clocks
/// overflow.
pub const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Bytes read from a pipe in one call: the usual capacity of a pipe on Linux. The buffer belongs to the
/// thread, not to the run, so that memory does not grow with the number of handlers.
pub(crate) const READ_CHUNK: usize = 64 * 1024;

/// Most bytes read from a stream in the last look after the end of a run: the largest capacity of a pipe that
/// a user can ask for on Linux. What is in the pipe is read, a flood that goes on is not.
pub(crate) const LAST_LOOK: usize = 1024 * 1024;

/// Attempts at a program file that is open for writing (ETXTBSY): about a third of a second in all.
pub(crate) const TEXT_BUSY_TRIES: u32 = 10;

/// First wait before a busy program file is tried again; grows by as much with each attempt.
pub(crate) const TEXT_BUSY_STEP: Duration = Duration::from_millis(10);

/// Longest wait between two attempts at a busy program file.
pub(crate) const TEXT_BUSY_MOST: Duration = Duration::from_millis(50);

/// First wait when the system has no descriptor, process or memory to give; doubles with each attempt.
pub(crate) const SHORTAGE_FIRST: Duration = Duration::from_millis(10);

/// Longest wait between two attempts in a shortage.
pub(crate) const SHORTAGE_MOST: Duration = Duration::from_millis(250);

/// Bytes of one argument or variable that Linux accepts, terminator included (MAX_ARG_STRLEN, 32 pages).
pub(crate) const LONGEST_STRING: usize = 128 * 1024;

/// Bytes of a program file looked at to explain why it does not start: the kernel reads 256.
pub(crate) const SHEBANG_BYTES: u64 = 256;

/// Time between two looks at a child where the kernel gives no descriptor that tells of its exit.
pub(crate) const EXIT_POLL: Duration = Duration::from_millis(5);

/// Time that a thread waits for a killed child when there is no runtime left to wait in.
pub(crate) const LAST_REAP: Duration = Duration::from_secs(1);

/// Processes of one tree looked at for a kill: a fork bomb must not hold the daemon.
#[cfg(target_os = "linux")]
pub(crate) const TREE_MOST: usize = 4096;
