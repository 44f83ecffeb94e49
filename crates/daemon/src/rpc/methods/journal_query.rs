//! `journal/query`: what ran and why it was decided so.

use std::sync::Arc;

use hooksd_journal::{JournalError, MAX_LIMIT, query};
use hooksd_json::ReadError;
use hooksd_protocol::methods::{JournalPage, JournalQuery};
use hooksd_protocol::rpc::{Frame, RpcError, error_code};

use crate::base::caller::Call;
use crate::base::work::{Work, blocking, later};
use crate::rpc::params::{invalid, params};
use crate::state::Daemon;

pub(crate) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    let wanted: JournalQuery = params(frame)?;
    if wanted.limit.is_some_and(|limit| !(1..=MAX_LIMIT).contains(&limit)) {
        return Err(invalid(ReadError::new("limit", format!("expected a number from 1 to {MAX_LIMIT}"))));
    }
    let daemon = daemon.clone();
    later(call, blocking(move || look(&daemon, &wanted)))
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
