//! Imports run downward only: between crates, between the files of a crate, and between the rooms of the daemon.

mod code;
mod graph;

use std::fs;

use crate::{files, text, top};
use graph::{Imports, circles, crates, imports, upward};

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

/// The rooms of the daemon, the highest first (ARCHITECTURE, "Rooms of the daemon").
const ROOMS: [&str; 10] =
    ["demo", "server", "rpc", "event", "state", "journal", "sessions", "observe", "documents", "base"];

/// What a crate is called where it is used, as the folder that it is in.
fn folder(name: &str) -> String {
    match name {
        "hooksd" => "daemon".to_owned(),
        name => name.trim_start_matches("hooksd").trim_start_matches(['-', '_']).to_owned(),
    }
}

fn dependencies(name: &str) -> Vec<String> {
    let manifest = text(&format!("crates/{name}/Cargo.toml"));
    let section = manifest.split("[dependencies]").nth(1).unwrap();
    let section = section.split("\n[").next().unwrap();
    section.lines().filter_map(|line| line.split(['.', ' ', '=']).next()).map(str::to_owned).collect()
}

/// The source files of a crate, by their paths below `src`.
fn sources(name: &str) -> Vec<(String, String)> {
    let src = top().join("crates").join(name).join("src");
    let read = |path: std::path::PathBuf| {
        let name = path.strip_prefix(&src).unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    files(&format!("crates/{name}/src"), ".rs").into_iter().map(read).collect()
}

fn imports_of(name: &str) -> Imports {
    let sources = sources(name);
    let files: Vec<_> = sources.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    imports(&files)
}

#[test]
fn imports_run_downward_only() {
    for (name, allowed) in ALLOWED {
        for (file, text) in sources(name) {
            for used in crates(&text).iter().map(|name| folder(name)).filter(|used| used != name) {
                assert!(allowed.contains(&used.as_str()), "crates/{name}/src/{file} must not use {used}");
            }
        }
    }
    let found = upward(&imports_of("daemon"), &ROOMS);
    assert!(found.is_empty(), "upward, or of an unknown room:\n{}", found.join("\n"));
}

#[test]
fn no_files_of_a_crate_import_each_other_in_a_circle() {
    let mut found = Vec::new();
    for (name, _) in ALLOWED {
        found.extend(circles(&imports_of(name)).into_iter().map(|circle| format!("{name}: {circle}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn dependencies_point_one_way() {
    for (index, (name, allowed)) in ALLOWED.into_iter().enumerate() {
        for dependency in dependencies(name).iter().filter(|name| name.starts_with("hooksd")) {
            let used = folder(dependency);
            assert!(allowed.contains(&used.as_str()), "{name} must not depend on {used}");
        }
        let below = |used: &&str| ALLOWED[..index].iter().any(|(name, _)| name == used);
        assert!(allowed.iter().all(below), "{name} stands above all that it uses");
    }
}

/// The tables of the page are those of the test.
#[test]
fn the_page_has_the_same_order() {
    let page = text("ARCHITECTURE.md");
    let rows = |section: &str| -> Vec<(String, String)> {
        let section =
            page.split(&format!("\n### {section}\n")).nth(1).unwrap_or_else(|| panic!("no {section}"));
        let lines =
            section.split("\n#").next().unwrap().lines().filter(|line| line.starts_with("| ")).skip(2);
        let cells = lines.map(|line| line.trim_matches(['|', ' ']).split_once(" | ").unwrap());
        cells.map(|(name, rest)| (name.to_owned(), rest.to_owned())).collect()
    };
    let allowed = ALLOWED.map(|(name, allowed)| {
        let allowed = if allowed.is_empty() { "none of them".to_owned() } else { allowed.join(", ") };
        (name.to_owned(), allowed)
    });
    assert_eq!(rows("Dependencies"), allowed);
    let rooms: String = rows("Rooms of the daemon").into_iter().map(|(name, _)| name + " ").collect();
    let mut shown = rooms.as_str();
    for room in ROOMS {
        let found =
            shown.split_once(&format!("`{room}.rs`")).or_else(|| shown.split_once(&format!("`{room}/`")));
        shown = found.unwrap_or_else(|| panic!("{room} is not where it belongs in: {rooms}")).1;
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
    let ours = ["Cargo.toml", "tests/Cargo.toml"].map(|path| top().join(path));
    for path in files("crates", "Cargo.toml").into_iter().chain(ours) {
        let manifest = fs::read_to_string(&path).unwrap();
        let named = manifest.lines().any(|line| line.trim_start().starts_with("rustix"));
        assert!(!named, "{} names rustix", path.display());
    }
    let those_with = |name: &str| -> Vec<&str> {
        let has = |crate_name: &&str| dependencies(crate_name).iter().any(|dependency| dependency == name);
        ALLOWED.map(|(name, _)| name).into_iter().filter(has).collect()
    };
    assert_eq!(those_with("libc"), ["system"]);
    let nix = ["system", "config", "runner", "client", "journal", "daemon", "ctl", "conformance"];
    assert_eq!(those_with("nix"), nix);
}
