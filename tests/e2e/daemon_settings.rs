//! `daemon/settings` and hooksd.toml: every value has an origin, and what is wrong is refused with its place and its fix.

use std::collections::BTreeMap;

use hooksd::server::configure::KEYS;
use hooksd_tests::harness::{World, daemon, program, world};
use serde_json::{Value, json};

use crate::ctl::{ctl, ctl_json};
use crate::refuses;
use crate::start_on_demand::nobody;

/// What the daemon says: key to value and origin.
async fn told(world: &World) -> BTreeMap<String, (String, String)> {
    let shown = ctl_json(world, &["show", "--settings"]).await;
    let text = |setting: &Value, key: &str| setting[key].as_str().unwrap().to_owned();
    let settings = shown["settings"].as_array().unwrap().iter();
    settings.map(|each| (text(each, "key"), (text(each, "value"), text(each, "origin")))).collect()
}

#[test]
fn every_value_has_an_origin() {
    nobody(async |world| {
        let file = world.write(
            "home/.deepagents/hooksd.toml",
            "# mine\ndrain_seconds = 3\npoll = true\n\n[limits]\nhandlers = 16\n[journal]\nenabled = false\nmax_days = 0x10\n",
        );
        let at = |line: usize| format!("{}:{line}", file.display());
        let mut first = world.ctl(&["show"]);
        first.env("HOOKSD_DRAIN_SECONDS", "4").env("HOOKSD_JOURNAL_PAYLOADS", "1");
        assert_eq!(program::run(first).await.status, Some(0));
        let told = told(world).await;
        assert_eq!(told.len(), KEYS.len());
        let expected = [
            ("socket", world.text_at("run/hooksd.sock"), "--socket".to_owned()),
            ("drain_seconds", "4".to_owned(), "HOOKSD_DRAIN_SECONDS".to_owned()),
            ("poll", "true".to_owned(), at(3)),
            ("limits.handlers", "16".to_owned(), at(6)),
            ("limits.connections", "16384".to_owned(), "default".to_owned()),
            ("journal.enabled", "false".to_owned(), at(8)),
            ("journal.payloads", "true".to_owned(), "HOOKSD_JOURNAL_PAYLOADS".to_owned()),
            ("journal.max_days", "16".to_owned(), at(9)),
            ("log", "info".to_owned(), "default".to_owned()),
        ];
        for (key, value, origin) in expected {
            assert_eq!(told[key], (value, origin), "{key}");
        }
        let status = ctl_json(world, &["status"]).await;
        assert_eq!(status["max_handlers"], 16);
        assert!(status["changes"].as_str().unwrap().starts_with("polling"), "{status}");
    });
}

/// Agents that debug themselves want a daemon that says more; HOOKSD_LOG has the last word.
#[test]
fn a_debugged_agents_daemon_says_more() {
    nobody(async |world| {
        for (more, expected) in [
            (&[][..], ("debug", "DEEPAGENTS_CODE_DEBUG")),
            (&[("HOOKSD_LOG", "hooksd=trace,warn")], ("hooksd=trace,warn", "HOOKSD_LOG")),
        ] {
            let mut first = world.ctl(&["show"]);
            first.env("DEEPAGENTS_CODE_DEBUG", "1").envs(more.iter().copied());
            assert_eq!(program::run(first).await.status, Some(0));
            let (value, origin) = told(world).await["log"].clone();
            assert_eq!((value.as_str(), origin.as_str()), expected);
            ctl(world, &["shutdown"]).await;
            world.nothing_runs().await;
        }
    });
}

/// The socket in the file is where the daemon listens and where hooksctl looks; the variable overrides it for both.
#[test]
fn the_socket_of_the_file_is_everybodys() {
    nobody(async |world| {
        let socket = world.text_at("other/s.sock");
        world.write("home/.deepagents/hooksd.toml", format!("socket = '{socket}'\n"));
        let run = async |arguments: &[&str]| {
            let mut command = world.ctl(arguments);
            command.env_remove("HOOKSD_SOCKET");
            program::run(command).await
        };
        assert_eq!(run(&["show"]).await.status, Some(0));
        let status: Value = serde_json::from_str(&run(&["--json", "status"]).await.stdout).unwrap();
        assert_eq!(status["socket"], socket);
        assert_eq!(ctl(world, &["status"]).await.status, Some(3), "HOOKSD_SOCKET names another");
        assert_eq!(run(&["shutdown"]).await.status, Some(0));
        world.nothing_runs().await;
    });
}

