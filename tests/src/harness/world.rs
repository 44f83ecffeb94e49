//! One test's world: folders, a socket, a server, and what must hold when the test is over.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use hooksd::Settings;
use hooksd::listen::{Socket, listen};
use hooksd::settings::WarmLimits;
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::agent::Agent;
use super::line::Line;
use super::wait::{eventually, until};
use super::{DENY, processes, program};

/// What is special about a test's server.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Run the real `hooksd` as a process of its own, instead of the server inside the test's process. Then the
    /// world also checks descriptors and zombies.
    pub program: bool,
    /// More variables of the daemon's environment.
    pub environment: Vec<(String, String)>,
    /// How long running events may take once the daemon was told to stop. Only inside the test's process.
    pub drain: Duration,
    /// The folder of the user's hooks.json, inside the world.
    pub config_dir: String,
    /// Look at documents every second instead of watching them. Only inside the test's process.
    pub poll: bool,
    /// How many processes stay or wait, and how long. Only inside the test's process.
    pub warm: WarmLimits,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            program: false,
            environment: Vec::new(),
            drain: Duration::from_secs(hooksd::settings::DRAIN_SECONDS),
            config_dir: "config".to_owned(),
            poll: false,
            warm: WarmLimits::default(),
        }
    }
}

enum Server {
    Inside { shutdown: CancellationToken, task: JoinHandle<()>, held: Socket },
    Program { child: Child, descriptors: usize },
}

/// One test's world. Handlers see its folder as `$W` and the denying answer's file as `$DENY`.
pub struct World {
    folder: TempDir,
    root: PathBuf,
    mark: String,
    setup: Setup,
    server: Mutex<Option<Server>>,
}

/// Held for reading by every test, for writing by one that measures time or memory.
static QUIET: RwLock<()> = RwLock::new(());

/// Runs a test against the server inside this process.
pub fn world(test: impl AsyncFnOnce(&World)) {
    world_with(Setup::default(), test);
}

/// Runs a test against the real program.
pub fn daemon(test: impl AsyncFnOnce(&World)) {
    world_with(Setup { program: true, ..Setup::default() }, test);
}

/// Runs a test against a server of this kind.
pub fn world_with(setup: Setup, test: impl AsyncFnOnce(&World)) {
    let _beside_others = QUIET.read().unwrap_or_else(PoisonError::into_inner);
    run(setup, test);
}

/// Runs a test against the real program while no other test of this process runs.
pub fn alone(test: impl AsyncFnOnce(&World)) {
    let _without_others = QUIET.write().unwrap_or_else(PoisonError::into_inner);
    run(Setup { program: true, ..Setup::default() }, test);
}

fn run(setup: Setup, test: impl AsyncFnOnce(&World)) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let world = World::new(setup);
        world.start().await;
        test(&world).await;
        world.finish().await;
    });
}

impl World {
    fn new(setup: Setup) -> World {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let folder = tempfile::Builder::new().prefix("hooksd-").tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for name in ["config", "home", "project"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        fs::write(root.join("deny.json"), DENY).unwrap();
        let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        World { folder, root, mark, setup, server: Mutex::new(None) }
    }

    /// A path inside the world.
    #[must_use]
    pub fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The same as text.
    #[must_use]
    pub fn text_at(&self, name: &str) -> String {
        self.at(name).to_str().expect("UTF-8").to_owned()
    }

    /// The socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.at("run/hooksd.sock")
    }

