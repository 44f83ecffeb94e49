//! The programs that are measured, each in a folder of its own, and connections to them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hooksd_tests::harness::program;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::PATIENCE;

/// The variables of every program.
pub(crate) const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A program that listens on a socket. Killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    folder: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        // TERM would let handlers end; nothing here minds, and nothing waits for it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command without the caller's environment and output.
#[allow(clippy::disallowed_methods, reason = "what is measured is not started by the runner")]
pub(crate) fn command(program: &Path) -> std::process::Command {
    let mut command = std::process::Command::new(program);
    command.env_clear().env("PATH", SEARCH_PATH);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

impl Server {
    /// hooksd with this document of the user.
    pub(crate) fn hooksd(document: &Value) -> Result<Server> {
        let folder = folder()?;
        fs::create_dir(folder.path().join("config")).context("cannot make a folder")?;
        fs::create_dir(folder.path().join("project")).context("cannot make a folder")?;
        fs::write(folder.path().join("config/hooks.json"), document.to_string()).context("hooks.json")?;
        let mut command = command(&program::path("hooksd"));
        command.arg("--socket").arg(folder.path().join("socket"));
        command.arg("--config-dir").arg(folder.path().join("config")).env("HOOKSD_LOG", "error");
        Server::start(command, folder)
    }

    /// hooksd with this document, and with its journal and log on or off.
    pub(crate) fn told(own: &Path, document: &Value, told: bool) -> Result<Server> {
        let folder = folder()?;
        fs::create_dir(folder.path().join("config")).context("cannot make a folder")?;
        fs::create_dir(folder.path().join("project")).context("cannot make a folder")?;
        fs::write(folder.path().join("config/hooks.json"), document.to_string()).context("hooks.json")?;
        let mut command = command(own);
        command.arg("hooksd").arg(folder.path().join("socket")).arg(folder.path().join("config"));
        command.arg(if told { "on" } else { "off" });
        Server::start(command, folder)
    }

    /// The echo.
    pub(crate) fn echo(own: &Path) -> Result<Server> {
        let folder = folder()?;
        let mut command = command(own);
        command.arg("echo").arg(folder.path().join("socket"));
        Server::start(command, folder)
    }

    fn start(mut command: std::process::Command, folder: TempDir) -> Result<Server> {
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let server = Server { child, folder };
        server.connect()?;
        Ok(server)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Writes a file into its folder.
    pub(crate) fn file(&self, name: &str, content: &str) -> Result<PathBuf> {
        let path = self.folder.path().join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {name}"))?;
        Ok(path)
    }

    /// The user's document.
    pub(crate) fn document(&self) -> PathBuf {
        self.folder.path().join("config/hooks.json")
    }

    /// The folder of its sessions.
    pub(crate) fn project(&self) -> String {
        self.folder.path().join("project").display().to_string()
    }

    /// Connects, as soon as it listens.
    pub(crate) fn connect(&self) -> Result<Connection> {
        let start = Instant::now();
        loop {
            match UnixStream::connect(self.socket()) {
                Ok(stream) => return Connection::new(stream),
                Err(error) if start.elapsed() > PATIENCE => return Err(error).context("nobody listens"),
                // Short: the time to the first answer is one of the lines.
                Err(_) => std::thread::sleep(Duration::from_micros(100)),
            }
        }
    }

    /// Connects and opens a session; the request line that invokes `payload` in it.
    pub(crate) fn session(&self, payload: &str) -> Result<(Connection, Vec<u8>)> {
        let mut connection = self.connect()?;
        let session = connection.open(&self.project())?;
        Ok((connection, invoke(1, &session, payload)))
    }
}

fn folder() -> Result<TempDir> {
    tempfile::Builder::new().prefix("bench-").tempdir().context("cannot make a folder")
}

/// The request line that invokes a payload.
pub(crate) fn invoke(id: usize, session: &str, payload: &str) -> Vec<u8> {
    let session = json!(session);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"hook/invoke\",\"params\":{{\"session\":{session},\"payload\":{payload}}}}}\n"
    )
    .into_bytes()
}

/// One connection, one line there and one back.
pub(crate) struct Connection {
    stream: BufReader<UnixStream>,
    line: Vec<u8>,
}

impl Connection {
    fn new(stream: UnixStream) -> Result<Connection> {
        stream.set_read_timeout(Some(PATIENCE)).context("cannot bound the wait")?;
        Ok(Connection { stream: BufReader::with_capacity(64 * 1024, stream), line: Vec::new() })
    }

    /// The stream itself, when what comes next is no answer. What was read of it already is gone.
    pub(crate) fn into_stream(self) -> UnixStream {
        self.stream.into_inner()
    }

    pub(crate) fn send(&mut self, lines: &[u8]) -> Result<()> {
        self.stream.get_mut().write_all(lines).context("cannot write")
    }

    pub(crate) fn receive(&mut self) -> Result<&[u8]> {
        self.line.clear();
        self.stream.read_until(b'\n', &mut self.line).context("no answer")?;
        if self.line.is_empty() {
            bail!("the other side has gone");
        }
        Ok(&self.line)
    }

    /// A line there and back, timed.
    pub(crate) fn trip(&mut self, line: &[u8]) -> Result<Duration> {
        let start = Instant::now();
        self.send(line)?;
        self.receive()?;
        Ok(start.elapsed())
    }

    /// Calls a method.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.send(format!("{request}\n").as_bytes())?;
        let answer: Value = serde_json::from_slice(self.receive()?).context("not JSON")?;
        answer.get("result").cloned().with_context(|| format!("{method} failed: {answer}"))
    }

    /// Opens a session; its id.
    pub(crate) fn open(&mut self, cwd: &str) -> Result<String> {
        let opened =
            self.call("session/open", &json!({ "thread_id": "bench", "cwd": cwd, "mode": "headless" }))?;
        let session = opened.get("session").and_then(Value::as_str);
        Ok(session.context("no session")?.to_owned())
    }

    /// Invokes once and sees to it that this is what is measured: handlers that ran, and that all was well.
    pub(crate) fn check(&mut self, line: &[u8], handlers: usize) -> Result<Value> {
        self.send(line)?;
        let answer: Value = serde_json::from_slice(self.receive()?).context("not JSON")?;
        let reports = answer.pointer("/result/handlers").and_then(Value::as_array);
        let reports = reports.with_context(|| format!("no handlers in {answer}"))?;
        let well =
            |report: &&Value| matches!(report.get("status").and_then(Value::as_str), Some("ok" | "blocked"));
        if reports.len() != handlers || reports.iter().filter(well).count() != handlers {
            bail!("expected {handlers} handlers that run well: {answer}");
        }
        Ok(answer)
    }
}
