//! Handler processes: spawn, feed, capture, deadline, tree kill, reap.
//!
//! What a caller may rely on:
//! 1. [`Runner::run`] always comes back with an [`Outcome`], at the latest shortly after the deadline
//!    or the cancel, whatever the handler or its descendants do with the pipes.
//! 2. A handler's verdict is its exit status (D1). A helper it left behind is not killed when it exited by
//!    itself; on timeout, cancel or a dropped future its whole process tree is.
//! 3. No zombie is left, and nothing of the daemon leaks into a handler: descriptors 0, 1 and 2 only, an
//!    empty signal mask, default signal actions, a session of its own, exactly the environment it was given.
//! 4. Running out of descriptors or processes delays a handler, it does not drop it (D5).
//! 5. Never more handlers run than there are places; sessions take turns, and nested calls have places of their own
//!    (D12). A handler's time begins with its spawn; the request's deadline covers waiting and running.
//!
//! The way of one [`Job`]: place (`bounds`, `slots`) -> `launch` (`exec_strings`, `environment`, `locate`, `pipes`,
//! `spawn`; failures through `obstacle`) -> `drive` (feeds the inputs of `child` and `stream` to the pure state
//! machine `supervise`) -> outcome. After a kill `tree` and `clean` see to descendants that have run away, and
//! `orphans` reaps what nobody supervises (`family` tells which that is).

#![forbid(unsafe_code)]

mod bounds;
mod child;
mod clean;
mod drive;
mod environment;
mod exec_strings;
mod exit;
// Only Linux adopts orphans; elsewhere nobody asks which children are ours.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports))]
mod family;
mod job;
mod launch;
mod limits;
mod locate;
mod obstacle;
mod orphans;
mod pipes;
#[cfg(target_os = "linux")]
mod procfs;
mod rlimits;
mod runner;
mod slots;
mod spawn;
mod stream;
mod supervise;
mod tree;
pub mod warm;

pub use bounds::Bounds;
pub use environment::{Environment, RUN_VARIABLE};
pub use hooksd_protocol::outcome::{Captured, End, Outcome};
pub use job::{Job, JobTemplate, Program};
pub use limits::{KILL_WAIT, LONGEST_TIMEOUT, OUTPUT_CAP, OUTPUT_GRACE, QUEUE_LONGEST};
pub use orphans::adopt_orphans;
pub use rlimits::{Limited, Rlimit, Rlimits, raise_descriptors};
pub use runner::{Admission, Runner, Turn};
