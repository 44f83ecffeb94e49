//! `hooksd demo`: real handlers, two sessions, and nothing left behind.

use std::fs;

use hooksd_tests::harness::{eventually, processes, program, until, world};
use nix::sys::signal::Signal;

#[test]
fn plays_to_its_end_and_leaves_nothing() {
    world(async |world| {
        let folder = world.at("tmp");
        fs::create_dir(&folder).unwrap();
        let mut command = program::command("hooksd", &[("TMPDIR", folder.as_os_str())]);
        command.arg("demo");
        let done = program::run(command).await;
        assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""), "{}", done.stdout);
        let shown = [
            "context: Branch: main.",
            "DENIED: refusing to delete the file system",
            "no objection",
            "formatted with rustfmt",
            "GO ON: run the tests before you stop",
            "may stop",
            "alpha reloads",
            "its socket and its folder are gone",
        ];
        let mut rest = done.stdout.as_str();
        for part in shown {
            let (_, after) =
                rest.split_once(part).unwrap_or_else(|| panic!("{part:?} is missing in:\n{}", done.stdout));
            rest = after;
        }
        assert!(!done.stdout.contains('\u{1b}'), "colours in a pipe");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "a folder is left");
        until("no process is left in its folder", || {
            let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
            let folders = processes.filter_map(|process| fs::read_link(process.path().join("cwd")).ok());
            !folders.into_iter().any(|cwd| cwd.starts_with(&folder))
        })
        .await;
    });
}

#[test]
fn a_signal_leaves_nothing_behind() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        world(async |world| {
            let folder = world.at("tmp");
            fs::create_dir(&folder).unwrap();
            let listens = || {
                let mut entries = fs::read_dir(&folder).unwrap().flatten();
                entries.any(|entry| entry.path().join("run/hooksd.sock").exists())
            };
            let done = eventually("the signal comes before the end", async || {
                let mut command = program::command("hooksd", &[("TMPDIR", folder.as_os_str())]);
                let mut child = command.arg("demo").spawn().unwrap();
                until("its daemon listens", || listens() || child.try_wait().unwrap().is_some()).await;
                processes::signal(child.id(), signal);
                let done = child.wait_with_output().unwrap();
                (!done.status.success()).then_some(done)
            })
            .await;
            let told = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(1), "{told}");
            assert!(told.contains("stopped by a signal; nothing of it is left"), "{told}");
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "a folder is left");
        });
    }
}
