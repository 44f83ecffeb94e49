//! What a session's events run against: configuration, environment and trust of one folder at one moment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use hooksd_config::environment::{FILE as ENV_FILE, layered};
use hooksd_config::layers::{Loaded, ProjectDocument};
use hooksd_config::model::Source;
use hooksd_config::read::Found;
use hooksd_config::trust::{Policy, Store, store_path};
use hooksd_config::{Lifecycle, Snapshot, project};
use hooksd_engine::redact::Redactor;
use hooksd_protocol::diagnostic::{Diagnostic, Severity, code};
use hooksd_protocol::methods::{
    FingerprintTrust, ItemBody, Mode, ProjectInfo, SnapshotInfo, SourceInfo, Trust,
};
use hooksd_protocol::rpc::{RpcError, error_code};
use hooksd_runner::warm::Variables;

use crate::base::lock::lock;
use crate::base::settings::Settings;
use crate::base::variables::{OWN_VARIABLES, SessionVariables};
use crate::documents::{Documents, FileStamp, Shortage, Slot};
use crate::observe::feed::Feed;
use crate::observe::items::{About, cut};
use crate::sessions::params::SessionParams;
use crate::sessions::plugins::plugin_documents;

/// What a session's events run against. Swapped as a whole; an event finishes on the one it began with.
pub(crate) struct ResolvedConfig {
    /// What the client said of the session; an explicit grant has become one for exactly these bytes.
    pub(crate) params: SessionParams,
    /// The project root.
    pub(crate) root: PathBuf,
    /// The compiled configuration, shared with all sessions that have the same.
    loaded: Arc<Loaded>,
    /// What belongs to this view alone: trust, and documents of which an older version serves.
    remarks: Vec<Diagnostic>,
    /// The session's environment, or else the daemon's, with what .env files fill in (contract section 12).
    variables: Arc<SessionVariables>,
    /// The same with what the `.env` files of a trusted project fill in; `None` when they add nothing. Only handlers of
    /// the project's own document get these (D36).
    project_variables: Option<Arc<SessionVariables>>,
    /// Whether the client has named the bytes of the project's document that it trusts.
    names_bytes: bool,
    /// Keeps the documents hot for as long as the session is pinned to them.
    _hot: Vec<Arc<Slot>>,
    /// Set when the project's handlers count only because the store says so: the stamp it had when it last did.
    store_stamp: Option<Mutex<Option<FileStamp>>>,
    /// The variables of persistent handlers. Made when the first one runs.
    persistent: [OnceLock<Variables>; 2],
}

/// Whose variables a handler gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnvironmentLayer {
    /// The session's, with what the config dir's `.env` fills in.
    Session,
    /// Those, with what the project's `.env` files fill in: for handlers of the project's own document (D36).
    Project,
}

impl EnvironmentLayer {
    /// The layer of a handler that comes from this document.
    pub(crate) fn of(source: &Source) -> EnvironmentLayer {
        match source {
            Source::Project(_) => EnvironmentLayer::Project,
            Source::User(_) | Source::Plugin(_) => EnvironmentLayer::Session,
        }
    }
}

/// The folders whose `.env` belongs to a project, the nearest first: the session's own folder, where that is inside the
/// project, and the project's root (contract section 12).
fn env_folders(cwd: &Path, root: &Path) -> Vec<PathBuf> {
    let cwd = project::place(cwd).map(|place| place.cwd);
    let inside = cwd.filter(|cwd| cwd != root && cwd.starts_with(root));
    inside.into_iter().chain([root.to_owned()]).collect()
}

/// A word on each `.env` of a project that is not trusted: it is not read.
fn unread(folders: &[PathBuf]) -> Vec<Diagnostic> {
    let files = folders.iter().map(|folder| folder.join(ENV_FILE)).filter(|file| file.is_file());
    let told = files.map(|file| {
        let file = file.display().to_string();
        let message = format!("{file} is not read: the project is not trusted");
        Diagnostic::warning(code::ENV_FILE_FAILED, message).field(file).severity(Severity::Debug)
    });
    told.collect()
}

