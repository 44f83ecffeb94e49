//! What a run costs over the floor: the same program started with a bare `posix_spawn`, three pipes, the payload
//! written, both streams read to their end, waited for; by turns, in the same process.
//!
//! `cargo run --release -p hooksd-runner --example spawn_cost [rounds]` prints medians and their ratio.
#![allow(unsafe_code, clippy::print_stdout, clippy::unwrap_used, clippy::indexing_slicing)]

use std::ffi::{CString, OsString};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hooksd_runner::{End, Environment, Job, JobTemplate, Program, Runner};
use nix::fcntl::OFlag;
use nix::unistd::pipe2;
use tokio_util::sync::CancellationToken;

const COMMAND: &str = "true";

fn payload() -> Arc<[u8]> {
    Arc::from(vec![b'x'; 600])
}

fn environment() -> Vec<(OsString, OsString)> {
    (0..30)
        .map(|n| (format!("SOME_VARIABLE_{n}").into(), "/some/value/of/usual/length".into()))
        .chain([("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())])
        .collect()
}

/// The floor: nothing watched, nothing bounded, nothing killed.
fn bare(payload: &[u8], argv: &[CString], envp: &[CString]) {
    let pipe = || pipe2(OFlag::O_CLOEXEC).unwrap();
    let ((in_read, in_write), (out_read, out_write), (err_read, err_write)) = (pipe(), pipe(), pipe());
    let pointers = |strings: &[CString]| {
        strings.iter().map(|s| s.as_ptr().cast_mut()).chain([std::ptr::null_mut()]).collect::<Vec<_>>()
    };
    let (argv_p, envp_p) = (pointers(argv), pointers(envp));
    let mut pid = 0;
    // SAFETY: strings end with NUL, arrays with null, all outlive the call; actions are initialised.
    unsafe {
        let mut actions = std::mem::zeroed();
        libc::posix_spawn_file_actions_init(&mut actions);
        for (target, fd) in [(0, &in_read), (1, &out_write), (2, &err_write)] {
            libc::posix_spawn_file_actions_adddup2(&mut actions, fd.as_raw_fd(), target);
        }
        let attributes = std::ptr::null();
        let result =
            libc::posix_spawn(&mut pid, argv_p[0], &actions, attributes, argv_p.as_ptr(), envp_p.as_ptr());
        assert_eq!(result, 0);
        libc::posix_spawn_file_actions_destroy(&mut actions);
    }
    drop((in_read, out_write, err_write));
    let _ = nix::unistd::write(&in_write, payload);
    drop(in_write);
    let to_end = |pipe: OwnedFd| {
        let mut buffer = [0; 4096];
        while nix::unistd::read(&pipe, &mut buffer).unwrap() > 0 {}
    };
    to_end(out_read);
    to_end(err_read);
    nix::sys::wait::waitpid(nix::unistd::Pid::from_raw(pid), None).unwrap();
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let rounds: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1000);
    // As in the daemon: on a worker of the runtime.
    tokio::spawn(compare(rounds)).await.unwrap();
}

async fn compare(rounds: usize) {
    let payload = payload();
    let env = environment();
    let argv = ["/bin/sh", "-c", COMMAND].map(|word| CString::new(word).unwrap());
    let envp: Vec<_> = env
        .iter()
        .map(|(n, v)| CString::new(format!("{}={}", n.to_string_lossy(), v.to_string_lossy())).unwrap())
        .collect();
    let runner = Runner::new();
    let shared: Arc<Environment> = Arc::new(env.into_iter().collect());
    let lane: Arc<str> = "measured".into();
    let cancel = CancellationToken::new();
    let (mut floor, mut ours) = (Vec::new(), Vec::new());
    for round in 0..rounds + rounds / 10 {
        let start = Instant::now();
        bare(&payload, &argv, &envp);
        let bare_time = start.elapsed();

        let start = Instant::now();
        let template = JobTemplate {
            fallback_cwds: vec!["/".into()],
            lane: lane.clone(),
            ..JobTemplate::new("/tmp".into(), shared.clone())
        };
        let job = Job {
            template: Arc::new(template),
            program: Program::Shell(COMMAND.to_owned()),
            overlay: Vec::new(),
            stdin: payload.clone(),
            timeout: Duration::from_secs(60),
        };
        let outcome = runner.run(job, &cancel).await;
        let our_time = start.elapsed();
        assert_eq!(outcome.end, End::Exited(0));
        // The first tenth warms up.
        if round >= rounds / 10 {
            floor.push(bare_time);
            ours.push(our_time);
        }
    }
    let (floor, ours) = (median(&mut floor), median(&mut ours));
    println!("bare posix_spawn  {floor:>10.1?}   median of {rounds}");
    println!("Runner::run       {ours:>10.1?}");
    println!("ratio             {:>10.2}", ours.as_secs_f64() / floor.as_secs_f64());
}
