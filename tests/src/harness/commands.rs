//! The commands of `hooksctl`, as its own help describes them: what is read here is the command line's definition.

use super::program;

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// `log show`
    pub name: String,
    /// Whether it only has others below it.
    pub is_group: bool,
    /// What it does, in its sentence; without what it needs.
    pub does: String,
    /// What it does with a daemon: `needs no daemon`, `starts a daemon`, or nothing for one that needs a daemon.
    pub daemon: Option<String>,
    /// What stands behind it: `[FILE|ID]`
    pub operands: String,
    /// Its own options: `--event`
    pub options: Vec<String>,
}

/// All of them, in the order of the help.
///
/// # Panics
/// When the help is not as expected.
#[must_use]
pub fn commands() -> Vec<Command> {
    let mut found = Vec::new();
    below(&[], None, &mut found);
    assert!(found.len() > 20, "the help was not understood: {found:?}");
    found
}

fn below(path: &[&str], daemon: Option<&str>, found: &mut Vec<Command>) {
    let help = help(path);
    for row in rows(section(&help, "Commands:")) {
        let (name, about) = row.split_once(' ').expect("a command and what it does");
        if name == "help" {
            continue;
        }
        let (does, own) = match about.trim().rsplit_once("; ") {
            Some((does, needs)) if needs.ends_with("a daemon") || needs.ends_with("no daemon") => {
                (does, Some(needs))
            }
            _ => (about.trim(), None),
        };
        let daemon = own.or(daemon);
        let path = [path, &[name]].concat();
        let help = self::help(&path);
        let usage = help.lines().find_map(|line| line.strip_prefix("Usage: hooksctl ")).expect("a usage");
        let name = path.join(" ");
        let operands =
            usage.strip_prefix(&name).expect("its name").replace(" [OPTIONS]", "").replace(" [COMMAND]", "");
        let options = rows(section(&help, "Options:")).into_iter().filter(|row| !row.starts_with("-h"));
        found.push(Command {
            name,
            is_group: usage.contains("<COMMAND>"),
            does: does.to_owned(),
            daemon: daemon.map(str::to_owned),
            operands: operands.trim().to_owned(),
            options: options.map(|row| row.split(' ').next().expect("an option").to_owned()).collect(),
        });
        below(&path, daemon, found);
    }
}

fn help(path: &[&str]) -> String {
    let done = program::command("hooksctl", &[]).args(path).arg("-h").output().expect("hooksctl runs");
    String::from_utf8(done.stdout).expect("UTF-8")
}

/// The lines below a heading of a help, up to the next blank one.
fn section<'a>(help: &'a str, heading: &str) -> &'a str {
    let rest = help.split_once(&format!("\n{heading}\n")).map_or("", |(_, rest)| rest);
    rest.split("\n\n").next().unwrap_or_default()
}

/// The entries of such a section, without what goes on in further lines.
fn rows(section: &str) -> Vec<&str> {
    section
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("       "))
        .map(str::trim)
        .collect()
}
