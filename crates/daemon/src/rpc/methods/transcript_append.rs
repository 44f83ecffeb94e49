//! `transcript/append`: writes records to the daemon's own transcript, without secrets.

use std::fmt::Write;
use std::sync::Arc;

use hooksd_engine::redact::MAX_DEPTH;
use hooksd_json::{Dialect, RawJson, ReadError, Reading, Value, read};
use hooksd_protocol::methods::{MAX_RECORD_BYTES, MAX_RECORDS, TranscriptAppended, TranscriptRecords};
use hooksd_protocol::rpc::{Frame, RpcError, error_code};

use crate::base::caller::Call;
use crate::base::work::{Work, blocking, later};
use crate::rpc::params::{invalid, refuse_when_stopping};
use crate::sessions::inline::SessionTarget;
use crate::sessions::registry::open_inline;
use crate::sessions::session::Session;
use crate::sessions::transcripts::{append, path};
use crate::state::Daemon;

pub(crate) fn work(daemon: &Arc<Daemon>, frame: &Frame<'_>, call: &Call<'_>) -> Result<Work, RpcError> {
    refuse_when_stopping(daemon)?;
    let Some(params) = frame.params.as_ref().filter(|params| params.is_object()) else {
        return Err(invalid(ReadError::new("params", "expected an object with session and records")));
    };
    let known = ["session", "agent_id", "records"];
    if let Some((key, _)) = params.entries().iter().find(|(key, _)| !known.contains(&key.as_ref())) {
        return Err(invalid(ReadError::new(
            key.as_ref(),
            format!("unknown field; known here: {}", known.join(", ")),
        )));
    }
    let wanted: TranscriptRecords = read(params, Reading::Strict).map_err(invalid)?;
    check(&wanted.records)?;
    let target = daemon.openings.target(params, &daemon.sessions)?;
    // Its place is taken now: later requests of this connection come after it.
    let ticket = match &target {
        SessionTarget::Open(session) => Some(session.transcript.ticket()),
        SessionTarget::Inline(_) => None,
    };
    let daemon = daemon.clone();
    later(call, async move {
        if let Some(ticket) = &ticket {
            ticket.turn().await;
        }
        blocking(move || {
            let _until_written = ticket;
            let session = match target {
                SessionTarget::Open(session) => session,
                SessionTarget::Inline(opening) => {
                    open_inline(&daemon.settings, &daemon.documents, &opening, &daemon.stop.killing)?
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
        return Err(invalid(ReadError::new("records", message)));
    }
    for (index, record) in records.iter().enumerate() {
        let field = format!("records[{index}]");
        if record.get().len() > MAX_RECORD_BYTES {
            let message = format!("{} bytes long; at most {MAX_RECORD_BYTES} are taken", record.get().len());
            return Err(invalid(ReadError::new(&field, message)));
        }
        if !record.get().starts_with('{') {
            return Err(invalid(ReadError::new(&field, "expected an object")));
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
    let config = session.config.load();
    let redactor = config.redactor();
    let mut lines = String::new();
    for (index, record) in wanted.records.iter().enumerate() {
        let line = Value::parse(record.get(), Dialect::Strict).ok().and_then(|record| redactor.json(&record));
        let Some(line) = line else {
            let message = format!("nested deeper than {MAX_DEPTH} levels");
            return Err(invalid(ReadError::new(format!("records[{index}]"), message)));
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
