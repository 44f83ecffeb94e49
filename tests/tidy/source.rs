//! The architecture's invariants have tests; files and words are as the house rules say.

use std::fs;

use crate::{files, text, top};

#[test]
fn every_invariant_names_a_test_that_exists() {
    let sources: String = ["crates", "tests"]
        .iter()
        .flat_map(|folder| files(folder, ".rs"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let page = text("ARCHITECTURE.md");
    let invariants = page.split("## Invariants").nth(1).expect("ARCHITECTURE.md has a section Invariants");
    let invariants = invariants.split("\n## ").next().unwrap();
    let mut count = 0;
    for (number, line) in invariants.lines().filter_map(|line| line.split_once(". ")) {
        let Ok(number) = number.parse::<usize>() else { continue };
        count += 1;
        assert_eq!(number, count, "the invariants are numbered in order");
        let tests: Vec<&str> = line.split('`').skip(1).step_by(2).filter(|name| name.contains('_')).collect();
        assert!((1..=3).contains(&tests.len()), "invariant {number} names {} tests", tests.len());
        for test in tests {
            let is_there =
                sources.contains(&format!("fn {test}(")) || sources.contains(&format!("fn {test}<"));
            assert!(is_there, "invariant {number} names {test}, which does not exist");
        }
    }
    assert!((10..=30).contains(&count), "there are {count} invariants");
}

/// What people read of an enum is its spelling in JSON (`queued_out`), and never what the compiler calls it.
#[test]
fn no_word_of_an_enum_is_what_the_compiler_calls_it() {
    for path in files("crates/ctl/src", ".rs") {
        let content = fs::read_to_string(&path).unwrap();
        assert!(!content.contains("format!(\"{:?}\","), "{}: use print::word", path.display());
    }
}

#[test]
fn files_are_short_enough_to_be_read() {
    /// The longest source file. Lines. Tables that are generated are exempt.
    const MAX_LINES: usize = 450;
    for folder in ["crates", "tests"] {
        for path in files(folder, ".rs") {
            let lines = fs::read_to_string(&path).unwrap().lines().count();
            let is_table = path.ends_with("pattern/src/tables.rs");
            assert!(
                is_table || lines <= MAX_LINES,
                "{} has {lines} lines: split it by meaning",
                path.display()
            );
        }
    }
}

#[test]
fn nothing_names_the_machine_it_was_written_on() {
    let pages = ["crates", "tests", "docs", "systemd", "launchd"].into_iter().flat_map(|folder| {
        [".rs", ".md", ".toml", ".service", ".socket", ".plist"]
            .into_iter()
            .flat_map(move |end| files(folder, end))
    });
    for path in pages.chain(["README.md", "ARCHITECTURE.md", "Cargo.toml"].map(|page| top().join(page))) {
        let content = fs::read_to_string(&path).unwrap();
        for forbidden in [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("index.cra", "tes.io")] {
            assert!(!content.contains(forbidden), "{} contains {forbidden}", path.display());
        }
    }
}
