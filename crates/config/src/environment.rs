//! The variables of a session (contract section 12, D14): its own, filled in from the project's `.env` and the user's.
//! Files fill in and never override. Which of the result reach handlers is decided at every run.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use hooksd_protocol::diagnostic::{Diagnostic, code};

use crate::dotenv;

/// `DEEPAGENTS_CODE_NAME` overrides NAME for hooks; the later one wins. Empty removes NAME.
const OVERRIDES: [&str; 2] = ["DEEPAGENTS_CLI_", "DEEPAGENTS_CODE_"];

/// The name of a `.env` file.
pub const FILE: &str = ".env";

/// A setting of the agent itself, not an override of a variable DEBUG.
const OWN_SETTING: &str = "DEBUG";

/// Variables that decide which code a program loads or starts. A project's trust is bound to its hooks.json alone, so its
/// `.env` must not be able to replace what that runs. Those of shells, of the loader and C library, where programs look
/// for what is theirs, what they start for others, and those of runtimes.
#[rustfmt::skip]
const LOADING: [&str; 51] = [
    "PATH", "ENV", "IFS", "CDPATH", "PS4", "SHELL", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "ZDOTDIR",
    "GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES",
    "HOME", "TMPDIR", "TERMINFO", "MAKEFLAGS", "SSH_ASKPASS", "SSH_AUTH_SOCK",
    "EDITOR", "VISUAL", "PAGER", "LESSOPEN", "LESSCLOSE", "MANPAGER", "BROWSER",
    "NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "NODE_REPL_EXTERNAL_MODULE", "TS_NODE_PROJECT",
    "CLASSPATH", "JAVA_TOOL_OPTIONS", "JAVA_OPTS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_HOME",
    "PHPRC", "PHP_INI_SCAN_DIR", "TCLLIBPATH", "R_PROFILE", "R_PROFILE_USER", "R_LIBS", "GOROOT", "GOFLAGS",
    "VIRTUAL_ENV", "CONDA_PREFIX",
];

/// The beginnings of more of them: whole families belong to a loader, a runtime, or a tool that starts others.
#[rustfmt::skip]
const LOADING_FAMILIES: [&str; 24] = [
    "LD_", "DYLD_", "BASH_", "XDG_", "GIT_", "PYTHON", "PERL", "RUBY", "GEM_", "BUNDLE_", "LUA_", "DOTNET_",
    "COMPLUS_", "DENO_", "BUN_", "NPM_", "npm_", "YARN_", "UV_", "PIP_", "CARGO_", "RUSTC", "RUSTUP_", "JULIA_",
];

/// The variables of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    /// Names and values; each name once. `None` when they are exactly the session's own.
    pub variables: Option<Vec<(OsString, OsString)>>,
    /// What of the files is ignored.
    pub diagnostics: Vec<Diagnostic>,
}

/// Fills in what the session does not have. `own` has each name once. `project` has the folders of a project that is
/// trusted, the nearest first: what one of them says, the next does not change.
#[must_use]
pub fn layered(own: &[(OsString, OsString)], project: &[PathBuf], config_dir: &Path) -> Environment {
    let mut environment = Environment::default();
    let of_project = project.iter().map(|folder| (folder.join(FILE), true));
    let mut filled: Vec<(String, String)> = Vec::new();
    for (path, of_project) in of_project.chain([(config_dir.join(FILE), false)]) {
        let read = dotenv::read(&path);
        if let Some(problem) = read.problem {
            let diagnostic =
                Diagnostic::warning(code::ENV_FILE_FAILED, problem).field(path.display().to_string());
            environment.diagnostics.push(diagnostic);
        }
        let (taken, left): (Vec<_>, Vec<_>) =
            read.pairs.into_iter().partition(|(name, _)| is_taken(name, of_project));
        if !left.is_empty() {
            let names: Vec<&str> = left.iter().map(|(name, _)| name.as_str()).collect();
            let file = path.display().to_string();
            let message = format!(
                "{file}: {} not taken: such a variable decides what programs load, or is not for a file to set",
                names.join(", ")
            );
            environment.diagnostics.push(Diagnostic::warning(code::ENV_FILE_FAILED, message).field(file));
        }
        filled.extend(taken);
    }
    let overrides = |name: &OsStr| OVERRIDES.iter().any(|prefix| overridden(name, prefix).is_some());
    if filled.is_empty() && !own.iter().any(|(name, _)| overrides(name)) {
        return environment;
    }
    let mut known: HashMap<OsString, OsString> = HashMap::new();
    let mut order: Vec<OsString> = Vec::new();
    let mut add = |name: OsString, value: OsString, replace: bool| match known.entry(name) {
        Entry::Vacant(entry) => {
            order.push(entry.key().clone());
            entry.insert(value);
        }
        Entry::Occupied(mut entry) if replace => {
            entry.insert(value);
        }
        Entry::Occupied(_) => {}
    };
    for (name, value) in own {
        add(name.clone(), value.clone(), true);
    }
    for (name, value) in filled {
        add(name.into(), value.into(), false);
    }
    for prefix in OVERRIDES {
        let named: Vec<(OsString, OsString)> = order
            .iter()
            .filter_map(|name| Some((overridden(name, prefix)?.into(), known.get(name)?.clone())))
            .collect();
        for (name, value) in named {
            if value.is_empty() {
                known.remove(&name);
            } else if known.insert(name.clone(), value).is_none() && !order.contains(&name) {
                order.push(name);
            }
        }
    }
    let left = order.into_iter().filter_map(|name| known.remove(&name).map(|value| (name, value)));
    environment.variables = Some(left.collect());
    environment
}

