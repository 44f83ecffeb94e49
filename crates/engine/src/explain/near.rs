//! Guesses what people meant who have written something else in a matcher or as a name.

use hooksd_config::matcher::{Matched, Matcher};
use hooksd_protocol::event::EventName;

use crate::tools;

/// By how many edits a misspelled name may differ at most. Edits (Damerau-Levenshtein).
const MAX_EDITS: usize = 3;

/// The shortest beginning of a name that is taken for the name. Bytes.
const MIN_BEGINNING: usize = 6;

/// The names of tools that agents have beside those that are renamed for handlers.
const OTHER_TOOLS: [&str; 12] = [
    "Agent",
    "AskUserQuestion",
    "ExitPlanMode",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "Skill",
    "Task",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "BashOutput",
];

/// What the matchers of an event are known to be compared with. Empty where that can be anything, or where there is
/// nothing to compare.
#[must_use]
pub fn subjects(event: EventName) -> Vec<&'static str> {
    match event {
        EventName::SessionStart => vec!["startup", "resume", "clear", "compact"],
        EventName::SessionEnd => vec!["clear", "resume", "logout", "prompt_input_exit", "other"],
        EventName::PreCompact => vec!["manual", "auto"],
        EventName::Notification => {
            vec![
                "permission_prompt",
                "agent_needs_input",
                "agent_completed",
                "cache_expiring",
                "cold_cache_warning",
            ]
        }
        event if event.is_tool_event() => tools::names().map(|(_, known)| known).chain(OTHER_TOOLS).collect(),
        _ => Vec::new(),
    }
}

/// Why a matcher missed, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// Why the matcher missed.
    pub why: String,
    /// What to do about it.
    pub fix: String,
}

/// The name that was probably meant: the nearest of those that are known, if it is near at all.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-', '.', ' '], "");
    let wanted = plain(name);
    // A short name is near to every other short name, so that fewer edits are allowed.
    let most = MAX_EDITS.min(wanted.chars().count() / 3);
    known
        .into_iter()
        .map(|known| {
            let begins = wanted.len() >= MIN_BEGINNING && plain(known).starts_with(&wanted);
            (if begins { 1.min(most) } else { strsim::osa_distance(&wanted, &plain(known)) }, known)
        })
        .filter(|(edits, _)| *edits <= most)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, known)| known)
}

/// The event that was probably meant.
#[must_use]
pub fn event(name: &str) -> Option<EventName> {
    nearest(name, EventName::ALL.iter().map(|event| event.as_str()))?.parse().ok()
}

/// The name of the tool in permission syntax: in `Bash(git:*)` it is `Bash`.
#[must_use]
pub fn permission_syntax(text: &str) -> Option<&str> {
    let (name, rest) = text.split_once('(')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    (is_name && rest.ends_with(')')).then_some(name)
}

/// What to write instead of a matcher that is no expression.
#[must_use]
pub fn invalid(text: &str) -> Option<String> {
    if let Some(name) = permission_syntax(text) {
        return Some(of_permission_syntax(name).fix);
    }
    if text.starts_with('*') || text.starts_with('?') {
        let meant = text.replace('*', ".*").replace('?', ".");
        return Some(format!("a matcher is an expression, not a file pattern: write {meant:?}"));
    }
    Some("see docs/matchers.md for what is supported; names alone need no special characters".to_owned())
}

fn of_permission_syntax(name: &str) -> Miss {
    Miss {
        why: "this is permission syntax, and matchers see the tool's name alone".to_owned(),
        fix: format!("write {name:?} and let the handler look at tool_input"),
    }
}

/// Why a matcher did not match a name; `None` when that is not plain to see.
#[must_use]
pub fn miss(compiled: &Matcher, text: &str, subject: &str, native: Option<&str>) -> Option<Miss> {
    if let Some(name) = permission_syntax(text) {
        return Some(of_permission_syntax(name));
    }
    let names: Vec<&str> = match compiled {
        Matcher::Exact(names) => names.iter().map(String::as_str).collect(),
        Matcher::Expression(_) | Matcher::All => Vec::new(),
    };
    if names.is_empty() && matches!(compiled, Matcher::Exact(_)) {
        let fix = "remove the matcher, or write \"*\"".to_owned();
        return Some(Miss { why: "it names nothing".to_owned(), fix });
    }
    let is_own =
        |name: &&&str| native.is_some_and(|native| native == **name) || known_as(name) == Some(subject);
    if let Some(own) = names.iter().find(is_own) {
        let why = format!("{own:?} is the agent's own name of the tool; handlers know it as {subject:?}");
        return Some(Miss { why, fix: format!("write {subject:?}") });
    }
    if names.iter().any(|name| name.to_lowercase() == subject.to_lowercase())
        || matches_in_any_case(compiled, text, subject)
    {
        let why = "upper and lower case differ".to_owned();
        let fix = match spelled_otherwise(subject) {
            Some(known) => {
                format!("nothing: agents say {known:?}; only one that says {subject:?} needs that name too")
            }
            None => format!("write {subject:?}"),
        };
        return Some(Miss { why, fix });
    }
    let is_server = |name: &&&str| {
        let server = name.trim_end_matches('_');
        server.starts_with("mcp__") && subject.strip_prefix(server).is_some_and(|rest| rest.starts_with("__"))
    };
    if let Some(name) = names.iter().find(is_server) {
        let why = "a name is compared as a whole, and this is only its beginning".to_owned();
        return Some(Miss { why, fix: format!("write {:?}", format!("{}__.*", name.trim_end_matches('_'))) });
    }
    if let Some(bare) = names.iter().find(|name| subject.rsplit("__").next() == Some(name)) {
        let why = format!("{bare:?} is only the end of the name of a tool that an MCP server offers");
        return Some(Miss { why, fix: format!("write {subject:?}") });
    }
    let near = names.iter().find(|name| nearest(name, [subject]).is_some())?;
    Some(Miss { why: format!("{near:?} is nearly that name"), fix: format!("write {subject:?}") })
}

