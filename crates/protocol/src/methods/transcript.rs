//! Appends records to a transcript: `transcript/append`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session::SessionRef;
use hooksd_json::{RawJson, Text};

/// How many records one request may have. Records.
pub const MAX_RECORDS: usize = 1000;

/// How large a record may be as JSON. Bytes. A larger one would be somebody's whole file.
pub const MAX_RECORD_BYTES: usize = 1024 * 1024;

/// Params of `transcript/append`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TranscriptAppend {
    /// The session whose transcript it is.
    pub session: SessionRef,
    /// The records, and whose they are.
    #[serde(flatten)]
    pub records: TranscriptRecords,
}

/// What `transcript/append` appends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptRecords {
    /// The subagent whose transcript it is; absent for the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<Text>,
    /// At most 1,000 JSON objects, each of at most 1 MiB.
    pub records: Vec<RawJson>,
}

/// Result of `transcript/append`. Handlers that start from now on see the records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptAppended {
    /// The path of the transcript, which handlers get as `transcript_path` or `agent_transcript_path`.
    pub path: String,
    /// How many records were appended.
    pub records: usize,
}
