//! The plugins a session wants, as documents.

use std::path::Path;

use hooksd_config::layers::PluginDocument;
use hooksd_config::plugins::{Discovered, collect, discover, listed};
use hooksd_protocol::diagnostic::Diagnostic;
use hooksd_protocol::methods::{Plugins, PluginsWord};

use crate::base::settings::Settings;

/// Reads the documents of the plugins. Reads files and makes data folders: not for an async thread.
pub(crate) fn plugin_documents(
    settings: &Settings,
    wanted: Option<&Plugins>,
    project_root: &Path,
) -> (Vec<PluginDocument>, Vec<Diagnostic>) {
    let found = match wanted {
        None | Some(Plugins::Word(PluginsWord::None)) => Discovered::default(),
        Some(Plugins::Word(PluginsWord::Discover)) => discover(&settings.config_dir),
        Some(Plugins::Listed(plugins)) => {
            let plugins = plugins.iter().map(|plugin| (plugin.id.as_str(), Path::new(&plugin.root)));
            listed(&settings.config_dir, plugins)
        }
    };
    let mut diagnostics = found.diagnostics();
    let (documents, more) = collect(&found.plugins, Some(project_root));
    diagnostics.extend(more);
    (documents, diagnostics)
}
