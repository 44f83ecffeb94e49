//! `hooksctl doctor`, `init`, `sessions`, `reload`, `completions`, `man`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use hooksd_tests::harness::program::Done;
use hooksd_tests::harness::{World, daemon, events, world};
use serde_json::{Value, json};

use crate::ctl::{ctl, ctl_json};

async fn doctor(world: &World, more: &[&str]) -> (Option<i32>, Value) {
    let config = world.text_at("config");
    let done = ctl(world, &[&["--json", "doctor", "--config-dir", &config], more].concat()).await;
    assert_eq!(done.stderr, "");
    (done.status, serde_json::from_str(&done.stdout).unwrap())
}

fn of<'a>(report: &'a Value, area: &str) -> &'a Value {
    report["findings"].as_array().unwrap().iter().find(|finding| finding["area"] == area).unwrap()
}

#[test]
fn a_healthy_daemon_has_nothing_wrong() {
    daemon(async |world| {
        world.user(&events::shell("Stop", "true"));
        let (status, report) = doctor(world, &[]).await;
        assert_eq!((status, &report["ok"]), (Some(0), &json!(true)), "{report}");
        let user = world.text_at("config/hooks.json");
        assert_eq!(of(&report, "hooks")["message"], format!("{user}, 1 handler"));
        assert_eq!(of(&report, "changes")["message"], "edits are noticed at once");
        assert_eq!(of(&report, "path")["message"], "the daemon finds what this shell finds");
        let done = ctl(world, &["doctor", "--config-dir", &world.text_at("config")]).await;
        assert!(done.stdout.lines().all(|line| line.starts_with("ok    ")), "{}", done.stdout);
    });
}

#[test]
fn each_thing_that_is_wrong_has_a_fix() {
    daemon(async |world| {
        world.user_text("{bad");
        world.write("config/.state/hooks_trust.json", "{bad");
        let (status, report) = doctor(world, &[]).await;
        assert_eq!((status, &report["ok"]), (Some(1), &json!(false)));
        assert_eq!(of(&report, "hooks")["fix"], "hooksctl check");
        assert_eq!(of(&report, "trust")["ok"], false);
        let done = ctl(world, &["--json", "doctor", "--config-dir", &world.text_at("home")]).await;
        let report: Value = serde_json::from_str(&done.stdout).unwrap();
        let message = format!(
            "the daemon reads {}, this shell means {}",
            world.text_at("config"),
            world.text_at("home")
        );
        assert_eq!((done.status, &of(&report, "folder")["message"]), (Some(1), &json!(message)));
    });
}

