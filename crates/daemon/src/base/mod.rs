//! What every room may use; it imports no other room.

pub(crate) mod background;
pub(crate) mod budget;
pub(crate) mod caller;
pub(crate) mod gate;
pub mod handled;
pub(crate) mod lock;
pub mod notify;
pub(crate) mod outbox;
pub(crate) mod panic;
pub mod partial_lines;
pub(crate) mod peer;
pub(crate) mod private_file;
pub(crate) mod running;
pub mod settings;
pub mod shutdown;
pub(crate) mod stop;
pub mod variables;
pub(crate) mod work;
