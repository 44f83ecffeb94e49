//! Sessions and the connections that hear of them.

use hooksd_tests::harness::{events, world};
use serde_json::json;

use crate::{said, serves, version};

#[test]
fn a_session_outlives_its_connection_and_goes_on_from_another() {
    world(async |world| {
        world.user(&version("v1"));
        let first = world.agent_with(json!({ "follow": true })).await;
        let (session, context) = (first.session().to_owned(), first.context.clone());
        drop(first);
        let mut again = world.agent().await;
        let info = again.line.call("session/attach", json!({ "session": session })).await.unwrap();
        assert_eq!(info["session"], json!(session));
        again.info = info;
        again.context = context;
        assert_eq!(said(&mut again).await, ["v1"]);
        // The new connection hears of the session.
        world.user(&version("v2"));
        serves(&mut again, &["v2"]).await;
        let changed = loop {
            let message = again.line.message().await;
            if message["method"] == "snapshot/changed" && message["params"]["session"] == json!(session) {
                break message;
            }
        };
        assert_eq!(changed["params"]["applied"], json!(true));
    });
}

#[test]
fn a_session_that_is_not_there_cannot_be_attached() {
    world(async |world| {
        let mut line = world.connect().await;
        let (code, _) = line.refusal("session/attach", json!({ "session": "none" })).await;
        assert_eq!(code, -32002);
    });
}

#[test]
fn sessions_with_the_same_documents_share_one_snapshot() {
    world(async |world| {
        world.user(&version("v1"));
        let one = world.agent().await;
        let other = world.agent_with(json!({ "thread_id": "s2", "mode": "headless" })).await;
        assert_eq!(one.snapshot(), other.snapshot());
    });
}

#[test]
fn a_move_to_another_folder_resolves_its_project_anew() {
    world(async |world| {
        world.project(&version("p1"));
        world.write("other/.deepagents/hooks.json", version("o1").to_string());
        let mut agent = world.agent_with(json!({ "trust": "explicit" })).await;
        assert_eq!(said(&mut agent).await, ["p1"]);
        agent.reload_with(json!({ "cwd": world.text_at("other") })).await;
        assert_eq!(said(&mut agent).await, Vec::<String>::new(), "the grant was for the folder before");
        assert_eq!(agent.info["project"]["root"], json!(world.text_at("other")));
        assert_eq!(agent.load_diagnostics(), ["project_untrusted hooks.json"]);
        let answer = agent.invoke(&events::pre()).await;
        assert_eq!(answer.behavior(), "none");
    });
}
