//! Generated docs are fresh; written docs name what exists.

use std::collections::BTreeSet;
use std::fs;

use hooksd_protocol::event::EventName;
use hooksd_protocol::{diagnostic, output, schema};
use serde_json::Value;

use crate::{files, text, top};

/// With this variable set, the test writes the generated docs instead of comparing them.
pub(crate) const UPDATE: &str = "HOOKSD_UPDATE_DOCS";

#[test]
fn generated_documents_are_fresh() {
    for (name, expected) in schema::documents() {
        let path = top().join("docs/schema").join(name);
        if std::env::var_os(UPDATE).is_some() {
            fs::write(&path, &expected).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == expected, "docs/schema/{name} is stale: run the tests once with {UPDATE}=1");
    }
}

#[test]
fn the_protocol_page_names_every_method_and_error() {
    let page = text("docs/protocol.md");
    for method in schema::method_names() {
        assert!(page.contains(&format!("`{method}`")), "docs/protocol.md does not describe {method}");
    }
    for (code, _) in schema::ERRORS {
        assert!(page.contains(&code.to_string()), "docs/protocol.md does not describe error {code}");
    }
}

#[test]
fn every_diagnostic_code_is_described_and_no_other() {
    let source = text("crates/protocol/src/diagnostic.rs");
    let constants = source.split("pub const ").skip(1).filter_map(|rest| rest.split('"').nth(1));
    let codes: Vec<&str> = constants.collect();
    assert!(codes.contains(&diagnostic::code::TIMEOUT), "the codes were not found in the source");
    let page = text("docs/diagnostics.md");
    for code in &codes {
        assert!(page.contains(&format!("| `{code}` |")), "docs/diagnostics.md does not describe {code}");
    }
    for row in page.lines().filter_map(|line| line.strip_prefix("| `")) {
        let code = row.split('`').next().unwrap();
        assert!(codes.contains(&code), "docs/diagnostics.md describes {code}, which does not exist");
    }
}

/// Every name and every fixed word that the schema of an answer has stands in the section about answers, and each row
/// of its table is about one of them.
#[test]
fn every_word_of_an_answer_is_described_and_no_other() {
    let page = text("docs/hooks.md");
    let section = page.split("\n### Every word of an answer\n").nth(1).expect("the section");
    let section = section.split("\n## ").next().unwrap();
    let mut words = BTreeSet::new();
    words_of(&schema::outputs(), &mut words);
    assert!(output::KEYS.iter().all(|key| words.contains(*key)), "the words were not found in the schema");
    let events: Vec<&str> = EventName::ALL.iter().map(|event| event.as_str()).collect();
    for word in words.iter().filter(|word| !events.contains(&word.as_str())) {
        let is_there = section.contains(&format!("`{word}`")) || section.contains(&format!("\"{word}\""));
        assert!(is_there, "docs/hooks.md does not describe {word}, which an answer may have");
    }
    let rows: Vec<&str> = section.lines().filter_map(|line| line.strip_prefix("| <a id=\"")).collect();
    assert!(rows.len() >= 24, "{}", rows.len());
    for row in rows {
        let (anchor, word) = (row.split('"').next().unwrap(), row.split('`').nth(1).unwrap());
        assert!(words.contains(word), "docs/hooks.md describes {word}, which no answer has");
        assert!(anchor.starts_with(&word.to_lowercase()), "{word} has the anchor {anchor}");
    }
}

/// The names of members and the fixed words of a schema.
fn words_of(schema: &Value, words: &mut BTreeSet<String>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        words.extend(properties.keys().cloned());
    }
    let fixed = schema.get("enum").and_then(Value::as_array).into_iter().flatten().chain(schema.get("const"));
    words.extend(fixed.filter_map(Value::as_str).map(str::to_owned));
    let inner: Vec<&Value> = match schema {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    inner.into_iter().for_each(|inner| words_of(inner, words));
}

#[test]
fn every_setting_is_described_with_default_and_range_and_no_other() {
    let page = text("docs/operations.md");
    for key in hooksd::server::configure::KEYS {
        let row = format!("| `{}` | `{}` | {} | {} |", key.name, key.variable, key.default, key.range());
        assert!(page.contains(&row), "docs/operations.md does not have the row {row}");
    }
    let rows = page.lines().filter(|line| line.starts_with("| `") && line.contains("| `HOOKSD_")).count();
    assert_eq!(rows, hooksd::server::configure::KEYS.len());
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut pages = files("docs", ".md");
    pages.extend(
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
            .map(|page| top().join(page)),
    );
    for page in pages {
        let content = fs::read_to_string(&page).unwrap();
        for target in content.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = target.split('#').next().unwrap();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let path = page.parent().unwrap().join(target);
            assert!(path.exists(), "{} links to {target}, which does not exist", page.display());
        }
    }
}

#[test]
fn the_changelog_keeps_a_changelog() {
    let changelog = text("CHANGELOG.md");
    assert!(changelog.starts_with("# Changelog\n"));
    assert!(changelog.contains("\n## [Unreleased]\n"));
    let kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
    for kind in changelog.lines().filter_map(|line| line.strip_prefix("### ")) {
        assert!(kinds.contains(&kind), "CHANGELOG.md has a section {kind:?}");
    }
}
