//! What the doctor looks at: one function each.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use hooksd_config::project::{self, HOOKS_FILE};
use hooksd_config::trust::Store;
use hooksd_journal::{JournalError, query};
use hooksd_protocol::diagnostic::Severity;
use hooksd_protocol::methods::{JournalQuery, JournalState};

use super::Finding;
use crate::arguments::ServiceManager;
use crate::commands::set::service::unit_states;
use crate::lint;
use crate::print::many;

/// Descriptors that a handler takes while it runs: three pipes and what watches it.
const DESCRIPTORS_PER_HANDLER: u64 = 5;

/// With fewer descriptors few handlers run at once. Descriptors.
const FEW_DESCRIPTORS: u64 = 256;

/// The largest environment of a process that is read. Bytes.
const MAX_ENVIRONMENT: u64 = 4 * 1024 * 1024;

/// Whether the socket and its folder are the user's alone.
pub(super) fn socket(socket: &Path) -> Finding {
    let shown = socket.display();
    let folder = socket.parent().unwrap_or(Path::new("/"));
    let own = nix::unistd::geteuid().as_raw();
    if let Ok(metadata) = fs::metadata(folder)
        && (metadata.uid() != own || metadata.mode() & 0o022 != 0)
    {
        let message = format!("others may put another socket into {}; a daemon refuses it", folder.display());
        return Finding::bad(
            "socket",
            message,
            format!("chmod 700 {}, and see that it is yours", folder.display()),
        );
    }
    match fs::symlink_metadata(socket) {
        Err(_) => Finding::good("socket", format!("{shown}, not there yet")),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            Finding::bad("socket", format!("{shown} is no socket"), "move it away, or use --socket")
        }
        Ok(metadata) if metadata.mode() & 0o077 != 0 => {
            Finding::bad("socket", format!("others may use {shown}"), format!("chmod 600 {shown}"))
        }
        Ok(_) => Finding::good("socket", shown.to_string()),
    }
}

/// How changes of documents are noticed.
pub(super) fn changes(changes: &str) -> Finding {
    if changes.starts_with("watching") {
        return Finding::good("changes", "edits are noticed at once");
    }
    Finding::bad(
        "changes",
        format!("edits are noticed within a second only: {changes}"),
        "raise fs.inotify.max_user_watches and max_user_instances (sysctl), or close what watches many files",
    )
}

/// Whether what is found in this shell is found by handlers.
pub(super) fn path_of(pid: u32, sessions: usize) -> Finding {
    let Some(theirs) = environment_of(pid) else {
        return Finding::good(
            "path",
            "the daemon's PATH cannot be read here; `hooksctl show --settings` has the rest",
        );
    };
    let ours = std::env::var_os("PATH").unwrap_or_default();
    let theirs: Vec<PathBuf> = std::env::split_paths(&theirs).collect();
    let is_missing = |folder: &PathBuf| folder.is_dir() && !theirs.contains(folder);
    let missing: Vec<String> =
        std::env::split_paths(&ours).filter(is_missing).map(|folder| folder.display().to_string()).collect();
    if missing.is_empty() {
        return Finding::good("path", "the daemon finds what this shell finds");
    }
    let message = format!(
        "the daemon does not find programs in {} (this concerns agents that send no environment, now {sessions})",
        missing.join(", ")
    );
    Finding::bad("path", message, "write whole paths in hooks.json, or `hooksctl restart` from this shell")
}

/// The PATH of a process.
fn environment_of(pid: u32) -> Option<OsString> {
    let mut bytes = Vec::new();
    let file = File::open(format!("/proc/{pid}/environ")).ok()?;
    file.take(MAX_ENVIRONMENT).read_to_end(&mut bytes).ok()?;
    let path = bytes.split(|byte| *byte == 0).find_map(|variable| variable.strip_prefix(b"PATH="))?;
    Some(OsString::from_vec(path.to_vec()))
}

/// Whether the daemon reads the hooks.json that this shell means.
pub(super) fn same_folder(daemons: &str, ours: &Path) -> Finding {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if real(Path::new(daemons)) == real(ours) {
        return Finding::good("folder", format!("the daemon reads {daemons}"));
    }
    Finding::bad(
        "folder",
        format!("the daemon reads {daemons}, this shell means {}", ours.display()),
        "set HOOKSD_CONFIG_DIR alike in both, then `hooksctl restart`",
    )
}

/// The unit files, if there are any.
pub(super) fn service() -> Vec<Finding> {
    let manager = if cfg!(target_os = "macos") { ServiceManager::Launchd } else { ServiceManager::Systemd };
    let Ok(states) = unit_states(manager) else { return Vec::new() };
    if states.iter().all(|(_, state)| *state == "absent") {
        return vec![Finding::good("service", "not installed; hooksctl and clients start the daemon")];
    }
    let finding = |(path, state): (PathBuf, &'static str)| match state {
        "current" => Finding::good("service", path.display().to_string()),
        state => {
            let fix = "hooksctl service install, or uninstall";
            Finding::bad("service", format!("{} {state}", path.display()), fix)
        }
    };
    states.into_iter().map(finding).collect()
}