/// Exit 2, the file, the line, what is wrong, what it may be. The one who has it started hears it too.
#[test]
fn what_is_wrong_is_refused_with_its_place_and_fix() {
    nobody(async |world| {
        let file = world.text_at("home/.deepagents/hooksd.toml");
        let start = async |variables: &[(&str, &str)]| {
            let home = world.at("home");
            let mut command = program::command("hooksd", &[("HOME", home.as_os_str())]);
            command.arg("--socket").arg(world.socket()).envs(variables.iter().copied());
            let done = program::run(command).await;
            assert_eq!((done.status, done.stdout.as_str()), (Some(2), ""), "{}", done.stderr);
            done.stderr
        };
        for (content, parts) in [
            ("drain_second = 3", &[":1: unknown key drain_second; did you mean drain_seconds?"][..]),
            ("\n[journal]\nmax_md = 3", &[":3: unknown key journal.max_md; did you mean journal.max_mb?"]),
            ("max_mb = 3", &[":1: unknown key max_mb; did you mean journal.max_mb?"]),
            ("zzzzzzzz = 1", &[":1: unknown key zzzzzzzz; known are socket, log, poll"]),
            (
                "# x\ndrain_seconds = 601",
                &[":2: drain_seconds is 601: it must be 0 to 600; without it, it is 10"],
            ),
            ("drain_seconds = -1", &[":1: drain_seconds is -1"]),
            ("drain_seconds = '3'", &[":1: drain_seconds is a value of the type string"]),
            ("poll = 1", &[":1: poll is a value of the type integer: it must be true or false"]),
            ("socket = 'here'", &[":1: socket is here: it must be an absolute path"]),
            ("log = 'loud'", &[":1: log is loud: it must be off, error, warn"]),
            ("journal = true", &[":1: journal is a section: write [journal] above its keys"]),
            ("poll = true\npoll = ", &[":2: is not TOML"]),
            ("limits = { handlers = 2 }", &[":1: limits.handlers is 2: it must be 3 to 100000"]),
        ] {
            world.write("home/.deepagents/hooksd.toml", content);
            let said = start(&[]).await;
            for part in parts {
                assert!(said.contains(&format!("{file}{part}")), "{part}: {said}");
            }
            let done = ctl(world, &["show"]).await;
            assert_eq!(done.status, Some(3));
            assert!(done.stderr.contains(&format!("{file}{}", parts[0])), "{}", done.stderr);
        }
        world.write("home/.deepagents/hooksd.toml", b"\xff");
        assert!(start(&[]).await.contains("is not UTF-8"));
        world.write("home/.deepagents/hooksd.toml", "");
        let said = start(&[("HOOKSD_DRAIN_SECONDS", "soon")]).await;
        assert!(said.contains("HOOKSD_DRAIN_SECONDS: drain_seconds is soon: it must be 0 to 600"), "{said}");
        assert!(!world.socket().exists());
    });
}

/// One connection more than may be open is told so and closed; those that are open go on.
#[test]
fn too_many_connections_are_refused() {
    daemon(async |world| {
        world.stop().await;
        let mut command = world.daemon_command();
        command.env("HOOKSD_LIMITS_CONNECTIONS", "2").stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        hooksd_tests::harness::until("it listens", || world.socket().exists()).await;
        let mut first = world.connect().await;
        first.call("session/list", json!({})).await.unwrap();
        let mut second = world.connect().await;
        second.call("session/list", json!({})).await.unwrap();
        let mut third = world.connect().await;
        let refusal: Value = serde_json::from_str(&third.next_line().await.unwrap()).unwrap();
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&Value::Null, &json!(-32005)));
        assert!(refusal["error"]["message"].as_str().unwrap().contains("limits.connections"));
        assert_eq!(third.next_line().await, None);
        first.call("daemon/shutdown", json!({})).await.unwrap();
        hooksd_tests::harness::until("it ends", || child.try_wait().unwrap().is_some()).await;
    });
}

#[test]
fn refuses_params() {
    world(async |world| {
        let mut line = world.connect().await;
        refuses(&mut line, "daemon/settings", &[(json!({ "zzz": 1 }), "zzz"), (json!([]), "params")]).await;
    });
}
