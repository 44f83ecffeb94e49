//! What a handler names, and how it is meant to end: scripts, interpreters, permissions, time limits, exit statuses.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hooksd_config::bridge;
use hooksd_config::places::{self, Written, WrittenGroup};
use hooksd_config::read::{Found, bounded};
use hooksd_json::{Kind, Value};

use super::{Document, Finding};

/// From here on a time limit looks like milliseconds. Seconds.
const MANY_SECONDS: f64 = 1000.0;

/// The largest script that is looked into. Bytes.
const MAX_SCRIPT: u64 = 256 * 1024;

/// Words that begin a command line and are the shell's own.
const BUILTINS: [&str; 28] = [
    "cd", "exit", "test", "[", "[[", "true", "false", "echo", "printf", "set", "if", "for", "while", "until",
    "case", "exec", "command", "export", "eval", ".", "source", ":", "read", "trap", "umask", "!", "{",
    "return",
];

/// Programs that run the script they are given.
const INTERPRETERS: [&str; 12] =
    ["sh", "bash", "dash", "zsh", "python", "python3", "node", "deno", "ruby", "perl", "bun", "uv"];

pub(super) fn findings(document: &Document<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for group in &places::groups(document.text) {
        for handler in &group.handlers {
            if bridge::of_command(&handler.command()).is_some() {
                continue;
            }
            found.extend(timeout(document, handler));
            found.extend(program(document, group, handler));
        }
    }
    found
}

fn timeout(document: &Document<'_>, handler: &Written<'_>) -> Option<Finding> {
    let value = handler.value.get("timeout")?;
    let Kind::Number(text) = value.kind() else { return None };
    let seconds: f64 = text.parse().ok().filter(|seconds| *seconds >= MANY_SECONDS)?;
    let message = format!("a timeout of {text} is in seconds, {} minutes", (seconds / 60.0).round());
    let fix = format!("if milliseconds were meant, write {}", seconds / 1000.0);
    Some(document.at(value.raw(), "timeout_in_milliseconds", message, fix))
}

/// The words of a simple command line, before anything that only a shell understands; and whether that is all of it.
fn words(document: &Document<'_>, handler: &Value<'_>) -> Vec<String> {
    if let Some(argv) = handler.get("argv").filter(|argv| argv.kind() == Kind::Array) {
        return argv.items().iter().filter_map(|word| Some(word.as_str()?.into_owned())).collect();
    }
    let Some(command) = handler.get("command").and_then(|command| Some(command.as_str()?.into_owned()))
    else {
        return Vec::new();
    };
    let end = command.find([';', '&', '|', '<', '>', '\n', '(', '`']).unwrap_or(command.len());
    let words = shlex::split(command.get(..end).unwrap_or_default()).unwrap_or_default();
    let is_setting = |word: &String| {
        word.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
    };
    let home = std::env::var("HOME").unwrap_or_default();
    let root = document.root.map(|root| root.display().to_string());
    let filled = |word: String| {
        let word = match word.strip_prefix("~/") {
            Some(rest) => format!("{home}/{rest}"),
            None => word,
        };
        let known = [("CLAUDE_PROJECT_DIR", &root), ("DEEPAGENTS_PROJECT_DIR", &root)];
        let known = known.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        known.chain([("HOME", &home)]).fold(word, |word, (name, value)| {
            word.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value)
        })
    };
    words.into_iter().skip_while(is_setting).map(filled).collect()
}

fn program(document: &Document<'_>, group: &WrittenGroup<'_>, handler: &Written<'_>) -> Vec<Finding> {
    let part = ["argv", "command"]
        .into_iter()
        .find_map(|key| handler.value.get(key).filter(|value| !value.is_null()));
    let Some(part) = part else { return Vec::new() };
    let words = words(document, &handler.value);
    let site = Site { document, part: part.raw() };
    let mut found = Vec::new();
    let mut scripts = Vec::new();
    if let Some(first) = words.first().filter(|first| !first.contains(['$', '*', '?'])) {
        let name = first.rsplit('/').next().unwrap_or(first);
        if first.contains('/') {
            found.extend(site.file(first, true));
            scripts.push(first.clone());
        } else if !BUILTINS.contains(&first.as_str()) && in_path(first).is_none() {
            let message = format!("there is no {first:?} in the PATH of this shell");
            found.push(site.finding(
                "interpreter_missing",
                message,
                "install it, or write its whole path".to_owned(),
            ));
        }
        if INTERPRETERS.contains(&name) {
            let is_path = |word: &&String| !word.starts_with('-') && word.contains(['/', '.']);
            let script = words.iter().skip(1).find(is_path);
            if let Some(script) = script.filter(|script| !is_code(&words) && !script.contains(['$', '*'])) {
                found.extend(site.file(script, false));
                scripts.push(script.clone());
            }
        }
    }
    found.extend(exit_1(&site, group, handler, &scripts));
    found
}

