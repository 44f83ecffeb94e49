//! Commands that are this product's own bridge (`hooksctl hook`): the daemon drops them at load (D15), `hooksctl install`
//! finds, updates and removes them. One reading of a command for both, so that what is installed is never run.

/// What a command that calls the bridge says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bridge {
    /// The program as it is spelled, quotes resolved: usually an absolute path.
    pub program: String,
    /// The value of `--agent`.
    pub agent: Option<String>,
    /// The options that a person may have given it, each with its value: `--deadline`, `--fail`, `--mode`.
    pub options: Vec<(String, String)>,
}

/// The options of a person's choice.
const OPTIONS: [&str; 3] = ["--deadline", "--fail", "--mode"];

/// Reads a command line for `/bin/sh`; `None` when it calls something else, or is no words a shell would read.
#[must_use]
pub fn of_command(command: &str) -> Option<Bridge> {
    of_words(&shlex::split(command)?)
}

/// The same for words that are already apart.
#[must_use]
pub fn of_words(words: &[String]) -> Option<Bridge> {
    let mut words = words.iter().map(String::as_str).skip_while(|word| is_prefix(word));
    let program = words.next()?;
    let is_ctl = program.rsplit('/').next() == Some("hooksctl");
    let mut word = words.next();
    // Options of hooksctl itself may come first.
    while let Some(option) = word.filter(|word| is_ctl && word.starts_with("--")) {
        if option == "--socket" {
            words.next();
        }
        word = words.next();
    }
    if !is_ctl || word != Some("hook") {
        return None;
    }
    let mut agent = None;
    let mut options = Vec::new();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let mut value = || value.or_else(|| words.next()).map(str::to_owned);
        if name == "--agent" {
            agent = value();
        } else if OPTIONS.contains(&name) {
            options.extend(value().map(|value| (name.to_owned(), value)));
        }
    }
    Some(Bridge { program: program.to_owned(), agent, options })
}

/// What may stand before the program: assignments, and words that run another.
fn is_prefix(word: &str) -> bool {
    let assignment = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
    });
    assignment || matches!(word, "exec" | "env" | "command")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bridge(program: &str, agent: Option<&str>) -> Option<Bridge> {
        Some(Bridge { program: program.to_owned(), agent: agent.map(str::to_owned), options: Vec::new() })
    }

    #[test]
    fn d15_the_bridge_is_recognised_however_it_is_called() {
        for (command, expected) in [
            ("hooksctl hook --agent claude-code", bridge("hooksctl", Some("claude-code"))),
            ("/usr/local/bin/hooksctl hook", bridge("/usr/local/bin/hooksctl", None)),
            ("hooksctl --socket /s hook --agent x", bridge("hooksctl", Some("x"))),
            ("hooksctl --socket=/s --json hook --agent x", bridge("hooksctl", Some("x"))),
            (
                "HOOKSD_SOCKET=/s exec \"/opt/hooksctl\" hook --agent=x --event Y",
                bridge("/opt/hooksctl", Some("x")),
            ),
            ("'/opt/my tools/hooksctl' hook --agent x", bridge("/opt/my tools/hooksctl", Some("x"))),
            (r#""/a 'b' \"c\"/hooksctl" hook"#, bridge(r#"/a 'b' "c"/hooksctl"#, None)),
            ("exec '/opt/my hooks'; hooksctl", None),
            ("hooksctl status", None),
            ("echo hooksctl hook", None),
            ("my-hooksctl hook", None),
            ("'hooksctl hook", None),
            ("", None),
        ] {
            assert_eq!(of_command(command), expected, "{command}");
        }
        let words = ["/opt/my tools/hooksctl", "hook"].map(str::to_owned);
        assert_eq!(of_words(&words), bridge("/opt/my tools/hooksctl", None));
        let options =
            of_command("hooksctl hook --fail closed --event x --agent a --mode=headless").unwrap().options;
        assert_eq!(
            options,
            [("--fail", "closed"), ("--mode", "headless")].map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
    }
}
