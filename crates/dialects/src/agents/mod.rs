//! The tables of the agents, one file for each. Facts that were recorded from an agent itself count more than those
//! that are only documented; each file says which it has.

mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod dcode;
mod droid;
mod gemini;
mod goose;
mod kimi;
mod kiro;
mod qwen;
mod shared;
mod vscode;

pub use claude_code::CLAUDE_CODE;
pub use codex::CODEX;
pub use copilot::COPILOT;
pub use cursor::CURSOR;
pub use dcode::DCODE;
pub use droid::DROID;
pub use gemini::GEMINI;
pub use goose::GOOSE;
pub use kimi::KIMI;
pub use kiro::{KIRO, KIRO_IDE};
pub use qwen::QWEN;
pub use vscode::VSCODE;

use crate::dialect::Dialect;

/// The tables of all agents. Those that were recorded come first.
pub static ALL: [&Dialect; 13] = [
    &CLAUDE_CODE,
    &CODEX,
    &GEMINI,
    &DCODE,
    &COPILOT,
    &QWEN,
    &CURSOR,
    &VSCODE,
    &DROID,
    &KIRO,
    &KIRO_IDE,
    &GOOSE,
    &KIMI,
];
