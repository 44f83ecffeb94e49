//! hooksd as the engine: one that is started for it, in folders of its own, or one that runs already.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hooksd_client::blocking::Client;
use hooksd_client::{SETTINGS_FILE, program};
use hooksd_config::document::{ListForm, parse_bytes};
use hooksd_protocol::methods::NoParams;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{EngineAnswer, Respondent};
use crate::failure::Failure;
use crate::layout::{World, folder};
use crate::scenario::Scenario;

/// How long a daemon may take to listen, and to end. Seconds.
const START_SECONDS: u64 = 20;

/// Between two looks whether a daemon listens, or has ended. Milliseconds.
const PAUSE: Duration = Duration::from_millis(10);

/// What makes a config dir somebody's.
const OF_USERS: [&str; 4] =
    ["hooks.json", ".state/hooks_trust.json", ".state/plugin_state.json", ".state/installed_plugins.json"];

/// A daemon, and the connection to it.
pub(crate) struct Daemon {
    client: Client,
    config_dir: PathBuf,
    limit: Duration,
    /// Whether the last scenario's user document was one that can be used.
    had_good: bool,
    /// The process and its folder, when it was started here.
    own: Option<Own>,
}

/// A daemon that ends with the value.
struct Own {
    child: Child,
    top: PathBuf,
}

impl Daemon {
    /// Starts one on a temporary socket and config dir.
    pub(crate) fn start(limit: Duration) -> Result<Daemon, Failure> {
        let program = program::find().map_err(Failure::Input)?;
        let top = folder()?;
        let (socket, config_dir) = (top.join("socket"), top.join("config"));
        fs::create_dir_all(&config_dir)?;
        fs::write(config_dir.join(SETTINGS_FILE), "[journal]\nenabled = false\n")?;
        let mut command = program::command(program);
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", &top);
        command.arg("--socket").arg(&socket).arg("--config-dir").arg(&config_dir);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut own = Own { child: command.spawn()?, top };
        let deadline = Instant::now() + Duration::from_secs(START_SECONDS);
        let client = loop {
            match Client::connect(&socket) {
                Ok(client) => break client,
                Err(error) if Instant::now() > deadline || own.child.try_wait()?.is_some() => {
                    return Err(error.into());
                }
                Err(_) => thread::sleep(PAUSE),
            }
        };
        Ok(Daemon { client: client.with_timeout(limit), config_dir, limit, had_good: false, own: Some(own) })
    }

    /// The one at a socket. It is refused where somebody's hooks, trust or plugins are.
    pub(crate) fn at(socket: &Path, limit: Duration) -> Result<Daemon, Failure> {
        let mut client = Client::connect(socket)?.with_timeout(limit);
        let status: Value = serde_json::from_str(&client.call_raw("daemon/status", &NoParams {})?)
            .map_err(|error| Failure::Foreign(format!("the daemon's status cannot be read: {error}")))?;
        let config_dir = status.get("config_dir").and_then(Value::as_str).map(PathBuf::from);
        let config_dir =
            config_dir.ok_or_else(|| Failure::Foreign("the daemon names no config dir".to_owned()))?;
        let is_there = |name: &str| fs::symlink_metadata(config_dir.join(name)).is_ok();
        if let Some(name) = OF_USERS.iter().find(|name| is_there(name)) {
            return Err(Failure::Input(format!(
                "{} is there, and would count: give the daemon a config dir of its own \
                 (hooksd --socket S --config-dir DIR), or leave --socket out",
                config_dir.join(name).display()
            )));
        }
        Ok(Daemon { client, config_dir, limit, had_good: false, own: None })
    }