/// Whether an interpreter gets its program in the command line, or by a module's name.
fn is_code(words: &[String]) -> bool {
    words.iter().skip(1).any(|word| match word.strip_prefix('-') {
        Some(long) if long.starts_with('-') => matches!(long, "-eval" | "-print" | "-module"),
        Some(short) => short.contains(['c', 'e', 'm', 'p']),
        None => word == "eval",
    })
}

/// A handler in its document, where what is found is shown.
struct Site<'a> {
    document: &'a Document<'a>,
    part: &'a str,
}

impl Site<'_> {
    fn finding(&self, code: &'static str, message: String, fix: String) -> Finding {
        self.document.at(self.part, code, message, fix)
    }

    fn file(&self, path: &str, is_run: bool) -> Vec<Finding> {
        if !path.starts_with('/') {
            let message = format!("{path:?} is looked for in the folder of each event, which may be any");
            let fix = "write its whole path, or begin it with \"$CLAUDE_PROJECT_DIR\"/";
            return vec![self.finding("relative_path", message, fix.to_owned())];
        }
        let Ok(metadata) = Path::new(path).metadata() else {
            let message = format!("{path} is not there");
            return vec![self.finding(
                "script_missing",
                message,
                "correct the path, or make the file".to_owned(),
            )];
        };
        if !metadata.is_file() {
            let message = format!("{path} is no file");
            return vec![self.finding("script_missing", message, "name the file to run".to_owned())];
        }
        let mut found = Vec::new();
        let mode = metadata.permissions().mode();
        if is_run && mode & 0o111 == 0 {
            let message = format!("{path} is not executable");
            found.push(self.finding("script_not_executable", message, format!("chmod +x {path}")));
        }
        if mode & 0o002 != 0 {
            let message = format!("everybody on this machine may change {path}, and it runs as you");
            found.push(self.finding("world_writable", message, format!("chmod o-w {path}")));
        }
        if is_run {
            found.extend(self.interpreter(path));
        }
        found
    }

    /// Whether the interpreter that a script names is there.
    fn interpreter(&self, path: &str) -> Option<Finding> {
        let first = script(path)?.lines().next()?.strip_prefix("#!")?.trim().to_owned();
        let mut words = first.split_whitespace();
        let program = words.next()?;
        let missing = if program.ends_with("/env") {
            let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
            in_path(name).is_none().then(|| format!("there is no {name:?} in the PATH of this shell"))
        } else {
            (!Path::new(program).exists()).then(|| format!("{program} is not there"))
        }?;
        let message = format!("{path} begins with \"#!{first}\", and {missing}");
        Some(self.finding("interpreter_missing", message, "install it, or correct the first line".to_owned()))
    }
}

fn script(path: &str) -> Option<String> {
    match bounded(Path::new(path), MAX_SCRIPT) {
        Found::File(contents) => String::from_utf8(contents.bytes.to_vec()).ok(),
        Found::Absent | Found::Unreadable { .. } => None,
    }
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let is_program = |path: &PathBuf| {
        path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(is_program)
}

/// A guard that ends with 1 where it means to block: 1 is a failure, and failures do not block.
fn exit_1(
    site: &Site<'_>,
    group: &WrittenGroup<'_>,
    handler: &Written<'_>,
    scripts: &[String],
) -> Option<Finding> {
    use hooksd_protocol::event::EventName as E;
    let blocks = matches!(
        group.event?,
        E::PreToolUse | E::PermissionRequest | E::UserPromptSubmit | E::Stop | E::SubagentStop
    );
    let fails_closed =
        handler.value.get("onFailure").is_some_and(|value| value.as_str().as_deref() != Some("ignore"));
    if !blocks || fails_closed {
        return None;
    }
    let texts = std::iter::once(handler.command()).chain(scripts.iter().filter_map(|path| script(path)));
    let text: String = texts.collect::<Vec<_>>().join("\n");
    let plain: String = text.chars().filter(|c| !matches!(c, '(' | ')')).collect();
    let says = |status: char| {
        ["exit ", "exit", "exit_code=", "exitCode = "].iter().any(|word| {
            plain.match_indices(&format!("{word}{status}")).any(|(at, found)| {
                let next = plain.get(at + found.len()..).and_then(|rest| rest.chars().next());
                !next.is_some_and(|next| next.is_ascii_alphanumeric())
            })
        })
    };
    let answers = ["permissionDecision", "\"decision\"", "'decision'", "decision:"];
    if !says('1') || says('2') || answers.iter().any(|answer| text.contains(answer)) {
        return None;
    }
    let message = "it exits 1, which is a failure and blocks nothing; exit 2 blocks".to_owned();
    let fix = "exit 2 to block, with the reason on stderr; or write \"onFailure\": \"block\"".to_owned();
    Some(site.finding("exit_1_does_not_block", message, fix))
}
