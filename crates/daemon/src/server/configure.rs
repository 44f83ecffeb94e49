//! The daemon's own settings: hooksd.toml in the config dir, overridden by variables, overridden by the command line.
//!
//! [`KEYS`] is all that can be set, each with its default and range. A key that is unknown or a value out of range is an
//! error that names the file, the line and the fix: a daemon that quietly does something else than it was told is worse
//! than one that does not start.

mod apply;
mod file;

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use hooksd_protocol::methods::SettingInfo;

use crate::base::settings::{
    DRAIN_SECONDS, IDLE_EXIT_SECONDS, JOURNAL_MAX_DAYS, JOURNAL_MAX_MB, MAX_CONNECTIONS,
};

pub use apply::{Given, settings};

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    Text,
    /// `true` or `false`.
    Switch,
    /// A whole number from the first to the second.
    Number(u64, u64),
}

/// One thing that can be set.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name in the file, with its section.
    pub name: &'static str,
    /// The variable that overrides it.
    pub variable: &'static str,
    /// What its value looks like.
    pub kind: Kind,
    /// What it is without being set.
    pub default: Default,
    /// What it may be, where the kind does not say it.
    pub range: &'static str,
}

/// What a key is without being set.
#[derive(Debug, Clone, Copy)]
pub enum Default {
    /// A number.
    Number(u64),
    /// A switch.
    Switch(bool),
    /// A text.
    Text(&'static str),
    /// Computed, in these words.
    Computed(&'static str),
}

const fn number(name: &'static str, variable: &'static str, default: Default, least: u64, most: u64) -> Key {
    Key { name, variable, kind: Kind::Number(least, most), default, range: "" }
}

const fn switch(name: &'static str, variable: &'static str, default: bool) -> Key {
    Key { name, variable, kind: Kind::Switch, default: Default::Switch(default), range: "" }
}

const fn text(name: &'static str, variable: &'static str, default: Default, range: &'static str) -> Key {
    Key { name, variable, kind: Kind::Text, default, range }
}

/// All that can be set.
pub const KEYS: [Key; 12] = [
    text("socket", "HOOKSD_SOCKET", Default::Computed("by the environment"), "an absolute path"),
    text(
        "log",
        "HOOKSD_LOG",
        Default::Text("info"),
        "off, error, warn, info, debug, trace, or a filter of tracing",
    ),
    switch("poll", "HOOKSD_POLL", false),
    switch("plugins", "HOOKSD_PLUGINS", true),
    number("drain_seconds", "HOOKSD_DRAIN_SECONDS", Default::Number(DRAIN_SECONDS), 0, 600),
    number(
        "idle_exit_seconds",
        "HOOKSD_IDLE_EXIT_SECONDS",
        Default::Number(IDLE_EXIT_SECONDS),
        0,
        31_536_000,
    ),
    number(
        "limits.handlers",
        "HOOKSD_LIMITS_HANDLERS",
        Default::Computed("by the system's limits"),
        3,
        100_000,
    ),
    number(
        "limits.connections",
        "HOOKSD_LIMITS_CONNECTIONS",
        Default::Number(MAX_CONNECTIONS as u64),
        1,
        100_000,
    ),
    switch("journal.enabled", "HOOKSD_JOURNAL_ENABLED", true),
    switch("journal.payloads", "HOOKSD_JOURNAL_PAYLOADS", false),
    number("journal.max_mb", "HOOKSD_JOURNAL_MAX_MB", Default::Number(JOURNAL_MAX_MB), 1, 1_048_576),
    number("journal.max_days", "HOOKSD_JOURNAL_MAX_DAYS", Default::Number(JOURNAL_MAX_DAYS), 1, 36_500),
];

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Of a text.
    Text(String),
    /// Of a switch.
    Switch(bool),
    /// Of a number.
    Number(u64),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => f.write_str(text),
            Value::Switch(switch) => write!(f, "{switch}"),
            Value::Number(number) => write!(f, "{number}"),
        }
    }
}

impl fmt::Display for Default {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Default::Number(number) => write!(f, "{number}"),
            Default::Switch(switch) => write!(f, "{switch}"),
            Default::Text(text) | Default::Computed(text) => f.write_str(text),
        }
    }
}

