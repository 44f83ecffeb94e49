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
//!
//! The way of one run: [`Run`] -> `launch` (`words`, `locate`, `pipes`, `spawn`; failures through `explain`)
//! -> `drive` (feeds the inputs of `child` and `stream` to the pure state machine `supervise`) -> outcome.

mod child;
mod drive;
mod exit;
mod explain;
mod launch;
mod limits;
mod locate;
mod pipes;
mod run;
mod spawn;
mod stream;
mod supervise;
mod tree;
pub mod warm;
mod words;

pub use hooksd_engine::outcome::{Captured, End, Outcome};
pub use limits::{KILL_WAIT, LONGEST_TIMEOUT, OUTPUT_CAP, OUTPUT_GRACE};
pub use run::{Program, Run, Runner};
pub use spawn::seal_descriptors;
