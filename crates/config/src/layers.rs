//! Project > user > plugin, into one snapshot. Precedence is reduction order: every matching handler runs.

use std::path::Path;
use std::sync::Arc;

use hooksd_json::{Dialect, Value};
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::LegacyCommand;

use crate::contents::{Contents, fingerprint};
use crate::document::{ListForm, parse_bytes, parse_value, parsed};
use crate::model::{Group, GroupDeclaration, Parsed, Source};
use crate::read::{Found, MAX_DOCUMENT, bounded};
use crate::snapshot::{Snapshot, SourceState};

/// The document of one plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginDocument {
    /// The plugin's id.
    pub plugin_id: String,
    /// Where the document stands, for diagnostics.
    pub location: String,
    /// The overlay of its handlers' environment.
    pub env: Vec<(String, String)>,
    /// The document's text.
    pub document: String,
}

/// What is known of a project's document, loaded or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectDocument {
    /// SHA-256 of its bytes; `None` when there is none or it could not be read.
    pub fingerprint: Option<String>,
    /// Whether there is one.
    pub present: bool,
    /// Whether it is trusted. Also true when it is the user's own file.
    pub trusted: bool,
    /// Whether its handlers take part as the project's.
    pub loaded: bool,
}

/// A snapshot, and what was found out on the way.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The compiled configuration.
    pub snapshot: Snapshot,
    /// The project's document.
    pub project: ProjectDocument,
}

/// Reads the documents and compiles them.
///
/// `trusted` is asked once, with the SHA-256 of exactly the bytes that would be loaded: what is shown, what is
/// trusted and what runs are the same bytes (contract section 10).
#[must_use]
pub fn load(
    user: &Path,
    project: Option<&Path>,
    trusted: &dyn Fn(&str) -> bool,
    plugins: &[PluginDocument],
) -> Loaded {
    let project = project.map(|path| bounded(path, MAX_DOCUMENT));
    compile(&bounded(user, MAX_DOCUMENT), project.as_ref().unwrap_or(&Found::Absent), trusted, plugins)
}

/// Compiles documents that were read already; `trusted` as for [`load`].
#[must_use]
pub fn compile(
    user: &Found,
    project: &Found,
    trusted: &dyn Fn(&str) -> bool,
    plugins: &[PluginDocument],
) -> Loaded {
    let mut merge = Merge::default();
    let mut state = ProjectDocument::default();
    let mut user_is_project = false;
    match project {
        Found::Absent => {}
        Found::Unreadable { path, reason, .. } => {
            state.present = true;
            merge.unreadable(Source::Project(path.clone()), path, reason);
        }
        Found::File(contents) => {
            let fingerprint = contents.fingerprint();
            user_is_project = matches!(user, Found::File(user) if user.path == contents.path);
            let granted = trusted(&fingerprint);
            state = ProjectDocument {
                fingerprint: Some(fingerprint.clone()),
                present: true,
                trusted: granted || user_is_project,
                loaded: false,
            };
            // The same file is read once: as the project's when that is trusted, else as the user's own.
            if granted {
                state.loaded = merge.file(Source::Project(contents.path.clone()), contents);
            } else if user_is_project {
                merge.file(Source::User(contents.path.clone()), contents);
            } else {
                let source = Source::Project(contents.path.clone());
                merge.sources.push(SourceState { source, fingerprint: Some(fingerprint), loaded: false });
            }
        }
    }
    match user {
        Found::Absent => {}
        Found::File(_) if user_is_project => {}
        Found::File(contents) => {
            merge.file(Source::User(contents.path.clone()), contents);
        }
        Found::Unreadable { path, reason, .. } => merge.unreadable(Source::User(path.clone()), path, reason),
    }
    for plugin in plugins {
        merge.plugin(plugin);
    }
    let snapshot = Snapshot::compile(merge.events, merge.sources, merge.diagnostics);
    Loaded { snapshot: snapshot.with_legacy(merge.legacy), project: state }
}

#[derive(Default)]
struct Merge {
    events: Vec<(EventName, Vec<Group>)>,
    sources: Vec<SourceState>,
    legacy: Vec<LegacyCommand>,
    diagnostics: Vec<Diagnostic>,
}

impl Merge {
    fn unreadable(&mut self, source: Source, path: &Path, reason: &str) {
        let location = path.display().to_string();
        let message = format!("{location} {reason}; none of its hooks is loaded");
        self.diagnostics.push(Diagnostic::warning(code::CONFIG_READ_FAILED, message).field(&location));
        self.sources.push(SourceState { source, fingerprint: None, loaded: false });
    }

    fn file(&mut self, source: Source, contents: &Contents) -> bool {
        self.add(source, Some(contents.fingerprint()), parsed(contents).clone(), Vec::new())
    }

    fn plugin(&mut self, plugin: &PluginDocument) {
        let source = Source::Plugin(plugin.plugin_id.clone());
        let fingerprint = Some(fingerprint(plugin.document.as_bytes()));
        let parsed = match Value::parse(&plugin.document, Dialect::Python) {
            Ok(value) => parse_value(&value, &plugin.location, ListForm::Refused),
            Err(_) => parse_bytes(plugin.document.as_bytes(), &plugin.location, ListForm::Refused),
        };
        self.add(source, fingerprint, parsed, plugin.env.clone());
    }

    fn add(
        &mut self,
        source: Source,
        fingerprint: Option<String>,
        parsed: Parsed,
        env: Vec<(String, String)>,
    ) -> bool {
        self.diagnostics.extend(parsed.diagnostics);
        self.legacy.extend(parsed.legacy);
        let loaded = parsed.declarations.is_some();
        self.sources.push(SourceState { source: source.clone(), fingerprint, loaded });
        let (source, env) = (Arc::new(source), Arc::new(env));
        for (event, declarations) in parsed.declarations.unwrap_or_default() {
            let groups = declarations.into_iter().map(|declaration: GroupDeclaration| Group {
                declaration,
                source: source.clone(),
                env: env.clone(),
            });
            match self.events.iter_mut().find(|(name, _)| *name == event) {
                Some((_, existing)) => existing.extend(groups),
                None => self.events.push((event, groups.collect())),
            }
        }
        loaded
    }
}
