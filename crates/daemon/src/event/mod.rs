//! One event, from its request to its one answer.

pub mod fanout;
pub(crate) mod inline_task;
pub(crate) mod invoke;
pub(crate) mod legacy;
pub mod lifecycle;
pub(crate) mod recorder;
pub(crate) mod run;
