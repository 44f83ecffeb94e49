//! `hooksctl conformance`: the program `hooks-conformance` in this one's place, with the same arguments.
//!
//! The scenarios are of use to authors of engines, and would double the program that agents start for every event.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use hooksd_client::program;

use crate::failure::Failure;

/// The program that measures.
const PROGRAM: &str = "hooks-conformance";

/// Puts the program in this one's place. It returns only to say why there is none.
pub(crate) fn run(words: &[OsString]) -> Result<ExitCode, Failure> {
    let program = program::find_named(PROGRAM).ok_or_else(|| {
        Failure::Input(format!(
            "the program {PROGRAM} is neither beside this one nor on PATH; \
             `cargo install hooksd-conformance` installs it"
        ))
    })?;
    let mut command = program::command(&program);
    command.args(arguments(words));
    // It looks for a daemon to measure beside itself, which may be elsewhere than beside this program.
    if let Ok(daemon) = program::find() {
        command.env(program::PROGRAM_VARIABLE, daemon);
    }
    let error = command.exec();
    Err(Failure::Input(format!("{} cannot be started: {error}", program.display())))
}

/// Everything that was typed but the program's name and the command's, which is the first word that belongs to no option.
fn arguments(words: &[OsString]) -> impl Iterator<Item = &OsString> {
    let mut is_value = false;
    let command = words.iter().skip(1).position(|word| {
        let is_command = word == "conformance" && !is_value;
        is_value = word == "--socket" && !is_value;
        is_command
    });
    let typed = words.iter().skip(1).enumerate();
    typed.filter(move |(place, _)| Some(*place) != command).map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_of_the_command_is_left_out() {
        let passed = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let passed: Vec<_> = arguments(&words).map(|word| word.to_str().unwrap().to_owned()).collect();
            passed.join(" ")
        };
        assert_eq!(passed("hooksctl conformance --area trust --json"), "--area trust --json");
        assert_eq!(
            passed("hooksctl --json --socket conformance conformance --only conformance"),
            "--json --socket conformance --only conformance"
        );
        assert_eq!(passed("hooksctl --socket=/s conformance"), "--socket=/s");
    }
}
