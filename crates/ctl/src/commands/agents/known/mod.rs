//! What has to be known of an agent to be installed into it: one table each, and nothing else in the code knows an agent
//! by name. The facts are those of docs/agents.md and of runs of the real programs; where an agent changes, its table does.

mod tables;

pub(crate) use tables::project_note;

use std::path::{Path, PathBuf};

use super::json::Dialect;
use super::json::render::Value;

/// Every agent, in the order in which they are listed.
pub(crate) const ALL: [&Agent; 13] = [
    &tables::CLAUDE_CODE,
    &tables::CODEX,
    &tables::GEMINI_CLI,
    &tables::DEEPAGENTS,
    &tables::CURSOR,
    &tables::COPILOT_CLI,
    &tables::VSCODE,
    &tables::QWEN_CODE,
    &tables::DROID,
    &tables::KIRO_CLI,
    &tables::KIRO_IDE,
    &tables::GOOSE,
    &tables::KIMI,
];

/// How long an agent waits for an event unless its table says otherwise. Seconds. As long as a handler may take when its
/// own configuration says nothing: the daemon bounds handlers, the agent must not give up before.
pub(crate) const EVENT_SECONDS: u64 = 600;

/// The same while a person waits for a prompt to be taken, or a session to end. Seconds.
pub(crate) const SHORT_SECONDS: u64 = 60;

/// Whose configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    User,
    Project,
}

impl Scope {
    pub(crate) const BOTH: [Scope; 2] = [Scope::User, Scope::Project];

    /// As people say it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Project => "project",
        }
    }
}

/// In what an agent counts timeouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Seconds,
    Milliseconds,
}

/// How entries are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `{"hooks": {EVENT: [{"hooks": [ENTRY]}]}}`
    Grouped,
    /// `{"hooks": {EVENT: [ENTRY]}}`
    Flat,
    /// `{"hooks": [{"name", "trigger": EVENT, "action": {"type", "command"}, "timeout"}]}`
    Listed,
    /// TOML, `[[hooks]]` with `event` and `command`.
    Toml,
}

/// Where an agent looks, below its base folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigPlace {
    /// The first of these that exists, else the last: some agents read one file only while another is absent.
    File(&'static [&'static str]),
    /// Every `.json` file of a folder: each is an agent of its own there.
    Each(&'static str),
    /// Nothing is installed there; why, and what to do instead.
    Nowhere(&'static str),
}

/// An event of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    /// The agent's own name of it.
    pub(crate) name: &'static str,
    /// How long the agent waits. Seconds, whatever the agent counts in.
    pub(crate) seconds: u64,
}

/// An event with the usual time.
const fn event(name: &'static str) -> Event {
    Event { name, seconds: EVENT_SECONDS }
}

/// An event with a time of its own.
const fn within(name: &'static str, seconds: u64) -> Event {
    Event { name, seconds }
}

/// An agent.
#[derive(Debug)]
pub(crate) struct Agent {
    /// Its name on our command lines, and what `--agent` of the bridge says.
    pub(crate) name: &'static str,
    /// Its other names there.
    pub(crate) aliases: &'static [&'static str],
    /// Its events that hooksd knows. Others are not installed: nothing could run on them, and each would cost a process.
    pub(crate) events: &'static [Event],
    pub(crate) shape: Shape,
    pub(crate) dialect: Dialect,
    /// The key of an entry's timeout, and its unit.
    pub(crate) timeout: (&'static str, Unit),
    /// What else an entry has.
    pub(crate) entry: &'static [(&'static str, &'static str)],
    /// What a new document has besides `hooks`.
    pub(crate) document: &'static [(&'static str, Constant)],
    pub(crate) user: ConfigPlace,
    pub(crate) project: ConfigPlace,
    /// Files beside these in which entries of ours are looked for as well, per scope: user, project.
    pub(crate) also: [&'static [&'static str]; 2],
    /// A variable that names the folder that is otherwise this one below home.
    pub(crate) home: Option<(&'static str, &'static str)>,
    /// What `--agent` says instead of the name, in files that several agents read.
    pub(crate) argument: Option<&'static str>,
    /// Whether the event has to be on the command line, because payloads do not always say it.
    pub(crate) names_event: bool,
    /// Whether events may stand at the top of the document, without `hooks` around them.
    pub(crate) bare_events: bool,
    /// Whether the daemon reads the same documents: then entries of ours have no place there (D15).
    pub(crate) reads_with_us: bool,
    /// A file that must stand beside the document: path from the base folder, and content.
    pub(crate) beside: Option<(&'static str, &'static str)>,
    /// Where the agent records which hooks it may run: a TOML file below the base folder, and the path of its tables.
    pub(crate) approvals: Option<(&'static str, &'static [&'static str])>,
    /// A folder that is ours alone, removed with the last file in it.
    pub(crate) own_folder: Option<&'static str>,
    /// What the person has to know or do after an installation.
    pub(crate) notes: &'static [&'static str],
    /// The program's names, and the Python distribution or nothing, to see which version is there.
    pub(crate) programs: &'static [&'static str],
    pub(crate) distribution: Option<&'static str>,
}

