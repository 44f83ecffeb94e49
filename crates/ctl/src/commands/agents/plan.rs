//! What an installation changes, worked out before anything is written: which files, from what, to what.

use std::path::{Path, PathBuf};

use super::entry::Entry;
use super::json::parse::SyntaxError;
use super::known::{Agent, BaseFolders, ConfigPlace, Scope, Shape, project_note};
use super::{approval, disk, json_document, toml_document};

/// A file that is to be changed. Without a difference it is listed and left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    /// What it holds; `None` when it is not there.
    pub(crate) before: Option<String>,
    /// What it shall hold; `None` when it shall go.
    pub(crate) after: Option<String>,
}

/// Everything for one agent in one scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) changes: Vec<Change>,
    /// For the person.
    pub(crate) notes: Vec<String>,
    /// A folder that goes when it is empty.
    pub(crate) folder: Option<PathBuf>,
}

/// Files of an agent that hold, or may hold, entries of ours.
pub(crate) fn files(agent: &Agent, scope: Scope, bases: &BaseFolders<'_>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = match agent.place(scope) {
        ConfigPlace::File(names) => names.iter().map(|name| agent.resolve(scope, name, bases)).collect(),
        ConfigPlace::Each(folder) => each(&agent.resolve(scope, folder, bases)),
        ConfigPlace::Nowhere(_) => Vec::new(),
    };
    for name in agent.also(scope) {
        let path = agent.resolve(scope, name, bases);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// The `.json` files of a folder, by name.
fn each(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "json") && path.is_file()).collect();
    paths.sort_unstable();
    paths
}

/// What has to change for our entries to be there.
///
/// # Errors
/// When a file cannot be read or understood: which, where and why. Nothing is to be changed then.
pub(crate) fn install(
    agent: &Agent,
    scope: Scope,
    bases: &BaseFolders<'_>,
    program: &str,
) -> Result<Plan, String> {
    let mut plan = Plan::default();
    let targets = match agent.place(scope) {
        ConfigPlace::Nowhere(why) if agent.reads_with_us => {
            plan.notes.push(why.to_owned());
            return Ok(plan);
        }
        ConfigPlace::Nowhere(why) => return Err(why.to_owned()),
        ConfigPlace::File(names) => {
            let paths: Vec<PathBuf> = names.iter().map(|name| agent.resolve(scope, name, bases)).collect();
            let there = paths.iter().find(|path| path.symlink_metadata().is_ok());
            there.or(paths.last()).cloned().into_iter().collect()
        }
        ConfigPlace::Each(folder) => {
            let folder = agent.resolve(scope, folder, bases);
            let paths = each(&folder);
            if paths.is_empty() {
                return Err(format!("there is no file in {}: make an agent there first", folder.display()));
            }
            paths
        }
    };
    for path in targets {
        let before = disk::read(&path)?;
        let text = before.as_deref();
        let after = match agent.shape {
            Shape::Toml => toml_document::with_ours(text, agent, program),
            _ => json_document::with_ours(text, agent, program),
        };
        let after = after.map_err(at(&path))?;
        if agent.approvals.is_some() {
            approve(agent, &path, &after, bases, &mut plan)?;
        }
        plan.changes.insert(0, Change { path, before, after: Some(after) });
    }
    if let Some((name, content)) = agent.beside {
        let path = agent.resolve(scope, name, bases);
        let before = disk::read(&path)?;
        let after = Some(before.clone().unwrap_or_else(|| content.to_owned()));
        plan.changes.push(Change { path, before, after });
    }
    plan.notes.extend(agent.notes.iter().map(|note| (*note).to_owned()));
    plan.notes.extend(elsewhere(agent, &plan, bases));
    if scope == Scope::Project {
        plan.notes.extend(project_note(agent).map(str::to_owned));
    }
    Ok(plan)
}

/// That entries of ours stand in other files of the agent as well, of either scope: agents read both.
fn elsewhere(agent: &Agent, plan: &Plan, bases: &BaseFolders<'_>) -> Option<String> {
    let all = Scope::BOTH.into_iter().flat_map(|scope| files(agent, scope, bases));
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let is_other = |path: &PathBuf| plan.changes.iter().all(|change| real(&change.path) != real(path));
    let has_ours = |path: &PathBuf| entries(agent, path).is_ok_and(|entries| !entries.is_empty());
    let other = all.into_iter().find(|path| is_other(path) && has_ours(path))?;
    Some(format!("hooksd is in {} as well: {} may run it twice for an event", other.display(), agent.name))
}

