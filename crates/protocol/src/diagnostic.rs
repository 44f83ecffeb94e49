//! Says why something did not count. A diagnostic costs only what it is about, and never the event.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a diagnostic matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It is only for somebody who is looking for a cause.
    Debug,
    /// Something had no effect, or less than its author wanted.
    Warning,
    /// Something that should protect does not.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Debug => "debug",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// One remark about a document, a handler or its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Diagnostic {
    /// The kind of remark, for programs; it does not change. See [`code`].
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// What happened and what to do, for people. The wording may change.
    pub message: String,
    /// The id of the handler that it is about, `EVENT:group:handler`; null when it is about no handler.
    #[serde(default)]
    pub handler_id: Option<String>,
    /// The field of a document, a request or an output that it is about; null when it is about no field.
    #[serde(default)]
    pub field: Option<String>,
}

impl Diagnostic {
    /// Makes a warning without a handler or a field.
    #[must_use]
    pub fn warning(code: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code: code.to_owned(),
            severity: Severity::Warning,
            message: message.into(),
            handler_id: None,
            field: None,
        }
    }

    /// The diagnostic with this severity.
    #[must_use]
    pub fn severity(self, severity: Severity) -> Diagnostic {
        Diagnostic { severity, ..self }
    }

    /// The diagnostic, about the handler with this id.
    #[must_use]
    pub fn handler(self, id: &str) -> Diagnostic {
        Diagnostic { handler_id: Some(id.to_owned()), ..self }
    }

    /// The diagnostic, about this field.
    #[must_use]
    pub fn field(self, field: impl Into<String>) -> Diagnostic {
        Diagnostic { field: Some(field.into()), ..self }
    }
}

/// The codes of diagnostics.
#[allow(missing_docs, reason = "docs/diagnostics.md describes each")]
pub mod code {
    // Documents.
    pub const CONFIG_READ_FAILED: &str = "config_read_failed";
    pub const INVALID_CONFIG: &str = "invalid_config";
    pub const INVALID_MATCHER: &str = "invalid_matcher";
    pub const UNSUPPORTED_MATCHER: &str = "unsupported_matcher";
    pub const NOT_ENFORCED: &str = "not_enforced";
    pub const SELF_REFERENCE: &str = "self_reference";
    pub const LEGACY_DEPRECATED: &str = "legacy_deprecated";
    pub const LEGACY_MIGRATED: &str = "legacy_migrated";
    pub const LEGACY_UNMAPPED: &str = "legacy_unmapped";
    pub const PLUGIN_HOOKS_FAILED: &str = "plugin_hooks_failed";
    pub const ENV_FILE_FAILED: &str = "env_file_failed";
    pub const PROJECT_UNTRUSTED: &str = "project_untrusted";
    pub const TRUST_STORE_UNREADABLE: &str = "trust_store_unreadable";
    // Before handlers run.
    pub const PROJECTION_FAILED: &str = "projection_failed";
    pub const MATCHER_BOUND: &str = "matcher_bound";
    pub const RECURSION_LIMIT: &str = "recursion_limit";
    pub const UNKNOWN_EVENT: &str = "unknown_event";
    // Running.
    pub const CWD_MISSING: &str = "cwd_missing";
    pub const INVALID_COMMAND: &str = "invalid_command";
    pub const LAUNCH_FAILED: &str = "launch_failed";
    pub const QUEUED_OUT: &str = "queued_out";
    pub const TIMEOUT: &str = "timeout";
    pub const CANCELLED: &str = "cancelled";
    pub const NONZERO_EXIT: &str = "nonzero_exit";
    pub const OUTPUT_LEFT_OPEN: &str = "output_left_open";
    pub const STDOUT_TRUNCATED: &str = "stdout_truncated";
    pub const STDERR_TRUNCATED: &str = "stderr_truncated";
    pub const OUT_OF_STEP: &str = "out_of_step";
    pub const LIFECYCLE_FALLBACK: &str = "lifecycle_fallback";
    // Answers.
    pub const MALFORMED_JSON: &str = "malformed_json";
    pub const INVALID_OUTPUT: &str = "invalid_output";
    pub const MISMATCHED_OUTPUT: &str = "mismatched_output";
    pub const UNSUPPORTED_FIELD: &str = "unsupported_field";
    pub const INVALID_TERMINAL_SEQUENCE: &str = "invalid_terminal_sequence";
    // Reduction.
    pub const ADDITIONAL_STOP_REASON: &str = "additional_stop_reason";
    pub const IGNORED_STOP_REASON: &str = "ignored_stop_reason";
    pub const UNSUPPORTED_BLOCK: &str = "unsupported_block";
    pub const CONTINUATION_CAP: &str = "continuation_cap";
    pub const CONTINUATION_GUARD: &str = "continuation_guard";
    pub const IGNORED_UPDATE: &str = "ignored_update";
    pub const FAILURE_BLOCKED: &str = "failure_blocked";
    // The journal.
    pub const JOURNAL_FAILED: &str = "journal_failed";
}
