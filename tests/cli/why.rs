//! Why something runs or not: `check`, `explain`, `doctor`, `init`.

use hooksd_tests::harness::events;
use serde_json::json;

use crate::transcript::{denied, document, transcript};

#[test]
fn check() {
    transcript("check", async |page| {
        page.both(&["check"]).await;
        page.user(&document());
        page.both(&["check"]).await;
        page.project(&json!({ "hooks": {
            "PreToolUs": [{ "hooks": [{ "type": "command", "command": "true" }] }],
            "PreToolUse": [
                { "matcher": "Bash(git:*)", "hooks": [{ "type": "command", "command": "guard.sh", "timeout": 5000 }] },
                { "matcher": "bash", "hooks": [{ "type": "command", "command": "grep -q x || exit 1" }] },
                { "hooks": [{ "type": "prompt", "prompt": "is this fine?" }] },
            ],
        }}));
        page.both(&["check"]).await;
        page.run(&["check", "--format", "sarif"]).await;
        page.world.write("broken.json", "{ \"hooks\": {\n  \"Stop\": [,] } }\n");
        page.both(&["check", "../broken.json"]).await;
        page.both(&["check", "gone.json"]).await;
    });
}

#[test]
fn explain() {
    transcript("explain", async |page| {
        let about = [
            "explain",
            "--event",
            "PreToolUse",
            "--tool",
            "Bash",
            "--input",
            r#"{"command":"rm -rf build"}"#,
        ];
        page.both(&about).await;
        page.user(&document());
        page.project(&events::shell("PreToolUse", "exit 2"));
        page.both(&about).await;
        page.run(&[&about[..], &["--run"]].concat()).await;
        let mut agent = page.agent().await;
        let id = page.event(&mut agent, &denied(), "DENIED").await;
        page.run(&["explain", &id]).await;
        page.run_with(&["explain"], &[], &events::pre_of("write_file").to_string()).await;
        page.run(&["explain", "--event", "PreToolUs"]).await;
        page.run(&["explain", "3f2a"]).await;
        page.run(&["explain", "--tool", "Bash"]).await;
        page.world.write("config/hooks.json", "{ \"hooks\": ");
        page.run(&about).await;
    });
}

#[test]
fn doctor() {
    transcript("doctor", async |page| {
        page.user(&document());
        page.both(&["doctor"]).await;
        page.world.write("config/hooks.json", "{ \"hooks\": ");
        page.world.write("config/.state/hooks_trust.json", "{ broken");
        page.both(&["doctor"]).await;
        page.world.stop().await;
        page.run(&["doctor"]).await;
        page.world.start().await;
    });
}

#[test]
fn init() {
    transcript("init", async |page| {
        page.run(&["init"]).await;
        page.both(&["init"]).await;
        page.run(&["init", "--project", "--json"]).await;
        page.run(&["init", "../elsewhere"]).await;
        page.run(&["check"]).await;
    });
}
