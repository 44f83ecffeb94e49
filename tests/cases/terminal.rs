//! Kind 13: leaks between parties: what a handler may send to the person's terminal.

use std::ffi::OsStr;

use hooksd_tests::harness::{decision, events, program, world};
use serde_json::json;

/// Only harmless sequences pass, as a whole or not at all; `hooksctl` prints other text of handlers escaped.
#[test]
fn b82_terminal_escapes_of_a_handler() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("SessionStart", "cat $W/out")).await;
        for (sequence, passes) in [
            ("\u{1b}]52;c;aGk=\u{7}", false),
            ("\u{7}\n", false),
            ("\u{1b}]0;t\u{7}", true),
            ("\u{7}", true),
            ("\u{1b}]9;done\u{1b}\\", true),
            ("\u{1b}[2J", false),
            ("\u{1b}]0;t\u{7}\u{1b}]52;c;aGk=\u{7}", false),
        ] {
            world.write("out", json!({ "terminalSequence": sequence }).to_string());
            let expected = if passes {
                json!({ "terminal_sequences": [sequence] })
            } else {
                json!({ "diagnostics": ["invalid_terminal_sequence SessionStart:0:0 terminalSequence"] })
            };
            let answer = agent.invoke(&events::session_start()).await;
            assert_eq!(answer.decision(), decision("SessionStart", expected), "{sequence:?}");
        }
        world.write("out", "a\u{1b}[2Jb");
        let event = world.write("event.json", events::session_start().to_string());
        let environment = world.environment();
        let environment: Vec<(&str, &OsStr)> =
            environment.iter().map(|(name, value)| (name.as_str(), OsStr::new(value))).collect();
        let mut ctl = program::command("hooksctl", &environment);
        ctl.arg("--socket").arg(world.socket()).arg("invoke").arg(event).current_dir(world.at("project"));
        let shown = program::run(ctl).await.stdout;
        assert!(shown.contains(r"context: a\u{1b}[2Jb") && !shown.contains('\u{1b}'), "{shown}");
    });
}
