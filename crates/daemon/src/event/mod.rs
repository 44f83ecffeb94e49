//! One event, from its request to its one answer.

pub(crate) mod continuation;
pub mod fanout;
pub(crate) mod handler_jobs;
pub(crate) mod inline_task;
pub(crate) mod invoke;
pub(crate) mod legacy;
pub mod lifecycle;
pub(crate) mod recorder;
pub(crate) mod run;
