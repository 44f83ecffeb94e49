//! `hooksctl explain`: for people and for programs, without a daemon and with one.

use hooksd_tests::harness::program::Done;
use hooksd_tests::harness::{World, daemon, events, eventually, world};
use serde_json::{Value, json};

use crate::ctl::{ctl, ctl_with};

/// Arguments with the world's config dir, and no daemon to be found.
async fn explain(world: &World, arguments: &[&str]) -> Done {
    let config = world.text_at("config");
    ctl(world, &[&["explain", "--config-dir", &config], arguments].concat()).await
}

#[test]
fn a_person_reads_every_handler_and_its_rule() {
    world(async |world| {
        world.user_text(
            "{\"hooks\": {\"PreToolUse\": [\n\
             {\"matcher\": \"bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"a\"}]},\n\
             {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"b\"}]}]}}\n",
        );
        world.project(&events::shell("PreToolUse", "c"));
        let fingerprint = {
            let status = ctl(world, &["trust", "--config-dir", &world.text_at("config"), "status"]).await;
            status.stdout.split("SHA-256   ").nth(1).unwrap().split('\n').next().unwrap().to_owned()
        };
        let done =
            explain(world, &["--socket", "/nowhere", "--event", "PreToolUse", "--tool", "execute"]).await;
        let (user, root) = (world.text_at("config/hooks.json"), world.text_at("project"));
        let text = world.read("project/.deepagents/hooks.json").unwrap();
        let column = text.find("{\"command\"").unwrap() + 1;
        let expected = format!(
            "PreToolUse, matchers are compared with \"Bash\" (the agent calls it \"execute\")\n\
             \n\
             would not run PreToolUse:0:0 at {user}:2:31\n\
             \x20   a\n\
             \x20   matcher: the matcher \"bash\" is not the exact name \"Bash\": upper and lower case differ\n\
             \x20   fix: write \"Bash\"\n\
             \n\
             would run PreToolUse:1:0 at {user}:3:31\n\
             \x20   b\n\
             \x20   runs: the matcher \"Bash\" names \"Bash\"\n\
             \n\
             would not run at {root}/.deepagents/hooks.json:1:{column}\n\
             \x20   c\n\
             \x20   untrusted: the project's hooks.json is present but not trusted (its matcher is for the event)\n\
             \x20   fix: look at it with `hooksctl trust status {root}`, then `hooksctl trust grant {root} --fingerprint {fingerprint}`\n\
             \n\
             1 of 3 handlers would run\n"
        );
        assert_eq!(done, Done { status: Some(0), stdout: expected, stderr: String::new() });
    });
}

#[test]
fn programs_read_the_same_and_the_event_comes_in_any_form() {
    world(async |world| {
        world.user(&events::shell("SessionStart", "true"));
        let payload = json!({ "hook_event_name": "SessionStart", "source": "startup", "session_id": "s" });
        let file = world.write("event.json", payload.to_string());
        let config = world.text_at("config");
        let mut answers = Vec::new();
        for (arguments, stdin) in [
            (&["--event", "SessionStart", "--subject", "startup"][..], String::new()),
            (&[file.to_str().unwrap()], String::new()),
            (&[], payload.to_string()),
            (&["-"], events::session_start().to_string()),
        ] {
            let all = [&["--json", "explain", "--config-dir", &config], arguments].concat();
            let done = ctl_with(world, &all, &stdin).await;
            assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""), "{arguments:?}");
            answers.push(serde_json::from_str::<Value>(&done.stdout).unwrap());
        }
        assert_eq!(answers[0]["handlers"][0]["rule"], "runs");
        assert_eq!(answers[0]["subject"], "startup");
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    });
}

