//! No command without a transcript: of what it prints for people and, where there is that, of its `--json`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use hooksd_tests::harness::commands::commands;

use crate::transcript::folder;

/// Commands whose `--json` is no object of its own, and why.
const WITHOUT_JSON: [(&str, &str); 2] = [
    ("completions", "what it prints is a program for a shell"),
    ("hook", "what it prints is the agent's, in the agent's own form"),
];

/// The commands of all transcripts, as words, without what stands before and behind them.
fn typed() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let (_, words) = line.split_once("hooksctl").unwrap();
            found.push(words.split_whitespace().map(str::to_owned).collect());
        }
    }
    found
}

#[test]
fn every_command_has_a_transcript_for_people_and_for_programs() {
    let commands = commands();
    // The longest name that a line begins with is its command: `log show ID` is no `log`.
    let command_of = |words: &[String]| {
        let is_it = |name: &str| {
            let name: Vec<&str> = name.split(' ').collect();
            words.iter().filter(|word| *word != "--json").take(name.len()).eq(&name)
        };
        let names = commands.iter().map(|command| command.name.as_str()).filter(|name| is_it(name));
        names.max_by_key(|name| name.len())
    };
    let (mut plain, mut json) = (BTreeSet::new(), BTreeSet::new());
    for words in typed() {
        let Some(name) = command_of(&words) else { continue };
        if words.iter().any(|word| word == "--json") { &mut json } else { &mut plain }.insert(name);
    }
    for command in commands.iter().filter(|command| !command.is_group) {
        let name = command.name.as_str();
        assert!(plain.contains(name), "no transcript in tests/cli/snapshots has `hooksctl {name}`");
        let has_none = WITHOUT_JSON.iter().find(|(without, _)| *without == name);
        match has_none {
            None => assert!(
                json.contains(name),
                "no transcript in tests/cli/snapshots has `hooksctl {name} --json`"
            ),
            Some((_, reason)) => assert!(!json.contains(name), "{name} has --json, although {reason}"),
        }
    }
    for (name, _) in WITHOUT_JSON {
        assert!(commands.iter().any(|command| command.name == name), "there is no `hooksctl {name}`");
    }
}

/// What no test writes would never be compared.
#[test]
fn every_transcript_is_that_of_a_test() {
    let tests: String = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("cli"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_written = ["transcript", "transcript_with"]
            .iter()
            .any(|call| tests.contains(&format!("{call}(\"{name}\"")));
        assert!(is_written, "no test writes {}", path.display());
    }
}
