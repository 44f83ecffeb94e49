//! The document is another one when it is loaded than when a person agreed to it.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use hooksd_config::contents::fingerprint;
use hooksd_tests::harness::{daemon, events};
use serde_json::json;

/// Sessions opened while the document changes all the time.
const SESSIONS: usize = 150;

/// A hostile repository swaps its hooks.json, and the folder that it is in, as fast as it can: whatever moment the daemon
/// reads at, what runs is what was agreed to or nothing.
#[test]
fn what_was_agreed_to_runs_or_nothing() {
    daemon(async |world| {
        let benign = events::shell("SessionStart", "echo benign").to_string();
        let hostile = events::shell("SessionStart", "touch $W/pwn; echo hostile").to_string();
        for (name, text) in [("benign", &benign), ("hostile", &hostile)] {
            world.write(&format!("project/{name}/hooks.json"), text);
        }
        let place = world.at("project/.deepagents");
        let swap = |to: &str, place: &std::path::Path| {
            let next = place.with_file_name("next");
            let _ = fs::remove_file(&next);
            std::os::unix::fs::symlink(to, &next).unwrap();
            fs::rename(&next, place).unwrap();
        };
        swap("benign", &place);
        let agreed = fingerprint(benign.as_bytes());
        let mut line = world.connect().await;
        let grant = json!({ "cwd": world.text_at("project"), "fingerprint": agreed });
        line.call("trust/grant", grant.clone()).await.unwrap();
        let stop = AtomicBool::new(false);
        let (mut ran, mut withheld) = (0, 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    swap("hostile", &place);
                    swap("benign", &place);
                }
            });
            let attack = async {
                for _ in 0..SESSIONS {
                    // For good, for this session, and again while it changes: always for the bytes that were shown.
                    let mut agent = world.agent_with(json!({ "trust": { "fingerprint": agreed } })).await;
                    let _ = agent.line.call("trust/grant", grant.clone()).await;
                    for _ in 0..2 {
                        // A grant may have been taken back meanwhile.
                        match agent.invoke_with(&events::session_start(), json!({})).await {
                            Ok(answer) if answer.context() == ["benign"] => ran += 1,
                            Ok(answer) => {
                                assert_eq!(answer.context(), [""; 0]);
                                withheld += 1;
                            }
                            Err(error) => assert_eq!(error["code"], -32004, "{error}"),
                        }
                        agent.reload().await;
                    }
                }
            };
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(attack));
            stop.store(true, Ordering::Relaxed);
        });
        println!("{ran} ran what was agreed to, {withheld} nothing");
        assert!(ran > 0 && !world.at("pwn").exists());
    });
}