/// Finds out what applies to a session. Reads files: not for an async thread.
///
/// # Errors
/// [`Shortage`] when a file could not be read that may hold a guard, or the trust in one.
pub(crate) fn resolve(
    settings: &Settings,
    documents: &Documents,
    params: SessionParams,
) -> Result<ResolvedConfig, Shortage> {
    let resolved = project::root(&params.cwd);
    let root = resolved.clone().unwrap_or_else(|| params.cwd.clone());
    // Stamped before it is read: a change in between is noticed at the next event.
    let stamp = FileStamp::of(&store_path(&settings.config_dir)).filter(FileStamp::has_settled);
    let mut policy = match params.mode {
        Mode::Interactive => Policy::with_store(Store::read(&settings.config_dir)),
        // Headless sessions ignore the persisted store (contract section 10).
        Mode::Headless => Policy::explicit_only(),
    };
    if let Store::Unknown(reason) = policy.store() {
        return Err(Shortage(reason.clone()));
    }
    if let Some(Trust::Fingerprint(grant)) = &params.trust {
        policy.grant_bytes(&root, &grant.fingerprint);
    }
    let explicit = matches!(params.trust, Some(Trust::Explicit(_)));
    let granted = |fingerprint: &str| explicit || policy.granted(&root, fingerprint);
    let trusted = |fingerprint: &str| explicit || policy.trusts(&root, fingerprint);
    let mut user = documents.look(&settings.user_document())?;
    let document = resolved.as_deref().map(project::document);
    let mut project = document.as_deref().map(|path| documents.look(path)).transpose()?;
    if let Some(project) = project.as_mut().filter(|project| project.found.path() == user.found.path()) {
        // One file by two names: a good version that is known by either serves for both (D2).
        let (good, other) =
            if project.problem.is_some() { (project, &mut user) } else { (&mut user, project) };
        other.found = good.found.clone();
        other.problem = good.problem.clone();
    }
    let project_found = project.as_ref().map_or(&Found::Absent, |look| &look.found);
    let (plugins, plugin_diagnostics) = plugin_documents(settings, params.plugins.as_ref(), &root);
    let loaded = documents.compile(&user.found, project_found, &trusted, &plugins);
    // Without a document there is nothing that a grant could be for; the store may trust the folder as such.
    let workspace = match &loaded.project.fingerprint {
        Some(fingerprint) => trusted(fingerprint),
        None => policy.store().trusts(&root, ""),
    };
    let own = params.env.as_ref().unwrap_or(&settings.environment);
    let made = |list: Option<Vec<(OsString, OsString)>>| {
        list.map_or_else(|| own.clone(), |list| Arc::new(SessionVariables::new(list)))
    };
    let layers = layered(own.list(), &[], &settings.config_dir);
    let variables = made(layers.variables);
    let folders = env_folders(&params.cwd, &root);
    let (mut env_remarks, mut project_variables) = (layers.diagnostics, None);
    if workspace {
        let layers = layered(own.list(), &folders, &settings.config_dir);
        env_remarks = layers.diagnostics;
        project_variables = Some(made(layers.variables)).filter(|made| made.list() != variables.list());
    } else {
        env_remarks.extend(unread(&folders));
    }

    let mut remarks: Vec<Diagnostic> = user.problem.into_iter().collect();
    remarks.extend(plugin_diagnostics);
    remarks.extend(env_remarks);
    if let Store::Unreadable(reason) = policy.store() {
        let message = format!("the trust store {reason}; no project is trusted");
        remarks.push(Diagnostic::warning(code::TRUST_STORE_UNREADABLE, message));
    }
    if loaded.project.trusted {
        remarks.extend(project.as_ref().and_then(|look| look.problem.clone()));
    } else if loaded.project.present {
        let document = document.unwrap_or_default().display().to_string();
        let message = format!("{document} is present but not trusted; none of its hooks is loaded");
        remarks.push(Diagnostic::warning(code::PROJECT_UNTRUSTED, message).field(document));
    }
    let fingerprint = loaded.project.fingerprint.clone();
    let names_bytes = matches!(params.trust, Some(Trust::Fingerprint(_)));
    if names_bytes && !loaded.project.present {
        let message = format!("{} has no document, and one was named that is trusted", root.display());
        remarks.push(Diagnostic::warning(code::PROJECT_UNTRUSTED, message));
    }
    let used = loaded.project.loaded || workspace;
    let by_store = used && !granted(fingerprint.as_deref().unwrap_or_default());
    let store_stamp = by_store.then(|| Mutex::new(stamp));
    // A grant is bound to the bytes it was given for: other bytes need another one (contract section 10).
    let trust = match params.trust {
        Some(Trust::Explicit(_)) => {
            fingerprint.map(|fingerprint| Trust::Fingerprint(FingerprintTrust { fingerprint }))
        }
        trust => trust,
    };
    let hot = [Some(user.slot), project.map(|look| look.slot)].into_iter().flatten().collect();
    Ok(ResolvedConfig {
        params: SessionParams { trust, ..params },
        root,
        loaded,
        remarks,
        variables,
        project_variables,
        names_bytes,
        _hot: hot,
        store_stamp,
        persistent: [OnceLock::new(), OnceLock::new()],
    })
}

