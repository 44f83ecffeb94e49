//! Every limit of the runner, with its unit and its reason.

use std::time::Duration;

/// Bytes kept of each output stream; the rest is read and thrown away (contract section 6).
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

/// Bytes of a process's environment looked through for a mark: more than the kernel lets a program be given (a
/// quarter of the usual stack of 8 MiB).
#[cfg(target_os = "linux")]
pub(crate) const ENVIRON_MOST: u64 = 4 * 1024 * 1024;

/// Time between two looks at ended children that may be orphans. A zombie costs next to nothing, looking at every
/// exit of a busy daemon would not.
#[cfg(target_os = "linux")]
pub(crate) const ORPHAN_PAUSE: Duration = Duration::from_millis(100);

/// Longest time that the thread which reaps orphans sleeps while the process has no child: a child announces
/// itself, so this only covers those that came with the process.
#[cfg(target_os = "linux")]
pub(crate) const CHILDLESS_WAIT: Duration = Duration::from_secs(60);

/// Time between two looks for the survivors of killed runs.
#[cfg(target_os = "linux")]
pub(crate) const CLEAN_PAUSE: Duration = Duration::from_millis(20);

/// Looks in a row that have to find nothing: a process may fork just behind the back of one.
#[cfg(target_os = "linux")]
pub(crate) const CLEAN_LOOKS: u32 = 2;

/// Longest search for the survivors of one run: a process in an uninterruptible system call ignores SIGKILL, and
/// one look takes milliseconds.
#[cfg(target_os = "linux")]
pub(crate) const CLEAN_MOST: Duration = Duration::from_secs(10);

/// Time between two looks at whether the cleaning is done, for whoever waits for it.
pub(crate) const CLEAN_POLL: Duration = Duration::from_millis(5);

/// Descriptors that one handler takes while it runs: stdin, stdout, stderr and the process itself.
pub(crate) const DESCRIPTORS_EACH: u64 = 4;

/// Descriptors kept for everything but handlers, at least: listener, connections, the runtime's own, documents, and
/// the second ends of the pipes of handlers that are just being started.
pub(crate) const DESCRIPTORS_KEPT: u64 = 48;

/// The part of the descriptors kept for everything but handlers where that is more: one in this many.
pub(crate) const DESCRIPTORS_KEPT_PART: u64 = 4;

/// Processes of the user allowed for one handler: a shell and what it runs, and as many again for everything else
/// that the user does.
pub(crate) const PROCESSES_EACH: u64 = 4;

/// Handlers at once for each core. Most handlers wait for something; those that compute are held back by
/// [`STARTING_PER_CORE`] instead.
pub(crate) const HANDLERS_PER_CORE: u64 = 128;

/// Handlers at once that the number of cores alone never goes below.
pub(crate) const HANDLERS_BY_CORES_LEAST: u64 = 256;

/// The part of all places kept for each level of nested calls (D12): one in this many, at least one place.
pub(crate) const NESTED_PART: usize = 8;

/// The part of the places that one session leaves to others: one in this many, at least one place.
pub(crate) const OTHERS_PART: usize = 8;

/// Places of which one goes by turns alone, however many the lane got already: one in this many. A session of a few
/// long handlers would otherwise wait for as long as others keep coming with none.
pub(crate) const TURN_EVERY: u64 = 4;

/// Places beyond which it no longer counts how many a lane got: lanes that keep waiting take turns from there on, whichever
/// was first.
pub(crate) const GOT_MOST: usize = 1_000;

/// Waiting lanes looked at to find the one that got the fewest places: under a lock, for each place given.
pub(crate) const LANES_COMPARED: usize = 64;

/// Handlers within their [`STARTUP_WINDOW`] at once for each core. Starting takes nearly all of the time of a short handler,
/// and what has been started competes for the cores whoever's turn it is: without this a flood of one session would
/// be in front of another's single handler, places or not.
pub(crate) const STARTING_PER_CORE: usize = 8;

/// How long a handler counts as starting: longer than a shell takes to start, short enough that handlers which only
/// wait do not hold each other up (400 a second for each core).
pub(crate) const STARTUP_WINDOW: Duration = Duration::from_millis(20);

/// Events at once for each level that the number of places for handlers never goes below. Events are cheap; this only
/// keeps one session's from being projected by the thousand while another's wait.
pub(crate) const EVENTS_LEAST: usize = 64;

/// Handlers that wait for a place in all, for each level. One more ends as queued out at once: each holds its
/// payload and its request.
pub(crate) const QUEUE_MOST: usize = 100_000;

/// Longest wait for a place when the request has no deadline: as long as the longest default timeout of an event.
pub const QUEUE_LONGEST: Duration = Duration::from_secs(600);
