//! The session param `plugins`.

use hooksd_tests::harness::{World, events, world};
use serde_json::{Value, json};

/// A plugin whose SessionStart handler prints `text`.
fn plugin(world: &World, folder: &str, text: &str) -> String {
    let document =
        events::shell("SessionStart", &format!("echo \"{text} $PLUGIN_ROOT\"; touch \"$PLUGIN_DATA/x\""));
    world.write(&format!("{folder}/hooks/hooks.json"), document.to_string());
    world.text_at(folder)
}

fn enable(world: &World, plugins: &[(&str, &str)]) {
    let enabled: serde_json::Map<String, Value> =
        plugins.iter().map(|(id, _)| ((*id).to_owned(), json!(true))).collect();
    let installed: serde_json::Map<String, Value> =
        plugins.iter().map(|(id, root)| ((*id).to_owned(), json!([{ "installPath": root }]))).collect();
    let state = json!({ "version": 1, "enabledPlugins": enabled });
    world.write("config/.state/plugin_state.json", state.to_string());
    let installed = json!({ "version": 2, "plugins": installed });
    world.write("config/.state/installed_plugins.json", installed.to_string());
}

async fn context(world: &World, more: Value) -> Vec<String> {
    world.agent_with(more).await.invoke(&events::session_start()).await.context()
}

/// None by default, all enabled ones with "discover", or those that the session names.
#[test]
fn a_session_says_which_plugins_take_part() {
    world(async |world| {
        let (a, b) = (plugin(world, "p/a", "a"), plugin(world, "p/b", "b"));
        enable(world, &[("b@m", &b), ("a@m", &a)]);
        let (from_a, from_b) = (format!("a {a}"), format!("b {b}"));
        assert_eq!(context(world, json!({})).await, Vec::<String>::new());
        assert_eq!(context(world, json!({ "plugins": "none" })).await, Vec::<String>::new());
        let discovered = json!({ "plugins": "discover" });
        assert_eq!(context(world, discovered).await, [from_a.clone(), from_b.clone()]);
        let listed = json!({ "plugins": [{ "id": "b@m", "root": b }, { "id": "a@m", "root": a }] });
        assert_eq!(context(world, listed).await, [from_b.clone(), from_a]);

        let mut agent = world.agent().await;
        let opened = agent.snapshot().to_owned();
        agent.reload_with(json!({ "plugins": [{ "id": "b@m", "root": b }] })).await;
        assert_ne!(agent.snapshot(), opened);
        agent.reload().await;
        assert_eq!(agent.invoke(&events::session_start()).await.context(), [from_b]);
        agent.reload_with(json!({ "plugins": "none" })).await;
        assert_eq!(agent.snapshot(), opened);
        let wrong = json!({ "thread_id": "t", "cwd": "/", "mode": "headless", "plugins": "all" });
        assert_eq!(agent.line.refusal("session/open", wrong).await.0, -32602);
    });
}

/// What is wrong with one plugin is said, and costs that plugin alone.
#[test]
fn d18_one_broken_plugin_withholds_nothing_of_another() {
    world(async |world| {
        let good = plugin(world, "p/good", "good");
        let broken = plugin(world, "p/broken", "broken");
        world.write("p/broken/plugin.json", b"{\"name\":\"\xff\"}");
        let half = plugin(world, "p/half", "half");
        world.write("p/half/plugin.json", r#"{"hooks": ["../x.json", "./gone.json", "./bad.json"]}"#);
        world.write("p/half/bad.json", "{");
        enable(
            world,
            &[
                ("broken@m", &broken),
                ("gone@m", "/nonexistent"),
                ("good@m", &good),
                ("half@m", &half),
                ("odd", &good),
            ],
        );
        let mut agent = world.agent_with(json!({ "plugins": "discover" })).await;
        let codes: Vec<&str> = agent.info["snapshot"]["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|diagnostic| diagnostic["code"].as_str().unwrap())
            .collect();
        let failed = "plugin_hooks_failed";
        assert_eq!(codes, [failed, failed, failed, failed, "config_read_failed"]);
        let context = agent.invoke(&events::session_start()).await.context();
        assert_eq!(context, [format!("good {good}"), format!("half {half}")]);
    });
}