impl ResolvedConfig {
    /// The compiled configuration.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.loaded.snapshot
    }

    /// What is known of the project's document.
    pub(crate) fn project(&self) -> &ProjectDocument {
        &self.loaded.project
    }

    /// All diagnostics of the configuration: of its documents, and of what applies to this session alone.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        self.loaded.snapshot.diagnostics.iter().chain(&self.remarks).cloned().collect()
    }

    /// What says that hooks which a person has written are not in force.
    pub(crate) fn not_in_force(&self) -> impl Iterator<Item = &Diagnostic> {
        let codes = [code::CONFIG_READ_FAILED, code::PLUGIN_HOOKS_FAILED, code::TRUST_STORE_UNREADABLE];
        let all = self.loaded.snapshot.diagnostics.iter().chain(&self.remarks);
        // Who names the bytes of a document means its hooks to be in force.
        let named = self.names_bytes;
        all.filter(move |diagnostic| {
            codes.contains(&diagnostic.code.as_str()) || (named && diagnostic.code == code::PROJECT_UNTRUSTED)
        })
    }

    /// Whether the project's handlers may still run. Costs one stat unless the store has changed.
    ///
    /// # Errors
    /// [`Shortage`] when the store has changed and cannot be read now.
    pub(crate) fn still_trusted(&self, settings: &Settings) -> Result<bool, Shortage> {
        let Some(known) = &self.store_stamp else { return Ok(true) };
        let stamp = FileStamp::of(&store_path(&settings.config_dir));
        let mut known = lock(known);
        if stamp.is_some() && stamp == *known {
            return Ok(true);
        }
        let fingerprint = self.project().fingerprint.as_deref().unwrap_or_default();
        let trusted = match Store::read(&settings.config_dir) {
            Store::Unknown(reason) => return Err(Shortage(reason)),
            store => store.trusts(&self.root, fingerprint),
        };
        *known = stamp.filter(|stamp| trusted && stamp.has_settled());
        Ok(trusted)
    }

    /// Refuses to go on when the project's handlers are loaded but the store trusts them no longer.
    ///
    /// # Errors
    /// -32003 that says what to do; -32005 when the store cannot be read now.
    pub(crate) fn require_trust(&self, settings: &Settings, feed: &Feed) -> Result<(), RpcError> {
        if self.still_trusted(settings)? {
            return Ok(());
        }
        let root = self.root.display().to_string();
        feed.publish(About::default(), || ItemBody::Trust { trusted: false, root: Some(cut(&root)) });
        let message = format!("{root} is no longer trusted but its hooks are loaded: use session/reload");
        Err(RpcError::new(error_code::UNTRUSTED_WORKSPACE, message).with(serde_json::json!({ "root": root })))
    }

    /// Takes the session's secrets out of texts that are written down.
    pub(crate) fn redactor(&self) -> &Redactor {
        // What the project adds may be secret too, and texts of its handlers are written down with the others.
        self.project_variables.as_ref().unwrap_or(&self.variables).redactor()
    }

    /// How many hooks deep the session runs.
    pub(crate) fn depth(&self) -> u32 {
        self.variables.depth()
    }

    /// Whether handlers of the project's own document have other variables than the rest.
    pub(crate) fn has_project_variables(&self) -> bool {
        self.project_variables.is_some()
    }

    /// The variables that persistent handlers get. Made once: they are the same for all events.
    pub(crate) fn persistent_variables(&self, settings: &Settings, layer: EnvironmentLayer) -> Variables {
        let [session, project] = &self.persistent;
        let made = match layer {
            EnvironmentLayer::Session => session,
            EnvironmentLayer::Project => project,
        };
        let make =
            || Variables::new(self.handler_environment(settings, "", "", Lifecycle::Persistent, layer));
        made.get_or_init(make).clone()
    }

    /// What handlers get, without plugin overlays: the session's variables without secrets, and ours (D12). Which
    /// session and invocation it is for is empty where that is not known when a process starts.
    pub(crate) fn handler_environment(
        &self,
        settings: &Settings,
        session: &str,
        invocation: &str,
        lifecycle: Lifecycle,
        layer: EnvironmentLayer,
    ) -> Vec<(OsString, OsString)> {
        let variables = match layer {
            EnvironmentLayer::Session => &self.variables,
            EnvironmentLayer::Project => self.project_variables.as_ref().unwrap_or(&self.variables),
        };
        let warm = lifecycle != Lifecycle::PerEvent;
        let own: [Option<OsString>; OWN_VARIABLES.len()] = [
            settings.socket.clone().map(PathBuf::into_os_string),
            Some(session.into()),
            Some(invocation.into()),
            Some(self.depth().saturating_add(1).to_string().into()),
            Some(self.root.clone().into_os_string()),
            Some(self.root.clone().into_os_string()),
            warm.then(|| lifecycle.as_str().into()),
        ];
        let own = OWN_VARIABLES.iter().zip(own).filter_map(|(name, value)| Some((name.into(), value?)));
        variables.inherited().iter().cloned().chain(own).collect()
    }

    /// The snapshot as clients see it.
    pub(crate) fn snapshot_info(&self) -> SnapshotInfo {
        let scope = |source: &Source| source.scope().to_owned();
        SnapshotInfo {
            id: self.snapshot().id.clone(),
            events: self.snapshot().events(),
            server_events: self.snapshot().server_events(),
            sources: self
                .snapshot()
                .sources
                .iter()
                .map(|state| SourceInfo {
                    scope: scope(&state.source),
                    path: state.source.label(),
                    fingerprint: state.fingerprint.clone(),
                    loaded: state.loaded,
                })
                .collect(),
            diagnostics: self.diagnostics(),
        }
    }

    /// The project as clients see it.
    pub(crate) fn project_info(&self) -> ProjectInfo {
        ProjectInfo {
            root: self.root.display().to_string(),
            hooks_present: self.project().present,
            trusted: self.project().trusted,
            fingerprint: self.project().fingerprint.clone(),
        }
    }
}
