//! The findings as SARIF 2.1.0, for code scanners and editors.

use std::collections::BTreeSet;

use hooksd_protocol::diagnostic::Severity;
use serde_json::{Value, json};

use super::{Checked, Finding};

/// Where the form is described.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// One run with all findings.
pub(crate) fn log(checked: &[Checked]) -> Value {
    let findings = || checked.iter().flat_map(|checked| &checked.findings);
    let codes: BTreeSet<&str> = findings().map(|finding| finding.code).collect();
    let rules: Vec<Value> = codes.into_iter().map(|code| json!({ "id": code })).collect();
    let driver = json!({ "name": "hooksctl", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    let results: Vec<Value> = findings().map(result).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results }],
    })
}

fn result(finding: &Finding) -> Value {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Debug => "note",
    };
    let mut physical = json!({ "artifactLocation": { "uri": uri(&finding.path) } });
    if let (Some(line), Some(column), Some(region)) = (finding.line, finding.column, physical.as_object_mut())
    {
        region.insert("region".to_owned(), json!({ "startLine": line, "startColumn": column }));
    }
    json!({
        "ruleId": finding.code,
        "level": level,
        "message": { "text": format!("{}. Fix: {}", finding.message, finding.fix) },
        "locations": [{ "physicalLocation": physical }],
    })
}

/// A path as a URI: what URIs do not hold is written by its bytes.
fn uri(path: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(byte);
    let spelled: String = path
        .bytes()
        .map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    if path.starts_with('/') { format!("file://{spelled}") } else { spelled }
}
