//! Lines of a connection to methods, and answers back.

pub(crate) mod connection;
pub(crate) mod dispatch;
pub mod lines;
pub(crate) mod methods;
pub(crate) mod params;
