//! The process around the rest: it listens, accepts, reads the settings and stops.

pub mod activation;
pub mod background;
pub mod configure;
pub(crate) mod idle;
pub mod listen;
pub(crate) mod pulse;
pub(crate) mod run;
pub(crate) mod stop;
