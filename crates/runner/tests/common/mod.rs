//! What every test of the runner needs: a scratch folder, runs marked in their environment so that their
//! processes can be told from those of other tests, and waiting for a condition instead of sleeping.
#![allow(dead_code, missing_docs, unreachable_pub)]
// Clippy counts only functions marked #[test] as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hooksd_runner::{End, Job, JobTemplate, Outcome, Program, Runner};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio_util::sync::CancellationToken;

pub const DENY: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;

/// One test's world. Dropped, it kills whatever is left of its handlers.
pub struct World {
    pub dir: tempfile::TempDir,
    pub runner: Runner,
    mark: String,
}

impl World {
    pub fn new() -> World {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let mark = format!("RUNNER_TEST={}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let world = World { dir: tempfile::tempdir().unwrap(), runner: Runner::new(), mark };
        std::fs::write(world.path("deny.json"), DENY).unwrap();
        world
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub fn env(&self) -> Vec<(OsString, OsString)> {
        let (name, value) = self.mark.split_once('=').unwrap();
        vec![
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            (name.into(), value.into()),
            ("DENY".into(), self.path("deny.json").into()),
        ]
    }

    pub fn program(&self, program: Program) -> Job {
        let template = JobTemplate::new(self.path(""), Arc::new(self.env().into_iter().collect()));
        Job {
            template: Arc::new(JobTemplate { lane: "test".into(), ..template }),
            program,
            overlay: Vec::new(),
            stdin: Arc::from(&br#"{"hook_event_name":"PreToolUse"}"#[..]),
            timeout: Duration::from_secs(30),
        }
    }

    pub fn shell(&self, line: &str) -> Job {
        self.program(Program::Shell(line.to_owned()))
    }

    pub fn argv(&self, words: &[&str]) -> Job {
        self.program(Program::Argv(words.iter().map(|word| (*word).to_owned()).collect()))
    }

    pub async fn run(&self, job: Job) -> Outcome {
        self.runner.run(job, &CancellationToken::new()).await
    }

    /// Runs it beside this test, until it ends or the token says so.
    pub fn start(&self, job: Job, cancel: &CancellationToken) -> tokio::task::JoinHandle<Outcome> {
        let (runner, cancel) = (self.runner.clone(), cancel.clone());
        tokio::spawn(async move { runner.run(job, &cancel).await })
    }

    /// Writes an executable file.
    pub fn script(&self, name: &str, text: &str) -> String {
        self.file(name, text, 0o755)
    }

    pub fn file(&self, name: &str, text: &str, mode: u32) -> String {
        use std::os::unix::fs::PermissionsExt;
        let file = self.path(name);
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        file.to_str().unwrap().to_owned()
    }

    /// Living processes of this test's handlers, however far they have run away: their command lines.
    pub fn alive(&self) -> Vec<String> {
        self.processes().into_iter().map(|(_, line)| line).collect()
    }

    fn processes(&self) -> Vec<(i32, String)> {
        let own = std::process::id().to_string();
        all_processes()
            .filter(|pid| **pid != own)
            .filter(|pid| {
                let environ = read(&format!("/proc/{pid}/environ"));
                environ.split('\0').any(|pair| pair == self.mark)
            })
            .map(|pid| (pid.parse().unwrap(), read(&format!("/proc/{pid}/cmdline")).replace('\0', " ")))
            .collect()
    }

    /// Nothing of this test's handlers is left, and all children are reaped.
    pub async fn nothing_left(&self) {
        until("no process left", || self.alive().is_empty()).await;
        until("all children reaped", || self.runner.children() == 0).await;
        until("no zombie", || zombies() == 0).await;
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for (pid, _) in self.processes() {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

fn all_processes() -> impl Iterator<Item = String> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Zombies that are children of this process.
pub fn zombies() -> usize {
    let own = std::process::id().to_string();
    all_processes()
        .filter(|pid| {
            let stat = read(&format!("/proc/{pid}/stat"));
            let mut fields = stat.rsplit(')').next().unwrap().split_ascii_whitespace();
            fields.next() == Some("Z") && fields.next() == Some(&own)
        })
        .count()
}

/// A file of /proc; empty if it is gone.
pub fn read(file: &str) -> String {
    use std::io::Read;
    let mut bytes = Vec::new();
    if let Ok(mut file) = std::fs::File::open(file) {
        let _ = file.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Waits for a condition, at most ten seconds.
pub async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(10), "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub async fn exists(file: &Path) {
    until(&format!("{} exists", file.display()), || file.exists()).await;
}

pub fn stdout(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.stdout.bytes).into_owned()
}

pub fn stderr(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.stderr.bytes).into_owned()
}

/// The reason of a launch that failed.
pub fn launch_failure(outcome: Outcome) -> String {
    let End::LaunchFailed { message } = &outcome.end else { panic!("not a failed launch: {outcome:?}") };
    assert!(!message.contains('\n'), "one line: {message:?}");
    let message = message.clone();
    let queued = outcome.queued;
    assert_eq!(
        outcome,
        Outcome { queued, ..Outcome::without_process(End::LaunchFailed { message: message.clone() }) }
    );
    message
}
