//! Kind 8: launch environment: variables.

use hooksd_tests::harness::{Setup, daemon, events, program, world_with};
use serde_json::json;

/// A session's handlers find the session's variables, not the daemon's and not another session's.
#[test]
fn b51_each_session_has_its_own_environment() {
    daemon(async |world| {
        for (folder, letter) in [("a", "A"), ("b", "B")] {
            world.script(&format!("{folder}/t"), &format!("#!/bin/sh\necho {letter}\n"), 0o755);
        }
        world.user(&events::shell("SessionStart", "t; printenv TERM_PROGRAM"));
        let path = |folder: &str| format!("{}:/usr/bin:/bin", world.text_at(folder));
        let mut a = world.agent_with(json!({ "env": { "PATH": path("a"), "TERM_PROGRAM": "x" } })).await;
        let mut b = world.agent_with(json!({ "env": { "PATH": path("b") } })).await;
        let start = events::session_start();
        assert_eq!(a.invoke(&start).await.context(), ["A\nx"]);
        let answer = b.invoke(&start).await;
        assert_eq!(answer.handlers(), ["SessionStart:0:0 failed exit 1"]);
        assert_eq!(a.invoke(&start).await.context(), ["A\nx"]);
        world.user(&events::shell("SessionStart", "t"));
        b.reload().await;
        assert_eq!(b.invoke(&start).await.context(), ["B"]);
        // A session that sends none gets the daemon's, and that is shown.
        let mut neither = world.agent().await;
        assert_eq!(neither.invoke(&start).await.handlers(), ["SessionStart:0:0 failed exit 127"]);
        let mut status = program::command("hooksctl", &[]);
        status.arg("--socket").arg(world.socket()).arg("status");
        let shown = program::run(status).await.stdout;
        assert!(shown.contains("3 (1 with the daemon's environment)"), "{shown}");
    });
}

/// Variables that are named like secrets do not reach handlers, nor a log, a diagnostic or a status.
#[test]
fn b52_secrets_do_not_reach_handlers() {
    let secret = "hunter2";
    let secrets =
        ["OPENAI_API_KEY", "my_token", "DB_PASSWORD", "CLIENT_SECRET", "AWS_ACCESS_KEY_ID", "MONKEY"];
    let kept = ["GH_PAT", "DATABASE_URL", "SSH_AUTH_SOCK"];
    let environment = secrets.map(|name| (name.to_owned(), secret.to_owned()));
    let kept_environment = kept.map(|name| (name.to_owned(), "kept".to_owned()));
    let environment = environment.into_iter().chain(kept_environment).collect();
    let setup = Setup { program: true, environment, ..Setup::default() };
    world_with(setup, async |world| {
        let names = [&secrets[..], &kept].concat().join(" ");
        let command =
            format!("for name in {names}; do printenv $name > /dev/null && echo $name; done; exit 0");
        world.user(&events::shell("SessionStart", &command));
        // Whether the daemon had them or the session has sent them.
        let mut sent = json!({ "PATH": "/usr/bin:/bin" });
        for name in secrets {
            sent[name] = json!(secret);
        }
        for name in kept {
            sent[name] = json!("kept");
        }
        let expected = [kept.join("\n")];
        for more in [json!({}), json!({ "env": sent })] {
            let mut agent = world.agent_with(more).await;
            assert_eq!(agent.invoke(&events::session_start()).await.context(), expected);
        }
        let mut status = program::command("hooksctl", &[]);
        status.arg("--socket").arg(world.socket()).args(["--json", "status"]);
        let shown = program::run(status).await.stdout;
        let log = world.read("daemon.log").unwrap();
        assert!(!shown.contains(secret) && !log.contains(secret), "{shown}{log}");
    });
}
