//! The system calls that hooksd needs and the `nix` crate does not offer safely. All other crates forbid unsafe code.
//!
//! Each function here is safe to call with any arguments, and says which call stands behind it. What `nix` or the
//! standard library has a safe function for is called there, and not here.

mod descriptors;
#[cfg(target_os = "macos")]
mod launchd;
mod limits;
mod process;
mod spawn;

#[cfg(feature = "tokio")]
pub use descriptors::watch;
pub use descriptors::{
    WindowSize, close_inherited_descriptors, read_into_spare, seal_descriptors, unread, window_size,
};
#[cfg(target_os = "macos")]
pub use launchd::launchd_sockets;
#[cfg(target_os = "linux")]
pub use limits::set_limits_of;
pub use limits::{Limits, limits, processes, set_limits};
pub use process::{keep_exit_statuses, reap};
#[cfg(target_os = "linux")]
pub use process::{lower_priority, pidfd_open, pidfd_send_signal};
pub use spawn::{Plan, spawn};
