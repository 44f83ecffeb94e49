//! One plugin: its manifest and the documents it has. A path in the manifest starts with `./` and stays inside the
//! plugin's root, symbolic links resolved.

use std::fs;
use std::path::{Component, Path, PathBuf};

use hooksd_json::{Dialect, Kind, Value};

use super::data_dir;
use crate::project::HOOKS_FILE;
use crate::read::{Found, MAX_DOCUMENT, bounded};

/// Where a manifest may be, best first.
const MANIFESTS: [&str; 3] = ["plugin.json", ".claude-plugin/plugin.json", ".codex-plugin/plugin.json"];

/// The deepest nesting of a manifest. Levels. Agents refuse deeper ones.
const MAX_DEPTH: usize = 1000;

/// The most documents that one manifest may name. Documents.
const MAX_PATHS: usize = 256;

/// A plugin that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// `NAME@MARKETPLACE`.
    pub id: String,
    /// Its folder, as it is named: that is what its handlers see.
    pub root: PathBuf,
    /// The same, links resolved: nothing outside is read.
    real: PathBuf,
    /// Where it may keep data; made when it has handlers.
    pub data_dir: PathBuf,
    /// Its document files, in order, canonical.
    pub hook_files: Vec<PathBuf>,
    /// The manifest, and the document inside it.
    pub inline: Option<(PathBuf, String)>,
    /// What of the manifest is ignored, and why.
    pub warnings: Vec<String>,
}

/// Splits `NAME@MARKETPLACE`.
fn name_of(id: &str) -> Option<&str> {
    let (name, marketplace) = id.rsplit_once('@')?;
    (!name.is_empty() && !marketplace.is_empty()).then_some(name)
}

/// Whether an id has both of its parts.
#[must_use]
pub fn is_id(id: &str) -> bool {
    name_of(id).is_some()
}

/// Why nothing of a plugin can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PluginError {
    /// The folder where it is installed is gone, or is no folder.
    #[error("{0}")]
    NoFolder(String),
    /// Its manifest cannot be used.
    #[error("{0}")]
    Manifest(String),
}

/// Reads the plugin in a folder.
///
/// # Errors
/// Why nothing of the plugin can be used.
pub fn load(config_dir: &Path, id: &str, root: &Path) -> Result<Plugin, PluginError> {
    let real = fs::canonicalize(root)
        .map_err(|error| PluginError::NoFolder(format!("{}: {error}", root.display())))?;
    if !real.is_dir() || root.to_str().is_none() || real.to_str().is_none() {
        let message = format!("{} is no folder with a name in UTF-8", root.display());
        return Err(PluginError::NoFolder(message));
    }
    let data_dir = data_dir(config_dir, id);
    let mut plugin = Plugin {
        id: id.to_owned(),
        root: root.components().collect(),
        real,
        data_dir,
        hook_files: Vec::new(),
        inline: None,
        warnings: Vec::new(),
    };
    // What leads out of the plugin by default is nobody's mistake in a manifest: no warning.
    if let Ok(Some(file)) = document_at(&plugin.real, &plugin.real.join("hooks")) {
        plugin.hook_files.push(file);
    }
    let manifests = MANIFESTS.iter().map(|place| plugin.root.join(place));
    if let Some(path) = manifests.into_iter().find(|path| path.is_file()) {
        let found = bounded(&path, MAX_DOCUMENT);
        plugin.manifest(&path, found).map_err(PluginError::Manifest)?;
    }
    Ok(plugin)
}

