//! What a daemon is told when it starts. Everything comes from the caller: a test has no home and no environment.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use hooksd_protocol::socket;
pub use hooksd_runner::warm::Limits as WarmLimits;

/// How long running events may take once the daemon was told to stop. Seconds. As long as systemd users expect a
/// service to take, short enough that a log-out does not hang.
pub const DRAIN_SECONDS: u64 = 10;

/// Variables that belong to the daemon's own life and must not reach handlers (D14).
const OWN_VARIABLES: [&str; 6] =
    ["NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// What is kept of events in the journal, and how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalSettings {
    /// Whether anything is.
    pub enabled: bool,
    /// Whether payloads and outputs are, without secrets.
    pub payloads: bool,
    /// The most the journal takes. Bytes. The oldest records go first.
    pub max_bytes: u64,
    /// How long records are kept.
    pub max_age: Duration,
}

impl Default for JournalSettings {
    fn default() -> JournalSettings {
        JournalSettings {
            enabled: true,
            payloads: false,
            max_bytes: 64 * 1024 * 1024,
            max_age: Duration::from_secs(30 * 24 * 60 * 60),
        }
    }
}

/// What a daemon is told when it starts.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The folder of the user's hooks.json.
    pub config_dir: PathBuf,
    /// The user's home: where handlers run when everything else is gone (D3).
    pub home: Option<PathBuf>,
    /// The socket's path: handlers get it (D12), status shows it.
    pub socket: Option<PathBuf>,
    /// The environment of sessions that send none (D14).
    pub environment: Vec<(OsString, OsString)>,
    /// How long running events may take once the daemon was told to stop.
    pub drain: Duration,
    /// Look at the documents every second instead of watching their folders: for file systems that tell nothing.
    pub poll: bool,
    /// How many processes stay or wait, and how long.
    pub warm: WarmLimits,
    /// The journal.
    pub journal: JournalSettings,
}

impl Settings {
    /// The defaults for a config dir: no home, no socket path, an empty environment.
    #[must_use]
    pub fn new(config_dir: PathBuf) -> Settings {
        Settings {
            config_dir,
            home: None,
            socket: None,
            environment: Vec::new(),
            drain: Duration::from_secs(DRAIN_SECONDS),
            poll: false,
            warm: WarmLimits::default(),
            journal: JournalSettings::default(),
        }
    }

    /// From the process environment. `None` when it names no config dir and no home.
    #[must_use]
    pub fn from_environment() -> Option<Settings> {
        let config_dir = socket::config_dir(&|name| std::env::var_os(name))?;
        let own = |name: &OsString| {
            let name = name.to_string_lossy();
            OWN_VARIABLES.contains(&name.as_ref()) || name.starts_with("HOOKSD_")
        };
        Some(Settings {
            home: std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()),
            environment: std::env::vars_os().filter(|(name, _)| !own(name)).collect(),
            ..Settings::new(config_dir)
        })
    }

    /// The user's document.
    #[must_use]
    pub fn user_document(&self) -> PathBuf {
        self.config_dir.join(hooksd_config::project::HOOKS_FILE)
    }
}
