//! Generated docs are fresh; written docs name what exists.

use std::fs;

use hooksd_protocol::{diagnostic, schema};

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
