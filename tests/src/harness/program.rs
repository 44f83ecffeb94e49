//! The real programs, `hooksd`, `hooksctl` and `hooks-conformance`.
//!
//! Cargo tells a test the path of the programs of its own package only, so they are built on demand: once in each test
//! process, by the cargo that runs the tests, into the same target folder and profile (a fraction of a second when they
//! are fresh). Asking cargo every time, rather than looking for a file, is what keeps a stale program from being
//! tested. Where there is no cargo, `HOOKSD_TEST_PROGRAMS` names a folder with all of them.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The path of a program of this workspace.
///
/// # Panics
/// When it cannot be built.
#[must_use]
pub fn path(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| match std::env::var_os("HOOKSD_TEST_PROGRAMS") {
        Some(folder) => PathBuf::from(folder),
        None => build(),
    });
    let path = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "{} is not there", path.display());
    path
}

/// Builds the programs; the folder they are in.
fn build() -> PathBuf {
    // <target>/<profile>/deps/<test>, or <target>/<profile>/<program>
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().expect("a folder");
    let folder = if folder.ends_with("deps") { folder.parent() } else { Some(folder) };
    let folder = folder.expect("the folder of the profile");
    let profile = match folder.file_name().and_then(OsStr::to_str) {
        Some("debug") => "dev",
        Some(profile) => profile,
        None => panic!("no profile in {}", test.display()),
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--bins", "--package", "hooksd", "--package", "hooksctl"])
        .args(["--package", "hooksd-conformance"])
        .args(["--profile", profile])
        .args(cfg!(feature = "failpoints").then_some("--features=hooksd/failpoints"))
        .arg("--manifest-path")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(folder.parent().expect("the target folder"))
        .stdin(Stdio::null())
        .output()
        .expect("cargo runs");
    assert!(built.status.success(), "the programs do not build:\n{}", String::from_utf8_lossy(&built.stderr));
    folder.to_owned()
}

/// A command in an empty environment but for `PATH` and these variables.
#[must_use]
pub fn command(name: &str, environment: &[(&str, &OsStr)]) -> Command {
    let mut command = Command::new(path(name));
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").envs(environment.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The same after a shell has run these lines, which may put it under limits: `ulimit -n 96`. The program takes the place
/// of the shell; lines that start another shell end in `exec "$0" "$@"` themselves.
#[must_use]
pub fn under(limits: &str, name: &str, environment: &[(&str, &OsStr)]) -> Command {
    let plain = command(name, environment);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("{limits}\nexec \"$0\" \"$@\"")]).arg(plain.get_program());
    command.env_clear();
    for (name, value) in plain.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command
}

/// What a program has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Its exit status; `None` when a signal killed it.
    pub status: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained.
    pub stderr: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Done {
        Done {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

/// Runs a command to its end, without holding up the test's other tasks.
pub async fn run(command: Command) -> Done {
    run_with(command, "").await
}

/// The same with this standard input.
pub async fn run_with(mut command: Command, stdin: &str) -> Done {
    let stdin = stdin.to_owned();
    let work = move || {
        if !stdin.is_empty() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().expect("the program starts");
        if let Some(mut pipe) = child.stdin.take() {
            match pipe.write_all(stdin.as_bytes()) {
                // It may have said all it has to say without that.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
                written => written.expect("the program reads its input"),
            }
        }
        Done::from(child.wait_with_output().expect("the program ends"))
    };
    tokio::task::spawn_blocking(work).await.expect("the program was waited for")
}
