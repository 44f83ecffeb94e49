//! Codex runs a hook only if its configuration holds the hash of it. We write what Codex itself would write after its
//! question, for our own entries alone; a record that a person has switched off stays switched off.

use std::path::Path;

use hooksd_config::contents::fingerprint;

use super::json_document::Position;
use super::toml_document::TRUSTED_HASH;

/// The fields of a record.
pub(crate) type Record = (String, Vec<(&'static str, String)>);

/// The records for entries of a document at `path`. Entries with options of their own are left out: their hash is not
/// known to be right, and a wrong one is worth less than Codex's own question.
pub(crate) fn records(path: &Path, positions: &[Position]) -> Vec<Record> {
    let plain = positions.iter().filter(|position| position.plain);
    let record = |position: &Position| {
        let hash = format!("\"sha256:{}\"", hash(position)?);
        Some((key(path, position), vec![("enabled", "true".to_owned()), (TRUSTED_HASH, hash)]))
    };
    plain.filter_map(record).collect()
}

/// The name of an entry's record.
pub(crate) fn key(path: &Path, position: &Position) -> String {
    let (event, group, handler) = (snake(&position.event), position.group, position.handler);
    format!("{}:{event}:{group}:{handler}", path.display())
}

/// `PreToolUse` as `pre_tool_use`.
fn snake(event: &str) -> String {
    let mut out = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// The hash of an entry: SHA-256 of its normal form, compact JSON with sorted keys.
fn hash(position: &Position) -> Option<String> {
    let form = serde_json::json!({
        "event_name": snake(&position.event),
        "hooks": [{
            "async": false,
            "command": position.command,
            "timeout": position.timeout?,
            "type": "command",
        }],
    });
    // serde_json keeps the keys of its maps sorted.
    Some(fingerprint(form.to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_what_codex_writes() {
        let mut position = Position {
            event: "PreToolUse".to_owned(),
            group: 1,
            handler: 0,
            command: "/bin/hooksctl hook --agent codex".to_owned(),
            timeout: Some(600),
            plain: true,
            followed: false,
        };
        // printf %s '{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"/bin/hooksctl hook --agent codex",
        // "timeout":600,"type":"command"}]}' | sha256sum
        let hash = "\"sha256:013c4dd1d6e2b53da9a49c3e201a00e0afb101d9c6c0c52342c6775513a8f109\"";
        let expected = vec![(
            "/h/.codex/hooks.json:pre_tool_use:1:0".to_owned(),
            vec![("enabled", "true".to_owned()), ("trusted_hash", hash.to_owned())],
        )];
        assert_eq!(records(Path::new("/h/.codex/hooks.json"), std::slice::from_ref(&position)), expected);
        position.plain = false;
        assert_eq!(records(Path::new("/h/.codex/hooks.json"), &[position]), []);
    }
}
