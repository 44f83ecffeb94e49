//! Files and folders that come and go.

use std::fs;

use hooksd_tests::harness::{Setup, world, world_with};
use serde_json::json;

use crate::{follower, said, serves, version};

#[test]
fn b58_a_folder_deleted_and_made_anew_is_followed() {
    world(async |world| {
        world.project(&version("v1"));
        let mut agent = world.agent_with(json!({ "follow": true, "trust": "explicit" })).await;
        assert_eq!(said(&mut agent).await, ["v1"]);
        // The user's document shows the same without trust in the way.
        world.user(&version("u1"));
        serves(&mut agent, &["v1", "u1"]).await;
        for next in ["u2", "u3"] {
            fs::remove_dir_all(world.at("config")).unwrap();
            world.write("config/hooks.json", version(next).to_string());
            serves(&mut agent, &["v1", next]).await;
        }
        world.user(&version("u4"));
        serves(&mut agent, &["v1", "u4"]).await;
    });
}

#[test]
fn d2_a_deletion_counts_after_the_settle_time() {
    world(async |world| {
        world.user(&version("v1"));
        let mut agent = follower(world).await;
        assert_eq!(said(&mut agent).await, ["v1"]);
        fs::remove_file(world.at("config/hooks.json")).unwrap();
        serves(&mut agent, &[]).await;
        world.user(&version("v2"));
        serves(&mut agent, &["v2"]).await;
    });
}

#[test]
fn b59_what_is_missing_at_the_start_is_picked_up_when_it_is_made() {
    let setup = Setup { config_dir: "home/none/yet/config".to_owned(), ..Setup::default() };
    world_with(setup, async |world| {
        let mut agent = follower(world).await;
        assert_eq!(agent.load_diagnostics(), Vec::<String>::new(), "a missing file is no diagnostic");
        assert_eq!(said(&mut agent).await, Vec::<String>::new());
        world.write("home/none/yet/config/hooks.json", version("v1").to_string());
        serves(&mut agent, &["v1"]).await;
        world.write("home/none/yet/config/hooks.json", version("v2").to_string());
        serves(&mut agent, &["v2"]).await;
    });
}

#[test]
fn an_edit_of_a_granted_project_needs_another_grant() {
    world(async |world| {
        world.user(&version("u1"));
        world.project(&version("p1"));
        let mut agent = world.agent_with(json!({ "follow": true, "trust": "explicit" })).await;
        assert_eq!(said(&mut agent).await, ["p1", "u1"]);
        world.project(&version("p2"));
        serves(&mut agent, &["u1"]).await;
        agent.reload_with(json!({ "trust": "explicit" })).await;
        assert_eq!(said(&mut agent).await, ["p2", "u1"]);
    });
}
