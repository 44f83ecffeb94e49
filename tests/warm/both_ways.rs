//! The loops that docs/hooks.md shows: each runs persistent, prewarmed and per event, from the same text.

use std::path::Path;

use hooksd_tests::harness::{World, decision, deny, events, eventually, world};
use serde_json::{Value, json};

use crate::{close, processes, warm};

/// The code block of this language under "Staying and waiting" in docs/hooks.md.
fn shown(language: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("docs/hooks.md");
    let page = std::fs::read_to_string(page).unwrap();
    let section = page.split("## Staying and waiting").nth(1).expect("the section is there");
    let block = section.split(&format!("```{language}\n")).nth(1).expect("the block is there");
    block.split("```").next().unwrap().to_owned()
}

async fn both_ways(world: &World, program: &str, language: &str) {
    if program.starts_with("/usr") && !Path::new(program).exists() {
        println!("skipped: no {program}");
        return;
    }
    let script = world.script("guard", &shown(language), 0o644);
    let event = |command: &str| events::tool("PreToolUse", "execute", json!({ "command": command }));
    for (lifecycle, expected) in [
        ("per_event", [false; 4]),
        ("prewarmed", [false, true, true, true]),
        ("persistent", [false, true, true, true]),
    ] {
        let handler =
            json!({ "type": "command", "command": "", "argv": [program, script], "lifecycle": lifecycle });
        let mut agent = world.agent_of(&events::hooks("PreToolUse", json!([handler]))).await;
        let mut was_there = Vec::new();
        for command in ["ls", "rm -rf /", "echo 'a\nb'", "rm -rf x"] {
            let answer = agent.invoke(&event(command)).await;
            let permission: Value = if command.starts_with("rm") {
                json!({ "permission": deny("rm -rf is not allowed here") })
            } else {
                json!({})
            };
            assert_eq!(answer.decision(), decision("PreToolUse", permission), "{lifecycle}: {command}");
            was_there.extend(warm(&answer));
            if lifecycle == "prewarmed" {
                eventually("one waits", async || (processes(&mut agent).await == 1).then_some(())).await;
            }
        }
        assert_eq!(was_there, expected, "{lifecycle}");
        close(world, agent).await;
    }
}

#[test]
fn the_python_loop_works_both_ways() {
    world(async |world| both_ways(world, "/usr/bin/python3", "python").await);
}

#[test]
fn the_node_loop_works_both_ways() {
    world(async |world| both_ways(world, "/usr/bin/node", "js").await);
}

#[test]
fn the_shell_loop_works_both_ways() {
    world(async |world| both_ways(world, "/bin/sh", "sh").await);
}
