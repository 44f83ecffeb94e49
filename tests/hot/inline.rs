//! Documents that no open session holds: requests that bring their session with them.

use std::fs;

use hooksd_tests::harness::{Line, World, events, until, world};
use serde_json::{Value, json};

/// What an inline session in the world's project is told.
async fn behavior(world: &World, line: &mut Line) -> Value {
    let payload =
        json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}, "session_id": "t" });
    let params = json!({ "session": world.open_params(), "payload": payload });
    let answer = line.call("hook/invoke", params).await.unwrap();
    answer["decision"]["permission"]["behavior"].clone()
}

/// D2 holds between two requests as within a session.
#[test]
fn d2_the_last_good_version_outlives_the_request_that_read_it() {
    world(async |world| {
        let mut line = world.connect().await;
        let guard = events::shell("PreToolUse", "exit 2");
        world.user(&guard);
        assert_eq!(behavior(world, &mut line).await, "deny");
        // Each change is looked at before the next request comes.
        for broken in ["{\"hooks\": {\"PreTool", "", "null"] {
            world.user_text(broken);
            line.call("daemon/reload", json!({})).await.unwrap();
            assert_eq!(behavior(world, &mut line).await, "deny", "{broken:?}");
        }
        world.user(&events::shell("PreToolUse", "true"));
        assert_ne!(behavior(world, &mut line).await, "deny", "repaired");
    });
}

/// What is no file any more was not deleted: the guard stays, and says why.
#[test]
fn d2_a_file_replaced_by_something_else_keeps_serving() {
    world(async |world| {
        let path = world.at("config/hooks.json");
        let replace: [(&str, &dyn Fn()); 3] = [
            ("a folder", &|| fs::create_dir(&path).unwrap()),
            ("a dangling link", &|| std::os::unix::fs::symlink("/nowhere/at/all", &path).unwrap()),
            ("a device", &|| std::os::unix::fs::symlink("/dev/null", &path).unwrap()),
        ];
        for (what, make) in replace {
            world.user(&events::shell("PreToolUse", "exit 2"));
            let mut agent = world.agent_with(json!({ "follow": true })).await;
            assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny", "{what}");
            fs::remove_file(&path).unwrap();
            make();
            // Longer than a deletion takes to count.
            let start = std::time::Instant::now();
            until("the settle time is over", || start.elapsed().as_millis() > 700).await;
            agent.reload().await;
            assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny", "{what}");
            assert_eq!(agent.load_diagnostics(), ["config_read_failed hooks.json"], "{what}");
            let _ = fs::remove_dir(&path);
            let _ = fs::remove_file(&path);
        }
    });
}