/// The NAME that a variable overrides.
fn overridden<'a>(name: &'a OsStr, prefix: &str) -> Option<&'a str> {
    let name = name.to_str()?.strip_prefix(prefix)?;
    (dotenv::is_name(name) && name != OWN_SETTING).then_some(name)
}

/// Whether a file may set this variable.
fn is_taken(name: &str, of_project: bool) -> bool {
    // How deep hooks run, and where the daemon is, is not for files to say.
    if name.starts_with("HOOKSD_") {
        return false;
    }
    let loads =
        LOADING.contains(&name) || LOADING_FAMILIES.iter().any(|beginning| name.starts_with(beginning));
    // An override in a project's file would not fill in, but override what the session has.
    let overrides = OVERRIDES.iter().any(|prefix| name.starts_with(prefix));
    !(of_project && (loads || overrides))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn case(own: &[(&str, &str)], project: &str, user: &str, trusted: bool) -> Vec<(String, String)> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("project", project), ("user", user)] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join(FILE), text).unwrap();
        }
        let own: Vec<(OsString, OsString)> =
            own.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let root = folder.path().join("project");
        let environment = layered(
            &own,
            if trusted { std::slice::from_ref(&root) } else { &[] },
            &folder.path().join("user"),
        );
        let told: Vec<&str> = environment.diagnostics.iter().map(|one| one.message.as_str()).collect();
        assert!(told.iter().all(|told| told.contains("not taken")), "{told:?}");
        let text = |text: OsString| text.into_string().unwrap();
        environment
            .variables
            .unwrap_or(own)
            .into_iter()
            .map(|(name, value)| (text(name), text(value)))
            .collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn files_fill_in_and_never_override() {
        let (own, project, user) = ([("A", "own")], "A=p\nB=p", "A=u\nB=u\nC=u");
        assert_eq!(case(&own, project, user, true), pairs(&[("A", "own"), ("B", "p"), ("C", "u")]));
        assert_eq!(case(&own, project, user, false), pairs(&[("A", "own"), ("B", "u"), ("C", "u")]));
    }

    #[test]
    fn a_project_file_decides_nothing_about_what_is_loaded() {
        let project = "PATH=x\nLD_PRELOAD=x\nDYLD_X=x\nBASH_ENV=x\nHOOKSD_DEPTH=9\nDEEPAGENTS_CODE_A=x\nOK=1";
        assert_eq!(case(&[("A", "own")], project, "", true), pairs(&[("A", "own"), ("OK", "1")]));
        assert_eq!(
            case(&[], "", "PATH=x\nLD_X=x\nHOOKSD_DEPTH=9", true),
            pairs(&[("PATH", "x"), ("LD_X", "x")])
        );
    }

    #[test]
    fn overrides_apply_and_empty_ones_remove() {
        let own = [
            ("A", "1"),
            ("B", "1"),
            ("DEEPAGENTS_CODE_A", "2"),
            ("DEEPAGENTS_CLI_A", "3"),
            ("DEEPAGENTS_CODE_B", ""),
            ("DEEPAGENTS_CLI_C", "3"),
            ("DEEPAGENTS_CODE_DEBUG", "1"),
        ];
        let got = case(&own, "", "", true);
        let of = |name: &str| got.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!(["A", "B", "C", "DEBUG"].map(of), [Some("2"), None, Some("3"), None]);
        let got = case(&[("D", "own")], "", "DEEPAGENTS_CODE_D=user", true);
        assert_eq!(got, pairs(&[("D", "user"), ("DEEPAGENTS_CODE_D", "user")]));
    }
}
