//! docs/first-guard.md is what happens: its commands are run in order, and print what it shows.

use std::fs;
use std::path::Path;

use hooksd_tests::harness::{World, daemon, program};
use regex::Regex;
use serde_json::json;

/// With this variable set, the test writes what is printed into the page.
const UPDATE: &str = "HOOKSD_UPDATE_DOCS";

/// The id of the event in the page, as tables show it.
const ID: &str = "3f2a91c4";

/// The beginning of the newest event's id in the journal; as in the page, while there is none.
async fn newest(world: &World) -> String {
    let page = world.connect().await.call("journal/query", json!({ "limit": 1 })).await.unwrap();
    let id = page["records"][0]["invocation_id"].as_str().and_then(|id| id.get(..ID.len()));
    id.unwrap_or(ID).to_owned()
}

/// What is printed, with what differs from run to run replaced.
fn settled(world: &World, printed: &str) -> String {
    let mut text = printed.to_owned();
    for folder in ["home/.deepagents", "config"] {
        text = text.replace(&world.text_at(folder), "/home/you/.deepagents");
    }
    text = text.replace(&world.text_at("project"), "/home/you/project");
    let time = Regex::new(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ])[0-9:]{8}(?:\.[0-9]+)?").unwrap();
    let text = time.replace_all(&text, "2030-01-31${1}12:00:00");
    Regex::new(r"[0-9.]+ ms").unwrap().replace_all(&text, "3 ms").into_owned()
}

#[test]
fn the_first_guard_is_what_happens() {
    daemon(async |world| {
        std::os::unix::fs::symlink(world.at("config"), world.at("home/.deepagents")).unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("docs/first-guard.md");
        let page = fs::read_to_string(&path).unwrap();
        let (mut out, mut count) = (String::new(), 0);
        for (index, part) in page.split("```console\n").enumerate() {
            if index == 0 {
                out.push_str(part);
                continue;
            }
            let (block, rest) = part.split_once("```\n").unwrap();
            out.push_str("```console\n");
            for line in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
                let id = newest(world).await;
                let words = shell_words(&line.replace(ID, &id));
                assert_eq!(words[0], "hooksctl");
                let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
                let done = program::run(world.ctl(&arguments)).await;
                count += 1;
                let printed = format!("{}{}", done.stdout, done.stderr).replace(&newest(world).await, ID);
                let printed = settled(world, &printed);
                out.push_str(&format!("$ {line}\n{}\n", printed.trim_end()));
            }
            out.push_str(&format!("```\n{rest}"));
        }
        assert!(count >= 5, "the page shows {count} commands");
        if std::env::var_os(UPDATE).is_some() {
            fs::write(&path, &out).unwrap();
            return;
        }
        assert!(
            out == page,
            "docs/first-guard.md is stale: run this once with {UPDATE}=1; now it would be\n{out}"
        );
    });
}

/// Words apart at spaces, with single quotes around what has some.
fn shell_words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let mut words = Vec::new();
    for (index, part) in parts {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
