//! B54, B55: nothing of the daemon reaches a handler. This process plays a badly started daemon (signals
//! blocked and ignored, descriptors without close-on-exec), hence a test binary of its own with one test.
#![allow(unsafe_code)]

mod common;

use std::fs::File;

use common::{World, stdout};
use hooksd_runner::End;
use hooksd_system::seal_descriptors;

/// Blocks SIGTERM and SIGUSR1 in this thread, ignores SIGINT and SIGCHLD in this process.
fn spoil_signals() {
    // SAFETY: the set is initialised by sigemptyset; SIG_IGN runs no code.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGTERM);
        libc::sigaddset(&mut set, libc::SIGUSR1);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
    }
}

#[tokio::test]
async fn b54_b55_a_handler_starts_clean() {
    spoil_signals();
    let leaks: Vec<_> =
        (0..20).map(|_| nix::unistd::dup(File::open("/dev/null").unwrap()).unwrap()).collect();
    // Ignoring SIGCHLD is taken back here, or the exit status below would be lost.
    let world = World::new();

    let fds = || async { stdout(&world.run(world.shell("ls /proc/$$/fd; true")).await) };
    // At least: this process may have been started with some of its own.
    assert!(fds().await.lines().count() >= 3 + leaks.len(), "the leak that the test is about");
    seal_descriptors().unwrap();
    assert_eq!(fds().await, "0\n1\n2\n");

    let line = "grep -E 'Sig(Ign|Blk)' /proc/self/status; yes | head -1; tty; cut -d' ' -f1,5,6 /proc/$$/stat; \
                (: </dev/tty) 2>/dev/null && echo terminal; exit 7";
    let outcome = world.run(world.shell(line)).await;
    assert_eq!(outcome.end, End::Exited(7));
    let out = stdout(&outcome);
    let lines: Vec<_> = out.lines().collect();
    let clean = "0000000000000000";
    assert_eq!(
        lines[..4],
        [format!("SigBlk:\t{clean}"), format!("SigIgn:\t{clean}"), "y".into(), "not a tty".into()]
    );
    let ids: Vec<_> = lines[4].split(' ').collect();
    assert!(ids.len() == 3 && ids.iter().all(|id| *id == ids[0]), "pid, group, session: {ids:?}");
    assert_eq!(lines.len(), 5, "{out}");
    drop(leaks);
}