    /// Waits until the document of an earlier scenario serves no more.
    fn wait_until_gone(&mut self) -> Result<(), Failure> {
        let nowhere = json!({ "thread_id": "conformance", "cwd": "/", "mode": "headless" });
        let deadline = Instant::now() + Duration::from_secs(START_SECONDS);
        while Instant::now() < deadline {
            let opened: Value =
                serde_json::from_str(&self.client.call_raw("session/open", &nowhere)?).unwrap_or_default();
            let close = json!({ "session": opened.get("session") });
            self.client.call_raw("session/close", &close)?;
            let events = opened.get("snapshot").and_then(|snapshot| snapshot.get("events")?.as_array());
            if events.is_some_and(Vec::is_empty) {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        Err(Failure::Foreign("the daemon still has the handlers of a document that is gone".to_owned()))
    }

    fn ask(&mut self, method: &str, params: &impl Serialize) -> Result<String, String> {
        self.client.call_raw(method, params).map_err(|error| format!("{method}: {error}"))
    }
}

/// The params of `hook/invoke`.
#[derive(Serialize)]
struct Invoke<'a> {
    session: &'a Value,
    invocation: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript_path: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_transcript_path: &'a Option<String>,
}

impl Respondent for Daemon {
    /// While a document is broken, or gone for a moment, its last good version serves (D2). So where the scenario has no
    /// good one, there must not have been one before.
    fn prepare(&mut self, scenario: &Scenario) -> Result<Option<PathBuf>, Failure> {
        let is_good = is_good(scenario);
        if self.had_good && !is_good {
            if self.own.is_some() {
                *self = Daemon::start(self.limit)?;
            } else {
                self.wait_until_gone()?;
            }
        }
        self.had_good = is_good;
        Ok(Some(self.config_dir.clone()))
    }

    fn answer(&mut self, scenario: &Scenario, world: &World) -> Result<EngineAnswer, String> {
        let unreadable = |error: serde_json::Error| format!("the daemon's answer cannot be read: {error}");
        let invocation = RawValue::from_string(world.real(scenario.invocation.get())).map_err(unreadable)?;
        let opened = self.ask("session/open", &open(scenario, world))?;
        let opened: Value = serde_json::from_str(&opened).map_err(unreadable)?;
        let session = opened.get("session").ok_or("the daemon names no session")?;
        let Scenario { transcript_path, agent_transcript_path, .. } = scenario;
        let invoke = Invoke { session, invocation: &invocation, transcript_path, agent_transcript_path };
        let invoked = self.ask("hook/invoke", &invoke);
        self.ask("session/close", &json!({ "session": session }))?;
        let invoked: Value = serde_json::from_str(&invoked?).map_err(unreadable)?;
        let diagnostics = opened.get("snapshot").and_then(|snapshot| snapshot.get("diagnostics")?.as_array());
        Ok(EngineAnswer {
            decision: invoked.get("decision").cloned(),
            load_diagnostics: diagnostics.cloned(),
            unsupported: None,
        })
    }
}

/// Whether a daemon takes in the user's document.
fn is_good(scenario: &Scenario) -> bool {
    let bytes = scenario.user.as_ref().and_then(|bytes| bytes.bytes(&str::to_owned).ok());
    bytes.is_some_and(|bytes| parse_bytes(&bytes, "", ListForm::Allowed).declarations.is_some())
}

/// The params of `session/open`.
fn open(scenario: &Scenario, world: &World) -> Value {
    let session = &scenario.session;
    let environment = world.environment(scenario).into_iter().map(|(name, value)| (name, json!(value)));
    let plugins = session.plugins.as_ref().map(|plugins| world.real(&plugins.to_string()));
    let mut params = json!({
        "thread_id": "conformance",
        "cwd": world.cwd(scenario),
        "mode": session.mode.as_deref().unwrap_or("interactive"),
        "env": Value::Object(environment.collect()),
        "trust": session.trust,
        "plugins": plugins.and_then(|text| serde_json::from_str::<Value>(&text).ok()),
    });
    if let Some(members) = params.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    params
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if self.own.is_some() {
            // It may have ended already; then it is only waited for.
            let _ = self.client.call_raw("daemon/shutdown", &json!({ "drain_ms": 0 }));
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(START_SECONDS);
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                // Nothing is left to be tried after this.
                let _ = self.child.kill();
                let _ = self.child.wait();
                break;
            }
            thread::sleep(PAUSE);
        }
        let _ = fs::remove_dir_all(&self.top);
    }
}
