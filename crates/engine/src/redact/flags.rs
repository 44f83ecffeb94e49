//! Passwords among the arguments of programs that take them by a letter: `curl -u user:password`, `mysql -pSECRET`.
//! The same letter means other things elsewhere, so that only the arguments of programs in the table count.

use std::borrow::Cow;

use super::names::{self, Grade};
use super::prose::{is_placeholder, looks_secret};
use super::text::{Ends, Found, Given, Passed, REDACTED, run};

/// What comes with a flag.
#[derive(Debug, Clone, Copy)]
enum Argument {
    /// A secret.
    Secret,
    /// A user and a secret with this character between them; without it there is none.
    Pair(char),
    /// A secret if it is written without a space; after one, only what looks like it.
    Attached,
}

use Argument::{Attached, Pair, Secret};

/// A program, under all of its names, and the flags by which it takes secrets.
#[derive(Debug)]
pub(super) struct Tool {
    names: &'static [&'static str],
    flags: &'static [(&'static str, Argument)],
}

/// Programs that take secrets as arguments. Those without flags are there because they run behind another one and use
/// the same letters for something else.
const TOOLS: &[Tool] = &[
    Tool {
        names: &["curl"],
        flags: &[
            ("-u", Pair(':')),
            ("-U", Pair(':')),
            ("--user", Pair(':')),
            ("--proxy-user", Pair(':')),
            ("-b", Pair('=')),
        ],
    },
    Tool { names: &["http", "https", "xh", "xhs"], flags: &[("-a", Pair(':')), ("--auth", Pair(':'))] },
    Tool {
        names: &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mysqlcheck",
            "mysqlslap",
            "mycli",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
        ],
        flags: &[("-p", Attached)],
    },
    Tool {
        names: &[
            "mongosh",
            "mongo",
            "mongodump",
            "mongorestore",
            "mongoexport",
            "mongoimport",
            "cqlsh",
            "sshpass",
        ],
        flags: &[("-p", Secret)],
    },
    Tool {
        names: &[
            "docker login",
            "podman login",
            "nerdctl login",
            "helm registry login",
            "skopeo login",
            "oc login",
        ],
        flags: &[("-p", Secret)],
    },
    Tool { names: &["redis-cli", "valkey-cli", "keydb-cli"], flags: &[("-a", Secret)] },
    Tool {
        names: &["sqlcmd", "bcp", "isql", "mosquitto_pub", "mosquitto_sub", "zip", "unzip"],
        flags: &[("-P", Secret)],
    },
    Tool { names: &["ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami"], flags: &[("-w", Secret)] },
    Tool { names: &["7z", "7za", "7zz"], flags: &[("-p", Attached)] },
    Tool { names: &["smbclient", "rpcclient"], flags: &[("-U", Pair('%'))] },
    Tool { names: &["lftp"], flags: &[("-u", Pair(','))] },
    Tool { names: &["machine"], flags: &[("password", Secret)] },
    Tool { names: &["psql", "pg_dump", "ssh", "scp", "rsync"], flags: &[] },
];

/// The program that is called here, if it is one of the table. `name` is what `rest` begins with.
pub(super) fn tool(rest: &str, name: &str) -> Option<&'static Tool> {
    let is_called = |tool: &str| {
        let named = if tool.contains(' ') { rest.starts_with(tool) } else { name == tool };
        let ends =
            |rest: &str| rest.starts_with(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\'));
        named && rest.get(tool.len()..).is_some_and(ends)
    };
    TOOLS.iter().find(|tool| tool.names.iter().any(|name| is_called(name)))
}

/// Finds the secret that comes with this flag of a program. `name` is what `rest` begins with.
pub(super) fn argument(
    tool: &Tool,
    (rest, at): (&str, usize),
    name: &str,
    passed: &mut Passed,
) -> Option<Found> {
    tool.flags.iter().find_map(|(flag, argument)| {
        let (end, apart) = flag_end(name, flag)?;
        let after = rest.get(end..)?;
        let closing = run(after, |c| matches!(c, '"' | '\'' | '\\'));
        let gap = run(after.get(closing..)?, |c| matches!(c, ' ' | '\t' | ',' | '='));
        let is_apart = gap > 0 && apart;
        let start = if is_apart { closing + gap } else { 0 };
        let given = Given::read(after.get(start..)?, at + end + start, Ends::Word, passed)?;
        let is_attached = !is_apart && (flag.len() == 2 || apart);
        is_secret(*argument, given.text, is_attached).then_some((end + start + given.skip, given.text.len()))
    })
}

/// Where the flag ends in this word, if it is one, and whether the word ends there. Letters may stand together: `-sSu`.
fn flag_end(word: &str, flag: &str) -> Option<(usize, bool)> {
    /// How many flags stand together at most. Letters.
    const MAX_TOGETHER: usize = 6;
    if word == flag {
        return Some((word.len(), true));
    }
    let letter = flag.strip_prefix('-').filter(|letter| letter.len() == 1)?;
    if word.starts_with(flag) {
        return Some((flag.len(), false));
    }
    let letters = word.strip_prefix('-').filter(|letters| letters.len() <= MAX_TOGETHER)?;
    let together = letters.ends_with(letter) && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
    together.then_some((word.len(), true))
}

fn is_secret(argument: Argument, text: &str, attached: bool) -> bool {
    match argument {
        Secret => !is_placeholder(text),
        Attached => !is_placeholder(text) && (attached || looks_secret(text)),
        Pair(mark) => text
            .split_once(mark)
            .is_some_and(|(user, secret)| !user.is_empty() && !secret.is_empty() && !is_placeholder(secret)),
    }
}

/// The arguments of a program as a list of texts, one after the other.
#[derive(Default)]
pub(super) struct Arguments {
    tool: Option<&'static Tool>,
    /// What the flag before says of the next argument.
    next: Option<Argument>,
}

impl Arguments {
    /// How many bytes of the next argument stay, when the rest of it is a secret that can be told only by the
    /// arguments before it.
    pub(super) fn next(&mut self, text: &str) -> Option<usize> {
        if let Some(argument) = self.next.take()
            && is_secret(argument, text, false)
        {
            return Some(0);
        }
        let last = text.rsplit('/').next().unwrap_or_default();
        if let Some(tool) = TOOLS.iter().find(|tool| tool.names.contains(&last)) {
            self.tool = Some(tool);
            return None;
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if text.starts_with("--") && text.chars().all(is_name) && names::grade(text) == Grade::Strong {
            self.next = Some(Secret).filter(|_| !names::is_about(text, ""));
            return None;
        }
        self.tool?.flags.iter().find_map(|(flag, argument)| {
            let (end, apart) = flag_end(text, flag)?;
            let attached = text.get(end..)?;
            if apart {
                self.next = Some(*argument);
            }
            (!attached.is_empty() && is_secret(*argument, attached, true)).then_some(end)
        })
    }

    /// Whether this value of a JSON list is an argument that has a secret, and what is written instead.
    pub(super) fn clean(&mut self, text: Cow<'_, str>) -> Option<String> {
        let kept = self.next(&text)?;
        Some(format!("{}{}", text.get(..kept).unwrap_or_default(), REDACTED))
    }
}