    /// Writes a file, with its folders.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Writes a script with this mode.
    pub fn script(&self, name: &str, content: &str, mode: u32) -> String {
        let path = self.write(name, content);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Reads a file; `None` when it is not there.
    #[must_use]
    pub fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.at(name)).ok()
    }

    /// Writes the user's hooks.json.
    pub fn user(&self, document: &Value) {
        self.user_text(document.to_string());
    }

    /// Writes the user's hooks.json as given.
    pub fn user_text(&self, document: impl AsRef<[u8]>) {
        self.write("config/hooks.json", document);
    }

    /// Writes the project's hooks.json.
    pub fn project(&self, document: &Value) {
        self.write("project/.deepagents/hooks.json", document.to_string());
    }

    /// The daemon's environment.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let mut environment: Vec<(String, String)> = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME", self.text_at("home")),
            ("W", self.text_at("")),
            ("DENY", self.text_at("deny.json")),
            (processes::MARK, self.mark.clone()),
        ]
        .map(|(name, value)| (name.to_owned(), value.trim_end_matches('/').to_owned()))
        .into();
        environment.extend(self.setup.environment.iter().cloned());
        environment
    }

    /// Starts the server. Every world has one already; this is for tests that have stopped theirs.
    pub async fn start(&self) {
        let server = if self.setup.program { self.start_program().await } else { self.start_inside() };
        *self.server() = Some(server);
    }

    fn server(&self) -> std::sync::MutexGuard<'_, Option<Server>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start_inside(&self) -> Server {
        let (held, listener) = listen(&self.socket()).unwrap();
        let listener = tokio::net::UnixListener::from_std(listener).unwrap();
        let environment =
            self.environment().into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let settings = Settings {
            home: Some(self.at("home")),
            socket: Some(self.socket()),
            environment,
            drain: self.setup.drain,
            poll: self.setup.poll,
            warm: self.setup.warm.clone(),
            ..Settings::new(self.at(&self.setup.config_dir))
        };
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(hooksd::run(listener, settings, shutdown.clone()));
        Server::Inside { shutdown, task, held }
    }

    /// The command that starts this world's daemon.
    #[must_use]
    pub fn daemon_command(&self) -> std::process::Command {
        let environment = self.environment();
        let environment: Vec<(&str, &OsStr)> =
            environment.iter().map(|(name, value)| (name.as_str(), OsStr::new(value))).collect();
        let mut command = program::command("hooksd", &environment);
        command.arg("--socket").arg(self.socket()).arg("--config-dir").arg(self.at(&self.setup.config_dir));
        command
    }

    async fn start_program(&self) -> Server {
        let mut command = self.daemon_command();
        let log = fs::OpenOptions::new().create(true).append(true).open(self.at("daemon.log")).unwrap();
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let pid = child.id();
        let mut server = Server::Program { child, descriptors: 0 };
        let first = eventually("the daemon listens", async || {
            let Server::Program { child, .. } = &mut server else { return None };
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "the daemon has ended: {:?}", self.read("daemon.log"));
            tokio::net::UnixStream::connect(self.socket()).await.ok()
        });
        drop(first.await);
        self.only_own_connection().await;
        // With one connection, as at the end.
        let _open = self.only_own_connection().await;
        if let Server::Program { descriptors, .. } = &mut server {
            *descriptors = processes::descriptors(pid);
        }
        server
    }

    /// A connection, when the daemon has noticed that all others are gone and no handler runs.
    async fn only_own_connection(&self) -> Line {
        let mut line = self.connect().await;
        eventually("the daemon is idle", async || {
            let status = line.call("daemon/status", json!({})).await.expect("a status");
            (status["running_handlers"] == 0 && status["connections"] == 1).then_some(())
        })
        .await;
        line
    }

    /// The process of the real program.
    ///
    /// # Panics
    /// When the server is not one.
    #[must_use]
    pub fn pid(&self) -> u32 {
        match &*self.server() {
            Some(Server::Program { child, .. }) => child.id(),
            _ => panic!("the server is not the real program, or was stopped"),
        }
    }

    /// A connection.
    pub async fn connect(&self) -> Line {
        Line::connect(&self.socket()).await
    }

    /// The params of `session/open` for the project.
    #[must_use]
    pub fn open_params(&self) -> Value {
        json!({ "thread_id": "s1", "cwd": self.text_at("project"), "mode": "interactive" })
    }

    /// An agent with a session in the project.
    pub async fn agent(&self) -> Agent {
        self.agent_with(json!({})).await
    }

    /// The same with more params of `session/open`.
    pub async fn agent_with(&self, more: Value) -> Agent {
        let mut params = self.open_params();
        for (key, value) in more.as_object().expect("params") {
            params[key] = value.clone();
        }
        Agent::open(self.connect().await, params).await
    }

    /// A new agent in the project of a world with this user document.
    pub async fn agent_of(&self, document: &Value) -> Agent {
        self.user(document);
        self.agent().await
    }

    /// Living handlers of this world and what they have started: their command lines.
    #[must_use]
    pub fn alive(&self) -> Vec<String> {
        self.living().into_iter().map(|(_, line)| line).collect()
    }

    fn living(&self) -> Vec<(u32, String)> {
        let daemon = match &*self.server() {
            Some(Server::Program { child, .. }) => Some(child.id()),
            _ => None,
        };
        processes::marked(&self.mark, daemon)
    }

    /// Kills handlers and helpers that are left on purpose.
    pub fn kill_helpers(&self) {
        for (pid, _) in self.living() {
            processes::signal(pid, Signal::KILL);
        }
    }

    /// Waits until no handler and no helper is left.
    pub async fn nothing_runs(&self) {
        until("no handler is left", || self.alive().is_empty()).await;
    }

    /// Waits until a file is there.
    pub async fn appears(&self, name: &str) {
        until(&format!("{name} appears"), || self.at(name).exists()).await;
    }

    /// Tells the server to stop, by its token or by SIGTERM.
    pub fn tell_to_stop(&self) {
        match &*self.server() {
            Some(Server::Inside { shutdown, .. }) => shutdown.cancel(),
            Some(Server::Program { child, .. }) => processes::signal(child.id(), Signal::TERM),
            None => panic!("the server was stopped already"),
        }
    }

    /// Waits until the server has ended; the exit status of the real program.
    pub async fn ended(&self) -> Option<i32> {
        let server = self.server().take();
        match server {
            Some(Server::Inside { task, held, .. }) => {
                task.await.expect("the server ends without a panic");
                drop(held);
                None
            }
            Some(Server::Program { mut child, .. }) => {
                let status = eventually("the daemon ends", async || child.try_wait().unwrap()).await;
                status.code()
            }
            None => panic!("the server was stopped already"),
        }
    }

    /// Stops the server and waits for its end.
    pub async fn stop(&self) -> Option<i32> {
        self.tell_to_stop();
        self.ended().await
    }

    /// Kills the real program, as the system would.
    pub async fn kill(&self) {
        processes::signal(self.pid(), Signal::KILL);
        self.ended().await;
    }

    /// What holds at the end of every test.
    async fn finish(&self) {
        let program = match &*self.server() {
            None => None,
            Some(Server::Inside { .. }) => Some(None),
            Some(Server::Program { child, descriptors }) => Some(Some((child.id(), *descriptors))),
        };
        if let Some(program) = program {
            let open = self.only_own_connection().await;
            if let Some((pid, before)) = program {
                until("no child is left", || processes::children(pid).is_empty()).await;
                until("no descriptor is left", || processes::descriptors(pid) <= before).await;
            }
            drop(open);
            let status = self.stop().await;
            assert!(program.is_none() || status == Some(0), "the daemon ended with {status:?}");
            assert!(!self.socket().exists(), "the socket file is left");
        }
        self.nothing_runs().await;
        let log = self.read("daemon.log").unwrap_or_default();
        assert!(!log.contains("panicked"), "{log}");
    }

    /// Where everything of this world is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Only after a failure is there anything to do.
        let server = self.server().take();
        if let Some(Server::Program { mut child, .. }) = server {
            let _ = child.kill();
            let _ = child.wait();
        }
        self.kill_helpers();
    }
}
