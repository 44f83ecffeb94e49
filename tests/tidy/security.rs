//! SECURITY.md: every threat has an answer and tests that exist; unsafe code is where it is justified.

use std::collections::BTreeMap;
use std::fs;

use crate::{files, text, top};

/// The tests that a text names, as `file::name`.
fn tests_of(text: &str) -> Vec<(&str, &str)> {
    let code = text.split('`').skip(1).step_by(2);
    code.filter_map(|code| code.split_once("::")).collect()
}

#[test]
fn every_threat_has_an_answer_and_tests_that_exist() {
    let page = text("SECURITY.md");
    let rows: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---")).collect();
    let mut count = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [threat, answer, tests] = cells[..] else { panic!("no threat, answer and test: {row}") };
        if threat == "threat" {
            continue;
        }
        assert!(!threat.is_empty() && !answer.is_empty() && !tests_of(tests).is_empty(), "no test: {row}");
        count += 1;
    }
    assert!(count >= 30, "{count} threats");
    for (file, name) in tests_of(&page) {
        assert!(page.contains(&format!("[`{file}::{name}`]({file})")), "{file}::{name} is no link");
        let source = text(file);
        let is_there = ["fn", "def"].iter().any(|word| source.contains(&format!("{word} {name}(")));
        assert!(is_there, "SECURITY.md names {name}, which is not in {file}");
    }
}

#[test]
fn unsafe_code_is_where_it_is_justified_and_nowhere_else() {
    /// How far above a block its reason may begin. Lines.
    const ABOVE: usize = 4;
    let mut found = BTreeMap::new();
    for path in files("crates", ".rs") {
        let content = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = content.lines().collect();
        let name = path.strip_prefix(top()).unwrap().display().to_string();
        for (number, line) in lines.iter().enumerate() {
            if !(line.contains("unsafe {") || line.contains("unsafe fn") || line.contains("unsafe impl")) {
                continue;
            }
            let above = &lines[number.saturating_sub(ABOVE)..=number];
            assert!(above.iter().any(|line| line.contains("SAFETY: ")), "{name}:{}: no SAFETY", number + 1);
            *found.entry(name.clone()).or_insert(0) += 1;
        }
    }
    let product: Vec<&String> = found.keys().filter(|name| name.contains("/src/")).collect();
    let known = ["descriptors", "launchd", "limits", "process", "spawn"];
    let known = known.map(|name| format!("crates/system/src/{name}.rs"));
    assert!(
        product.into_iter().eq(&known),
        "only the calls that nix has no safe function for are unsafe: {found:?}"
    );
}

#[test]
fn crates_without_unsafe_code_forbid_it() {
    let roots = files("crates", "/src/lib.rs").into_iter().chain(files("crates", "/src/main.rs"));
    for path in roots.filter(|path| !path.ends_with("system/src/lib.rs")) {
        let source = fs::read_to_string(&path).unwrap();
        assert!(source.contains("\n#![forbid(unsafe_code)]\n"), "{} does not forbid it", path.display());
    }
}
