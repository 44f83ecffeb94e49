//! The real daemon under limits of the test's choice, a client that has many calls in flight, and `/proc`.

use std::collections::HashMap;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fs, io};

use hooksd_tests::harness::program;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, oneshot};

/// How long anything may take. Nothing is measured by it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A PreToolUse document with these commands, all in one group.
pub(crate) fn commands(commands: &[&str]) -> Value {
    let handlers = commands.iter().map(|command| json!({ "type": "command", "command": command })).collect();
    handlers_on("PreToolUse", handlers)
}

/// A document with these handlers on one event.
pub(crate) fn handlers_on(event: &str, handlers: Vec<Value>) -> Value {
    json!({ "hooks": { event: [{ "hooks": handlers }] } })
}

/// PRE: the agent is about to run `ls`.
pub(crate) fn pre() -> Value {
    json!({ "event": "PreToolUse", "call": { "id": "c1", "name": "execute", "args": { "command": "ls" } } })
}

/// A user id that nobody has, for tests of limits that count a user's processes.
pub(crate) const STRANGER: u32 = 61_234;

/// Held for writing by a test that measures time, for reading by all others. One daemon at a time in each test: a second
/// reader waits behind a writer that waits for the first.
static QUIET: RwLock<()> = RwLock::const_new(());

