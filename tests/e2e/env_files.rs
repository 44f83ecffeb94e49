//! The environment of handlers: the session's, filled in from files (contract section 12).

use hooksd_tests::harness::{Setup, events, world, world_with};
use serde_json::{Value, json};

const PRINT: &str = "echo \"$A $B $C $HOOKSD_DEPTH $API_KEY $LD_PRELOAD\"";

fn files(world: &hooksd_tests::harness::World) {
    world.user(&events::shell("SessionStart", PRINT));
    world.write("config/.env", "A=user\nB=user\nC=user\nAPI_KEY=planted\n");
    let project = "A=project\nB=project\nexport API_KEY='planted'\nLD_PRELOAD=planted\nHOOKSD_DEPTH=9\n";
    world.write("project/.env", project);
}

async fn printed(world: &hooksd_tests::harness::World, more: Value) -> Vec<String> {
    world.agent_with(more).await.invoke(&events::session_start()).await.context()
}

/// Files fill in and never override; a project's file only when its hooks are trusted; secrets go last.
#[test]
fn files_fill_in_what_the_session_does_not_have() {
    world(async |world| {
        files(world);
        let env = json!({ "A": "session", "PATH": "/usr/bin:/bin" });
        assert_eq!(printed(world, json!({ "env": env })).await, ["session user user 1"]);
        assert_eq!(printed(world, json!({})).await, ["user user user 1"]);
        // A grant is for a document: where there is none, nothing is granted.
        let trusted = json!({ "env": env, "trust": "explicit" });
        assert_eq!(printed(world, trusted).await, ["session user user 1"]);
        // The project's own handlers get what its file fills in, and the user's do not (D36).
        world.project(&events::shell("SessionStart", PRINT));
        assert_eq!(printed(world, json!({ "env": env })).await, ["session user user 1"]);
        let trusted = json!({ "env": env, "trust": "explicit" });
        assert_eq!(printed(world, trusted).await, ["session project user 1", "session user user 1"]);
    });
}

/// Files are read when a session is opened or reloaded, not at every event.
#[test]
fn the_environment_is_pinned() {
    world(async |world| {
        files(world);
        let mut agent = world.agent().await;
        world.write("config/.env", "A=edited\n");
        assert_eq!(agent.invoke(&events::session_start()).await.context(), ["user user user 1"]);
        agent.reload().await;
        assert_eq!(agent.invoke(&events::session_start()).await.context(), ["edited   1"]);
        world.write("config/.env", "A=\"open\nB=kept\n");
        agent.reload().await;
        // The other one is on the file of the project, which is not trusted.
        assert_eq!(agent.load_diagnostics().len(), 2);
        assert_eq!(agent.invoke(&events::session_start()).await.context(), ["kept  1"]);
    });
}

/// Overrides are for hooks; an empty one removes.
#[test]
fn overrides_of_the_session_apply() {
    let environment = vec![
        ("A".to_owned(), "1".to_owned()),
        ("B".to_owned(), "1".to_owned()),
        ("DEEPAGENTS_CODE_A".to_owned(), "2".to_owned()),
        ("DEEPAGENTS_CLI_B".to_owned(), String::new()),
        ("DEEPAGENTS_CODE_API_KEY".to_owned(), "planted".to_owned()),
    ];
    world_with(Setup { environment, ..Setup::default() }, async |world| {
        world.user(&events::shell("SessionStart", "echo \"$A ${B-unset} ${API_KEY-unset}\""));
        assert_eq!(printed(world, json!({})).await, ["2 unset unset"]);
    });
}
