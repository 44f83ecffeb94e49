//! `transcript/append`: writes records to the daemon's own transcript, without secrets.

use std::fmt::Write;
use std::sync::Arc;

use hooksd_engine::redact::MAX_DEPTH;
use hooksd_json::{Dialect, RawJson, Reading, Value, read};
use hooksd_protocol::methods::{MAX_RECORD_BYTES, MAX_RECORDS, TranscriptAppended, TranscriptRecords};
use hooksd_protocol::rpc::{Frame, RpcError, error_code};

use super::{Work, invalid, later, refuse_when_stopping};
use crate::daemon::Daemon;
use crate::invoke::blocking;
use crate::opening::Target;
use crate::session::{Session, field_error};
use crate::sessions::open_inline;
use crate::transcripts::{append, path};

pub(super) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>) -> Result<Work, RpcError> {
    refuse_when_stopping(daemon)?;
    let Some(params) = frame.params.as_ref().filter(|params| params.is_object()) else {
        return Err(invalid(field_error("params", "expected an object with session and records")));
    };
    let known = ["session", "agent_id", "records"];
    if let Some((key, _)) = params.entries().iter().find(|(key, _)| !known.contains(&key.as_ref())) {
        return Err(invalid(field_error(key, &format!("unknown field; known here: {}", known.join(", ")))));
    }
    let wanted: TranscriptRecords = read(params, Reading::Strict).map_err(invalid)?;
    check(&wanted.records)?;
    let target = daemon.openings.target(params, &daemon.sessions)?;
    // Its place is taken now: later requests of this connection come after it.
    let ticket = match &target {
        Target::Open(session) => Some(session.transcript.ticket()),
        Target::Inline(_) => None,
    };
    let daemon = daemon.clone();
    later(move |_| async move {
        if let Some(ticket) = &ticket {
            ticket.turn().await;
        }
        blocking(move || {
            let _until_written = ticket;
            let session = match target {
                Target::Open(session) => session,
                Target::Inline(opening) => {
                    open_inline(&daemon.settings, &daemon.documents, &opening, &daemon.killing)?
                }
            };
            write(&daemon, &session, &wanted)
        })
        .await
    })
}

fn check(records: &[RawJson]) -> Result<(), RpcError> {
    if records.len() > MAX_RECORDS {
        let message = format!("{} records; at most {MAX_RECORDS} go into one request", records.len());
        return Err(invalid(field_error("records", &message)));
    }
    for (index, record) in records.iter().enumerate() {
        let field = format!("records[{index}]");
        if record.get().len() > MAX_RECORD_BYTES {
            let message = format!("{} bytes long; at most {MAX_RECORD_BYTES} are taken", record.get().len());
            return Err(invalid(field_error(&field, &message)));
        }
        if !record.get().starts_with('{') {
            return Err(invalid(field_error(&field, "expected an object")));
        }
    }
    Ok(())
}

fn write(
    daemon: &Daemon,
    session: &Session,
    wanted: &TranscriptRecords,
) -> Result<TranscriptAppended, RpcError> {
    session.touch();
    let pinned = session.pinned.load();
    let redactor = pinned.redactor();
    let mut lines = String::new();
    for (index, record) in wanted.records.iter().enumerate() {
        let line = Value::parse(record.get(), Dialect::Strict).ok().and_then(|record| redactor.json(&record));
        let Some(line) = line else {
            let message = format!("nested deeper than {MAX_DEPTH} levels");
            return Err(invalid(field_error(&format!("records[{index}]"), &message)));
        };
        // Writing to a String does not fail.
        let _ = writeln!(lines, "{line}");
    }
    let agent_id = wanted.agent_id.as_ref().map(|id| id.decoded());
    let path = path(&daemon.settings.config_dir, &session.thread_id.decoded(), agent_id.as_deref());
    append(&path, &lines).map_err(|error| {
        let message = format!("the transcript {} cannot be written: {error}", path.display());
        RpcError::new(error_code::TRANSCRIPT_NOT_WRITTEN, message)
    })?;
    Ok(TranscriptAppended { path: path.display().to_string(), records: wanted.records.len() })
}
