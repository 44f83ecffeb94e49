//! What the recorded vectors and the agents' recorded payloads have for each target.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use hooksd::server::configure::{KEYS, Key, Kind};
use hooksd_tests::fuzz::Target;
use serde_json::Value;

/// The longest input that is taken from a vector. Bytes. Some vectors are about sizes; those have tests of their own.
const MAX_SEED: usize = 16 * 1024;

fn lines(path: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn inputs(area: &str) -> Vec<Value> {
    lines(&format!("conformance/{area}.jsonl")).into_iter().map(|mut vector| vector["input"].take()).collect()
}

/// All strings below members of this name, at any depth.
fn strings(value: &Value, name: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::String(text) if key == name => found.push(text.clone()),
                    member => strings(member, name, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| strings(item, name, found)),
        _ => {}
    }
}

fn named(area: &str, names: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for input in inputs(area) {
        names.iter().for_each(|name| strings(&input, name, &mut found));
    }
    found
}

fn recorded() -> Vec<String> {
    let agents = ["claude-code", "codex", "copilot-cli", "deepagents", "gemini-cli", "qwen-code"];
    let stdin = |line: Value| line["stdin"].as_str().map(str::to_owned);
    agents
        .iter()
        .flat_map(|agent| lines(&format!("dialects/recorded/{agent}.jsonl")))
        .filter_map(stdin)
        .collect()
}

fn requests() -> Vec<String> {
    let request = |method: &str, params: &Value| {
        serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
    };
    let mut all = vec![
        request("initialize", &serde_json::json!({ "client": { "name": "a" }, "protocol_version": 1 })),
        request("session/open", &serde_json::json!({ "thread_id": "t", "cwd": "/w", "trust": "persisted" })),
        request("journal/query", &serde_json::json!({ "limit": 1 })),
        request("events/subscribe", &serde_json::json!({})),
    ];
    for input in inputs("transport").iter().chain(&inputs("projection")) {
        if !input["request"].is_null() {
            all.push(request("hook/invoke", &input["request"]));
        }
        if !input["invocation"].is_null() {
            let params = serde_json::json!({ "session": "s", "invocation": input["invocation"] });
            all.push(request("hook/invoke", &params));
        }
    }
    all
}

fn matchers() -> Vec<String> {
    let one = |input: Value| {
        let target = &input["targets"][0];
        let subject = target.as_str().or_else(|| target["name"].as_str()).unwrap_or_default().to_owned();
        Some(format!("{}\n{subject}", input["matcher"].as_str()?))
    };
    inputs("matcher").into_iter().filter_map(one).collect()
}

fn manifests() -> Vec<String> {
    let mut found = Vec::new();
    for input in inputs("plugins") {
        for file in input["fs"].as_array().into_iter().flatten() {
            if file["file"].as_str().is_some_and(|path| path.ends_with("plugin.json")) {
                found.extend(file["text"].as_str().map(str::to_owned));
            }
        }
    }
    found
}

/// A hooksd.toml for every key, and one with all of them.
fn settings() -> Vec<String> {
    let line = |key: Key| match key.kind {
        Kind::Text if key.name == "socket" => "socket = \"/run/s\"\n".to_owned(),
        Kind::Text => format!("{} = \"debug\" # words\n", key.name),
        Kind::Switch => format!("{} = true\n", key.name),
        Kind::Number(_, most) => format!("{} = {most}\n", key.name),
    };
    let each: Vec<String> = KEYS.into_iter().map(line).collect();
    std::iter::once(each.concat()).chain(each).collect()
}

pub(crate) fn of(target: &Target) -> Vec<Vec<u8>> {
    let texts = match target.name {
        "frames" => requests().chunks(3).map(|some| some.join("\n")).collect(),
        "requests" => requests(),
        "json" => [requests(), recorded(), named("config", &["user", "project"])].concat(),
        "documents" => named("config", &["user", "project", "document"]),
        "legacy" => named("legacy", &["document"]),
        "plugins" => manifests(),
        "trust" => named("trust", &["store"]),
        "settings" => settings(),
        "variables" => vec!["export A=1 # c\nB=\"x\\ny\"\nC='z'\r\nD=a b\n".to_owned()],
        "outputs" => named("reduce", &["stdout", "stderr"]),
        "decisions" => named("reduce", &["stdout"]),
        "stdin" => recorded(),
        "matchers" => matchers(),
        "secrets" => recorded(),
        other => panic!("{other} has no seeds"),
    };
    let unique: BTreeSet<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
    unique.into_iter().filter(|seed| seed.len() <= MAX_SEED).collect()
}
