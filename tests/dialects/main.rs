//! Agents' dialects, held against what was recorded from the agents: payloads in, answers out, and docs/agents.md made
//! of both. With HOOKSD_UPDATE_DOCS set the tests write golden files and the page's tables instead of comparing them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that fails to set up has failed"
)]

mod answers;
mod effects;
mod page;
mod payloads;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

use hooksd_dialects::{Dialect, agents};
use serde_json::Value;

/// With this variable set, golden files are written instead of compared.
const UPDATE: &str = "HOOKSD_UPDATE_DOCS";

/// The agents that were recorded.
const RECORDED: [&str; 6] = ["claude-code", "codex", "gemini-cli", "deepagents", "copilot-cli", "qwen-code"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dialects")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Compares with a golden file, or writes it.
fn golden(name: &str, found: &str) {
    let path = folder().join("golden").join(name);
    if std::env::var_os(UPDATE).is_some() {
        fs::write(&path, found).unwrap();
    }
    let expected = text(&path);
    for (number, (expected, found)) in expected.lines().zip(found.lines()).enumerate() {
        assert_eq!(found, expected, "{name}, line {}", number + 1);
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{name}: run the tests once with {UPDATE}=1");
}

/// The lines of a recording, with its placeholders filled in.
fn recorded(name: &str) -> Vec<Value> {
    let lines = text(&folder().join("recorded").join(name));
    assert!(!lines.is_empty(), "{name} is not there");
    let filled = lines.replace("$PROJECT_SLUG", "-home-you-project").replace("$PROJECT", "/home/you/project");
    let filled =
        filled.replace("$HOME", "/home/you").replace("$TOOLS", "/opt/tools").replace("$RUN", "/run/x");
    filled.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn dialect(name: &str) -> &'static Dialect {
    agents::ALL.into_iter().find(|dialect| dialect.name == name).unwrap()
}