/// What a daemon holds of it.
enum Beside {
    Others(#[expect(dead_code, reason = "held, not read")] RwLockReadGuard<'static, ()>),
    Nobody(#[expect(dead_code, reason = "held, not read")] RwLockWriteGuard<'static, ()>),
}

/// One daemon, its folders and its hooks.json.
pub(crate) struct Daemon {
    _beside: Beside,
    folder: tempfile::TempDir,
    process: Mutex<Child>,
}

impl Daemon {
    /// Starts it under limits, which are a shell's: `ulimit -n 96`.
    pub(crate) async fn start(limits: &str, document: &Value) -> Daemon {
        Daemon::start_as(None, limits, document).await
    }

    /// Starts it when no other test of this process has one.
    pub(crate) async fn start_alone(document: &Value) -> Daemon {
        Daemon::start_beside(Beside::Nobody(QUIET.write().await), None, "", document).await
    }

    /// The same as another user, which needs root.
    pub(crate) async fn start_as(user: Option<u32>, limits: &str, document: &Value) -> Daemon {
        Daemon::start_beside(Beside::Others(QUIET.read().await), user, limits, document).await
    }

    async fn start_beside(_beside: Beside, user: Option<u32>, limits: &str, document: &Value) -> Daemon {
        let folder = tempfile::Builder::new().prefix("storm-").tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["config", "project", "run"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at("config/hooks.json"), document.to_string()).unwrap();
        let mut hooksd = program::path("hooksd");
        if let Some(user) = user {
            // It may not be able to enter the folder of the build.
            for name in ["hooksd", "hooksctl"] {
                fs::copy(program::path(name), at(name)).unwrap();
            }
            hooksd = at("hooksd");
            for path in [folder.path().to_owned(), at("config"), at("project"), at("run")] {
                std::os::unix::fs::chown(path, Some(user), Some(user)).unwrap();
            }
        }
        fs::set_permissions(at("run"), fs::Permissions::from_mode(0o700)).unwrap();
        let log = fs::File::create(at("log")).unwrap();
        let process = as_user(user, &["/bin/sh", "-c", &format!("{limits}\nexec \"$0\" \"$@\"")])
            .arg(hooksd)
            .args(
                [at("run/socket").into_os_string(), at("config").into_os_string()]
                    .iter()
                    .zip(["--socket", "--config-dir"])
                    .flat_map(|(path, flag)| [flag.into(), path.clone()]),
            )
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", folder.path())
            .env("W", folder.path())
            .env("CTL", program::path("hooksctl"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let daemon = Daemon { _beside, folder, process: Mutex::new(process) };
        until("the daemon listens", || {
            assert!(daemon.process.lock().unwrap().try_wait().unwrap().is_none(), "{}", daemon.log());
            daemon.log().contains("listening")
        })
        .await;
        if user.is_some() {
            // It listens to that user only.
            return daemon;
        }
        // With the descriptors of its journal, if it can have one.
        let client = daemon.connect().await;
        hooksd_tests::harness::eventually("the journal is open", async || {
            let journal = &client.call("daemon/status", json!({})).await.unwrap()["journal"];
            (journal["ready"] == true || !journal["problem"].is_null()).then_some(())
        })
        .await;
        let open = daemon.descriptors();
        drop(client);
        until("that connection is gone", || daemon.descriptors() < open).await;
        daemon
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.lock().unwrap().id()
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::new(UnixStream::connect(self.path("run/socket")).await.unwrap())
    }

    /// A connection with a session in the project.
    pub(crate) async fn agent(&self) -> Agent {
        self.agent_with(json!({})).await
    }

    pub(crate) async fn agent_with(&self, more: Value) -> Agent {
        let client = self.connect().await;
        let cwd = self.path("project").to_str().unwrap().to_owned();
        let mut params = json!({ "thread_id": "t", "cwd": cwd, "mode": "interactive" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let session =
            client.call("session/open", params).await.unwrap()["session"].as_str().unwrap().to_owned();
        Agent { client: Arc::new(client), session, cwd }
    }

    pub(crate) async fn status(&self) -> Value {
        self.connect().await.call("daemon/status", json!({})).await.unwrap()
    }

    /// Children of the daemon, zombies included.
    pub(crate) fn children(&self) -> Vec<String> {
        let own = self.pid().to_string();
        processes()
            .filter_map(|pid| {
                let stat = read(&format!("/proc/{pid}/stat"));
                let (name, fields) = stat.rsplit_once(')')?;
                (fields.split_ascii_whitespace().nth(1)? == own).then(|| format!("{name}) {}", &fields[..2]))
            })
            .collect()
    }

    /// Processes that have `W` of this test in their environment, but for the daemon: their command lines.
    pub(crate) fn alive(&self) -> Vec<String> {
        let pair = format!("W={}", self.folder.path().display());
        processes()
            .filter(|pid| *pid != self.pid())
            .filter(|pid| read(&format!("/proc/{pid}/environ")).split('\0').any(|variable| variable == pair))
            .map(|pid| read(&format!("/proc/{pid}/cmdline")).replace('\0', " ").trim_end().to_owned())
            .collect()
    }

    pub(crate) fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.pid())).map_or(0, Iterator::count)
    }

    /// Memory in RAM. Bytes.
    pub(crate) fn resident(&self) -> usize {
        let status = read(&format!("/proc/{}/status", self.pid()));
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<usize>().unwrap() * 1024
    }

    pub(crate) fn terminate(&self) {
        let pid = nix::unistd::Pid::from_raw(self.pid().try_into().unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    }

    /// Kills it, as the system would.
    pub(crate) fn kill(&self) {
        let mut process = self.process.lock().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// The most memory it has had in RAM. Bytes.
    pub(crate) fn peak(&self) -> usize {
        hooksd_tests::harness::processes::peak(self.pid())
    }

    /// Waits for its end; the exit status.
    pub(crate) async fn ended(&self) -> Option<i32> {
        let mut status = None;
        until("the daemon ends", || {
            status = self.process.lock().unwrap().try_wait().unwrap();
            status.is_some()
        })
        .await;
        status.unwrap().code()
    }

    /// Nothing that a handler has started is left, nor a zombie; the daemon has not panicked.
    pub(crate) async fn nothing_left(&self) {
        until("no process left", || self.alive().is_empty()).await;
        until("no child left", || self.children().is_empty()).await;
        assert!(!self.log().contains("panicked"), "{}", self.log());
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let process = self.process.get_mut().unwrap();
        let _ = process.kill();
        let _ = process.wait();
    }
}

/// A command, as another user if there is one.
pub(crate) fn as_user(user: Option<u32>, words: &[&str]) -> Command {
    let mut command = match user {
        None => Command::new(words[0]),
        Some(user) => {
            let mut command = Command::new("setpriv");
            command.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()]);
            command.arg(words[0]);
            command
        }
    };
    command.args(&words[1..]);
    command
}

/// One connection; any number of calls at once.
pub(crate) struct Client {
    writer: tokio::sync::Mutex<OwnedWriteHalf>,
    next: AtomicU64,
    waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>,
    /// Answers that nobody has asked for, or for the second time.
    strays: Arc<AtomicU64>,
    reader: tokio::task::JoinHandle<()>,
}

impl Client {
    fn new(stream: UnixStream) -> Client {
        let (reader, writer) = stream.into_split();
        let waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>> = Arc::default();
        let heard = waiting.clone();
        let strays: Arc<AtomicU64> = Arc::default();
        let stray = strays.clone();
        let reader = tokio::spawn(async move {
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                let waiter = message["id"].as_u64().and_then(|id| heard.lock().unwrap().remove(&id));
                if let Some(waiter) = waiter {
                    let _ = waiter.send(message);
                } else if message.get("method").is_none() {
                    stray.fetch_add(1, Ordering::Relaxed);
                }
            }
            heard.lock().unwrap().clear();
        });
        Client { writer: writer.into(), next: AtomicU64::new(1), waiting, strays, reader }
    }

    async fn send(&self, message: &Value) -> io::Result<()> {
        self.writer.lock().await.write_all(format!("{message}\n").as_bytes()).await
    }

    /// Sends a request: its id, and where its answer comes.
    pub(crate) async fn start(&self, method: &str, params: Value) -> (u64, oneshot::Receiver<Value>) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().unwrap().insert(id, sender);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request).await.unwrap();
        (id, receiver)
    }

