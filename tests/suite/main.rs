//! `hooksctl conformance` as its users meet it: what it says of hooksd, of another engine, of wrong ones, and of those
//! that hang, crash, or write nonsense.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test: what goes wrong here is a failed test"
)]

mod engines;
mod page;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hooksd_tests::harness::program::{self, Done};
use hooksd_tests::harness::{daemon, processes, until};
use nix::sys::signal::Signal;
use serde_json::Value;

/// The top of the repository.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// What `hooksctl conformance` does with these arguments.
fn conformance(arguments: &[&str]) -> Done {
    let temporary = std::env::temp_dir();
    let mut command = program::command("hooksctl", &[("TMPDIR", temporary.as_os_str())]);
    command.arg("conformance").args(arguments);
    command.output().expect("hooksctl runs").into()
}

/// The same with `--json`, and what it printed; the exit status has to be this one.
fn told(arguments: &[&str], status: i32) -> Value {
    let done = conformance(&[arguments, &["--json"]].concat());
    assert_eq!(done.status, Some(status), "{}{}", done.stderr, done.stdout);
    serde_json::from_str(&done.stdout).unwrap()
}

/// The ids of what failed.
fn failed(told: &Value) -> Vec<&str> {
    told["failed"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

/// Python, where it is on this machine.
fn python() -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("python3")).find(|path| path.is_file());
    if found.is_none() {
        eprintln!("not run: there is no python3 on this machine");
    }
    found.map(|path| path.display().to_string())
}

#[test]
fn the_scenarios_are_those_that_the_vectors_give() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = top().join("tests/suite/generate.py");
    let done: Done = Command::new(python)
        .args([script.as_os_str(), folder.path().as_os_str()])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap()
        .into();
    assert_eq!(done.status, Some(0), "{}", done.stderr);
    let suite = top().join("crates/conformance/suite");
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.filter(|name| name != OsStr::new("cases.jsonl")).collect();
        names.sort();
        names
    };
    let made = names(folder.path());
    for name in &made {
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        let place = suite.join(name);
        if std::env::var_os(page::UPDATE).is_some() {
            fs::write(&place, &text).unwrap();
        }
        let found = fs::read_to_string(&place).unwrap_or_default();
        assert!(found == text, "{name:?} is stale: run the tests once with {}=1", page::UPDATE);
    }
    assert_eq!(made, names(&suite));
}

#[test]
fn a_running_daemon_is_measured_where_no_hooks_of_its_user_are() {
    daemon(async |world| {
        let socket = world.socket().display().to_string();
        let arguments = ["--socket", &socket, "--area", "cases", "--json"];
        let result = conformance(&arguments);
        let told: Value = serde_json::from_str(&result.stdout).expect(&result.stderr);
        assert_eq!((failed(&told), result.status), (vec![], Some(0)));
        assert!(told["total"]["passed"].as_u64().unwrap() > 20);
        assert_eq!(world.read("config/hooks.json"), None, "nothing is left");

        world.write("config/.state/hooks_trust.json", "{}");
        let refused = conformance(&arguments);
        assert!(refused.stderr.contains("hooks_trust.json is there"), "{}", refused.stderr);
        assert_eq!(world.read("config/.state/hooks_trust.json").as_deref(), Some("{}"));
        world.user_text(r#"{"hooks":{}}"#);
        let refused = conformance(&arguments);
        assert_eq!(refused.status, Some(2));
        assert!(refused.stderr.contains("hooks.json is there, and would count"), "{}", refused.stderr);
    });
}

/// A signal ends the run as shells tell it; no folder, no daemon and no engine is left.
#[tokio::test]
async fn a_signal_leaves_nothing_behind() {
    for (engine, signal, status) in
        [("", Signal::SIGTERM, 143), ("", Signal::SIGINT, 130), ("sleep 600", Signal::SIGHUP, 129)]
    {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().canonicalize().unwrap();
        let mut command = program::command("hooksctl", &[("TMPDIR", folder.as_os_str())]);
        command.args(["conformance", "--jobs", "2"]);
        if !engine.is_empty() {
            // It never answers, and can be told by the folder.
            let line = format!("{engine}; : {}", folder.display());
            command.args(["--timeout", "600", "--agent-command", &line]);
        }
        let child = command.spawn().unwrap();
        let begun = || processes::naming(folder.to_str().unwrap());
        until("it has begun", || begun().iter().any(|pid| *pid != child.id())).await;
        processes::signal(child.id(), signal);
        let done = Done::from(child.wait_with_output().unwrap());
        assert_eq!((done.status, done.stdout.as_str()), (Some(status), ""), "{}", done.stderr);
        assert!(done.stderr.contains("nothing of it is left"), "{}", done.stderr);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        assert_eq!(begun(), Vec::<u32>::new());
    }
}

/// `hooksctl` holds no scenarios: it runs the program that does, wherever that is installed.
#[test]
fn the_program_is_beside_hooksctl_or_on_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let hooksctl = folder.path().join("hooksctl");
    fs::copy(program::path("hooksctl"), &hooksctl).unwrap();
    let programs = program::path("hooks-conformance").parent().unwrap().to_owned();
    let run = |path: &Path| -> Done {
        let mut command = Command::new(&hooksctl);
        command.args(["--json", "conformance", "--only", "trust/store/valid"]);
        command.env_clear().env("PATH", path).output().unwrap().into()
    };
    let missing = run(Path::new("/nowhere"));
    assert_eq!(
        missing,
        Done {
            status: Some(2),
            stdout: String::new(),
            stderr: "error: the program hooks-conformance is neither beside this one nor on PATH; \
                     `cargo install hooksd-conformance` installs it\n"
                .to_owned(),
        }
    );
    let found = run(&programs);
    let told: Value = serde_json::from_str(&found.stdout).expect(&found.stderr);
    assert_eq!((&told["total"]["passed"], found.status), (&Value::from(1), Some(0)));
}

#[test]
fn wrong_words_are_explained() {
    let said = |arguments: &[&str], message: &str| {
        let done = conformance(arguments);
        assert_eq!((done.status, done.stdout.as_str()), (Some(2), ""));
        assert!(done.stderr.contains(message), "{}", done.stderr);
    };
    said(&["--area", "nothing"], "there is no area \"nothing\"; there are cases, config, ");
    said(&["--only", "no/such/scenario"], "no scenario is named so");
    said(&["--agent-command", "true", "--socket", "/s"], "give one");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    said(&["--suite", path], "there is no *.jsonl");
    fs::write(folder.path().join("a.jsonl"), "\n{\"schema\": 9}\n").unwrap();
    said(&["--suite", path], "a.jsonl:2: missing field");
}
