//! What the crates are made of and what may be made of them: one compiler, one registry, one version of everything, and
//! packages that hold all they need.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};

use crate::{files, text, top};

/// The crates that are for this repository alone.
const OURS_ALONE: [&str; 2] = ["crates/bench", "tests"];

/// The crates that are programs and nobody's dependency.
const PROGRAMS: [&str; 2] = ["crates/ctl", "crates/conformance"];

/// What the lock file names and no build has: another version of what is built, as the start of its versions.
/// zerocopy keeps its macros at its own version by naming them for a platform that is none, and they are of an older
/// generation.
const NEVER_BUILT: [(&str, &str); 1] = [("syn", "2")];

/// The value of a key that stands on a line of its own.
fn value<'a>(manifest: &'a str, key: &str) -> Option<&'a str> {
    let start = format!("{key} = ");
    manifest.lines().find_map(|line| line.strip_prefix(&start)).map(|value| value.trim_matches('"'))
}

fn members() -> Vec<String> {
    let manifest = text("Cargo.toml");
    let list = manifest.lines().find_map(|line| line.strip_prefix("members = ")).unwrap();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_oldest_compiler_is_the_same_wherever_it_is_named() {
    let oldest = text("Cargo.toml");
    let oldest = value(&oldest, "rust-version").unwrap();
    assert_eq!(value(&text("clippy.toml"), "msrv"), Some(oldest));
    for page in ["README.md", "CONTRIBUTING.md"] {
        assert!(text(page).contains(&format!("Rust {oldest}")), "{page} does not name Rust {oldest}");
    }
    for member in members() {
        let manifest = text(&format!("{member}/Cargo.toml"));
        assert_eq!(value(&manifest, "rust-version.workspace"), Some("true"), "{member}");
    }
}

#[test]
fn every_crate_can_be_packaged() {
    let workspace = text("Cargo.toml");
    let version = value(&workspace, "version").unwrap();
    for member in members() {
        let manifest = text(&format!("{member}/Cargo.toml"));
        assert!(value(&manifest, "description").is_some_and(|words| !words.is_empty()), "{member}");
        for key in ["version", "edition", "license"] {
            assert_eq!(value(&manifest, &format!("{key}.workspace")), Some("true"), "{member}: {key}");
        }
        let stays = OURS_ALONE.contains(&member.as_str());
        assert_eq!(value(&manifest, "publish"), stays.then_some("false"), "{member}");
        assert_eq!(value(&manifest, "publish.workspace"), (!stays).then_some("true"), "{member}");
    }
    let registries = value(&workspace, "publish").unwrap();
    assert!(registries.matches('"').count() > 2, "with one registry, cargo publishes without a question");
    let own: Vec<&str> = workspace.lines().filter(|line| line.contains("path = \"crates/")).collect();
    assert_eq!(own.len() + OURS_ALONE.len() + PROGRAMS.len(), members().len());
    for program in PROGRAMS {
        assert!(!own.iter().any(|line| line.contains(program)), "{program} is nobody's dependency");
    }
    for line in own {
        assert!(line.contains(&format!("version = \"{version}\"")), "a package has no path: {line}");
    }
}

/// A package holds its own folder and nothing else; a link in it is packaged as what it leads to.
#[test]
fn nothing_outside_a_crate_is_compiled_into_it() {
    for path in files("crates", ".rs") {
        let source = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(top()).unwrap();
        for part in source.split("include").skip(1) {
            let Some(rest) =
                ["_str!(\"", "_bytes!(\"", "!(\""].iter().find_map(|start| part.strip_prefix(start))
            else {
                continue;
            };
            let target = name.parent().unwrap().join(rest.split('"').next().unwrap());
            let mut inside: Vec<Component<'_>> = Vec::new();
            for component in target.components() {
                if component == Component::ParentDir {
                    inside.pop();
                } else {
                    inside.push(component);
                }
            }
            let of = |path: &[Component<'_>]| path.iter().take(2).collect::<std::path::PathBuf>();
            let own: Vec<_> = name.components().collect();
            assert_eq!(of(&inside), of(&own), "{} includes {}", name.display(), target.display());
        }
    }
}

/// One entry of Cargo.lock.
struct Locked<'a> {
    version: &'a str,
    source: Option<&'a str>,
}

fn locked(lock: &str) -> BTreeMap<&str, Vec<Locked<'_>>> {
    let mut found: BTreeMap<&str, Vec<Locked<'_>>> = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let entry = Locked { version: value(package, "version").unwrap(), source: value(package, "source") };
        found.entry(value(package, "name").unwrap()).or_default().push(entry);
    }
    found
}

#[test]
fn everything_is_locked_once_and_comes_from_one_registry() {
    let policy = text("deny.toml");
    // `{ crate = "NAME@VERSION", reason = ... }`: what may be there beside another version of it.
    let excepted: Vec<(&str, &str)> = policy
        .lines()
        .filter_map(|line| line.trim().strip_prefix("{ crate = \"")?.split_once('"')?.0.split_once('@'))
        .chain(NEVER_BUILT)
        .collect();
    for (name, entries) in locked(&text("Cargo.lock")) {
        let excepted = |version: &str| {
            excepted
                .iter()
                .any(|(known, prefix)| *known == name && version.starts_with(&format!("{prefix}.")))
        };
        let versions: Vec<&str> =
            entries.iter().map(|entry| entry.version).filter(|version| !excepted(version)).collect();
        assert_eq!(versions.len(), 1, "{name} is there in the versions {}", versions.join(", "));
        for entry in entries {
            let known = ["registry+https://github.com/rust-lang/crates.io-index"];
            assert!(entry.source.is_none_or(|source| known.contains(&source)), "{name}: {:?}", entry.source);
            let own = ["bench", "hooksctl", "hooksd"].contains(&name) || name.starts_with("hooksd-");
            assert_eq!(entry.source.is_none(), own, "{name}");
        }
    }
    for rule in [
        "multiple-versions = \"deny\"",
        "wildcards = \"deny\"",
        "unknown-registry = \"deny\"",
        "unknown-git = \"deny\"",
    ] {
        assert!(policy.contains(rule), "{rule}");
    }
    assert!(Path::new(&top()).join("fuzz/Cargo.lock").is_file(), "what fuzzing is made of is locked, too");
}
