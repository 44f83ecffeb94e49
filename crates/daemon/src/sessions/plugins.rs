//! The plugins a session wants, as documents.

use std::path::Path;

use hooksd_config::layers::PluginDocument;
use hooksd_config::plugins::{Discovered, collect, discover, listed};
use hooksd_protocol::diagnostic::{Diagnostic, code};
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
        Some(Plugins::Word(PluginsWord::Discover)) => {
            let found = discover(&settings.config_dir);
            if !settings.plugins {
                return (Vec::new(), left_out(&found));
            }
            found
        }
        Some(Plugins::Listed(plugins)) => {
            let plugins = plugins.iter().map(|plugin| (plugin.id.as_str(), Path::new(&plugin.root)));
            listed(&settings.config_dir, plugins)
        }
    };
    let mut diagnostics = found.diagnostics();
    diagnostics.extend(found.broken_diagnostics());
    let (documents, more) = collect(&found.plugins, Some(project_root));
    diagnostics.extend(more);
    (documents, diagnostics)
}

/// A word on each enabled plugin with hooks, where the settings leave all of them out: a guard may be among them.
fn left_out(found: &Discovered) -> Vec<Diagnostic> {
    let with_hooks =
        found.plugins.iter().filter(|plugin| !plugin.hook_files.is_empty() || plugin.inline.is_some());
    let told = with_hooks.map(|plugin| {
        let message = format!(
            "plugin {} is enabled and its hooks are left out: `plugins = false` in hooksd.toml, or HOOKSD_PLUGINS",
            plugin.id
        );
        Diagnostic::warning(code::PLUGIN_HOOKS_FAILED, message)
    });
    told.collect()
}
