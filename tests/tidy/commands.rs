//! What README and docs/hooksctl.md list is the command line's definition.

use std::fs;

use hooksd_tests::harness::commands::{Command, commands};

use crate::docs::UPDATE;
use crate::{text, top};

/// What stands between a page's two marks.
const BEGIN: &str = "<!-- generated from hooksctl's definition: HOOKSD_UPDATE_DOCS=1 cargo test -p hooksd-tests --test tidy -->\n";
const END: &str = "<!-- end of what is generated -->\n";

/// Compares what a page has there with what it should have, or writes that.
fn generated(page: &str, expected: &str) {
    let now = text(page);
    let (before, rest) = now.split_once(BEGIN).unwrap_or_else(|| panic!("{page} has no line {BEGIN}"));
    let (found, after) = rest.split_once(END).unwrap_or_else(|| panic!("{page} has no line {END}"));
    if std::env::var_os(UPDATE).is_some() {
        fs::write(top().join(page), format!("{before}{BEGIN}{expected}{END}{after}")).unwrap();
        return;
    }
    assert!(found == expected, "{page} is stale: run the tests once with {UPDATE}=1");
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn daemon(command: &Command) -> &'static str {
    match command.daemon.as_deref() {
        Some("needs no daemon") => "no",
        Some("starts a daemon") => "starts one",
        _ => "yes",
    }
}

#[test]
fn the_table_of_commands_is_the_definition() {
    let mut table = "| command | does | options | needs a daemon |\n| --- | --- | --- | --- |\n".to_owned();
    for command in commands().into_iter().filter(|command| !command.is_group) {
        let typed = format!("{} {}", command.name, command.operands);
        let options: Vec<String> = command.options.iter().map(|option| format!("`{option}`")).collect();
        table.push_str(&format!(
            "| `{}` | {} | {} | {} |\n",
            cell(typed.trim()),
            cell(&command.does),
            options.join(" "),
            daemon(&command)
        ));
    }
    generated("docs/hooksctl.md", &table);
}

#[test]
fn readme_lists_the_commands() {
    let mut list = "```text\n".to_owned();
    for command in commands().into_iter().filter(|command| !command.name.contains(' ')) {
        list.push_str(&format!("{:<12} {}\n", command.name, command.does));
    }
    list.push_str("```\n");
    generated("README.md", &list);
}
