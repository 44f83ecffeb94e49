//! Whatever somebody else has written must not steer the terminal of who looks on (B82).

use hooksd_tests::harness::{daemon, events, program};
use serde_json::json;

use crate::ctl;

/// Sets the title, clears the screen, does so in one byte, and turns the direction of what follows.
const NASTY: &str = "PWN\u{1b}]0;PWN\u{7}\u{1b}[2J\u{9b}2J\u{8}\r\u{202e}PWN";

/// Takes away the colours that hooksctl has put in itself.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part
            .split_once('m')
            .filter(|(style, _)| style.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'))
        {
            Some((_, rest)) => plain.push_str(rest),
            None => plain.push_str(&format!("\u{1b}[{part}")),
        }
    }
    plain
}

/// A hostile agent, repository and handler put them wherever a text of theirs can stand, and a person looks at all of it.
/// Colours are forced: what prints to a pipe would take the sequences away by itself, and hide the fault.
#[test]
fn nothing_that_others_have_written_steers_a_terminal() {
    daemon(async |world| {
        let handler = json!({ "type": "command", "command": format!(": '{NASTY}'; cat $W/said >&2; exit 2"),
            "statusMessage": NASTY, NASTY: NASTY });
        let group = json!([{ "hooks": [handler] }, { "matcher": NASTY, "hooks": [handler] },
            { "matcher": format!("[{NASTY}"), "hooks": [handler] }]);
        let document = json!({ "hooks": { "PreToolUse": group, NASTY: group }, NASTY: 1 }).to_string();
        world.user_text(&document);
        world.write("said", NASTY);
        // A folder's name may hold all of it but the slash.
        let folder = format!("project/{NASTY}");
        world.write(&format!("{folder}/.deepagents/hooks.json"), &document);
        let cwd = world.text_at(&folder);
        let mut agent = world.agent_with(json!({ "thread_id": NASTY, "cwd": cwd })).await;
        agent.context["cwd"] = json!(cwd);
        let event = events::tool("PreToolUse", NASTY, json!({ NASTY: NASTY }));
        let answer = agent.invoke(&event).await;
        assert_eq!(answer.behavior(), "deny");
        let id = answer.0["invocation_id"].as_str().unwrap().to_owned();
        let mut line = world.connect().await;
        hooksd_tests::harness::eventually("it is written down", async || {
            let page = line.call("journal/query", json!({})).await.unwrap();
            (page["records"].as_array()?.len() == 1).then_some(())
        })
        .await;
        let file = world.write("event.json", event.to_string());
        let file = file.to_str().unwrap();
        let session = agent.session().to_owned();
        let mut shown = 0;
        for arguments in [
            &["log"][..],
            &["timeline", &id],
            &["explain", &id],
            &["explain", file, "--cwd", &cwd],
            &["explain", file, "--session", &session],
            &["replay", &id],
            &["invoke", file],
            &["show", &cwd],
            &["show", "--settings"],
            &["sessions"],
            &["status"],
            &["stats"],
            &["check"],
            &["check", &format!("{cwd}/.deepagents/hooks.json")],
            &["trust", "status", &cwd],
            &["trust", "list"],
            &["doctor"],
            &["agents"],
            &["report"],
            &["kill", NASTY],
            &["timeline", NASTY],
            &["explain", "--event", NASTY],
            &["show", &format!("/{NASTY}")],
        ] {
            for json in [&[][..], &["--json"]] {
                let mut command = ctl(world, &[json, arguments].concat());
                command.env("CLICOLOR_FORCE", "1");
                let done = program::run(command).await;
                for text in [&done.stdout, &done.stderr] {
                    let plain = without_colours(text);
                    let steers =
                        plain.find(|c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}');
                    assert_eq!(steers, None, "hooksctl {arguments:?} {json:?} prints {plain:?}");
                    shown += usize::from(plain.contains("PWN"));
                }
            }
        }
        // What does not show it tests nothing.
        assert!(shown > 20, "{shown} outputs had it in them");
        let log = world.read("daemon.log").unwrap();
        let steers = log.find(|c: char| c.is_control() && c != '\n');
        assert_eq!(steers, None, "the daemon's log has {log:?}");
    });
}
