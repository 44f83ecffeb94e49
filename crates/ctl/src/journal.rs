//! Questions to the journal itself, for commands that need no daemon.

use std::path::Path;

use hooksd_journal::{MAX_LIMIT, query};
use hooksd_protocol::methods::{JournalPage, JournalQuery, JournalRecord};

use crate::failure::Failure;

/// The newest records that a query asks for, at most so many.
pub(crate) fn pages(path: &Path, mut asked: JournalQuery, most: u32) -> Result<JournalPage, Failure> {
    let (mut found, mut left) = (JournalPage::default(), most);
    while left > 0 {
        asked.limit = Some(left.min(MAX_LIMIT));
        let page = query(path, &asked)?;
        left = left.saturating_sub(u32::try_from(page.records.len()).unwrap_or(u32::MAX));
        found.records.extend(page.records);
        found.cursor = page.cursor;
        asked.cursor = page.cursor;
        if page.cursor.is_none() {
            break;
        }
    }
    Ok(found)
}

/// The one record whose id begins so.
pub(crate) fn one_record(path: &Path, id: &str) -> Result<JournalRecord, Failure> {
    let asked =
        JournalQuery { invocation_id: Some(id.to_owned()), limit: Some(2), ..JournalQuery::default() };
    let mut records = query(path, &asked)?.records.into_iter();
    match (records.next(), records.next()) {
        (None, _) => Err(Failure::Input(format!("no event in the journal has an id that begins with {id}"))),
        (Some(first), Some(second)) if first.invocation_id != second.invocation_id => Err(Failure::Input(
            format!("more than one event has an id that begins with {id}: give more of it"),
        )),
        (Some(record), _) => Ok(record),
    }
}