/// A constant of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Constant {
    Number(u64),
    Word(&'static str),
}

impl Constant {
    pub(crate) fn value(self) -> Value {
        match self {
            Constant::Number(number) => Value::Number(number),
            Constant::Word(word) => Value::String(word.to_owned()),
        }
    }
}

/// What most agents have in common; a table says what differs.
const COMMON: Agent = Agent {
    name: "",
    aliases: &[],
    events: &[],
    shape: Shape::Grouped,
    dialect: Dialect::Strict,
    timeout: ("timeout", Unit::Seconds),
    entry: &[("type", "command")],
    document: &[],
    user: ConfigPlace::Nowhere(""),
    project: ConfigPlace::Nowhere(""),
    also: [&[], &[]],
    home: None,
    argument: None,
    names_event: false,
    bare_events: false,
    reads_with_us: false,
    beside: None,
    approvals: None,
    own_folder: None,
    notes: &[],
    programs: &[],
    distribution: None,
};

/// The agents of a name; two for one that stands for both of a maker's.
pub(crate) fn named(name: &str) -> Vec<&'static Agent> {
    ALL.into_iter().filter(|agent| agent.name == name || agent.aliases.contains(&name)).collect()
}

impl Agent {
    /// Whether an entry with this `--agent` is this agent's; one without is whoever's file it stands in.
    pub(crate) fn owns(&self, argument: Option<&str>) -> bool {
        argument.is_none_or(|name| name == self.name || name == "auto" || self.aliases.contains(&name))
    }

    pub(crate) fn place(&self, scope: Scope) -> ConfigPlace {
        match scope {
            Scope::User => self.user,
            Scope::Project => self.project,
        }
    }

    pub(crate) fn also(&self, scope: Scope) -> &'static [&'static str] {
        let [user, project] = self.also;
        match scope {
            Scope::User => user,
            Scope::Project => project,
        }
    }

    /// A path of a table as a path: below the project's root, or below home, or the folder a variable names.
    pub(crate) fn resolve(&self, scope: Scope, path: &str, bases: &BaseFolders<'_>) -> PathBuf {
        if scope == Scope::Project {
            return bases.project.join(path);
        }
        if let Some((variable, folder)) = self.home
            && let Some(rest) = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'))
            && let Some(moved) =
                (bases.variable)(variable).map(PathBuf::from).filter(|path| path.is_absolute())
        {
            return moved.join(rest);
        }
        bases.home.join(path)
    }
}

/// What paths of tables are below.
pub(crate) struct BaseFolders<'a> {
    pub(crate) home: &'a Path,
    pub(crate) project: &'a Path,
    pub(crate) variable: &'a dyn Fn(&str) -> Option<std::ffi::OsString>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_complete_and_names_are_nobody_elses() {
        let mut names: Vec<&str> = ALL.iter().map(|agent| agent.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        for agent in ALL {
            assert!(!agent.name.is_empty() && !agent.programs.is_empty(), "{}", agent.name);
            assert!(agent.events.is_empty() == agent.reads_with_us, "{}", agent.name);
            assert!(agent.events.iter().all(|event| event.seconds > 0), "{}", agent.name);
            for scope in [Scope::User, Scope::Project] {
                assert_ne!(agent.place(scope), ConfigPlace::Nowhere(""), "{}", agent.name);
            }
        }
        let called = |name| named(name).iter().map(|agent| agent.name).collect::<Vec<_>>();
        assert_eq!(called("claude"), ["claude-code"]);
        assert_eq!(called("kiro"), ["kiro-cli", "kiro-ide"]);
        assert_eq!(called("zzz"), [""; 0]);
    }

    #[test]
    fn a_variable_moves_the_agents_folder() {
        let variable = |name: &str| (name == "CODEX_HOME").then(|| "/elsewhere".into());
        let bases = BaseFolders { home: Path::new("/h"), project: Path::new("/p"), variable: &variable };
        let codex = &tables::CODEX;
        assert_eq!(
            codex.resolve(Scope::User, ".codex/hooks.json", &bases),
            Path::new("/elsewhere/hooks.json")
        );
        assert_eq!(
            codex.resolve(Scope::Project, ".codex/hooks.json", &bases),
            Path::new("/p/.codex/hooks.json")
        );
        let claude = &tables::CLAUDE_CODE;
        assert_eq!(claude.resolve(Scope::User, ".claude/x", &bases), Path::new("/h/.claude/x"));
    }
}