/// Adds the records by which the agent takes our entries for approved.
fn approve(
    agent: &Agent,
    path: &Path,
    text: &str,
    bases: &BaseFolders<'_>,
    plan: &mut Plan,
) -> Result<(), String> {
    let Some((name, table)) = agent.approvals else { return Ok(()) };
    let positions = json_document::positions(text, agent).map_err(at(path))?;
    let records = approval::records(path, &positions);
    if records.len() < positions.len() {
        plan.notes.push(format!(
            "entries in {} that were edited by hand have to be approved in {}",
            path.display(),
            agent.name
        ));
    }
    let path = agent.resolve(Scope::User, name, bases);
    let before = disk::read(&path)?;
    let after = toml_document::with_keyed(before.as_deref(), table, &records).map_err(at(&path))?;
    plan.changes.push(Change { path, before, after: Some(after) });
    Ok(())
}

/// What has to change for our entries to be gone, from every file in which they may be.
///
/// # Errors
/// As [`install`].
pub(crate) fn uninstall(agent: &Agent, scope: Scope, bases: &BaseFolders<'_>) -> Result<Plan, String> {
    let mut plan = Plan::default();
    for path in files(agent, scope, bases) {
        let Some(before) = disk::read(&path)? else { continue };
        if agent.approvals.is_some() {
            disapprove(agent, &path, &before, bases, &mut plan)?;
        }
        let earlier = earlier(&path, agent);
        let after = match agent.shape {
            Shape::Toml => toml_document::without_ours(&before, agent, &earlier),
            _ => json_document::without_ours(&before, agent, &earlier),
        };
        let after = after.map_err(at(&path))?;
        plan.changes.push(Change { path, before: Some(before), after });
    }
    if let Some((name, content)) = agent.beside {
        let path = agent.resolve(scope, name, bases);
        let goes = plan.changes.iter().all(|change| change.after.is_none());
        if let Some(before) = disk::read(&path)?.filter(|before| goes && before == content) {
            plan.changes.push(Change { path, before: Some(before), after: None });
        }
    }
    plan.changes.retain(|change| change.before != change.after);
    if agent.argument.is_some() && !plan.changes.is_empty() {
        // The first note of an agent that shares its file says with whom.
        plan.notes.extend(agent.notes.first().map(|note| (*note).to_owned()));
    }
    plan.folder = agent.own_folder.map(|folder| agent.resolve(scope, folder, bases));
    Ok(plan)
}

fn disapprove(
    agent: &Agent,
    path: &Path,
    text: &str,
    bases: &BaseFolders<'_>,
    plan: &mut Plan,
) -> Result<(), String> {
    let Some((name, table)) = agent.approvals else { return Ok(()) };
    let positions = json_document::positions(text, agent).map_err(at(path))?;
    if positions.iter().any(|position| position.followed) {
        let (agent, path) = (agent.name, path.display());
        plan.notes.push(format!(
            "{agent} asks again about hooks that came after ours in {path}: it knows them by their place"
        ));
    }
    let keys: Vec<String> = positions.iter().map(|position| approval::key(path, position)).collect();
    let path = agent.resolve(Scope::User, name, bases);
    let Some(before) = disk::read(&path)? else { return Ok(()) };
    let known = earlier_texts(&path);
    let after = toml_document::without_keyed(&before, table, &keys).map_err(at(&path))?;
    // With nothing else in it and nothing before it, the file is ours.
    let after = if after.trim().is_empty() && known.is_empty() { None } else { Some(exact(&after, &known)) };
    plan.changes.push(Change { path, before: Some(before), after });
    Ok(())
}

/// The text of an earlier version, if only space at the end differs: there is nothing else to tell that by.
fn exact(text: &str, earlier: &[String]) -> String {
    let same = earlier.iter().find(|version| version.trim_end() == text.trim_end());
    same.map_or(text, String::as_str).to_owned()
}

/// Our entries in a file.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn entries(agent: &Agent, path: &Path) -> Result<Vec<Entry>, String> {
    let Some(text) = disk::read(path)? else { return Ok(Vec::new()) };
    let found = match agent.shape {
        Shape::Toml => toml_document::entries(&text, agent),
        _ => json_document::entries(&text, agent),
    };
    found.map_err(at(path))
}

fn earlier_texts(path: &Path) -> Vec<String> {
    disk::backups(path).iter().filter_map(|path| disk::read(path).ok().flatten()).collect()
}

/// Versions of a file from before ours was in it.
fn earlier(path: &Path, agent: &Agent) -> Vec<String> {
    let without = |text: &String| {
        let found = match agent.shape {
            Shape::Toml => toml_document::entries(text, agent),
            _ => json_document::entries(text, agent),
        };
        // A blank document is no document to its reader, but it was there.
        found.map_or(text.trim().is_empty(), |found| found.is_empty())
    };
    earlier_texts(path).into_iter().filter(without).collect()
}

fn at(path: &Path) -> impl Fn(SyntaxError) -> String {
    move |error| format!("{} cannot be understood, so it was left as it is: {error}", path.display())
}
