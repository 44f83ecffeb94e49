//! Which plugins are enabled and where they are: the agent's `plugin_state.json` and `installed_plugins.json` in the
//! state folder of the config dir. Read only; whoever manages plugins writes them.

use std::collections::BTreeSet;
use std::path::Path;

use hooksd_json::{Dialect, Kind, Value};
use hooksd_protocol::diagnostic::{Diagnostic, code};

use super::manifest::{Plugin, PluginError, is_id, load};
use crate::read::{Found, MAX_DOCUMENT, bounded};

/// Which plugins are enabled.
const STATE_FILE: &str = "plugin_state.json";

/// The newest version of that file. Versions.
const STATE_VERSION: i64 = 1;

/// Where plugins are installed.
const INSTALLED_FILE: &str = "installed_plugins.json";

/// The newest version of that file. Versions.
const INSTALLED_VERSION: i64 = 2;

/// The most plugins that are looked at. Plugins. More than anybody has; each costs several looks at the disk.
const MAX_PLUGINS: usize = 1000;

/// The plugins that can be used, and remarks on those that cannot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discovered {
    /// In the order of their ids.
    pub plugins: Vec<Plugin>,
    /// One sentence for each plugin, or part of one, that does not count.
    pub warnings: Vec<String>,
    /// The plugins that are enabled and whose folder is gone or is no folder: the id of each, and a sentence.
    pub broken: Vec<(String, String)>,
}

impl Discovered {
    fn add(&mut self, config_dir: &Path, id: &str, root: &Path) {
        match load(config_dir, id, root) {
            Ok(plugin) => {
                self.warnings.extend(plugin.warnings.iter().map(|warning| format!("plugin {id}: {warning}")));
                self.plugins.push(plugin);
            }
            Err(PluginError::NoFolder(reason)) => {
                let message = format!("plugin {id} is enabled and none of its hooks is loaded: {reason}");
                self.broken.push((id.to_owned(), message));
            }
            Err(PluginError::Manifest(reason)) => {
                self.warnings.push(format!("plugin {id} is not loaded: {reason}"));
            }
        }
    }

    /// The remarks on plugins that were found.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.warnings.iter().map(|warning| Diagnostic::warning(code::PLUGIN_HOOKS_FAILED, warning)).collect()
    }

    /// The remarks on plugins whose folder was not found. The contract counts them apart; a session is told of them
    /// all the same, for a guard may be missing.
    #[must_use]
    pub fn broken_diagnostics(&self) -> Vec<Diagnostic> {
        let told = |(_, message): &(String, String)| Diagnostic::warning(code::PLUGIN_HOOKS_FAILED, message);
        self.broken.iter().map(told).collect()
    }
}

/// Finds the enabled plugins of a config dir.
#[must_use]
pub fn discover(config_dir: &Path) -> Discovered {
    let mut found = Discovered::default();
    let enabled = enabled(config_dir);
    if enabled.len() > MAX_PLUGINS {
        found.warnings.push(format!("only the first {MAX_PLUGINS} enabled plugins are looked at"));
    }
    let installed = text(config_dir, INSTALLED_FILE);
    let installed = installed
        .as_deref()
        .and_then(|text| object(text, INSTALLED_VERSION))
        .and_then(|installed| installed.get("plugins"))
        .map(|plugins| plugins.entries())
        .unwrap_or_default();
    for id in enabled.iter().take(MAX_PLUGINS) {
        if !is_id(id) {
            found.warnings.push(format!("plugin {id:?} is enabled, but that is no NAME@MARKETPLACE"));
            continue;
        }
        let entry =
            installed.iter().find(|(name, _)| name == id).and_then(|(_, entries)| install_path(entries));
        match entry {
            Some(path) => found.add(config_dir, id, Path::new(&path)),
            None => found.warnings.push(format!("plugin {id} is enabled but not installed")),
        }
    }
    found
}

/// The plugins that are installed and not enabled.
#[must_use]
pub fn idle(config_dir: &Path) -> Discovered {
    let (mut found, enabled) = (Discovered::default(), enabled(config_dir));
    let installed = text(config_dir, INSTALLED_FILE);
    let installed = installed
        .as_deref()
        .and_then(|text| object(text, INSTALLED_VERSION))
        .and_then(|installed| installed.get("plugins"))
        .map(|plugins| plugins.entries())
        .unwrap_or_default();
    let others = installed.iter().filter(|(id, _)| is_id(id) && !enabled.contains(id.as_ref()));
    for (id, entries) in others.take(MAX_PLUGINS) {
        if let Some(path) = install_path(entries) {
            found.add(config_dir, id, Path::new(&path));
        }
    }
    found
}

/// The ids of the enabled plugins.
fn enabled(config_dir: &Path) -> BTreeSet<String> {
    let state = text(config_dir, STATE_FILE);
    state
        .as_deref()
        .and_then(|text| object(text, STATE_VERSION))
        .and_then(|state| state.get("enabledPlugins"))
        .map(|enabled| enabled.entries())
        .unwrap_or_default()
        .into_iter()
        .filter(|(_, value)| value.kind() == Kind::Bool(true))
        .map(|(id, _)| id.into_owned())
        .collect()
}

/// The plugins that a session names itself.
#[must_use]
pub fn listed<'a>(config_dir: &Path, plugins: impl IntoIterator<Item = (&'a str, &'a Path)>) -> Discovered {
    let mut found = Discovered::default();
    for (id, root) in plugins.into_iter().take(MAX_PLUGINS) {
        if is_id(id) && root.is_absolute() {
            found.add(config_dir, id, root);
        } else {
            let message = format!("plugin {id:?} is no NAME@MARKETPLACE with an absolute root");
            found.warnings.push(message);
        }
    }
    found
}

fn text(config_dir: &Path, name: &str) -> Option<String> {
    match bounded(&config_dir.join(".state").join(name), MAX_DOCUMENT) {
        Found::File(contents) => String::from_utf8(contents.bytes.to_vec()).ok(),
        Found::Absent | Found::Unreadable { .. } => None,
    }
}

/// The object of a state file, unless its version is none that is known. A missing version is the oldest.
fn object(text: &str, newest: i64) -> Option<Value<'_>> {
    let value = Value::parse(text, Dialect::Python).ok().filter(Value::is_object)?;
    match value.get("version").map(|version| version.kind()) {
        None | Some(Kind::Null) => Some(value),
        Some(Kind::Number(version)) => {
            version.parse::<i64>().ok().filter(|version| *version <= newest).map(|_| value)
        }
        Some(_) => None,
    }
}

/// The folder of the first entry that is whole.
fn install_path(entries: &Value<'_>) -> Option<String> {
    entries.items().iter().find_map(|entry| {
        let text = |key: &str| {
            entry
                .get(key)
                .and_then(|path| path.as_str())
                .filter(|path| !path.is_empty())
                .map(|path| path.into_owned())
        };
        let camel = entry.get("installPath").filter(|path| !path.is_null());
        let path = match camel {
            Some(path) if path.as_str().is_none_or(|path| !path.is_empty()) => text("installPath"),
            _ => text("install_path"),
        };
        let whole = match entry.get("version").filter(|version| !version.is_null()) {
            Some(version) => version.as_str().is_some_and(|version| !version.is_empty()),
            None => true,
        };
        path.filter(|_| whole)
    })
}
