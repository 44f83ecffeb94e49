//! Broken and surprising configurations, one file each in `cases`, and the sentences by which `hooksctl explain` and
//! `hooksctl check` tell a person what is the matter.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test: what goes wrong here is a failed test"
)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hooksd_tests::harness::program;
use serde_json::Value;

/// The fewest cases there must be.
const MIN_CASES: usize = 20;

/// A folder with the documents and files of a case; `$W` in them is the folder.
struct Case {
    _folder: tempfile::TempDir,
    root: PathBuf,
    case: Value,
}

impl Case {
    fn new(path: &Path) -> Case {
        let folder = tempfile::Builder::new().prefix("hooksd-explain-").tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let text = fs::read_to_string(path).unwrap().replace("$W", root.to_str().unwrap());
        let case = Case { _folder: folder, root, case: serde_json::from_str(&text).unwrap() };
        for name in ["config", "home", "project"] {
            fs::create_dir_all(case.root.join(name)).unwrap();
        }
        for (key, place) in [("user", "config/hooks.json"), ("project", "project/.deepagents/hooks.json")] {
            match &case.case[key] {
                Value::Null => {}
                Value::String(text) => case.write(place, text, 0o644),
                document => case.write(place, &document.to_string(), 0o644),
            }
        }
        for (name, file) in case.case["files"].as_object().into_iter().flatten() {
            let mode = u32::from_str_radix(file["mode"].as_str().unwrap(), 8).unwrap();
            case.write(name, file["text"].as_str().unwrap(), mode);
        }
        case
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn text(&self, key: &str) -> String {
        self.case[key].as_str().unwrap_or_else(|| panic!("{key} is missing")).to_owned()
    }

    /// What a command prints, on both streams.
    fn says(&self, arguments: &[&str]) -> String {
        let (config, home) = (self.root.join("config"), self.root.join("home"));
        let environment: [(&str, &OsStr); 4] = [
            ("PATH", OsStr::new("/usr/local/bin:/usr/bin:/bin")),
            ("HOME", home.as_os_str()),
            ("HOOKSD_CONFIG_DIR", config.as_os_str()),
            ("HOOKSD_SOCKET", OsStr::new("/nowhere/hooksd.sock")),
        ];
        let mut command = program::command("hooksctl", &environment);
        let done = command.current_dir(self.root.join("project")).args(arguments).output().unwrap();
        format!("{}{}", String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
    }
}

#[test]
fn every_case_is_told_by_explain_and_by_check() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("explain/cases");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= MIN_CASES, "there are {} cases", paths.len());
    let mut silent = Vec::new();
    for path in &paths {
        let case = Case::new(path);
        let event: Vec<String> = serde_json::from_value(case.case["event"].clone()).unwrap();
        let explain: Vec<&str> = std::iter::once("explain").chain(event.iter().map(String::as_str)).collect();
        for (key, arguments) in [("explain", explain.as_slice()), ("check", &["check"])] {
            let (said, wanted) = (case.says(arguments), case.text(key));
            if !said.contains(&wanted) {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                silent.push(format!("{name}: {key} does not say {wanted:?}, but:\n{said}"));
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}
