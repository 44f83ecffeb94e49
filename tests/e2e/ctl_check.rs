//! `hooksctl check` as a linter: places, carets, fixes, forms.

use hooksd_tests::harness::program::Done;
use hooksd_tests::harness::{events, world};
use serde_json::{Value, json};

use crate::ctl::ctl;

#[test]
fn a_syntax_error_is_shown_with_its_line_and_a_caret() {
    world(async |world| {
        let path = world.write("broken.json", "{\n  \"hooks\": {\n    \"Stop\": [],\n  }\n}\n");
        let path = path.to_str().unwrap();
        let done = ctl(world, &["check", path]).await;
        let stdout = done.stdout.clone();
        assert_eq!((done.status, done.stderr.as_str()), (Some(2), ""));
        let lines: Vec<&str> = stdout.lines().collect();
        assert!(
            lines[0].starts_with(&format!("{path}:4:3: warning[config_read_failed]: it is not JSON: ")),
            "{stdout}"
        );
        assert_eq!(
            lines[1..],
            [
                "    }",
                "    ^",
                "    fix: remove the comma before it",
                &format!("{path}: nothing of it would be used")
            ]
        );
    });
}

#[test]
fn findings_have_places_and_fixes_in_every_form() {
    world(async |world| {
        let path = world.write(
            "some.json",
            "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"execute\", \"hooks\": [\n\
             \x20 {\"type\": \"command\", \"command\": \"exit 1\", \"timeout\": 30000}]}]}}",
        );
        let path = path.to_str().unwrap();
        let done = ctl(world, &["check", path]).await;
        let expected = format!(
            "{path}:1:39: warning[matcher_without_match]: \"execute\" is an agent's own name; handlers know the tool as \"Bash\"\n\
             \x20   {{\"hooks\": {{\"PreToolUse\": [{{\"matcher\": \"execute\", \"hooks\": [\n\
             \x20                                          ^\n\
             \x20   fix: write \"Bash\"\n\
             {path}:2:34: warning[exit_1_does_not_block]: it exits 1, which is a failure and blocks nothing; exit 2 blocks\n\
             \x20   {{\"type\": \"command\", \"command\": \"exit 1\", \"timeout\": 30000}}]}}]}}}}\n\
             \x20                                   ^\n\
             \x20   fix: exit 2 to block, with the reason on stderr; or write \"onFailure\": \"block\"\n\
             {path}:2:55: warning[timeout_in_milliseconds]: a timeout of 30000 is in seconds, 500 minutes\n\
             \x20   {{\"type\": \"command\", \"command\": \"exit 1\", \"timeout\": 30000}}]}}]}}}}\n\
             \x20                                                        ^\n\
             \x20   fix: if milliseconds were meant, write 30\n\
             {path}: 1 handler would be used\n"
        );
        let caret = |column: usize| format!("    {}^", " ".repeat(column));
        let carets = [caret(38), caret(31), caret(52)];
        let mut carets = carets.iter();
        let line = |line: &str| match line.trim() {
            "^" => carets.next().unwrap().clone(),
            _ => line.to_owned(),
        };
        let expected: Vec<String> = expected.lines().map(line).collect();
        assert_eq!(done.stdout.lines().collect::<Vec<_>>(), expected);
        assert_eq!(done.status, Some(1));

        let json = ctl(world, &["check", "--format", "json", path]).await;
        let json: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!((&json["usable"], &json["handlers"]), (&json!(true), &json!(1)));
        assert_eq!(
            json["documents"][0]["findings"][2],
            json!({
                "code": "timeout_in_milliseconds", "severity": "warning",
                "message": "a timeout of 30000 is in seconds, 500 minutes", "fix": "if milliseconds were meant, write 30",
                "path": path, "line": 2, "column": 55,
                "text": "  {\"type\": \"command\", \"command\": \"exit 1\", \"timeout\": 30000}]}]}}",
            })
        );

        let sarif = ctl(world, &["check", "--format", "sarif", path]).await;
        assert_eq!(sarif.status, Some(1));
        let sarif: Value = serde_json::from_str(&sarif.stdout).unwrap();
        assert_eq!(sarif["version"], "2.1.0");
        let run = &sarif["runs"][0];
        assert_eq!(run["tool"]["driver"]["name"], "hooksctl");
        let rules = json!([
            { "id": "exit_1_does_not_block" }, { "id": "matcher_without_match" }, { "id": "timeout_in_milliseconds" },
        ]);
        assert_eq!(run["tool"]["driver"]["rules"], rules);
        assert_eq!(
            run["results"][2],
            json!({
                "ruleId": "timeout_in_milliseconds", "level": "warning",
                "message": { "text": "a timeout of 30000 is in seconds, 500 minutes. Fix: if milliseconds were meant, write 30" },
                "locations": [{ "physicalLocation": {
                    "artifactLocation": { "uri": format!("file://{path}") },
                    "region": { "startLine": 2, "startColumn": 55 },
                }}],
            })
        );
    });
}

