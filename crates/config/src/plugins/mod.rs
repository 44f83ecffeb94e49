//! Plugins: which are enabled, where their documents are, and what their handlers see (contract section 7).
//!
//! * [`discover`](mod@discover): the enabled ones, from the agent's two state files.
//! * [`manifest`]: one plugin's documents: `hooks/hooks.json`, files its manifest names, hooks inside the manifest.
//!
//! One broken plugin or document costs itself alone (D18).

pub mod discover;
pub mod manifest;

use std::fs;
use std::path::{Path, PathBuf};

use hooksd_json::{Dialect, Value};
use hooksd_protocol::diagnostic::{Diagnostic, code};

use crate::layers::PluginDocument;
use crate::read::{Found, MAX_DOCUMENT, bounded};
use crate::safe_name::safe_name;

pub use discover::{Discovered, discover, idle, listed};
pub use manifest::Plugin;

/// The folder in which a plugin may keep data: readable, and another one for every id.
#[must_use]
pub fn data_dir(config_dir: &Path, id: &str) -> PathBuf {
    config_dir.join("plugins").join("data").join(safe_name(id, "plugin"))
}

/// The documents of plugins in their order, and remarks on those that cannot be used. Makes data folders.
#[must_use]
pub fn collect(plugins: &[Plugin], project_dir: Option<&Path>) -> (Vec<PluginDocument>, Vec<Diagnostic>) {
    let (mut documents, mut diagnostics) = (Vec::new(), Vec::new());
    for plugin in plugins {
        let (texts, problems) = texts(plugin);
        diagnostics.extend(problems);
        if texts.is_empty() {
            continue;
        }
        if let Err(error) = fs::create_dir_all(&plugin.data_dir) {
            let location = plugin.data_dir.display().to_string();
            let message = format!("plugin {}: its data folder {location} cannot be made: {error}", plugin.id);
            diagnostics.push(Diagnostic::warning(code::PLUGIN_HOOKS_FAILED, message).field(location));
        }
        let env = overlay(plugin, project_dir);
        documents.extend(texts.into_iter().map(|(location, document)| PluginDocument {
            plugin_id: plugin.id.clone(),
            location: location.display().to_string(),
            env: env.clone(),
            document,
        }));
    }
    (documents, diagnostics)
}

/// A plugin's documents, each with where it stands, and remarks on those that cannot be read.
#[must_use]
pub fn texts(plugin: &Plugin) -> (Vec<(&PathBuf, String)>, Vec<Diagnostic>) {
    let (mut texts, mut diagnostics) = (Vec::new(), Vec::new());
    for file in &plugin.hook_files {
        match text(file) {
            Ok(Some(text)) => texts.push((file, text)),
            Ok(None) => {}
            Err(reason) => {
                let location = file.display().to_string();
                let message = format!("{location} {reason}; none of its hooks is loaded");
                diagnostics.push(Diagnostic::warning(code::CONFIG_READ_FAILED, message).field(location));
            }
        }
    }
    texts.extend(plugin.inline.iter().map(|(manifest, text)| (manifest, text.clone())));
    (texts, diagnostics)
}

/// The JSON text of a document; `None` when there is no file.
fn text(file: &Path) -> Result<Option<String>, String> {
    match bounded(file, MAX_DOCUMENT) {
        Found::Absent => Ok(None),
        Found::Unreadable { reason, .. } => Err(reason),
        Found::File(contents) => {
            if contents.bytes.starts_with(b"\xEF\xBB\xBF") {
                // D6 is about documents that people edit; agents refuse a plugin's, and its author should know.
                return Err("begins with a byte order mark; save it without one".to_owned());
            }
            let text = std::str::from_utf8(&contents.bytes).map_err(|_| "is not UTF-8".to_owned())?;
            Value::parse(text, Dialect::Python).map_err(|error| format!("is not JSON: {error}"))?;
            Ok(Some(text.to_owned()))
        }
    }
}

/// What handlers of a plugin see on top of the session's environment.
fn overlay(plugin: &Plugin, project_dir: Option<&Path>) -> Vec<(String, String)> {
    let root = plugin.root.display().to_string();
    let data = plugin.data_dir.display().to_string();
    let mut env = vec![
        ("CLAUDE_PLUGIN_ROOT".to_owned(), root.clone()),
        ("CLAUDE_PLUGIN_DATA".to_owned(), data.clone()),
        ("PLUGIN_ROOT".to_owned(), root),
        ("PLUGIN_DATA".to_owned(), data),
    ];
    if let Some(project) = project_dir {
        env.push(("CLAUDE_PROJECT_DIR".to_owned(), project.display().to_string()));
    }
    env
}
