//! One test's world: its folders, its documents, its environment, its agents.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::agent::Agent;
use super::line::Line;
use super::server::Server;
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
    pub warm: hooksd::base::settings::WarmLimits,
    /// What is kept of events. Only inside the test's process.
    pub journal: hooksd::base::settings::JournalSettings,
    /// A shell's lines that put the real program under limits: `ulimit -n 96`.
    pub limits: String,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            program: false,
            environment: Vec::new(),
            drain: Duration::from_secs(hooksd::base::settings::DRAIN_SECONDS),
            config_dir: "config".to_owned(),
            limits: String::new(),
            poll: false,
            warm: hooksd::base::settings::WarmLimits::default(),
            journal: hooksd::base::settings::JournalSettings::default(),
        }
    }
}

/// One test's world. Handlers see its folder as `$W` and the denying answer's file as `$DENY`.
pub struct World {
    folder: TempDir,
    root: PathBuf,
    pub(super) mark: String,
    pub(super) setup: Setup,
    pub(super) server: Mutex<Option<Server>>,
}

impl World {
    pub(super) fn new(setup: Setup) -> World {
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

    /// What marks the processes of this world.
    #[must_use]
    pub fn mark(&self) -> String {
        self.mark.clone()
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

    /// `hooksctl` in the project, against this world's daemon.
    #[must_use]
    pub fn ctl(&self, arguments: &[&str]) -> Command {
        let environment = self.environment();
        let environment: Vec<(&str, &OsStr)> =
            environment.iter().map(|(name, value)| (name.as_str(), OsStr::new(value))).collect();
        let mut command = program::command("hooksctl", &environment);
        command.env("HOOKSD_SOCKET", self.socket()).current_dir(self.at("project")).args(arguments);
        command
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

    /// Where everything of this world is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}
