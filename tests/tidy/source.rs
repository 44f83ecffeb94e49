//! Dependencies point one way; the architecture's invariants have tests.

use std::fs;

use crate::{files, text, top};

/// Which crates of the workspace each crate may use (ARCHITECTURE, "Dependencies").
const ALLOWED: [(&str, &[&str]); 14] = [
    ("json", &[]),
    ("pattern", &[]),
    ("system", &[]),
    ("protocol", &["json"]),
    ("dialects", &["json", "protocol"]),
    ("config", &["json", "pattern", "protocol"]),
    ("engine", &["json", "pattern", "protocol", "config"]),
    ("runner", &["system", "protocol"]),
    ("client", &["json", "protocol"]),
    ("journal", &["protocol"]),
    ("daemon", &["json", "pattern", "system", "protocol", "config", "engine", "runner", "client", "journal"]),
    ("terminal", &[]),
    ("ctl", &["json", "system", "protocol", "dialects", "config", "engine", "client", "journal", "terminal"]),
    ("conformance", &["json", "protocol", "config", "engine", "client", "terminal"]),
];

fn dependencies(name: &str) -> Vec<String> {
    let manifest = text(&format!("crates/{name}/Cargo.toml"));
    let section = manifest.split("[dependencies]").nth(1).unwrap();
    let section = section.split("\n[").next().unwrap();
    section.lines().filter_map(|line| line.split(['.', ' ', '=']).next()).map(str::to_owned).collect()
}

#[test]
fn dependencies_point_one_way() {
    for (name, allowed) in ALLOWED {
        let own = dependencies(name).into_iter().filter_map(|name| {
            if name == "hooksd" {
                Some("daemon".to_owned())
            } else {
                name.strip_prefix("hooksd-").map(str::to_owned)
            }
        });
        for dependency in own {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not depend on {dependency}");
        }
    }
}

#[test]
fn config_and_engine_know_no_runtime() {
    for name in ["json", "pattern", "protocol", "dialects", "config", "engine", "journal"] {
        for dependency in dependencies(name) {
            assert!(!dependency.starts_with("tokio"), "{name} must not depend on {dependency}");
        }
    }
}

/// What calls the system is `nix`; what it has no safe function for is in one crate.
#[test]
fn the_system_is_called_through_nix() {
    for path in files("crates", "Cargo.toml")
        .into_iter()
        .chain(["Cargo.toml", "tests/Cargo.toml"].map(|path| top().join(path)))
    {
        let manifest = fs::read_to_string(&path).unwrap();
        let named = manifest.lines().any(|line| line.trim_start().starts_with("rustix"));
        assert!(!named, "{} names rustix", path.display());
    }
    let those_with = |name: &str| -> Vec<&str> {
        let has = |crate_name: &&str| dependencies(crate_name).iter().any(|dependency| dependency == name);
        ALLOWED.map(|(name, _)| name).into_iter().filter(has).collect()
    };
    assert_eq!(those_with("libc"), ["system"]);
    assert_eq!(
        those_with("nix"),
        ["system", "config", "runner", "client", "journal", "daemon", "ctl", "conformance"]
    );
}

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
