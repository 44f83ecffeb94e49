//! hooksd's own result, and the page that tells it.

use std::fs;

use serde_json::Value;

use crate::{failed, told, top};

/// With this variable set, tests write what is generated instead of comparing it.
pub(crate) const UPDATE: &str = "HOOKSD_UPDATE_DOCS";

/// What the page begins with.
const HEAD: &str = "\
# hooksd's own conformance

`hooksctl conformance` on this commit: every scenario that came with it, against daemons that it starts. A test runs it
and compares this page (`cargo test -p hooksd-tests --test suite`). What the scenarios are, and how to measure another
engine: [conformance](conformance.md). Which recorded vectors are no scenarios, and why:
[the suite](../crates/conformance/suite/README.md).

| area | scenarios | passed | failed | unsupported |
| --- | --- | --- | --- | --- |
";

#[test]
fn our_daemon_passes_every_scenario_and_the_page_says_so() {
    let told = told(&["--jobs", "16", "--timeout", "60"], 0);
    assert_eq!(failed(&told), [""; 0]);
    let mut page = HEAD.to_owned();
    let mut row = |name: &str, counts: &Value| {
        let cells = ["scenarios", "passed", "failed", "unsupported"].map(|key| counts[key].to_string());
        page.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
    };
    for (area, counts) in told["areas"].as_object().unwrap() {
        row(area, counts);
    }
    row("all", &told["total"]);
    let path = top().join("docs/conformance-result.md");
    if std::env::var_os(UPDATE).is_some() {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page, "docs/conformance-result.md is stale: run the tests once with {UPDATE}=1");
}
