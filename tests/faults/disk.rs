//! Disks that are full or read-only, in a mount namespace of the daemon's own: nobody needs to be root for it.

use std::fs;
use std::process::Command;

use hooksd_config::contents::fingerprint;
use hooksd_config::trust::Store;
use hooksd_system::{Limits, limits, set_limits_of};
use hooksd_tests::harness::{Agent, World, daemon, events};
use nix::sys::resource::Resource;
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::after::{self, all_denied, begin, inside, sound};
use crate::{guard_and, under};

/// The daemon's state stands on a file system of 512 KiB.
const SMALL_DISK: &str = r#"mkdir -p "$W/config/.state" && exec unshare -U -r -m --propagation private /bin/sh -c '
mount -t tmpfs -o size=512k,mode=700 none "$W/config/.state" && exec "$0" "$@"' "$0" "$@""#;

/// The daemon may read its folder and not write to it.
const READ_ONLY: &str = r#"exec unshare -U -r -m --propagation private /bin/sh -c '
mount --bind "$W/config" "$W/config" && mount -o remount,bind,ro "$W/config" && exec "$0" "$@"' "$0" "$@""#;

fn may_mount() -> bool {
    let words = ["-U", "-r", "-m", "mount", "-t", "tmpfs", "none", "/mnt"];
    let works = Command::new("unshare").args(words).output().is_ok_and(|done| done.status.success());
    if !works {
        println!("not run: no file system can be mounted in a user namespace here");
    }
    works
}

/// Asks to trust the project with this document.
async fn grant(world: &World, agent: &mut Agent, command: &str) -> Result<Value, String> {
    let document = events::shell("Stop", command);
    world.project(&document);
    let params = json!({ "cwd": world.text_at("project"), "fingerprint": fingerprint(document.to_string().as_bytes()) });
    let answer = agent.line.call("trust/grant", params).await;
    answer.map_err(|error| error["message"].as_str().unwrap().to_owned())
}

/// Adds a record of so many bytes to the transcript.
async fn append(agent: &mut Agent, bytes: usize) {
    let records = json!([{ "role": "user", "text": "x".repeat(bytes) }]);
    let params = json!({ "session": agent.session(), "records": records });
    // Whether it could be written is a matter of the transcript, and never of the session.
    let _ = agent.line.call("transcript/append", params).await;
}

fn store(world: &World) -> Option<Vec<u8>> {
    fs::read(inside(world, "config/.state/hooks_trust.json")).ok()
}

/// While nothing can be written: every verdict is there, trust is as it was, and that is said.
async fn nothing_is_written(world: &World, agent: &mut Agent, said: &[&str]) {
    let before = store(world);
    let ids = begin(agent, 8).await;
    append(agent, 64 * 1024).await;
    let message = grant(world, agent, "echo other").await.unwrap_err();
    assert!(said.iter().any(|said| message.contains(said)), "{message}");
    assert_eq!(store(world), before, "a store is replaced as a whole, or not at all");
    all_denied(agent, ids).await;
}

/// And when it can again.
async fn all_is_written(world: &World, agent: &mut Agent) {
    grant(world, agent, "echo third").await.unwrap();
    append(agent, 10).await;
    assert!(matches!(after::store(world), Store::Entries(entries) if entries.len() == 1));
    sound(world).await;
}

#[test]
fn a_full_disk_costs_no_verdict_and_no_trust() {
    if !may_mount() {
        return;
    }
    under(SMALL_DISK, async |world| {
        world.user(&guard_and(&[]));
        let mut agent = world.agent().await;
        grant(world, &mut agent, "echo first").await.unwrap();
        append(&mut agent, 10).await;
        let ballast = inside(world, "config/.state/ballast");
        // As large as there is room for.
        let _ = fs::write(&ballast, vec![0; 1024 * 1024]);
        nothing_is_written(world, &mut agent, &["No space left", "storage"]).await;
        fs::remove_file(ballast).unwrap();
        all_is_written(world, &mut agent).await;
    });
}

/// It fails in the middle of a write, as a disk that fills up just then.
#[test]
fn a_limit_of_file_sizes_costs_no_verdict_and_no_trust() {
    daemon(async |world| {
        world.user(&guard_and(&[]));
        let mut agent = world.agent().await;
        grant(world, &mut agent, "echo first").await.unwrap();
        append(&mut agent, 10).await;
        let pid = Pid::from_raw(world.pid().try_into().unwrap());
        let whole = limits(Resource::RLIMIT_FSIZE);
        set_limits_of(pid, Resource::RLIMIT_FSIZE, Limits { soft: Some(100), ..whole }).unwrap();
        nothing_is_written(world, &mut agent, &["too large"]).await;
        set_limits_of(pid, Resource::RLIMIT_FSIZE, whole).unwrap();
        all_is_written(world, &mut agent).await;
    });
}

#[test]
fn a_read_only_folder_costs_no_verdict() {
    if !may_mount() {
        return;
    }
    under(READ_ONLY, async |world| {
        world.user(&guard_and(&[]));
        let mut agent = world.agent().await;
        nothing_is_written(world, &mut agent, &["Read-only"]).await;
        assert_eq!(store(world), None);
        sound(world).await;
    });
}
