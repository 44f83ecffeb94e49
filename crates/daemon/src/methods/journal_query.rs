//! `journal/query`: what ran and why it was decided so.

use std::sync::Arc;

use hooksd_journal::{JournalError, MAX_LIMIT, query};
use hooksd_protocol::methods::{JournalPage, JournalQuery};
use hooksd_protocol::rpc::{Frame, RpcError, error_code};

use super::{Work, invalid, later, params};
use crate::daemon::Daemon;
use crate::invoke::blocking;
use crate::session::field_error;

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    let wanted: JournalQuery = params(frame)?;
    if wanted.limit.is_some_and(|limit| !(1..=MAX_LIMIT).contains(&limit)) {
        return Err(invalid(field_error("limit", &format!("expected a number from 1 to {MAX_LIMIT}"))));
    }
    let daemon = daemon.clone();
    later(move |_| blocking(move || look(&daemon, &wanted)))
}

fn look(daemon: &Daemon, wanted: &JournalQuery) -> Result<JournalPage, RpcError> {
    let Some(path) = daemon.journal.path() else {
        let message = "the journal is off; journal.enabled turns it on";
        return Err(RpcError::new(error_code::JOURNAL_UNUSABLE, message));
    };
    // What was answered before the question is in the answer.
    daemon.journal.flush();
    match query(path, wanted) {
        Ok(page) => Ok(page),
        Err(JournalError::Absent(_)) => Ok(JournalPage::default()),
        Err(error) => Err(RpcError::new(error_code::JOURNAL_UNUSABLE, error.to_string())),
    }
}
