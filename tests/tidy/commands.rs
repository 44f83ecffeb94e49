//! The table of commands agrees with the command line's definition, as the program itself prints it.

use std::collections::BTreeSet;

use hooksd_tests::harness::program;

use crate::text;

/// The commands that `--help` lists.
fn defined() -> BTreeSet<String> {
    let help = program::command("hooksctl", &[]).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let names = commands.lines().filter(is_name).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn the_table_of_commands_has_every_command_and_no_other() {
    let page = text("docs/hooksctl.md");
    let table = page.split("| command | does |").nth(1).unwrap().split("\n\n").next().unwrap();
    let rows = table.lines().filter_map(|row| row.strip_prefix("| `"));
    let described: BTreeSet<String> =
        rows.filter_map(|row| row.split(['`', ' ']).next()).map(str::to_owned).collect();
    // `uninstall` has a row of its own, `service` one for its three.
    assert_eq!(described, defined());
}