/// Whether there are descriptors for handlers.
pub(super) fn descriptors(daemon: Option<(u32, usize)>) -> Finding {
    let limits = hooksd_system::limits(nix::sys::resource::Resource::RLIMIT_NOFILE);
    // A daemon raises its own as far as the hard limit, where the system lets handlers have the old one.
    let limit = if cfg!(target_os = "linux") { limits.hard } else { limits.soft }.unwrap_or(u64::MAX);
    let fix = "raise the limit: ulimit -n 4096, or LimitNOFILE= of the unit, then `hooksctl restart`";
    match daemon {
        Some((_, most)) if (most as u64).saturating_mul(DESCRIPTORS_PER_HANDLER) < FEW_DESCRIPTORS / 2 => {
            Finding::bad("limits", format!("only {most} handlers may run at once"), fix)
        }
        Some((_, most)) => Finding::good("limits", format!("{most} handlers may run at once")),
        None if limit < FEW_DESCRIPTORS => Finding::bad(
            "limits",
            format!("only {limit} descriptors a process: few handlers run at once"),
            fix,
        ),
        None => Finding::good("limits", format!("{limit} descriptors a process")),
    }
}

/// Whether what happened is kept.
pub(super) fn journal(config_dir: &Path, state: Option<&JournalState>) -> Finding {
    let path = hooksd_journal::path(config_dir);
    if let Some(state) = state {
        if let Some(problem) = &state.problem {
            return Finding::bad(
                "journal",
                problem.clone(),
                "see the message; move the file away if it is broken",
            );
        }
        if !state.enabled {
            return Finding::good("journal", "switched off by journal.enabled");
        }
        if state.lost > 0 {
            let message = format!("{} records were lost since the daemon's start", state.lost);
            return Finding::bad("journal", message, "see that the disk has room and is quick");
        }
    }
    let size: u64 = ["", "-wal"]
        .iter()
        .filter_map(|end| {
            let mut name = path.as_os_str().as_bytes().to_vec();
            name.extend(end.as_bytes());
            Some(fs::metadata(PathBuf::from(OsString::from_vec(name))).ok()?.len())
        })
        .sum();
    let one = JournalQuery { limit: Some(1), ..JournalQuery::default() };
    match query(&path, &one) {
        Ok(_) => Finding::good("journal", format!("{}, {} KiB", path.display(), size.div_ceil(1024))),
        Err(JournalError::Absent(_)) => Finding::good("journal", "nothing was written yet"),
        Err(error) => Finding::bad("journal", error.to_string(), "move the file away; a new one is made"),
    }
}

/// Whether trust can be read.
pub(super) fn trust(config_dir: &Path) -> Finding {
    match Store::read(config_dir) {
        Store::Absent => Finding::good("trust", "no project is trusted"),
        Store::Entries(entries) => {
            Finding::good("trust", format!("trusted: {}", many(entries.len(), "project")))
        }
        Store::Unreadable(reason) | Store::Unknown(reason) => Finding::bad(
            "trust",
            format!("the trust store {reason}; no project is trusted"),
            "correct it, or remove it and grant trust again",
        ),
    }
}

/// Whether the user's document, and that of the project here, do what their author wants.
pub(super) fn hooks(config_dir: &Path, here: &Path) -> Vec<Finding> {
    let user = config_dir.join(HOOKS_FILE);
    let journal = hooksd_journal::path(config_dir);
    let mut found = vec![if user.symlink_metadata().is_err() {
        Finding::good("hooks", format!("{} is not there; `hooksctl init` writes one", user.display()))
    } else {
        checked(&lint::file(&user, None, &journal))
    }];
    let Some(root) = project::root(here) else { return found };
    let document = project::document(&root);
    let real = |path: &Path| fs::canonicalize(path).ok();
    if document.symlink_metadata().is_err() || real(&document) == real(&user) {
        return found;
    }
    found.push(match lint::untrusted(&document, &root, config_dir) {
        Some(finding) => {
            Finding::good("hooks", format!("{}: {}; {}", finding.path, finding.message, finding.fix))
        }
        None => checked(&lint::file(&document, Some(&root), &journal)),
    });
    found
}

/// What `hooksctl check` finds in a document, in one line.
fn checked(checked: &lint::Checked) -> Finding {
    let findings = checked.findings.iter().filter(|finding| finding.severity > Severity::Debug).count();
    let path = &checked.path;
    match (checked.usable, findings) {
        (true, 0) => Finding::good("hooks", format!("{path}, {}", many(checked.handlers, "handler"))),
        (true, _) => {
            Finding::bad("hooks", format!("{path}: {}", many(findings, "problem")), "hooksctl check")
        }
        (false, _) => Finding::bad("hooks", format!("{path}: nothing of it can be used"), "hooksctl check"),
    }
}
