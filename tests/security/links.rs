//! Links in the folders that the daemon writes to, planted by somebody who could write there once.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use hooksd_config::trust::Store;
use hooksd_tests::harness::{Setup, World, events, world_with};
use serde_json::json;

/// Every file below the config dir that the daemon writes or locks.
const FILES: [&str; 7] = [
    ".state/hooks_trust.json",
    ".state/hooks_trust.json.lock",
    ".state/hooksd/journal.db",
    ".state/hooksd/journal.db-wal",
    ".state/hooksd/journal.db-shm",
    ".state/hooksd/transcripts/s1.jsonl",
    ".state/hooksd/daemon.log",
];

const PRECIOUS: &str = "precious";

/// Writes all there is to be written, and looks whether the decision is there.
async fn use_everything(world: &World) {
    let mut agent = world.agent().await;
    assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
    let records = json!([{ "role": "user", "text": "x" }]);
    let _ =
        agent.line.call("transcript/append", json!({ "session": agent.session(), "records": records })).await;
    let params = json!({ "cwd": world.text_at("project"), "fingerprint": hooksd_config::contents::fingerprint(b"{\"hooks\":{}}") });
    let _ = agent.line.call("trust/grant", params).await;
    assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
}

/// Whatever stands there leads nowhere: the victim keeps its bytes and its mode, and every decision is there.
#[test]
fn links_in_the_state_folders_lead_nowhere() {
    type Plant<'a> = &'a dyn Fn(&Path, &Path);
    let plants: [(&str, Plant<'_>); 2] = [
        ("symlink", &|victim, place| symlink(victim, place).unwrap()),
        ("hard link", &|victim, place| fs::hard_link(victim, place).unwrap()),
    ];
    for (kind, plant) in plants {
        world_with(Setup { program: true, ..Setup::default() }, async |world| {
            world.user(&events::shell("PreToolUse", "exit 2"));
            world.write("project/.deepagents/hooks.json", "{\"hooks\":{}}");
            world.stop().await;
            for (number, name) in FILES.iter().enumerate() {
                let victim = world.write(&format!("victims/{number}"), PRECIOUS);
                fs::set_permissions(&victim, fs::Permissions::from_mode(0o644)).unwrap();
                let place = world.at("config").join(name);
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                let _ = fs::remove_file(&place);
                plant(&victim, &place);
            }
            world.start().await;
            use_everything(world).await;
            for (number, name) in FILES.iter().enumerate() {
                let victim = world.at(&format!("victims/{number}"));
                let mode = fs::metadata(&victim).unwrap().permissions().mode() & 0o777;
                assert_eq!(
                    (fs::read_to_string(&victim).unwrap().as_str(), mode),
                    (PRECIOUS, 0o644),
                    "{kind} at {name}"
                );
            }
            // A store that is a link to something else trusts nobody.
            let store = Store::read(&world.at("config"));
            assert!(store.entries().is_empty(), "{store:?}");
        });
    }
}
