//! `hooksd demo`: a real daemon on a temporary socket, real handler processes, two agent sessions side by side.
//! Leaves nothing behind: no process, no folder.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use anyhow::{Context as _, Result, ensure};
use hooksd_client::asynchronous::Client;
use hooksd_json::{Dialect, Reading, Text, Value};
use hooksd_protocol::decision::{Behavior, Body};
use hooksd_protocol::invocation::Invocation;
use hooksd_protocol::methods::{
    HandlerStatus, HookInvoke, InvokeOptions, InvokeResult, Mode, SessionInfo, SessionOpen, SessionRef,
    SessionReload,
};
use serde_json::json;

use crate::base::settings::Settings;
use crate::base::shutdown::Shutdown;
use crate::server::listen::listen;

/// The demo's hooks.json: a guard, a context script, a formatter's note, a gate before stopping.
const HOOKS: &str = r#"{
  "hooks": {
    "SessionStart": [{ "hooks": [{
      "type": "command",
      "command": "echo \"Branch: main. Tests: cargo test. Ask before touching migrations/.\""
    }] }],
    "PreToolUse": [{ "matcher": "Bash", "hooks": [{
      "type": "command",
      "command": "if grep -q 'rm -rf /'; then echo 'refusing to delete the file system' >&2; exit 2; fi",
      "onFailure": "block"
    }] }],
    "PostToolUse": [{ "matcher": "Write|Edit", "hooks": [{
      "type": "command",
      "command": "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"formatted with rustfmt\"}}'"
    }] }],
    "Stop": [{ "hooks": [{
      "type": "command",
      "command": "grep -q '\"stop_hook_active\":true' || { echo 'run the tests before you stop' >&2; exit 2; }"
    }] }]
  }
}
"#;

/// The part of [`HOOKS`] that the demo edits, before and after.
const EDIT: (&str, &str) = ("\"matcher\": \"Bash\"", "\"matcher\": \"^(Bash|Write)$\"");

/// Plays the demo, writing what happens to `out`. Once its daemon is told to stop, it ends, and leaves nothing either.
///
/// # Errors
/// When the temporary folder, the daemon or a call fails, or it was told to stop.
pub async fn play(out: &mut (dyn Write + Send), shutdown: Shutdown) -> Result<()> {
    let folder = tempfile::Builder::new()
        .prefix("hooksd-demo-")
        .tempdir()
        .context("cannot make a temporary folder")?;
    let root = fs::canonicalize(folder.path()).context("cannot resolve the temporary folder")?;
    let config_dir = root.join("config");
    for project in ["alpha", "beta"] {
        fs::create_dir_all(root.join(project)).context("cannot make the demo's projects")?;
    }
    fs::create_dir_all(&config_dir).context("cannot make the demo's config dir")?;
    let document = config_dir.join("hooks.json");
    fs::write(&document, HOOKS).context("cannot write the demo's hooks.json")?;

    let socket = root.join("run").join("hooksd.sock");
    let (held, listener) = listen(&socket)?;
    let listener = tokio::net::UnixListener::from_std(listener).context("cannot use the socket")?;
    let environment = Arc::new(std::env::vars_os().filter(|(name, _)| name == "PATH").collect());
    let settings = Settings { socket: Some(socket.clone()), environment, ..Settings::new(config_dir) };
    let server = tokio::spawn(crate::run(listener, settings, shutdown.clone()));

    let played = tokio::select! {
        () = shutdown.stop.cancelled() => Ok(()),
        played = scenes(out, &socket, &root, &document) => played,
    };
    // Whatever came of the scenes then: their daemon goes at the same moment.
    let stopped = shutdown.stop.is_cancelled();

    shutdown.stop.cancel();
    server.await.context("the daemon was lost")?;
    drop(held);
    folder.close().context("cannot remove the temporary folder")?;
    ensure!(!stopped, "stopped by a signal; nothing of it is left");
    played?;
    writeln!(out, "\nThe daemon has stopped; its socket and its folder are gone.")?;
    Ok(())
}

async fn scenes(out: &mut (dyn Write + Send), socket: &Path, root: &Path, document: &Path) -> Result<()> {
    writeln!(out, "A daemon listens on a temporary socket. Its hooks.json:\n")?;
    for line in HOOKS.lines() {
        writeln!(out, "    {line}")?;
    }
    let alpha = Agent::open("alpha", socket, root).await?;
    let beta = Agent::open("beta", socket, root).await?;
    writeln!(
        out,
        "\nTwo agents have opened a session each. Both are pinned to snapshot {}.\n",
        alpha.snapshot()
    )?;

    let start = json!({ "event": "SessionStart", "cause": "startup" });
    let dangerous = bash("rm -rf / --no-preserve-root");
    let harmless = bash("cargo test");
    let write_event = json!({
        "event": "PostToolUse", "result": "ok",
        "call": { "id": "c2", "name": "write_file", "args": { "file_path": "src/lib.rs", "content": "fn main(){}" } },
    });
    let stop = |count: u32| json!({ "event": "Stop", "continuation_count": count, "last_assistant_message": "Done." });
    // Side by side: each pair of events is under way at the same time.
    for (left, right) in
        [(&start, &start), (&dangerous, &harmless), (&write_event, &stop(0)), (&stop(1), &stop(1))]
    {
        let (first, second) = tokio::join!(alpha.send(left), beta.send(right));
        show(out, &alpha, left, &first?)?;
        show(out, &beta, right, &second?)?;
    }

    writeln!(out, "\nNow hooks.json is edited: {} becomes {}.", EDIT.0, EDIT.1)?;
    fs::write(document, HOOKS.replace(EDIT.0, EDIT.1)).context("cannot edit the demo's hooks.json")?;
    let write_call = json!({
        "event": "PreToolUse",
        "call": { "id": "c3", "name": "write_file", "args": { "file_path": "x", "content": "rm -rf /" } },
    });
    let before = alpha.send(&write_call).await?;
    writeln!(out, "The sessions are pinned, so nothing changes until they reload:\n")?;
    show(out, &alpha, &write_call, &before)?;
    let reloaded = alpha.reload().await?;
    writeln!(out, "\nalpha reloads and runs against snapshot {}:\n", short(&reloaded.snapshot.id))?;
    show(out, &alpha, &write_call, &alpha.send(&write_call).await?)
}

