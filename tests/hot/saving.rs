//! The ways editors and tools save.

use std::fs;
use std::os::unix::fs::symlink;

use hooksd_tests::harness::{World, world};
use serde_json::json;

use crate::{follower, is_watching, said, serves, version};

fn rename_over(world: &World, document: &serde_json::Value) {
    let draft = world.write("config/.hooks.json.swp", document.to_string());
    fs::rename(draft, world.at("config/hooks.json")).unwrap();
}

#[test]
fn b56_each_save_by_rename_is_served() {
    world(async |world| {
        world.user(&version("v1"));
        let mut agent = follower(world).await;
        is_watching(&mut agent).await;
        let mut ids = vec![agent.snapshot().to_owned()];
        for next in ["v2", "v3", "v4"] {
            rename_over(world, &version(next));
            serves(&mut agent, &[next]).await;
            ids.push(agent.line.call("session/attach", json!({ "session": agent.session() })).await.unwrap()
                ["snapshot"]["id"].as_str().unwrap().to_owned());
        }
        ids.dedup();
        assert_eq!(ids.len(), 4, "the snapshot's id changes each time");
    });
}

#[test]
fn a_save_in_place_is_served() {
    world(async |world| {
        world.user(&version("v1"));
        let mut agent = follower(world).await;
        for next in ["v2", "v3"] {
            world.user(&version(next));
            serves(&mut agent, &[next]).await;
        }
    });
}

#[test]
fn a_file_behind_links_is_followed_when_the_file_or_a_link_changes() {
    world(async |world| {
        // As dotfile managers and mounted volumes lay them out: hooks.json -> ..data/hooks.json, ..data -> v1/.
        for name in ["v1", "v2"] {
            world.write(&format!("config/{name}/hooks.json"), version(name).to_string());
        }
        symlink("v1", world.at("config/..data")).unwrap();
        symlink("..data/hooks.json", world.at("config/hooks.json")).unwrap();
        let mut agent = follower(world).await;
        assert_eq!(said(&mut agent).await, ["v1"]);
        symlink("v2", world.at("config/..next")).unwrap();
        fs::rename(world.at("config/..next"), world.at("config/..data")).unwrap();
        serves(&mut agent, &["v2"]).await;
        world.write("config/v2/hooks.json", version("v3").to_string());
        serves(&mut agent, &["v3"]).await;
    });
}

#[test]
fn a_touch_without_change_is_no_news() {
    world(async |world| {
        world.user(&version("v1"));
        let mut agent = follower(world).await;
        let before = agent.snapshot().to_owned();
        world.user(&version("v1"));
        let reloaded = agent.line.call("daemon/reload", json!({})).await.unwrap();
        assert_eq!(reloaded, json!({ "changed": false }));
        agent.reload().await;
        assert_eq!(agent.snapshot(), before);
    });
}
