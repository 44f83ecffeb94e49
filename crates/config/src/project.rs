//! Where a project is: the nearest enclosing folder with git metadata, else the folder itself (BEHAVIOUR section 4).

use std::fs;
use std::path::{Path, PathBuf};

use crate::read::{Found, bounded};

/// The largest `.git` file that is read. Bytes. Real ones hold one path.
const MAX_GIT_POINTER: u64 = 64 * 1024;

/// The hooks.json of a project or of the user's config dir.
pub const HOOKS_FILE: &str = "hooks.json";

/// The folder of a project that holds its hooks.json.
pub const PROJECT_FOLDER: &str = ".deepagents";

/// The project root that encloses `cwd`, canonical. `None` when `cwd` cannot be resolved.
#[must_use]
pub fn root(cwd: &Path) -> Option<PathBuf> {
    let cwd = fs::canonicalize(cwd).ok()?;
    let enclosing = cwd.ancestors().find(|folder| has_git_metadata(folder)).map(Path::to_owned);
    Some(enclosing.unwrap_or(cwd))
}

/// The path of a project's document.
#[must_use]
pub fn document(root: &Path) -> PathBuf {
    root.join(PROJECT_FOLDER).join(HOOKS_FILE)
}

/// A `.git` folder, or a `.git` file whose gitdir exists.
fn has_git_metadata(folder: &Path) -> bool {
    let git = folder.join(".git");
    match fs::metadata(&git) {
        Ok(metadata) if metadata.is_dir() => true,
        Ok(metadata) if metadata.is_file() => points_to_git(folder, &git),
        _ => false,
    }
}

fn points_to_git(folder: &Path, git: &Path) -> bool {
    let Found::File(contents) = bounded(git, MAX_GIT_POINTER) else { return false };
    let Ok(text) = std::str::from_utf8(&contents.bytes) else { return false };
    let Some(target) = text.trim().strip_prefix("gitdir:").map(str::trim).filter(|target| !target.is_empty())
    else {
        return false;
    };
    folder.join(target).exists()
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
        assert_eq!(root(&top.join("gone")), None);
        fs::write(top.join("w/.git"), "gitdir: ../gone\n").unwrap();
        assert_eq!(root(&top.join("w/sub")), Some(top.join("w/sub")));
    }
}