/// Without a path: yours, then the project's.
#[test]
fn the_default_is_every_document_that_counts_here() {
    world(async |world| {
        let config = world.text_at("config");
        let done = ctl(world, &["check", "--config-dir", &config]).await;
        assert_eq!((done.status, done.stdout.as_str()), (Some(2), ""));
        assert!(done.stderr.contains("`hooksctl init` writes one"), "{}", done.stderr);
        world.user(&events::shell("Stop", "true"));
        world.project(&events::shell("Stop", "true"));
        let done = ctl(world, &["check", "--config-dir", &config]).await;
        let (user, project) =
            (world.text_at("config/hooks.json"), world.text_at("project/.deepagents/hooks.json"));
        let root = world.text_at("project");
        let stdout = format!(
            "{user}: 1 handler would be used\n\
             {project}: note[project_untrusted]: the project is not trusted, so none of it runs\n\
             \x20   fix: look at it with `hooksctl trust status {root}`, then `hooksctl trust grant {root} --yes`\n\
             {project}: 1 handler would be used\n"
        );
        assert_eq!(done, Done { status: Some(0), stdout, stderr: String::new() });
    });
}

/// A handler that was slow is told so, as the journal has it.
#[test]
fn a_slow_handler_is_found_in_the_journal() {
    world(async |world| {
        let config = world.text_at("config");
        let document = events::shell_within("PreToolUse", "until [ -e $W/never ]; do sleep 0.02; done", 0.3);
        let mut agent = world.agent_of(&document).await;
        agent.invoke(&events::pre()).await;
        agent.line.call("journal/query", json!({})).await.unwrap();
        let done = ctl(world, &["check", "--config-dir", &config]).await;
        assert_eq!(done.status, Some(1), "{done:?}");
        assert!(
            done.stdout.contains("warning[slow_handler]: it ran out of its 0.3 s in 1 of its last 1 runs\n"),
            "{}",
            done.stdout
        );
    });
}

/// What is as it should be is not remarked on.
#[test]
fn sound_documents_have_no_findings() {
    world(async |world| {
        world.script("project/.deepagents/guard.sh", "#!/bin/sh\nexit 2\n", 0o755);
        let commands = [
            "bash -lc 'exit 2'",
            "python3 -c 'import sys; sys.exit(2)'",
            "X=1 sh -c true",
            "cd /tmp && ./x",
            "[ -e /tmp ] || exit 2",
            "jq_is_optional=1; echo ok | cat",
            "\"$CLAUDE_PROJECT_DIR\"/.deepagents/guard.sh",
            "$UNKNOWN/guard.sh",
            "if grep -q x; then exit 1; else exit 2; fi",
        ];
        let handlers: Vec<Value> = commands
            .iter()
            .map(|command| json!({ "type": "command", "command": command, "timeout": 999 }))
            .collect();
        let document = json!({ "$schema": "x", "description": "y", "hooks": {
            "PreToolUse": [
                { "matcher": "Bash|Write", "hooks": handlers },
                { "matcher": "mcp__memory__.*", "hooks": [] },
                { "matcher": "mcp__memory__store", "hooks": [] },
                { "matcher": ".*", "hooks": [] },
                { "matcher": "*", "hooks": [] },
            ],
            "SessionStart": [{ "matcher": "startup|resume", "hooks": [] }],
        }});
        world.user(&document);
        world.project(&document);
        let project = world.text_at("project/.deepagents/hooks.json");
        let done = ctl(world, &["check", &world.text_at("config/hooks.json"), &project]).await;
        assert_eq!((done.status, done.stdout.lines().count()), (Some(0), 2), "{}", done.stdout);
    });
}
