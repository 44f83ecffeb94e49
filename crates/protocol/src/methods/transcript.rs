//! Transcripts: `transcript/append`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session::SessionRef;
use hooksd_json::{RawJson, Text};

/// The most records of one request. Records.
pub const MAX_RECORDS: usize = 1000;

/// The largest record. Bytes of JSON. Bigger ones are somebody's whole file.
pub const MAX_RECORD_BYTES: usize = 1024 * 1024;

/// Params of `transcript/append`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TranscriptAppend {
    /// The session.
    pub session: SessionRef,
    /// The rest.
    #[serde(flatten)]
    pub records: TranscriptRecords,
}

/// What `transcript/append` appends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptRecords {
    /// The subagent whose transcript it is; absent for the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<Text>,
    /// JSON objects, each at most 1 MiB; at most 1,000.
    pub records: Vec<RawJson>,
}

/// Result of `transcript/append`. Handlers that start from now on see the records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptAppended {
    /// The file, which is what handlers get as `transcript_path` or `agent_transcript_path`.
    pub path: String,
    /// How many records were appended.
    pub records: usize,
}
