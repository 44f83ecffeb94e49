//! transcript/append: the daemon's own transcripts.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hooksd_tests::harness::{events, world};
use serde_json::{Value, json};

/// What handlers read when they ask for the transcript.
const SHOW: &str = r#"sed 's/.*"transcript_path":"\([^"]*\)".*/\1/' | xargs cat"#;

fn subagent_stop(id: &str) -> Value {
    json!({
        "event": "SubagentStop", "agent": { "id": id, "name": "x" }, "continuation_count": 0,
        "last_assistant_message": "",
    })
}

/// Handlers see the records that were sent before their event, in order, even when nobody waited for the answers.
#[test]
fn handlers_see_what_was_appended_before_their_event() {
    world(async |world| {
        world.user(&events::shell("SessionStart", SHOW));
        let mut agent = world.agent_with(json!({ "thread_id": "../../t\u{1F600}" })).await;
        let mut expected = Vec::new();
        for number in 0..50 {
            let params = json!({ "session": agent.session(), "records": [{ "n": number }] });
            agent.line.request("transcript/append", &params).await;
            expected.push(format!("{{\"n\":{number}}}"));
        }
        let context = agent.invoke(&events::session_start()).await.context();
        assert_eq!(context, [expected.join("\n")]);
        let folder = world.at("config/.state/hooksd/transcripts");
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!((files.len(), mode(&folder), mode(&files[0])), (1, 0o700, 0o600));
        // A path that the client names wins.
        let mine = world.write("mine.jsonl", "mine").to_str().unwrap().to_owned();
        let answer =
            agent.invoke_with(&events::session_start(), json!({ "transcript_path": mine })).await.unwrap();
        assert_eq!(answer.context(), ["mine"]);
    });
}

/// A subagent has a file of its own, which SubagentStop uses if there is one.
#[test]
fn a_subagent_has_its_own_transcript() {
    world(async |world| {
        world.user(&events::shell(
            "SubagentStop",
            "sed 's/.*\"agent_transcript_path\":\"\\([^\"]*\\)\".*/\\1/' > $W/path",
        ));
        let mut agent = world.agent().await;
        let params = json!({ "session": agent.session(), "agent_id": "a/1", "records": [{ "of": "agent" }, { "n": 2 }] });
        let appended = agent.line.call("transcript/append", params).await.unwrap();
        assert_eq!(appended["records"], 2);
        let answer = agent.invoke(&subagent_stop("other")).await;
        assert_eq!(answer.handlers(), Vec::<String>::new());
        assert!(answer.message("projection_failed").contains("agent_transcript_path"));
        let answer = agent.invoke(&subagent_stop("a/1")).await;
        assert_eq!(answer.handlers(), ["SubagentStop:0:0 ok exit 0"]);
        let path = world.read("path").unwrap();
        assert_eq!(path.trim(), appended["path"].as_str().unwrap());
        assert_eq!(fs::read_to_string(path.trim()).unwrap(), "{\"of\":\"agent\"}\n{\"n\":2}\n");
    });
}

/// No secret is written down: by its looks, by its name, or because the session's environment has it.
#[test]
fn no_planted_secret_reaches_the_file() {
    world(async |world| {
        let env = json!({ "DB_PASSWORD": "correct-horse", "PATH": "/usr/bin:/bin" });
        let mut agent = world.agent_with(json!({ "env": env })).await;
        let records = json!([
            { "text": "export OPENAI_API_KEY=planted1 && curl -H 'Authorization: Bearer planted2' https://u:planted3@h" },
            { "args": { "password": "planted4", "nested": [{ "token": ["planted5"] }] } },
            { "text": "sk-planted6planted6 ghp_planted7planted7 AKIAPLANTED8PLANTED8", "out": "correct-horse" },
            { "text": "{\"api_key\": \"planted9\"}", "jwt": "eyJhbGciOiJub25lIn0.cGxhbnRlZDEw.cGxhbnRlZA" },
        ]);
        let params = json!({ "session": agent.session(), "records": records });
        let appended = agent.line.call("transcript/append", params).await.unwrap();
        let text = fs::read_to_string(appended["path"].as_str().unwrap()).unwrap();
        assert_eq!(text.lines().count(), 4);
        for line in text.lines() {
            serde_json::from_str::<Value>(line).expect("still JSON");
        }
        let lower = text.to_lowercase();
        assert!(
            !lower.contains("planted") && !lower.contains("cgxhbnr") && !lower.contains("correct-horse"),
            "{text}"
        );
    });
}

/// What does not fit is refused with its place, and a folder that cannot be written costs no decision.
#[test]
fn a_transcript_that_cannot_be_written_costs_no_decision() {
    world(async |world| {
        world.user(&events::shell("PreToolUse", "exit 2"));
        let mut agent = world.agent().await;
        let session = agent.session().to_owned();
        let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
        let many: Vec<Value> = vec![json!({}); 1001];
        for (records, field) in [
            (json!(many), "records"),
            (json!([{}, []]), "records[1]"),
            (json!([{ "x": "x".repeat(1024 * 1024) }]), "records[0]"),
            (json!([{ "x": deep }]), "records[0]"),
            (json!({}), "records"),
        ] {
            let params = json!({ "session": session, "records": records });
            let (code, data) = agent.line.refusal("transcript/append", params).await;
            assert_eq!((code, &data["field"]), (-32602, &json!(field)));
        }
        world.write("config/.state/hooksd/transcripts", "in the way");
        let params = json!({ "session": session, "records": [{}] });
        assert_eq!(agent.line.refusal("transcript/append", params.clone()).await.0, -32011);
        agent.line.request("transcript/append", &params).await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
    });
}
