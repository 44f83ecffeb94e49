//! `hooksctl restart`: what runs is answered, then one other daemon is there.

use std::process::Stdio;

use hooksd_tests::harness::{daemon, events, until, world};

use crate::ctl::{ctl, ctl_json};
use crate::start_on_demand::{daemons, nobody};

#[test]
fn a_daemon_is_replaced_once_and_drains_first() {
    daemon(async |world| {
        let wait = "touch $W/runs; until [ -e $W/go ]; do sleep 0.02; done; exit 2";
        let mut agent = world.agent_of(&events::shell("PreToolUse", wait)).await;
        let id = agent.start(&events::pre()).await;
        world.appears("runs").await;
        let old = world.pid();
        let mut restart = world.ctl(&["--json", "restart"]).stdout(Stdio::piped()).spawn().unwrap();
        until("it is stopping", || std::os::unix::net::UnixStream::connect(world.socket()).is_err()).await;
        world.write("go", "");
        assert_eq!(agent.answer(id).await.behavior(), "deny");
        assert_eq!(world.ended().await, Some(0));
        until("it is done", || restart.try_wait().unwrap().is_some()).await;
        let done = restart.wait_with_output().unwrap();
        let done: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(daemons(world).len(), 1);
        let expected = serde_json::json!({
            "replaced": env!("CARGO_PKG_VERSION"), "version": env!("CARGO_PKG_VERSION"), "pid": daemons(world)[0],
        });
        assert_eq!(done, expected);
        assert_ne!(daemons(world)[0], old);
        ctl(world, &["shutdown"]).await;
        world.nothing_runs().await;
    });
}

#[test]
fn without_a_daemon_it_starts_one() {
    nobody(async |world| {
        let done = ctl(world, &["restart"]).await;
        assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
        let expected =
            format!("no daemon was running; hooksd {} (protocol 1) is running", env!("CARGO_PKG_VERSION"));
        assert!(done.stdout.starts_with(&expected), "{}", done.stdout);
    });
}

/// The daemon that hooksctl came with is nothing to remark.
#[test]
fn the_own_daemon_is_not_remarked() {
    world(async |world| {
        for command in ["status", "show"] {
            assert_eq!(ctl(world, &[command]).await.stderr, "");
        }
        let status = ctl_json(world, &["status"]).await;
        assert_eq!(status["build"], hooksd::BUILD);
    });
}
