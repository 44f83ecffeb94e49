//! Where a project is: the nearest enclosing folder with git metadata, else the folder itself (contract section 4).

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::read::{Found, bounded};

/// The largest `.git` file that is read. Bytes. Real ones hold one path.
const MAX_GIT_POINTER: u64 = 64 * 1024;

/// The hooks.json of a project or of the user's config dir.
pub const HOOKS_FILE: &str = "hooks.json";

/// The folder of a project that holds its hooks.json.
pub const PROJECT_FOLDER: &str = ".deepagents";

/// The most symbolic links followed for one path. Links. As many as Linux follows.
const MAX_LINKS: usize = 40;

/// A folder, and the project it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The folder, links resolved as far as they lead somewhere.
    pub cwd: PathBuf,
    /// The nearest enclosing folder with git metadata, if there is one.
    pub project_root: Option<PathBuf>,
}

impl Place {
    /// What trust is about: the project root, else the folder itself.
    #[must_use]
    pub fn trust_root(self) -> PathBuf {
        self.project_root.unwrap_or(self.cwd)
    }
}

/// Where `cwd` is. It need not exist: a worktree that was removed is still in its project (D3). `None` when it is
/// not an absolute path.
#[must_use]
pub fn place(cwd: &Path) -> Option<Place> {
    let cwd = resolve(cwd)?.path;
    let mut project_root = None;
    for folder in cwd.ancestors() {
        match git_metadata(folder) {
            Git::Here => project_root = Some(folder.to_owned()),
            Git::None => continue,
            Git::Broken => {}
        }
        break;
    }
    Some(Place { cwd, project_root })
}

/// The project root that encloses `cwd`, else `cwd` itself, canonical. `None` when `cwd` is not an absolute path.
#[must_use]
pub fn root(cwd: &Path) -> Option<PathBuf> {
    place(cwd).map(Place::trust_root)
}

/// The canonical spelling of a path, if there is no doubt about it: nothing on the way is hidden from us or loops,
/// and it can be written in UTF-8. What does not exist is spelled as it would be.
#[must_use]
pub fn certain(path: &Path) -> Option<String> {
    let resolved = resolve(path)?;
    if !resolved.certain {
        return None;
    }
    resolved.path.into_os_string().into_string().ok()
}

struct Resolved {
    path: PathBuf,
    certain: bool,
}

/// Follows links as far as they lead somewhere and takes the rest as it is spelled (`os.path.realpath`).
fn resolve(path: &Path) -> Option<Resolved> {
    if !path.is_absolute() || path.as_os_str().as_encoded_bytes().contains(&0) {
        return None;
    }
    if let Ok(real) = fs::canonicalize(path) {
        return Some(Resolved { path: real, certain: true });
    }
    let mut resolved = Resolved { path: PathBuf::from("/"), certain: true };
    let mut links = 0;
    let mut left: Vec<OsString> = parts(path);
    while let Some(part) = left.pop() {
        if part == ".." {
            resolved.path.pop();
            continue;
        }
        let next = resolved.path.join(&part);
        match fs::canonicalize(&next) {
            Ok(real) => resolved.path = real,
            Err(error) => {
                let target = fs::read_link(&next).ok().filter(|_| error.kind() == ErrorKind::NotFound);
                match target {
                    Some(target) if links < MAX_LINKS => {
                        links += 1;
                        if target.is_absolute() {
                            resolved.path = PathBuf::from("/");
                        }
                        left.extend(parts(&target));
                    }
                    _ => {
                        resolved.certain &= error.kind() == ErrorKind::NotFound;
                        resolved.path = next;
                    }
                }
            }
        }
    }
    Some(resolved)
}

/// The names of a path, last first.
fn parts(path: &Path) -> Vec<OsString> {
    let names = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    });
    names.collect()
}

/// The path of a project's document.
#[must_use]
pub fn document(root: &Path) -> PathBuf {
    root.join(PROJECT_FOLDER).join(HOOKS_FILE)
}

enum Git {
    /// A `.git` folder, or a `.git` file that names a folder, as git writes it: `gitdir: ` with a space.
    Here,
    None,
    /// A `.git` file that leads nowhere: the search ends, as the folder is nobody's part (as recorded).
    Broken,
}

fn git_metadata(folder: &Path) -> Git {
    let git = folder.join(".git");
    match fs::metadata(&git) {
        Ok(metadata) if metadata.is_dir() => Git::Here,
        Ok(metadata) if metadata.is_file() && points_to_git(folder, &git) => Git::Here,
        Ok(metadata) if metadata.is_file() => Git::Broken,
        _ => Git::None,
    }
}

fn points_to_git(folder: &Path, git: &Path) -> bool {
    let Found::File(contents) = bounded(git, MAX_GIT_POINTER) else { return false };
    let Ok(text) = std::str::from_utf8(&contents.bytes) else { return false };
    let Some(target) =
        text.trim().strip_prefix("gitdir: ").map(str::trim).filter(|target| !target.is_empty())
    else {
        return false;
    };
    folder.join(target).is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_with_git_metadata_else_the_folder_itself() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(top.join("p/.git")).unwrap();
        fs::create_dir_all(top.join("p/a/b")).unwrap();
        fs::create_dir_all(top.join("w/sub")).unwrap();
        fs::create_dir_all(top.join("plain")).unwrap();
        fs::write(top.join("w/.git"), "gitdir: ../p/.git\n").unwrap();
        assert_eq!(root(&top.join("p/a/b")), Some(top.join("p")));
        assert_eq!(root(&top.join("w/sub")), Some(top.join("w")));
        assert_eq!(root(&top.join("plain")), Some(top.join("plain")));
        assert_eq!(root(&top.join("p/gone/deep")), Some(top.join("p")));
        assert_eq!(root(Path::new("plain")), None);
        assert_eq!(root(Path::new("")), None);
        fs::write(top.join("w/.git"), "gitdir: ../gone\n").unwrap();
        assert_eq!(root(&top.join("w/sub")), Some(top.join("w/sub")));
    }

    #[test]
    fn b65_what_cannot_be_resolved_for_certain_is_not_certain() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        let at = |name: &str| top.join(name);
        let text = |name: &str| Some(at(name).to_str().unwrap().to_owned());
        fs::create_dir(at("real")).unwrap();
        std::os::unix::fs::symlink(at("real"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("loop"), at("loop")).unwrap();
        std::os::unix::fs::symlink("gone/x", at("dangling")).unwrap();
        assert_eq!(certain(&at("link/../link/")), text("real"));
        assert_eq!(certain(&at("link/new/../other")), text("real/other"));
        assert_eq!(certain(&at("dangling/y")), text("gone/x/y"));
        assert_eq!(certain(&at("loop")), None);
        assert_eq!(certain(&at("loop/x")), None);
        assert_eq!(certain(Path::new("~/x")), None);
        assert_eq!(certain(&at("re\0al")), None);
    }
}