#[test]
fn wrong_events_are_told_what_is_missing() {
    world(async |world| {
        for (arguments, sentence) in [
            (&["--event", "PreTool"][..], "there is no event \"PreTool\"; did you mean PreToolUse?"),
            (&["--event", "PreToolUse"], "PreToolUse is about a tool: name it with --tool"),
            (
                &["--event", "Stop", "--tool", "x"],
                "Stop is not about a tool: leave --tool out, or use --subject",
            ),
            (&["--event", "PreToolUse", "--tool", "x", "--input", "{"], "--input is no JSON"),
        ] {
            let done = explain(world, arguments).await;
            assert_eq!(done.stdout, "", "{arguments:?}");
            assert_ne!(done.status, Some(0), "{arguments:?}");
            assert!(done.stderr.contains(sentence), "{arguments:?}: {}", done.stderr);
        }
        let done = ctl(world, &["explain", "--config-dir", &world.text_at("home"), "abcd1234"]).await;
        assert_eq!((done.status, done.stdout.as_str()), (Some(4), ""), "{}", done.stderr);
        assert!(done.stderr.contains("there is no journal at"), "{}", done.stderr);
    });
}

/// `--run` is for real; what the journal has can be asked about afterwards.
#[test]
fn run_shows_how_the_decision_came_about() {
    daemon(async |world| {
        world.user(&json!({ "hooks": { "PreToolUse": [{ "hooks": [
            { "type": "command", "command": "exit 1" },
            { "type": "command", "command": "touch $W/ran; echo no >&2; exit 2" },
        ]}]}}));
        let arguments = ["--event", "PreToolUse", "--tool", "Bash", "--input", r#"{"command":"ls"}"#];
        let config = world.text_at("config");
        let all = [&["--json", "explain", "--config-dir", &config, "--run"], &arguments[..]].concat();
        let done = ctl(world, &all).await;
        assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
        let printed: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(
            printed["ran"]["steps"],
            json!([
                "PreToolUse:0:0 exited 1: a failure, which does not block: exit 2 does",
                "PreToolUse:0:1 exited 2: exit 2 blocks, stderr is the reason",
                "a deny outweighs every ask and allow, whoever came first. It is that of PreToolUse:0:1.",
            ])
        );
        assert_eq!(printed["ran"]["result"]["decision"]["permission"]["behavior"], "deny");
        assert!(world.read("ran").is_some());

        let id = printed["ran"]["result"]["invocation_id"].as_str().unwrap();
        let done = explain(world, &[&id[..8]]).await;
        assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
        assert!(
            done.stdout.starts_with("PreToolUse, matchers are compared with \"Bash\"\njournaled "),
            "{}",
            done.stdout
        );
        assert!(done.stdout.contains(": deny; the configuration is the same now\n"), "{}", done.stdout);
        assert!(done.stdout.ends_with("\n2 of 2 handlers would run\n"), "{}", done.stdout);
    });
}

#[test]
fn an_open_session_is_asked_of_the_daemon() {
    world(async |world| {
        let agent = world.agent_of(&events::shell("PreToolUse", "old")).await;
        world.user(&events::shell("PreToolUse", "new"));
        let session = agent.session().to_owned();
        let arguments = ["--session", &session, "--event", "PreToolUse", "--tool", "Bash"];
        let done = explain(world, &arguments).await;
        assert_eq!(done.status, Some(0), "{}", done.stderr);
        assert!(
            done.stdout.contains("snapshot_older: the snapshot is older than the file"),
            "{}",
            done.stdout
        );
        assert!(done.stdout.contains("\n1 of 2 handlers would run\n"), "{}", done.stdout);
    });
}

/// Where nobody is there, trust for good does not count; an event of the journal is explained as it was.
#[test]
fn an_event_without_a_person_is_explained_as_such() {
    daemon(async |world| {
        world.project(&events::shell("PreToolUse", "exit 2"));
        let config = world.text_at("config");
        let granted = ctl(world, &["trust", "grant", "--yes", "--config-dir", &config]).await;
        assert_eq!(granted.status, Some(0), "{granted:?}");
        let pre = world.write("pre.json", events::pre().to_string());
        let pre = pre.to_str().unwrap();
        let ran = ctl(world, &["--json", "invoke", "--mode", "headless", pre]).await;
        let ran: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(ran["handlers"], json!([]));
        let id = &ran["invocation_id"].as_str().unwrap()[..8];
        let done = eventually("it is in the journal", async || {
            let done = explain(world, &[id]).await;
            (done.status == Some(0)).then_some(done)
        })
        .await;
        for sentence in [
            "the configuration is the same now",
            "untrusted: nobody is there",
            "fix: ask with --mode interactive",
        ] {
            assert!(done.stdout.contains(sentence), "{sentence}: {}", done.stdout);
        }
    });
}
