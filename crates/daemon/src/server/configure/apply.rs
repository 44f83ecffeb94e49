//! All sources together, and what the daemon makes of them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow};
use hooksd_config::dotenv;
use hooksd_protocol::socket::{SOCKET_VARIABLE, check_length, config_dir, socket_path};

use super::{Layers, Value, file};
use crate::base::settings::{SETTINGS_FILE, Settings, days, mebibytes};

/// Switched on by agents that want to see everything: then the usual level of the log is `debug`. The first that has a
/// value counts; the second is the older name (contract section 12).
const DEBUG_VARIABLES: [&str; 2] = ["DEEPAGENTS_CODE_DEBUG", "DEEPAGENTS_CLI_DEBUG"];

/// What switches it on; anything else switches it off.
const ON: [&str; 4] = ["1", "true", "yes", "on"];

/// What is known to switch it off. Another value does so too, and is said.
const OFF: [&str; 4] = ["0", "false", "no", "off"];

/// What the command line and the service manager say.
#[derive(Debug, Default)]
pub struct Given {
    /// `--socket`, made absolute.
    pub socket: Option<PathBuf>,
    /// The path of the socket that the service manager has passed.
    pub passed: Option<PathBuf>,
    /// `--config-dir`, made absolute.
    pub config_dir: Option<PathBuf>,
    /// `--poll`.
    pub poll: bool,
    /// Whether a program has started the daemon because it needed one.
    pub on_demand: bool,
}

/// The daemon's settings, and the filter of its log.
///
/// # Errors
/// When there is no place for the socket or the documents, or a setting is wrong
/// ([`SettingsError`](super::SettingsError)).
pub fn settings(given: Given) -> Result<(Settings, String)> {
    let variable = |name: &str| std::env::var_os(name);
    let folder = given.config_dir.clone().or_else(|| config_dir(&variable));
    let mut layers = Layers::default();
    if let Some(folder) = &folder {
        file::take(&mut layers, &folder.join(SETTINGS_FILE))?;
    }
    take_debug(&mut layers, folder.as_deref(), &variable);
    layers.take_variables(&variable)?;
    if given.poll {
        layers.set("poll", Value::Switch(true), "--poll");
    }
    let socket = socket(&mut layers, &given, &variable)?;
    let Some(folder) = folder else {
        return Err(anyhow!("no config dir: set HOME or HOOKSD_CONFIG_DIR, or use --config-dir"));
    };
    let from_environment = Settings::from_environment().unwrap_or_else(|| Settings::new(folder.clone()));
    let settings = Settings { config_dir: folder, socket: Some(socket), ..from_environment };
    let log = match layers.get("log") {
        Some(Value::Text(log)) => log.clone(),
        _ => "info".to_owned(),
    };
    Ok((apply(settings, &layers, &given), log))
}

/// Where the socket is: the service manager's, `--socket`, the variable, the file, or what the environment leads to.
fn socket(
    layers: &mut Layers,
    given: &Given,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<PathBuf> {
    let of_file = match layers.get("socket") {
        Some(Value::Text(path)) => Some(PathBuf::from(path)),
        _ => None,
    };
    let named = variable(SOCKET_VARIABLE).is_some_and(|path| !path.is_empty());
    let (path, origin) = match (&given.passed, &given.socket, of_file) {
        (Some(passed), _, _) => (passed.clone(), "service manager"),
        (None, Some(socket), _) => (socket.clone(), "--socket"),
        (None, None, Some(of_file)) if !named => {
            check_length(&of_file)?;
            return Ok(of_file);
        }
        (None, None, _) => (socket_path(variable)?, if named { SOCKET_VARIABLE } else { "default" }),
    };
    layers.set("socket", Value::Text(path.display().to_string()), origin);
    Ok(path)
}

/// An agent that is being debugged wants to see what the daemon does. The config dir's `.env` fills in what the
/// environment leaves open.
fn take_debug(layers: &mut Layers, folder: Option<&Path>, variable: &dyn Fn(&str) -> Option<OsString>) {
    let file = folder.map(|folder| dotenv::read(&folder.join(".env")).pairs).unwrap_or_default();
    let of_file =
        |name: &str| file.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let value = |name: &'static str| {
        let own = variable(name).map(|value| value.to_string_lossy().into_owned());
        own.or_else(|| of_file(name)).filter(|value| !value.is_empty()).map(|value| (name, value))
    };
    let Some((name, value)) = DEBUG_VARIABLES.into_iter().find_map(value) else { return };
    let word = value.trim().to_ascii_lowercase();
    if ON.contains(&word.as_str()) {
        layers.set("log", Value::Text("debug".to_owned()), name);
    } else if !OFF.contains(&word.as_str()) {
        layers.remark(format!("{name} is {value:?}, which switches nothing on: use 1, true, yes or on"));
    }
}

fn apply(mut settings: Settings, layers: &Layers, given: &Given) -> Settings {
    let number = |name: &str| match layers.get(name) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    };
    let switch = |name: &str| match layers.get(name) {
        Some(Value::Switch(switch)) => Some(*switch),
        _ => None,
    };
    let count = |name: &str| number(name).and_then(|number| usize::try_from(number).ok());
    settings.plugins = switch("plugins").unwrap_or(settings.plugins);
    settings.poll = switch("poll").unwrap_or(settings.poll);
    settings.drain = number("drain_seconds").map_or(settings.drain, Duration::from_secs);
    settings.max_handlers = count("limits.handlers");
    settings.max_connections = count("limits.connections").unwrap_or(settings.max_connections);
    let journal = &mut settings.journal;
    journal.enabled = switch("journal.enabled").unwrap_or(journal.enabled);
    journal.payloads = switch("journal.payloads").unwrap_or(journal.payloads);
    journal.max_bytes = number("journal.max_mb").map_or(journal.max_bytes, mebibytes);
    journal.max_age = number("journal.max_days").map_or(journal.max_age, days);
    // Somebody who starts a daemon by hand or as a service wants it to stay.
    let idle = number("idle_exit_seconds").unwrap_or(crate::base::settings::IDLE_EXIT_SECONDS);
    settings.idle_exit = (given.on_demand && idle > 0).then(|| Duration::from_secs(idle));
    settings.activated = given.passed.is_some();
    settings.heartbeat = crate::base::notify::heartbeat();
    settings.told = layers.told();
    settings.remarks = layers.remarks.clone();
    settings
}
