//! One configuration has one id, and documents are merged in one order.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that fails to set up has failed")]

use hooksd_config::Snapshot;
use hooksd_config::contents::Contents;
use hooksd_config::layers::{PluginDocument, compile};
use hooksd_config::read::Found;
use hooksd_protocol::event::EventName;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn handler() -> impl Strategy<Value = Value> {
    ("[a-z ]{0,5}", prop::option::of(1..900u32), prop::option::of("[a-zü\"]{0,4}"), any::<bool>()).prop_map(
        |(command, timeout, status, blocks)| {
            let mut handler = json!({ "type": "command", "command": command });
            timeout.into_iter().for_each(|seconds| handler["timeout"] = json!(seconds));
            status.into_iter().for_each(|text| handler["statusMessage"] = json!(text));
            if blocks {
                handler["onFailure"] = json!("block");
            }
            handler
        },
    )
}

fn document() -> impl Strategy<Value = Value> {
    let matcher =
        prop::option::of(prop::sample::select(vec!["Bash", "*", "", "Edit|Write", "^mcp__", "(?!", "ü"]));
    let group = (matcher, prop::collection::vec(handler(), 0..3)).prop_map(|(matcher, handlers)| {
        let mut group = json!({ "hooks": handlers });
        matcher.into_iter().for_each(|text| group["matcher"] = json!(text));
        group
    });
    let event = prop::sample::select(EventName::ALL.to_vec()).prop_map(|event| event.as_str().to_owned());
    prop::collection::btree_map(event, prop::collection::vec(group, 0..3), 0..5)
        .prop_map(|events| json!({ "hooks": events }))
}

/// The same JSON in another spelling: members in reverse order, white space everywhere, characters as escapes.
fn respelled(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let member =
                |(name, value): (&String, &Value)| format!("\n {} :\t{}", escaped(name), respelled(value));
            let members: Vec<String> = members.iter().rev().map(member).collect();
            format!("{{{} \r\n}}", members.join(" ,"))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(respelled).collect();
            format!("[ {}\n]", items.join(" , "))
        }
        Value::String(text) => escaped(text),
        other => other.to_string(),
    }
}

fn escaped(text: &str) -> String {
    let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    format!("\"{units}\"")
}

fn file(name: &str, text: String) -> Found {
    Found::File(Contents::new(name.into(), text.into_bytes()))
}

fn user(text: String) -> Snapshot {
    compile(&file("/user/hooks.json", text), &Found::Absent, &|_| false, &[]).snapshot
}

fn commands(snapshot: &Snapshot, event: EventName) -> Vec<String> {
    snapshot.handlers_of(event).map(|handler| handler.command.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn however_a_document_is_written_its_snapshot_has_one_id(document in document()) {
        let plain = user(document.to_string());
        for other in [respelled(&document), serde_json::to_string_pretty(&document).unwrap()] {
            let other = user(other);
            prop_assert_eq!(&other.id, &plain.id);
            prop_assert_eq!(&other.canonical, &plain.canonical);
        }
        // The canonical form is a document of the same configuration.
        if plain.events().len() == plain.groups.len() && document["hooks"].as_object().is_some_and(|events| !events.is_empty()) {
            let again = user(plain.canonical.clone());
            prop_assert_eq!(again.canonical, plain.canonical);
        }
    }

    #[test]
    fn project_before_user_before_plugins_each_in_its_own_order(
        (user_document, project_document, plugin_document) in (document(), document(), document())
    ) {
        let plugin = |id: &str| PluginDocument {
            plugin_id: id.to_owned(),
            location: format!("/{id}/hooks.json"),
            env: Vec::new(),
            document: plugin_document.to_string(),
        };
        let user_file = file("/user/hooks.json", user_document.to_string());
        let project_file = file("/project/hooks.json", project_document.to_string());
        let merged = |trusted: bool, plugins: &[PluginDocument]| {
            compile(&user_file, &project_file, &|_| trusted, plugins).snapshot
        };
        let all = merged(true, &[plugin("a@m"), plugin("b@m")]);
        let [user_own, project_own, plugin_own] =
            [&user_document, &project_document, &plugin_document].map(|document| user(document.to_string()));
        for event in EventName::ALL {
            let parts = [&project_own, &user_own, &plugin_own, &plugin_own].map(|own| commands(own, event));
            prop_assert_eq!(commands(&all, event), parts.concat());
        }
        prop_assert_eq!(merged(false, &[]).id, user_own.id, "an untrusted project changes nothing");
    }

    #[test]
    fn what_is_wrong_costs_only_itself(document in document(), wrong in prop::sample::select(vec!["1", "{}", "\"x\"", "[3]"])) {
        let plain = user(document.to_string());
        let mut events: Map<String, Value> = document["hooks"].as_object().unwrap().clone();
        events.insert("NoSuchEvent".to_owned(), serde_json::from_str(wrong).unwrap());
        let with = user(json!({ "hooks": events }).to_string());
        prop_assert_eq!(with.diagnostics.len(), plain.diagnostics.len() + 1);
        if !plain.handlers().is_empty() {
            prop_assert_eq!(with.id, plain.id);
        }
    }
}
