//! The clients in other languages against the real daemon: their own tests and the examples of their README, each
//! beside a daemon, a config dir and a project of its own. Without the language's program on this machine a test says so
//! and passes; wherever the program is, the tests run.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test: what goes wrong here is a failed test"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hooksd_tests::harness::program::{self, Done, run};
use hooksd_tests::harness::{World, daemon};

/// Where programs are looked for, as the worlds' daemons do, and then where this test's own are.
fn path() -> String {
    format!("/usr/local/bin:/usr/bin:/bin:{}", std::env::var("PATH").unwrap_or_default())
}

/// Runs a program of the language in the client's folder; `None` when it is not on this machine.
async fn client(world: &World, name: &str, program: &str, arguments: &[&str]) -> Option<Done> {
    if !found(program) {
        eprintln!("not run: there is no {program} on this machine");
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("clients").join(name);
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", path())
        .env("HOME", world.at("home"))
        .env("HOOKSD_SOCKET", world.socket())
        .env("HOOKSD_CONFIG_DIR", world.at("config"))
        .env("HOOKSD_TEST_PROJECT", world.at("project"))
        // For tests whose daemon ends and is started anew.
        .env("HOOKSD_TEST_PROGRAM", program::path("hooksd"))
        .env("PYTHONPATH", "src")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Some(run(command).await)
}

fn found(program: &str) -> bool {
    std::env::split_paths(&path()).map(|folder| folder.join(program)).any(|path: PathBuf| path.is_file())
}

/// How many tests a client's runner says it ran, after a label.
fn count(output: &str, label: &str) -> usize {
    let rest = output.split(label).nth(1).unwrap_or_else(|| panic!("no {label:?} in:\n{output}"));
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

#[test]
fn the_python_client_passes_its_tests_and_its_readme_is_true() {
    daemon(async |world| {
        let arguments = ["-W", "error", "-m", "unittest", "discover", "-t", ".", "-s", "tests"];
        let Some(done) = client(world, "python", "python3", &arguments).await else { return };
        assert_eq!(done.status, Some(0), "{}\n{}", done.stdout, done.stderr);
        assert!(count(&done.stderr, "\nRan ") >= 71, "{}", done.stderr);
    });
}

#[test]
fn the_node_client_and_the_opencode_plugin_pass_their_tests_and_the_readme_is_true() {
    daemon(async |world| {
        // One after the other: they share the user's document.
        let arguments = ["--test", "--test-concurrency=1", "--test-reporter=tap", "tests/"];
        let Some(done) = client(world, "typescript", "node", &arguments).await else { return };
        assert_eq!(done.status, Some(0), "{}\n{}", done.stdout, done.stderr);
        assert!(count(&done.stdout, "\n# pass ") >= 48, "{}", done.stdout);
    });
}
