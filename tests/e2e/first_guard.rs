//! docs/first-guard.md is what happens: its commands are run in order, and print what it shows.

use std::fs;
use std::path::Path;

use hooksd_tests::harness::{World, daemon, program};

use crate::ctl::ctl_command;

/// With this variable set, the test writes what is printed into the page.
const UPDATE: &str = "HOOKSD_UPDATE_DOCS";

/// What is printed, with what differs from run to run replaced.
fn settled(world: &World, printed: &str) -> String {
    let mut text = printed.to_owned();
    for folder in ["home/.deepagents", "config"] {
        text = text.replace(&world.text_at(folder), "/home/you/.deepagents");
    }
    text = text.replace(&world.text_at("project"), "/home/you/project");
    let mut lines = Vec::new();
    for line in text.lines() {
        // `exit 2, 5 ms, from`: times differ.
        let words: Vec<&str> = line.split(' ').collect();
        let word = |index: usize| match words.get(index + 1) {
            Some(&"ms," | &"ms") if words[index].parse::<u64>().is_ok() => "3",
            _ => words[index],
        };
        lines.push((0..words.len()).map(word).collect::<Vec<_>>().join(" "));
    }
    lines.join("\n")
}

#[test]
fn the_first_guard_is_what_happens() {
    daemon(async |world| {
        std::os::unix::fs::symlink(world.at("config"), world.at("home/.deepagents")).unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("docs/first-guard.md");
        let page = fs::read_to_string(&path).unwrap();
        let (mut out, mut count) = (String::new(), 0);
        for (index, part) in page.split("```console\n").enumerate() {
            if index == 0 {
                out.push_str(part);
                continue;
            }
            let (block, rest) = part.split_once("```\n").unwrap();
            out.push_str("```console\n");
            for line in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
                let words = shell_words(line);
                assert_eq!(words[0], "hooksctl");
                let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
                let done = program::run(ctl_command(world, &arguments)).await;
                count += 1;
                let printed = settled(world, &format!("{}{}", done.stdout, done.stderr));
                out.push_str(&format!("$ {line}\n{}\n", printed.trim_end()));
            }
            out.push_str(&format!("```\n{rest}"));
        }
        assert!(count >= 5, "the page shows {count} commands");
        if std::env::var_os(UPDATE).is_some() {
            fs::write(&path, &out).unwrap();
            return;
        }
        assert!(
            out == page,
            "docs/first-guard.md is stale: run this once with {UPDATE}=1; now it would be\n{out}"
        );
    });
}

/// Words apart at spaces, with single quotes around what has some.
fn shell_words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let mut words = Vec::new();
    for (index, part) in parts {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
