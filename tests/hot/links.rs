//! Ways to a document that lead over links.

use std::fs;
use std::os::unix::fs::symlink;

use hooksd_tests::harness::{Setup, events, world, world_with};
use serde_json::json;

use crate::{follower, said, serves, version};

/// Any link of the chain may be pointed elsewhere.
#[test]
fn a_link_in_the_middle_of_a_chain_is_followed() {
    world(async |world| {
        for name in ["v1", "v2"] {
            world.write(&format!("store/{name}/hooks.json"), version(name).to_string());
        }
        fs::create_dir_all(world.at("links")).unwrap();
        let middle = world.at("links/middle");
        symlink(world.at("store/v1/hooks.json"), &middle).unwrap();
        fs::create_dir_all(world.at("config")).unwrap();
        symlink(&middle, world.at("config/hooks.json")).unwrap();
        let mut agent = follower(world).await;
        assert_eq!(said(&mut agent).await, ["v1"]);
        fs::remove_file(&middle).unwrap();
        symlink(world.at("store/v2/hooks.json"), &middle).unwrap();
        serves(&mut agent, &["v2"]).await;
    });
}

/// So may any folder above it.
#[test]
fn a_folder_far_above_that_is_replaced_is_followed() {
    let setup = Setup { config_dir: "a/b/c/config".to_owned(), ..Setup::default() };
    world_with(setup, async |world| {
        world.write("a/b/c/config/hooks.json", version("v1").to_string());
        world.write("other/b/c/config/hooks.json", version("v2").to_string());
        let mut agent = follower(world).await;
        assert_eq!(said(&mut agent).await, ["v1"]);
        fs::rename(world.at("a"), world.at("gone")).unwrap();
        fs::rename(world.at("other"), world.at("a")).unwrap();
        serves(&mut agent, &["v2"]).await;
        // The new tree is watched as the old one was.
        world.write("a/b/c/config/hooks.json", version("v3").to_string());
        serves(&mut agent, &["v3"]).await;
    });
}

/// D2: the user's document is the project's too when the project is its folder; a good version of it that is known by
/// one name serves for the other.
#[test]
fn d2_one_file_by_two_names_has_one_last_good_version() {
    let setup = Setup { config_dir: "link/.deepagents".to_owned(), ..Setup::default() };
    world_with(setup, async |world| {
        world.write("real/.deepagents/hooks.json", events::shell("PreToolUse", "exit 2").to_string());
        fs::create_dir_all(world.at("real/.git")).unwrap();
        symlink(world.at("real"), world.at("link")).unwrap();
        // This one keeps the user's document hot, by the name with the link.
        let mut elsewhere = world.agent().await;
        assert_eq!(elsewhere.invoke(&events::pre()).await.behavior(), "deny");
        world.write("real/.deepagents/hooks.json", "{bad");
        elsewhere.line.call("daemon/reload", json!({})).await.unwrap();
        for trust in [json!({}), json!({ "trust": "explicit" })] {
            let mut params = json!({ "cwd": world.text_at("real") });
            params.as_object_mut().unwrap().extend(trust.as_object().unwrap().clone());
            let mut agent = world.agent_with(params).await;
            assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny", "{trust}");
        }
    });
}