/// What `check` finds keeps hooks from running as well, and so does a project that is not trusted.
#[test]
fn hooks_that_do_not_do_what_was_meant_are_told() {
    world(async |world| {
        let hooks = async || {
            let (status, report) = doctor(world, &[]).await;
            let all = report["findings"].as_array().unwrap().iter().filter(|one| one["area"] == "hooks");
            (status, all.map(|one| one["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>())
        };
        world.user(&json!({ "hooks": { "PreToolUse": [
            { "matcher": "bash", "hooks": [{ "type": "command", "command": "exit 1", "timeout": 5000 }] },
        ]}}));
        let user = world.text_at("config/hooks.json");
        assert_eq!(hooks().await, (Some(1), vec![format!("{user}: 3 problems")]));
        world.user(&events::shell("Stop", "true"));
        world.project(&events::shell("Stop", "true"));
        let (status, messages) = hooks().await;
        assert_eq!((status, messages.len()), (Some(0), 2), "{messages:?}");
        let project = world.text_at("project/.deepagents/hooks.json");
        assert!(
            messages[1].starts_with(&format!("{project}: the project is not trusted, so none of it runs; ")),
            "{messages:?}"
        );
        let checked = ctl(world, &["check", "--config-dir", &world.text_at("config")]).await;
        assert_eq!(checked.status, Some(0));
        assert!(checked.stdout.contains(&format!("{project}: note[project_untrusted]: ")), "{checked:?}");
        let granted =
            ctl(world, &["trust", "grant", "--yes", "--config-dir", &world.text_at("config")]).await;
        assert_eq!(granted.status, Some(0), "{granted:?}");
        assert_eq!(hooks().await.1[1], format!("{project}, 1 handler"));
    });
}

#[test]
fn without_a_daemon_it_says_so_and_starts_none() {
    world(async |world| {
        fs::create_dir(world.at("open")).unwrap();
        fs::set_permissions(world.at("open"), fs::Permissions::from_mode(0o777)).unwrap();
        let socket = world.text_at("open/s.sock");
        let (status, report) = doctor(world, &["--socket", &socket]).await;
        assert_eq!(status, Some(1));
        assert_eq!(of(&report, "daemon")["message"], "none runs; the first event starts one");
        let fix = of(&report, "socket")["fix"].as_str().unwrap();
        assert!(fix.starts_with(&format!("chmod 700 {}", world.text_at("open"))), "{fix}");
        assert!(!world.at("open/s.sock").exists());
    });
}

/// What init writes works as it is, and nothing is ever replaced.
#[test]
fn init_writes_a_guard_that_works_and_replaces_nothing() {
    daemon(async |world| {
        let config = world.text_at("config");
        let done = ctl(world, &["init", &config]).await;
        assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
        assert!(
            done.stdout
                .starts_with(&format!("wrote {config}/hooks/guard.sh\nwrote {config}/hooks.json\nnext:\n")),
            "{}",
            done.stdout
        );
        let checked = ctl(world, &["check", "--config-dir", &config]).await;
        let stdout = format!("{config}/hooks.json: 1 handler would be used\n");
        assert_eq!(checked, Done { status: Some(0), stdout, stderr: String::new() });
        let mut agent = world.agent().await;
        let bash = |command: &str| events::tool("PreToolUse", "execute", json!({ "command": command }));
        let denied = agent.invoke(&bash("rm -rf /")).await;
        assert_eq!(denied.behavior(), "deny");
        assert_eq!(agent.invoke(&bash("rm -rf build")).await.behavior(), "none");

        let before = world.read("config/hooks.json").unwrap();
        let again = ctl(world, &["init", &config]).await;
        assert_eq!((again.status, again.stdout.as_str()), (Some(2), ""));
        assert_eq!(
            again.stderr,
            format!("error: {config}/hooks.json is there already; nothing was written\n")
        );
        assert_eq!(world.read("config/hooks.json").unwrap(), before);

        let done = ctl(world, &["init", "--project"]).await;
        assert_eq!(done.status, Some(0), "{}", done.stderr);
        assert!(world.read("project/.deepagents/hooks.json").unwrap().contains("$CLAUDE_PROJECT_DIR"));
        let checked = ctl(world, &["check", &world.text_at("project/.deepagents/hooks.json")]).await;
        assert_eq!(checked.status, Some(0), "{}", checked.stdout);
    });
}

#[test]
fn sessions_are_listed_and_documents_looked_at() {
    daemon(async |world| {
        assert_eq!(ctl(world, &["sessions"]).await.stdout, "no session is open\n");
        let agent = world.agent_of(&events::shell("Stop", "true")).await;
        let done = ctl(world, &["sessions"]).await;
        let (session, project) = (agent.session(), world.text_at("project"));
        assert!(done.stdout.starts_with(&format!("{session} interactive, idle ")), "{}", done.stdout);
        assert!(done.stdout.ends_with(&format!(" s, thread s1, in {project}\n")), "{}", done.stdout);
        assert_eq!(ctl_json(world, &["sessions"]).await["sessions"][0]["session"], session);
        let reloaded = ctl_json(world, &["reload"]).await;
        assert!(reloaded["changed"].is_boolean());
    });
}

/// The scripts are what each shell reads: a shell that is here reads its own without a complaint.
#[test]
fn completions_and_pages_come_from_the_command_line() {
    world(async |world| {
        for shell in ["bash", "zsh", "fish"] {
            let done = ctl(world, &["completions", shell]).await;
            assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
            assert!(done.stdout.contains("explain") && done.stdout.contains("doctor"), "{shell}");
            let script = world.write(&format!("complete.{shell}"), &done.stdout);
            let checked = Command::new(shell).arg("-n").arg(&script).stdin(Stdio::null()).output();
            if let Ok(checked) = checked {
                assert!(checked.status.success(), "{shell}: {checked:?}");
            }
        }
        let folder = world.text_at("man");
        assert_eq!(ctl(world, &["man", &folder]).await.status, Some(0));
        for page in ["hooksctl.1", "hooksctl-explain.1", "hooksctl-check.1", "hooksctl-trust-grant.1"] {
            let page = world.read(&format!("man/{page}")).unwrap();
            assert!(page.contains(".TH hooksctl"), "{page}");
        }
    });
}
