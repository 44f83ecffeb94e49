//! The documents as they are now, those that do not take part as well: what a person who looks for a handler finds.

use std::path::Path;

use crate::layers::PluginDocument;
use crate::model::Source;
use crate::plugins::{discover, idle, texts};
use crate::read::{Found, MAX_DOCUMENT, bounded};

/// How a document takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// As far as it is valid.
    Counts,
    /// Its project is not trusted.
    Untrusted,
    /// Its plugin is not enabled, or the session takes none.
    PluginOff,
}

/// A document as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentNow {
    /// Whose it is.
    pub source: Source,
    /// What diagnostics call it: its path.
    pub location: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// How it takes part.
    pub standing: Standing,
}

/// Reads them, in the order of precedence. `trusted` is asked with the SHA-256 of the project's document; `plugins` are
/// the documents that take part.
#[must_use]
pub fn documents(
    config_dir: &Path,
    user: &Path,
    project: Option<&Path>,
    trusted: &dyn Fn(&str) -> bool,
    plugins: &[PluginDocument],
) -> Vec<DocumentNow> {
    let mut found = Vec::new();
    let user = bounded(user, MAX_DOCUMENT);
    if let Some(Found::File(contents)) = project.map(|path| bounded(path, MAX_DOCUMENT)) {
        let is_trusted = trusted(&contents.fingerprint());
        // The user's own file needs no trust (B36).
        if is_trusted || user.path() != Some(contents.path.as_path()) {
            found.push(DocumentNow {
                location: contents.path.display().to_string(),
                source: Source::Project(contents.path),
                bytes: contents.bytes.to_vec(),
                standing: if is_trusted { Standing::Counts } else { Standing::Untrusted },
            });
        }
    }
    if let Found::File(contents) = user
        && !found.iter().any(|document| document.source.path() == Some(contents.path.as_path()))
    {
        found.push(DocumentNow {
            location: contents.path.display().to_string(),
            source: Source::User(contents.path),
            bytes: contents.bytes.to_vec(),
            standing: Standing::Counts,
        });
    }
    found.extend(plugins.iter().map(|plugin| DocumentNow {
        source: Source::Plugin(plugin.plugin_id.clone()),
        location: plugin.location.clone(),
        bytes: plugin.document.clone().into_bytes(),
        standing: Standing::Counts,
    }));
    let others = discover(config_dir).plugins.into_iter().chain(idle(config_dir).plugins);
    for plugin in others.filter(|other| !plugins.iter().any(|plugin| plugin.plugin_id == other.id)) {
        found.extend(texts(&plugin).0.into_iter().map(|(location, text)| DocumentNow {
            source: Source::Plugin(plugin.id.clone()),
            location: location.display().to_string(),
            bytes: text.into_bytes(),
            standing: Standing::PluginOff,
        }));
    }
    found
}
