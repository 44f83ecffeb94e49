//! A transcript: commands as they were typed, and all that came of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hooksd_tests::harness::program::{self, Done};
use hooksd_tests::harness::{Agent, Setup, World, events, world_with};
use serde_json::{Value, json};

use crate::settle;

/// With this variable set, the transcripts are written instead of compared.
const UPDATE: &str = "HOOKSD_UPDATE_SNAPSHOTS";

/// Where the transcripts are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cli/snapshots")
}

/// One page of commands.
pub(crate) struct Transcript<'w> {
    pub(crate) world: &'w World,
    text: String,
    /// What stands for what in this world.
    names: Vec<(String, String)>,
}

/// Runs a test against a daemon in a home of its own, and compares what it did with the transcript of this name.
pub(crate) fn transcript(name: &str, test: impl AsyncFnOnce(&mut Transcript<'_>)) {
    transcript_with(name, Setup::default(), test);
}

/// The same with a daemon of this kind.
pub(crate) fn transcript_with(name: &str, setup: Setup, test: impl AsyncFnOnce(&mut Transcript<'_>)) {
    let setup = Setup { program: true, ..setup };
    world_with(setup, async |world| {
        let programs = program::path("hooksctl").parent().unwrap().to_str().unwrap().to_owned();
        // The longer names first: a world may be inside the folder of the programs.
        let names = [
            (world.text_at("config"), "/home/you/.deepagents"),
            (world.text_at("home"), "/home/you"),
            (world.text_at("project"), "/home/you/project"),
            (world.text_at("run"), "/run/user"),
            (world.text_at("").trim_end_matches('/').to_owned(), "/world"),
            (programs, "/usr/local/bin"),
            (env!("CARGO_PKG_VERSION").to_owned(), "[VERSION]"),
        ];
        let names = names.map(|(value, name)| (value, name.to_owned())).into();
        let mut transcript = Transcript { world, text: String::new(), names };
        test(&mut transcript).await;
        transcript.compare(name);
    });
}

impl Transcript<'_> {
    /// From now on `name` stands for this id, and for its beginning as tables show it.
    pub(crate) fn name(&mut self, id: &str, name: &str) {
        self.names.push((id.to_owned(), format!("[{name}]")));
        self.names.push((id[..8].to_owned(), format!("[{name}]")));
    }

    /// Writes a remark for the reader.
    pub(crate) fn say(&mut self, words: &str) {
        self.text.push_str(&format!("# {words}\n\n"));
    }

    /// Runs a command as it is.
    pub(crate) async fn run(&mut self, arguments: &[&str]) -> Done {
        self.run_with(arguments, &[], "").await
    }

    /// Runs a command twice: for people, and with `--json`.
    pub(crate) async fn both(&mut self, arguments: &[&str]) {
        self.both_with(arguments, &[], "").await;
    }

    /// The same with more variables and this standard input.
    pub(crate) async fn both_with(&mut self, arguments: &[&str], variables: &[(&str, &str)], stdin: &str) {
        self.run_with(arguments, variables, stdin).await;
        self.run_with(&[arguments, &["--json"]].concat(), variables, stdin).await;
    }

    /// The first with more variables and this standard input.
    pub(crate) async fn run_with(
        &mut self,
        arguments: &[&str],
        variables: &[(&str, &str)],
        stdin: &str,
    ) -> Done {
        let mut command = self.world.ctl(arguments);
        command.env("HOOKSD_CONFIG_DIR", self.world.at("config")).envs(variables.iter().copied());
        let typed: Vec<String> = variables.iter().map(|(name, value)| format!("{name}={value} ")).collect();
        let input = if stdin.is_empty() { "" } else { " < event.json" };
        let quoted: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
        self.typed(&format!("{}hooksctl {}{input}", typed.concat(), quoted.join(" ")), command, stdin).await
    }

    async fn typed(&mut self, typed: &str, command: Command, stdin: &str) -> Done {
        let done = program::run_with(command, stdin).await;
        assert!(
            !done.stdout.contains('\u{1b}') && !done.stderr.contains('\u{1b}'),
            "colours or escapes in a pipe: {done:?}"
        );
        self.show(typed, &done);
        done
    }

    /// Adds what was done.
    pub(crate) fn show(&mut self, typed: &str, done: &Done) {
        let stdout = objects(&done.stdout).unwrap_or_else(|| done.stdout.clone());
        let mut shown = format!("$ {typed}\n{}", whole(&stdout));
        if !done.stderr.is_empty() {
            shown.push_str(&format!("[stderr]\n{}", whole(&done.stderr)));
        }
        let status = done.status.map_or("killed".to_owned(), |status| status.to_string());
        shown.push_str(&format!("[exit {status}]\n\n"));
        self.text.push_str(&settle::text(&shown, &self.names));
    }

    /// Writes the user's hooks.json.
    pub(crate) fn user(&self, document: &Value) {
        self.world.user_text(format!("{document:#}\n"));
    }

    /// Writes the project's.
    pub(crate) fn project(&self, document: &Value) {
        self.world.write("project/.deepagents/hooks.json", format!("{document:#}\n"));
    }

    /// An agent with a session in the project, whose id has a name from now on.
    pub(crate) async fn agent(&mut self) -> Agent {
        let agent = self.world.agent().await;
        self.name(agent.session(), "SESSION");
        agent
    }

    /// Sends an event, whose id has a name from now on; the id.
    pub(crate) async fn event(&mut self, agent: &mut Agent, event: &Value, name: &str) -> String {
        let id = agent.invoke(event).await.0["invocation_id"].as_str().unwrap().to_owned();
        self.name(&id, name);
        // Written out by now.
        agent.line.call("journal/query", json!({})).await.unwrap();
        id
    }

    fn compare(&self, name: &str) {
        let path = folder().join(format!("{name}.txt"));
        let text = format!("{}\n", self.text.trim_end());
        if std::env::var_os(UPDATE).is_some() {
            fs::write(&path, &text).unwrap();
            return;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        let differs = expected.lines().zip(text.lines()).position(|(then, now)| then != now);
        let at = differs.unwrap_or_else(|| expected.lines().count().min(text.lines().count()));
        let around = |text: &str| text.lines().skip(at).take(5).collect::<Vec<_>>().join("\n");
        assert!(
            expected == text,
            "tests/cli/snapshots/{name}.txt differs from line {} on. It has\n{}\nand now there is\n{}\n\
             Run the test once with {UPDATE}=1 if that is what is wanted.",
            at + 1,
            around(&expected),
            around(&text)
        );
    }
}

/// Lines of one JSON object each, as people read them: one is laid out, several stay lines.
fn objects(printed: &str) -> Option<String> {
    let objects = printed.lines().map(|line| serde_json::from_str(line).ok().filter(Value::is_object));
    let mut objects: Vec<Value> =
        objects.collect::<Option<_>>().filter(|objects: &Vec<Value>| !objects.is_empty())?;
    objects.iter_mut().for_each(settle::json);
    Some(match objects.as_slice() {
        [one] => format!("{one:#}\n"),
        lines => lines.iter().map(|line| format!("{line}\n")).collect(),
    })
}

/// A text that ends with a line's end, whatever it ended with.
fn whole(text: &str) -> String {
    let ends = text.is_empty() || text.ends_with('\n');
    if ends { text.to_owned() } else { format!("{text}[no line end]\n") }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    if word.contains(|c: char| c.is_whitespace() || "{}'\"$*".contains(c)) {
        format!("'{word}'")
    } else {
        word.to_owned()
    }
}

/// The user's document of most tests: a guard, a handler that fails, a context and a gate before the end.
pub(crate) fn document() -> Value {
    let guard = "if grep -q 'rm -rf'; then echo 'refusing to delete' >&2; exit 2; fi";
    let command = |command: &str| json!({ "type": "command", "command": command });
    json!({ "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [
                { "type": "command", "command": guard, "timeout": 5, "onFailure": "block" }] },
            { "matcher": "Write|Edit", "hooks": [command("echo 'no formatter' >&2; exit 1")] },
        ],
        "SessionStart": [{ "hooks": [command("echo 'Branch: main.'")] }],
        "Stop": [{ "hooks": [command("echo 'run the tests first' >&2; exit 2")] }],
    }})
}

/// A command that the guard denies.
pub(crate) fn denied() -> Value {
    events::tool("PreToolUse", "execute", json!({ "command": "rm -rf build" }))
}
