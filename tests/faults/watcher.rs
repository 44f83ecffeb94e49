//! The system does not let the daemon watch folders: its limit of watches is reached. In a user namespace of its own that
//! limit is ours to set, and nobody else's is touched.

use std::process::Command;
use std::time::Duration;

use hooksd_tests::harness::{Agent, events, eventually, eventually_in};
use serde_json::json;

use crate::after::sound;
use crate::under;

/// The program starts where not one folder may be watched.
const NO_WATCHES: &str = r#"exec unshare -U -r /bin/sh -c '
echo 0 >/proc/sys/user/max_inotify_watches && exec "$0" "$@"' "$0" "$@""#;

/// How long until the daemon tries again to watch, and some more.
const RETRY: Duration = Duration::from_secs(75);

fn may_make_namespaces() -> bool {
    let line = "echo 0 >/proc/sys/user/max_inotify_watches";
    let works = Command::new("unshare").args(["-U", "-r", "/bin/sh", "-c", line]).output();
    let works = works.is_ok_and(|done| done.status.success());
    if !works {
        println!("not run: no user namespace can be made here");
    }
    works
}

async fn changes(agent: &mut Agent) -> String {
    let status = agent.line.call("daemon/status", json!({})).await.unwrap();
    status["changes"].as_str().unwrap().to_owned()
}

async fn edits_are_served(world: &hooksd_tests::harness::World, agent: &mut Agent) {
    for reason in ["first", "second"] {
        world.user(&events::shell("PreToolUse", &format!("echo {reason} >&2; exit 2")));
        eventually("the edit is served", async || {
            let answer = agent.invoke(&events::pre()).await;
            assert_eq!(answer.behavior(), "deny");
            (answer.reason() == reason).then_some(())
        })
        .await;
    }
}

/// B63: it says the real cause and looks every second; edits count all the same.
#[test]
fn b63_without_watches_edits_are_found_by_looking() {
    if !may_make_namespaces() {
        return;
    }
    under(NO_WATCHES, async |world| {
        world.user(&events::shell("PreToolUse", "exit 2"));
        let mut agent = world.agent_with(json!({ "follow": true })).await;
        let cause =
            "polling every second: the system's limit of watches is reached (fs.inotify.max_user_watches)";
        eventually("it looks", async || (changes(&mut agent).await == cause).then_some(())).await;
        edits_are_served(world, &mut agent).await;
        sound(world).await;
    });
}

/// When there are watches again, it watches again.
#[test]
#[ignore = "takes a minute: the daemon tries again that seldom"]
fn b63_when_there_are_watches_again_the_daemon_watches() {
    if !may_make_namespaces() {
        return;
    }
    under(NO_WATCHES, async |world| {
        world.user(&events::shell("PreToolUse", "exit 2"));
        let mut agent = world.agent_with(json!({ "follow": true })).await;
        eventually("it looks", async || changes(&mut agent).await.starts_with("polling").then_some(())).await;
        let pid = world.pid().to_string();
        let line = "echo 1000 >/proc/sys/user/max_inotify_watches";
        let mut nsenter = Command::new("nsenter");
        nsenter.args(["-U", "--preserve-credentials", "-t", &pid, "/bin/sh", "-c", line]);
        assert!(nsenter.status().unwrap().success());
        let start = std::time::Instant::now();
        eventually_in(RETRY, "it watches again", async || {
            (changes(&mut agent).await == "watching").then_some(())
        })
        .await;
        println!("watching again after {:?}", start.elapsed());
        edits_are_served(world, &mut agent).await;
        sound(world).await;
    });
}