    /// The result, or the error object.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Result<Value, Value> {
        let (_, answer) = self.start(method, params).await;
        outcome(answer).await
    }

    /// Answers that nobody has asked for, or for the second time.
    pub(crate) fn strays(&self) -> u64 {
        self.strays.load(Ordering::Relaxed)
    }

    pub(crate) async fn cancel(&self, id: u64) {
        self.send(&json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": id } }))
            .await
            .unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// What an answer says.
pub(crate) async fn outcome(answer: oneshot::Receiver<Value>) -> Result<Value, Value> {
    let mut message =
        tokio::time::timeout(PATIENCE, answer).await.expect("an answer in time").expect("an answer");
    match message.get("error") {
        Some(error) => Err(error.clone()),
        None => Ok(message["result"].take()),
    }
}

/// A session on a connection.
#[derive(Clone)]
pub(crate) struct Agent {
    pub(crate) client: Arc<Client>,
    pub(crate) session: String,
    cwd: String,
}

impl Agent {
    /// The params of `hook/invoke`.
    pub(crate) fn params(&self, event: &Value, more: Value) -> Value {
        let context = json!({ "thread_id": "t", "cwd": self.cwd, "approval_mode": "manual" });
        let mut params =
            json!({ "session": self.session, "invocation": { "context": context, "event": event } });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    }

    pub(crate) async fn invoke(&self, event: &Value) -> Value {
        self.invoke_with(event, json!({})).await.unwrap()
    }

    pub(crate) async fn invoke_with(&self, event: &Value, more: Value) -> Result<Value, Value> {
        self.client.call("hook/invoke", self.params(event, more)).await
    }

    pub(crate) async fn start(&self, event: &Value) -> (u64, oneshot::Receiver<Value>) {
        self.client.start("hook/invoke", self.params(event, json!({}))).await
    }

    /// The same session by another connection.
    pub(crate) async fn beside(&self, daemon: &Daemon) -> Agent {
        Agent { client: Arc::new(daemon.connect().await), ..self.clone() }
    }
}

/// The permission's behavior.
pub(crate) fn behavior(result: &Value) -> &str {
    result["decision"]["permission"]["behavior"].as_str().unwrap()
}

/// The codes of the decision's diagnostics, in order.
pub(crate) fn codes(result: &Value) -> Vec<&str> {
    let diagnostics = result["decision"]["diagnostics"].as_array().unwrap();
    diagnostics.iter().map(|diagnostic| diagnostic["code"].as_str().unwrap()).collect()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A file of `/proc`; empty when its process has gone.
fn read(path: &str) -> String {
    let mut bytes = Vec::new();
    if let Ok(mut file) = fs::File::open(path) {
        let _ = file.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Waits for a condition.
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
