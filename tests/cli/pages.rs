//! What is generated from the definition: help, completions, manual pages. And how wrong command lines are told.

use std::fs;

use hooksd_tests::harness::commands::commands;
use hooksd_tests::harness::program;

use crate::transcript::transcript;

#[test]
fn help() {
    transcript("help", async |page| {
        page.run(&["--version"]).await;
        page.run(&["--help"]).await;
        for command in commands() {
            let words: Vec<&str> = command.name.split(' ').collect();
            page.run(&[&words[..], &["--help"]].concat()).await;
        }
    });
}

#[test]
fn wrong() {
    transcript("wrong", async |page| {
        page.run(&[]).await;
        page.run(&["statsu"]).await;
        page.run(&["log", "--evnt", "Stop"]).await;
        page.run(&["trust", "grant", "--yes", "--fingerprint", "00"]).await;
        page.run(&["completions", "tcsh"]).await;
    });
}

/// Colours are for terminals: neither NO_COLOR nor a pipe lets one through, and what is asked for with CLICOLOR_FORCE is
/// all that has them.
#[test]
fn colours() {
    transcript("colours", async |page| {
        page.run_with(&["status"], &[("NO_COLOR", "1")], "").await;
        page.run(&["statsu"]).await;
        page.world.write("config/hooks.json", "{");
        page.run_with(&["doctor"], &[("NO_COLOR", "1"), ("TERM", "xterm-256color")], "").await;
        let mut command = page.world.ctl(&["doctor"]);
        command.env("CLICOLOR_FORCE", "1");
        let coloured = program::run(command).await;
        assert!(coloured.stdout.contains("\u{1b}["), "{coloured:?}");
    });
}

#[test]
fn completions_and_pages() {
    transcript("completions", async |page| {
        page.run(&["completions", "fish"]).await;
        for shell in ["bash", "zsh"] {
            let done = program::run(page.world.ctl(&["completions", shell])).await;
            assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
            for command in commands() {
                let last = command.name.rsplit(' ').next().unwrap();
                assert!(done.stdout.contains(last), "{last} is not in the completions for {shell}");
            }
        }
    });
    transcript("man", async |page| {
        page.both(&["man", "pages"]).await;
        let mut names: Vec<String> = fs::read_dir(page.world.at("project/pages"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        page.say(&format!("The pages: {}", names.join(" ")));
        page.world.write("project/file", "");
        page.run(&["man", "file"]).await;
    });
}

/// What is measured is in `tests/suite`.
#[test]
fn conformance() {
    transcript("conformance", async |page| {
        page.run(&["conformance", "--area", "trust", "--only", "trust/store/valid"]).await;
        page.run(&["conformance", "--area", "trust", "--only", "trust/store/valid", "--json"]).await;
        page.run(&["conformance", "--only", "no such scenario"]).await;
        page.run(&["conformance", "--only", "trust/store/valid", "--agent-command", "cat"]).await;
    });
}
