//! Which version of an agent is on this machine, from names and small files: no agent is started, nothing is asked of
//! the network, and what cannot be seen that way is not known.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hooksd_config::read::{Found, bounded};

use super::known::Agent;

/// The largest manifest that is read. Bytes. Editors' are some kilobytes.
const MAX_MANIFEST: u64 = 256 * 1024;

/// Folders above a program in which its manifest is looked for.
const MANIFEST_FOLDERS: usize = 5;

/// The agent's program, links resolved, and its version if it can be seen.
pub(crate) fn find(agent: &Agent, path: Option<OsString>) -> Option<(PathBuf, Option<String>)> {
    let folders: Vec<PathBuf> = std::env::split_paths(&path.unwrap_or_default()).collect();
    let candidates =
        agent.programs.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let program = candidates.into_iter().find(|path| path.is_file())?;
    let real = std::fs::canonicalize(&program).unwrap_or_else(|_| program.clone());
    let version = from_manifest(&real)
        .or_else(|| agent.distribution.and_then(|name| from_distribution(&real, name)))
        .or_else(|| from_name(&real));
    Some((program, version))
}

/// Programs of Node and of editors: the nearest package.json above them.
fn from_manifest(program: &Path) -> Option<String> {
    let folders = program.ancestors().skip(1).take(MANIFEST_FOLDERS);
    let manifests = folders
        .flat_map(|folder| ["package.json", "resources/app/package.json"].map(|name| folder.join(name)));
    for manifest in manifests {
        let Found::File(contents) = bounded(&manifest, MAX_MANIFEST) else { continue };
        let parsed: serde_json::Value = serde_json::from_slice(&contents.bytes).ok()?;
        return parsed.get("version")?.as_str().map(str::to_owned);
    }
    None
}

/// Programs of Python: the distribution's folder beside them.
fn from_distribution(program: &Path, distribution: &str) -> Option<String> {
    let libraries = program.parent()?.parent()?.join("lib");
    let folders =
        std::fs::read_dir(libraries).ok()?.flatten().map(|entry| entry.path().join("site-packages"));
    let names = folders.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let version = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let rest = name.strip_prefix(distribution)?.strip_prefix('-')?;
        Some(rest.strip_suffix(".dist-info")?.to_owned())
    };
    names.filter_map(version).next()
}

/// Programs that are installed as `versions/1.2.3`.
fn from_name(program: &Path) -> Option<String> {
    let name = program.file_name()?.to_str()?;
    let is_version = name.contains('.') && name.chars().all(|c| c.is_ascii_digit() || c == '.');
    is_version.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::known::named;
    use super::*;

    #[test]
    fn versions_are_seen_without_starting_anything() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        std::fs::create_dir(root.join("bin")).unwrap();
        let link = |target: PathBuf, name: &str| {
            std::os::unix::fs::symlink(target, root.join("bin").join(name)).unwrap()
        };
        write("node/codex/package.json", r#"{"name": "@openai/codex", "version": "0.171.0"}"#);
        link(write("node/codex/bin/codex.js", "exit 1"), "codex");
        link(write("claude/versions/2.1.332", "exit 1"), "claude");
        write("venv/lib/python3.12/site-packages/deepagents_code-0.2.2.dist-info/METADATA", "");
        link(write("venv/bin/dcode", "exit 1"), "dcode");
        write("bin/goose", "exit 1");
        let seen =
            |name: &str| find(named(name)[0], Some(root.join("bin").into())).map(|(_, version)| version);
        for (name, version) in [
            ("codex", Some(Some("0.171.0"))),
            ("claude", Some(Some("2.1.332"))),
            ("dcode", Some(Some("0.2.2"))),
            ("goose", Some(None)),
            ("qwen", None),
        ] {
            assert_eq!(seen(name), version.map(|version| version.map(str::to_owned)), "{name}");
        }
    }
}
