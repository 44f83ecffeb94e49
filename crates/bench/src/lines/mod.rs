//! The lines of the table, a file each.

pub(crate) mod growth;
pub(crate) mod journal;
pub(crate) mod matching;
pub(crate) mod memory;
pub(crate) mod python;
pub(crate) mod reload;
pub(crate) mod spawn;
pub(crate) mod start;
pub(crate) mod throughput;
pub(crate) mod trip;

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use crate::Size;
use crate::table::Row;

/// Measures; `Path` is the `bench` program.
pub(crate) type Line = fn(&Size, &Path) -> Result<Vec<Row>>;

/// A payload of the usual size, about 600 bytes; no handler of the benchmarks matches `no_such_tool`.
pub(crate) fn payload(tool: &str, filler: usize) -> String {
    let command = format!("cargo test --workspace --no-fail-fast -- {}", "x".repeat(filler));
    json!({
        "session_id": "0191f0a4-7e1b-7c3e-9c1e-0d0f5a1c2b3d",
        "transcript_path": "/home/somebody/.agent/projects/a-project/0191f0a4-7e1b-7c3e-9c1e-0d0f5a1c2b3d.jsonl",
        "cwd": std::env::temp_dir(),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_use_id": "toolu_01A09q90qw90lq917835lq9",
        "tool_input": { "command": command, "description": "Run the tests of the whole workspace", "timeout": 120_000 },
    })
    .to_string()
}

/// The tool that handlers match.
pub(crate) const TOOL: &str = "Bash";

/// The filler that makes a payload of the usual size.
pub(crate) const USUAL: usize = 120;

/// A document with these handlers on [`TOOL`].
pub(crate) fn document(handlers: &[Value]) -> Value {
    json!({ "hooks": { "PreToolUse": [{ "matcher": TOOL, "hooks": handlers }] } })
}

/// A handler of a shell command.
pub(crate) fn shell(command: &str) -> Value {
    json!({ "type": "command", "command": command })
}