/// The name by which handlers know an agent's own tool.
fn known_as(native: &str) -> Option<&'static str> {
    tools::names().find(|(own, _)| *own == native).map(|(_, known)| known)
}

/// The tool whose name differs from this one only in its upper and lower case.
fn spelled_otherwise(name: &str) -> Option<&'static str> {
    let mut known =
        subjects(EventName::PreToolUse).into_iter().filter(|known| known.eq_ignore_ascii_case(name));
    known.next().filter(|known| *known != name)
}

fn matches_in_any_case(compiled: &Matcher, text: &str, subject: &str) -> bool {
    let Matcher::Expression(_) = compiled else { return false };
    let any_case = Matcher::compile(EventName::PreToolUse, Some(&format!("(?i:{text})")));
    any_case.is_ok_and(|matcher| matcher.matches(Some(subject)) == Matched::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(matcher: &str, subject: &str, native: Option<&str>) -> String {
        let compiled = Matcher::compile(EventName::PreToolUse, Some(matcher)).unwrap();
        assert_eq!(compiled.matches(Some(subject)), Matched::No, "{matcher} {subject}");
        miss(&compiled, matcher, subject, native)
            .map_or(String::new(), |miss| format!("{}; {}", miss.why, miss.fix))
    }

    #[test]
    fn a_near_miss_is_told() {
        for (matcher, subject, native, sentence) in [
            ("bash", "Bash", None, "upper and lower case differ; write \"Bash\""),
            ("^bash$", "Bash", None, "upper and lower case differ; write \"Bash\""),
            (
                "Bash",
                "bash",
                None,
                "upper and lower case differ; nothing: agents say \"Bash\"; only one that says \"bash\" needs that name too",
            ),
            ("MyTool", "mytool", None, "upper and lower case differ; write \"mytool\""),
            (
                "Bash(git:*)",
                "Bash",
                None,
                "this is permission syntax, and matchers see the tool's name alone; write \"Bash\" and let the handler look at tool_input",
            ),
            (
                "execute",
                "Bash",
                Some("execute"),
                "\"execute\" is the agent's own name of the tool; handlers know it as \"Bash\"; write \"Bash\"",
            ),
            (
                "write_file",
                "Write",
                None,
                "\"write_file\" is the agent's own name of the tool; handlers know it as \"Write\"; write \"Write\"",
            ),
            (
                "mcp__memory",
                "mcp__memory__store",
                None,
                "a name is compared as a whole, and this is only its beginning; write \"mcp__memory__.*\"",
            ),
            (
                "mcp__memory__",
                "mcp__memory__store",
                None,
                "a name is compared as a whole, and this is only its beginning; write \"mcp__memory__.*\"",
            ),
            (
                "store",
                "mcp__memory__store",
                None,
                "\"store\" is only the end of the name of a tool that an MCP server offers; write \"mcp__memory__store\"",
            ),
            ("WebFecth", "WebFetch", None, "\"WebFecth\" is nearly that name; write \"WebFetch\""),
            (" , ", "Bash", None, "it names nothing; remove the matcher, or write \"*\""),
            ("Write", "Bash", None, ""),
            ("Edit|Write", "Read", None, ""),
        ] {
            assert_eq!(told(matcher, subject, native), sentence, "{matcher} {subject}");
        }
    }

    #[test]
    fn a_near_name_is_found_and_a_far_one_is_not() {
        assert_eq!(event("preTooluse"), Some(EventName::PreToolUse));
        assert_eq!(event("PreTool"), Some(EventName::PreToolUse));
        assert_eq!(event("Stopp"), Some(EventName::Stop));
        assert_eq!(event("BeforeTool"), None);
        assert_eq!(nearest("comand", ["command", "argv"]), Some("command"));
        assert_eq!(nearest("x", ["argv"]), None);
    }
}