impl Key {
    /// What it may be, for people.
    #[must_use]
    pub fn range(&self) -> String {
        match self.kind {
            Kind::Text => self.range.to_owned(),
            Kind::Switch => "true or false".to_owned(),
            Kind::Number(least, most) => format!("{least} to {most}"),
        }
    }

    /// Checks a value.
    fn check(&self, value: Value) -> Result<Value, String> {
        let fits = match (&value, self.kind) {
            (Value::Text(text), Kind::Text) => match self.name {
                "socket" => Path::new(text).is_absolute(),
                // To the filter, a single word that is no level is the name of a module.
                "log" if text.contains(['=', ',']) => tracing_subscriber::EnvFilter::try_new(text).is_ok(),
                "log" => text.parse::<tracing_subscriber::filter::LevelFilter>().is_ok(),
                _ => true,
            },
            (Value::Switch(_), Kind::Switch) => true,
            (Value::Number(number), Kind::Number(least, most)) => (least..=most).contains(number),
            _ => false,
        };
        if fits { Ok(value) } else { Err(self.misfit(&value.to_string())) }
    }

    fn misfit(&self, got: &str) -> String {
        format!("{} is {got}: it must be {}; without it, it is {}", self.name, self.range(), self.default)
    }

    /// Reads a variable's value.
    fn read(&self, text: &str) -> Result<Value, String> {
        let value = match self.kind {
            Kind::Text => Some(Value::Text(text.to_owned())),
            Kind::Switch => match text {
                "1" | "true" => Some(Value::Switch(true)),
                "0" | "false" => Some(Value::Switch(false)),
                _ => None,
            },
            Kind::Number(..) => text.parse().ok().map(Value::Number),
        };
        self.check(value.ok_or_else(|| self.misfit(text))?)
    }
}

/// What the bytes of a hooksd.toml at `path` come to, without any other source.
///
/// # Errors
/// The first thing in it that is wrong.
pub fn read(bytes: &[u8], path: &Path) -> Result<Vec<SettingInfo>, SettingsError> {
    let mut layers = Layers::default();
    file::take_bytes(&mut layers, path, bytes)?;
    Ok(layers.told())
}

/// What is wrong with a setting, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct SettingsError {
    /// The file with its line, or the variable.
    pub place: String,
    /// What is wrong and what to do.
    pub message: String,
}

/// A value with the place it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    value: Value,
    origin: String,
}

/// The values of [`KEYS`], in their order; `None` where nobody has said anything.
#[derive(Debug, Default)]
struct Layers {
    values: [Option<Setting>; KEYS.len()],
    /// What was found that means nothing, for the log.
    remarks: Vec<String>,
}

impl Layers {
    fn set(&mut self, name: &str, value: Value, origin: &str) {
        let found = self.values.iter_mut().zip(KEYS).find(|(_, key)| key.name == name);
        if let Some((slot, _)) = found {
            *slot = Some(Setting { value, origin: origin.to_owned() });
        }
    }

    fn remark(&mut self, remark: String) {
        self.remarks.push(remark);
    }

    fn get(&self, name: &str) -> Option<&Value> {
        let (setting, _) = self.values.iter().zip(KEYS).find(|(_, key)| key.name == name)?;
        setting.as_ref().map(|setting| &setting.value)
    }

    /// Takes what variables say; the socket's is read with its other sources.
    fn take_variables(&mut self, variable: &dyn Fn(&str) -> Option<OsString>) -> Result<(), SettingsError> {
        for key in KEYS.iter().filter(|key| key.name != "socket") {
            let Some(text) = variable(key.variable).filter(|text| !text.is_empty()) else { continue };
            let wrong = |message| SettingsError { place: key.variable.to_owned(), message };
            let value = key.read(&text.to_string_lossy()).map_err(wrong)?;
            self.set(key.name, value, key.variable);
        }
        Ok(())
    }

    /// All of them, for people.
    fn told(&self) -> Vec<SettingInfo> {
        let each = |(setting, key): (&Option<Setting>, Key)| SettingInfo {
            key: key.name.to_owned(),
            value: setting
                .as_ref()
                .map_or_else(|| key.default.to_string(), |setting| setting.value.to_string()),
            origin: setting.as_ref().map_or_else(|| "default".to_owned(), |setting| setting.origin.clone()),
            default: key.default.to_string(),
            range: key.range(),
        };
        self.values.iter().zip(KEYS).map(each).collect()
    }
}