impl Plugin {
    fn manifest(&mut self, path: &Path, found: Found) -> Result<(), String> {
        let bad = |reason: &str| format!("{} {reason}", path.display());
        let contents = match found {
            Found::File(contents) => contents,
            Found::Absent => return Err(bad("is gone")),
            Found::Unreadable { reason, .. } => return Err(bad(&reason)),
        };
        let text = std::str::from_utf8(&contents.bytes).map_err(|_| bad("is not UTF-8"))?;
        let manifest =
            Value::parse(text, Dialect::Python).map_err(|error| bad(&format!("is not JSON: {error}")))?;
        if !manifest.is_object() {
            return Err(bad("is no JSON object"));
        }
        if manifest.depth() > MAX_DEPTH {
            return Err(bad(&format!("is nested deeper than {MAX_DEPTH} levels")));
        }
        // A name that is none is ignored; another plugin's is a mix-up.
        let name = manifest.get("name").and_then(|name| name.as_str()).filter(|name| is_name(name));
        if let Some(name) = name.filter(|name| Some(name.as_ref()) != name_of(&self.id)) {
            return Err(bad(&format!("is the manifest of {name}")));
        }
        let Some(hooks) = manifest.get("hooks").filter(|hooks| !hooks.is_null()) else { return Ok(()) };
        match hooks.kind() {
            Kind::Object => {
                // Hooks stand there as they are, or once more inside `hooks`; other keys beside those are no hooks.
                let events = hooks.get("hooks").filter(Value::is_object).unwrap_or(hooks);
                if !events.entries().is_empty() {
                    self.inline = Some((path.to_owned(), format!("{{\"hooks\":{}}}", events.raw())));
                }
            }
            Kind::String(path) => self.path(&path)?,
            Kind::Array => {
                let items = hooks.items();
                if items.len() > MAX_PATHS {
                    self.warnings.push(format!("only the first {MAX_PATHS} of its hooks paths are used"));
                }
                for item in items.iter().take(MAX_PATHS) {
                    match item.as_str() {
                        Some(path) => self.path(&path)?,
                        None => self.warnings.push(format!("hooks: {} is no path", item.kind().noun())),
                    }
                }
            }
            kind => self.warnings.push(format!("hooks: expected paths or an object, got {}", kind.noun())),
        }
        Ok(())
    }

    /// Takes a path of the manifest in. An error costs the plugin, as such a path is no accident.
    fn path(&mut self, path: &str) -> Result<(), String> {
        if path.contains('\0') {
            return Err("a path of its manifest has a NUL".to_owned());
        }
        let inside = path.strip_prefix("./").filter(|rest| {
            // What is a root or a drive elsewhere is refused here too: the same plugin is used there.
            let drive = matches!(rest.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
            let root = rest.starts_with('\\');
            let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
            let names = Path::new(rest).components().any(|part| matches!(part, Component::Normal(_)));
            names && !drive && !root && Path::new(rest).components().all(plain)
        });
        let document = match inside {
            Some(rest) => document_at(&self.real, &self.real.join(rest)),
            None => Err("it must start with ./ and stay inside the plugin".to_owned()),
        };
        match document {
            Ok(Some(file)) if !self.hook_files.contains(&file) => self.hook_files.push(file),
            Ok(_) => {}
            Err(reason) => self.warnings.push(format!("the hooks path {path:?} is ignored: {reason}")),
        }
        Ok(())
    }
}

/// Letters, digits, dots, dashes and underscores.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

/// The document at a path inside the plugin: a file, or `hooks.json` in a folder. `None` when nothing is there.
fn document_at(root: &Path, path: &Path) -> Result<Option<PathBuf>, String> {
    let Ok(real) = fs::canonicalize(path) else { return Ok(None) };
    let real = if real.is_dir() {
        match fs::canonicalize(real.join(HOOKS_FILE)) {
            // A folder of the plugin whose document is a link that leads out has no document.
            Ok(file) if real.starts_with(root) && !file.starts_with(root) => return Ok(None),
            Ok(file) => file,
            Err(_) => return if real.starts_with(root) { Ok(None) } else { Err(outside(&real)) },
        }
    } else {
        real
    };
    if real.starts_with(root) { Ok(Some(real)) } else { Err(outside(&real)) }
}

fn outside(path: &Path) -> String {
    format!("it leads to {}, outside the plugin", path.display())
}
