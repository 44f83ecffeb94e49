//! What a daemon is told when it starts. Everything comes from the caller: a test has no home and no environment.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hooksd_protocol::methods::SettingInfo;
use hooksd_protocol::socket;
pub use hooksd_runner::warm::Limits as WarmLimits;

use crate::base::variables::SessionVariables;

/// The file's name, in the config dir.
pub const SETTINGS_FILE: &str = hooksd_client::SETTINGS_FILE;

/// How long running events may take once the daemon was told to stop. Seconds. As long as systemd users expect a
/// service to take, short enough that a log-out does not hang.
pub const DRAIN_SECONDS: u64 = 10;

/// How long a daemon that was started on demand stays without use. Seconds. Half an hour: as long as a person may be
/// away from a running agent's project without paying for a start.
pub const IDLE_EXIT_SECONDS: u64 = 30 * 60;

/// Open connections at most. Connections. An agent has one or two; more are refused with -32005 and closed, so that a
/// client that leaks them cannot take the descriptors of everybody else's handlers.
pub const MAX_CONNECTIONS: usize = 16_384;

/// Bytes of the journal at most. Mebibytes.
pub const JOURNAL_MAX_MB: u64 = 64;

/// Days that the journal keeps.
pub const JOURNAL_MAX_DAYS: u64 = 30;

/// Seconds of a day.
const DAY_SECONDS: u64 = 24 * 60 * 60;

/// Variables that belong to the daemon's own life and must not reach handlers (D14).
const OWN_VARIABLES: [&str; 6] =
    ["NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// Which records the journal keeps, and how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalSettings {
    /// Whether a journal is written at all.
    pub enabled: bool,
    /// Whether records hold what handlers have read and printed.
    pub payloads: bool,
    /// How large the journal may be. Bytes.
    pub max_bytes: u64,
    /// How old its oldest record may be.
    pub max_age: Duration,
}

impl Default for JournalSettings {
    fn default() -> JournalSettings {
        JournalSettings {
            enabled: true,
            payloads: false,
            max_bytes: mebibytes(JOURNAL_MAX_MB),
            max_age: days(JOURNAL_MAX_DAYS),
        }
    }
}

/// Mebibytes in bytes.
pub(crate) fn mebibytes(count: u64) -> u64 {
    count.saturating_mul(1024 * 1024)
}

/// Days as a duration.
pub(crate) fn days(count: u64) -> Duration {
    Duration::from_secs(count.saturating_mul(DAY_SECONDS))
}

/// What a daemon is told when it starts. Nothing in it changes while the daemon runs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The folder of the user's hooks.json.
    pub config_dir: PathBuf,
    /// The user's home: where handlers run when everything else is gone (D3).
    pub home: Option<PathBuf>,
    /// The socket's path: handlers get it (D12), status shows it.
    pub socket: Option<PathBuf>,
    /// The environment of sessions that send none (D14).
    pub environment: Arc<SessionVariables>,
    /// How long running events may take once the daemon was told to stop.
    pub drain: Duration,
    /// Look at the documents every second instead of watching their folders: for file systems that tell nothing.
    pub poll: bool,
    /// Whether the hooks of enabled plugins take part in sessions that ask for them.
    pub plugins: bool,
    /// How many warm processes there may be, and how long they live (D9).
    pub warm: WarmLimits,
    /// Which records the journal keeps.
    pub journal: JournalSettings,
    /// How many handlers may run at once, where that is fewer than the system's limits allow.
    pub max_handlers: Option<usize>,
    /// How many connections may be open.
    pub max_connections: usize,
    /// Stop after so much time without a connection, an event or a handler; never without one.
    pub idle_exit: Option<Duration>,
    /// The service manager holds the socket: whoever waits there is served by the next daemon.
    pub activated: bool,
    /// How often the service manager wants to hear that the daemon is alive.
    pub heartbeat: Option<Duration>,
    /// Every setting with where it comes from, for people.
    pub told: Vec<SettingInfo>,
    /// What was found among the settings that means nothing; logged once, when the daemon starts.
    pub remarks: Vec<String>,
}

impl Settings {
    /// The defaults for a config dir: no home, no socket path, an empty environment.
    #[must_use]
    pub fn new(config_dir: PathBuf) -> Settings {
        Settings {
            config_dir,
            home: None,
            socket: None,
            environment: Arc::new(SessionVariables::new(Vec::new())),
            drain: Duration::from_secs(DRAIN_SECONDS),
            poll: false,
            plugins: true,
            warm: WarmLimits::default(),
            journal: JournalSettings::default(),
            max_handlers: None,
            max_connections: MAX_CONNECTIONS,
            idle_exit: None,
            activated: false,
            heartbeat: None,
            told: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// The settings that the process environment gives. `None` when it names no config dir and no home.
    #[must_use]
    pub fn from_environment() -> Option<Settings> {
        let config_dir = socket::config_dir(&|name| std::env::var_os(name))?;
        let own = |name: &OsString| {
            let name = name.to_string_lossy();
            OWN_VARIABLES.contains(&name.as_ref()) || name.starts_with("HOOKSD_")
        };
        Some(Settings {
            home: std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()),
            environment: Arc::new(std::env::vars_os().filter(|(name, _)| !own(name)).collect()),
            ..Settings::new(config_dir)
        })
    }

    /// The user's document.
    #[must_use]
    pub fn user_document(&self) -> PathBuf {
        self.config_dir.join(hooksd_config::project::HOOKS_FILE)
    }
}