fn bash(command: &str) -> serde_json::Value {
    json!({ "event": "PreToolUse", "call": { "id": "c1", "name": "execute", "args": { "command": command } } })
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// One agent's end of the socket.
struct Agent {
    name: &'static str,
    client: Client,
    cwd: String,
    session: SessionInfo,
}

impl Agent {
    async fn open(name: &'static str, socket: &Path, root: &Path) -> Result<Agent> {
        let client = Client::connect(socket).await?;
        let cwd = root.join(name).display().to_string();
        let open = SessionOpen {
            thread_id: Text::new(&format!("demo-{name}")),
            cwd: cwd.clone(),
            mode: Mode::Interactive,
            trust: None,
            env: None,
            umask: None,
            rlimits: None,
            plugins: None,
            accepts: Vec::new(),
            follow: false,
        };
        let session = client.call("session/open", &open).await?;
        Ok(Agent { name, client, cwd, session })
    }

    fn snapshot(&self) -> &str {
        short(&self.session.snapshot.id)
    }

    async fn send(&self, event: &serde_json::Value) -> Result<InvokeResult> {
        let context =
            json!({ "thread_id": format!("demo-{}", self.name), "cwd": self.cwd, "approval_mode": "manual" });
        let text = json!({ "context": context, "event": event }).to_string();
        let value = Value::parse(&text, Dialect::Strict)?;
        let invocation = Some(Invocation::read(&value, Reading::Strict)?);
        let session = SessionRef::Id(self.session.session.clone());
        let invoke = HookInvoke { session, invocation, payload: None, options: InvokeOptions::default() };
        Ok(self.client.invoke(&invoke).await?)
    }

    async fn reload(&self) -> Result<SessionInfo> {
        let session = self.session.session.clone();
        let reload = SessionReload { session, cwd: None, trust: None, env: None, plugins: None };
        Ok(self.client.call("session/reload", &reload).await?)
    }
}

fn paint(color: AnsiColor, text: &str) -> String {
    let style = Style::new().fg_color(Some(color.into())).bold();
    format!("{style}{text}{style:#}")
}

fn show(out: &mut dyn Write, agent: &Agent, event: &serde_json::Value, result: &InvokeResult) -> Result<()> {
    let call = event.get("call");
    let detail = call
        .and_then(|call| call.get("args"))
        .map(|args| {
            args.get("command").or_else(|| args.get("file_path")).map(ToString::to_string).unwrap_or_default()
        })
        .or_else(|| event.get("cause").map(ToString::to_string))
        .or_else(|| event.get("continuation_count").map(|count| format!("already continued: {count}")));
    writeln!(out, "  {:<6} {:<14} {}", agent.name, result.decision.event, detail.unwrap_or_default())?;
    for handler in &result.handlers {
        let ended = match (handler.exit_code, handler.signal) {
            (Some(status), _) => format!("exit {status}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => format!("{:?}", handler.status),
        };
        let color =
            if handler.status == HandlerStatus::Blocked { AnsiColor::Yellow } else { AnsiColor::BrightBlack };
        writeln!(
            out,
            "         {} {ended}, {} ms",
            paint(color, &format!("ran {}", handler.id)),
            handler.duration_ms
        )?;
    }
    if result.handlers.is_empty() {
        writeln!(out, "         {}", paint(AnsiColor::BrightBlack, "no handler is for it"))?;
    }
    writeln!(out, "         -> {}", verdict(result))?;
    Ok(())
}

/// The decision in a few words.
fn verdict(result: &InvokeResult) -> String {
    let lines = |label: &str, texts: &[String]| match texts {
        [] => String::new(),
        texts => format!("{label}: {}", texts.join(" / ")),
    };
    match &result.decision.body {
        Body::Permission { permission } | Body::PreTool { permission, .. } => {
            let reason = permission.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            match permission.behavior {
                Behavior::Deny => format!("{}{reason}", paint(AnsiColor::Red, "DENIED")),
                Behavior::Ask => format!("{}{reason}", paint(AnsiColor::Yellow, "ASK")),
                Behavior::Allow => paint(AnsiColor::Green, "ALLOWED"),
                Behavior::None => paint(AnsiColor::Green, "no objection"),
            }
        }
        Body::Context { context } | Body::Prompt { context, .. } => lines("context", context),
        Body::PostTool { feedback, context } => {
            let both = [lines("feedback", feedback), lines("context", context)];
            both.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
        }
        Body::Stop { continue_loop: true, feedback } => {
            format!("{}: {}", paint(AnsiColor::Yellow, "GO ON"), feedback.join(" / "))
        }
        Body::Stop { .. } => paint(AnsiColor::Green, "may stop"),
        Body::Plain {} => "noted".to_owned(),
    }
}
