//! config: documents in a real tree, through the loader, to diagnostics, groups, handlers and the snapshot's id.

use std::fs;
use std::path::{Path, PathBuf};

use hooksd_config::layers::{Loaded, PluginDocument, load};
use hooksd_config::model::Group;
use hooksd_protocol::diagnostic::Diagnostic;
use serde_json::{Value, json};

use crate::bytes::{bytes, bytes_once, lay_out};
use crate::compare::{Rules, same};
use crate::json::{Json, Node, has_lone};
use crate::place::Place;
use crate::vector::{Checked, Held, Vector};

/// How the byte specs of the documents are read.
type Spec = dyn Fn(&Json<'_>) -> Result<Vec<u8>, String>;

pub(crate) fn check(vector: &Vector) -> Checked {
    let (input, expect) = (vector.input(), vector.expect());
    let as_recorded = |got: &str| compare(expect, &Json::parse(got)?);
    match vector.decision() {
        None if expect.get("raises").is_some() => {
            let got = loaded(input, &bytes)?;
            match Json::parse(&got)?.need("load_diagnostics")?.items() {
                [] => Err("the reference throws here; ours neither refuses nor diagnoses".to_owned()),
                _ => Ok(Held::AsRecorded),
            }
        }
        // A list in which something is no entry: recorded is that all of it is refused.
        None if has_mixed_list(input) => mixed_list(vector),
        None => as_recorded(&loaded(input, &bytes)?).map(|()| Held::AsRecorded),
        Some("D4") => lone_surrogates(vector),
        Some("D6") => like(vector, &|spec| {
            let bytes = bytes(spec)?;
            Ok(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes).to_vec())
        }),
        Some("D18") => like(vector, &bytes_once),
        Some("D16") => {
            let expect = one_pass(input, expect)?;
            compare(&Json::parse(&expect)?, &Json::parse(&loaded(input, &bytes)?)?)?;
            vector.decided()
        }
        Some(_) => vector.no_rule(),
    }
}

/// Whether a document is a list in which some items are entries and some are not.
fn has_mixed_list(input: &Json<'_>) -> bool {
    ["user", "project"].iter().filter_map(|name| input.get(name)?.text()).any(|text| {
        let document = serde_json::from_str::<Value>(text).unwrap_or_default();
        let items = document["hooks"].as_array().cloned().unwrap_or_default();
        items.iter().any(Value::is_object) && !items.iter().all(Value::is_object)
    })
}

/// D18: the item costs itself alone, and is named by its place.
fn mixed_list(vector: &Vector) -> Checked {
    let got = loaded(vector.input(), &bytes)?;
    let got = Json::parse(&got)?;
    let diagnostics = got.need("load_diagnostics")?;
    let is_named = |diagnostic: &&Json<'_>| {
        diagnostic.raw.contains("\"invalid_config\"") && diagnostic.raw.contains(":hooks[")
    };
    if diagnostics.items().iter().filter(is_named).count() == 1 && !got.need("handlers")?.items().is_empty() {
        return Ok(Held::AsDecided("D18".to_owned()));
    }
    Err(format!("expected the entries without the item that is none, got {}", got.raw))
}

/// The vector loads as its ordinary variant does, and that without a diagnostic.
fn like(vector: &Vector, ordinary: &Spec) -> Checked {
    let (ours, ordinary) = (loaded(vector.input(), &bytes)?, loaded(vector.input(), ordinary)?);
    let (ours, ordinary) = (Json::parse(&ours)?, Json::parse(&ordinary)?);
    if !ordinary.need("load_diagnostics")?.items().is_empty() || ordinary.need("sources")?.items().is_empty()
    {
        return Err(format!("the ordinary variant does not load: {}", ordinary.raw));
    }
    for (key, expected) in ordinary.entries() {
        // The bytes differ, so their hash does.
        if key.lossy != "project_source_fingerprint" {
            same(expected, ours.need(&key.lossy)?, Rules::default())
                .map_err(|error| format!("{}: {error}", key.lossy))?;
        }
    }
    vector.decided()
}

/// D4: exactly the handlers and groups with a lone surrogate are dropped with `invalid_config`.
fn lone_surrogates(vector: &Vector) -> Checked {
    let mut documents = Vec::new();
    for (name, placeholder) in [("project", "<PROJECT>"), ("user", "<USER>")] {
        if let Some(spec) = vector.input().get(name) {
            let text = String::from_utf8(bytes(spec)?).map_err(|error| error.to_string())?;
            documents.push((placeholder.to_owned(), text));
        }
    }
    for declared in vector.input().get("plugins").map(Json::items).unwrap_or_default() {
        let declared = plugin(declared)?;
        documents.push((declared.location, declared.document));
    }
    let (mut dropped, mut left) = (Vec::new(), Vec::new());
    for (location, text) in &documents {
        for (event, groups) in Json::parse(text)?.need("hooks")?.entries() {
            for (index, group) in groups.items().iter().enumerate() {
                let at = format!("{location}:hooks.{}[{index}]", event.lossy);
                if group.get("matcher").is_some_and(has_lone) {
                    dropped.push(at);
                    continue;
                }
                for (index, handler) in group.need("hooks")?.items().iter().enumerate() {
                    let used = ["command", "argv", "statusMessage", "status_message"];
                    if used.iter().filter_map(|key| handler.get(key)).any(has_lone) {
                        dropped.push(format!("{at}.hooks[{index}]"));
                    } else {
                        left.push(handler.need("command")?.str()?.to_owned());
                    }
                }
            }
        }
    }
    let got = loaded(vector.input(), &bytes)?;
    let got = Json::parse(&got)?;
    let diagnosed: Vec<String> = dropped
        .iter()
        .map(|field| json!({"code": "invalid_config", "severity": "warning", "field": field}).to_string())
        .collect();
    let diagnosed = format!("[{}]", diagnosed.join(","));
    same(&Json::parse(&diagnosed)?, got.need("load_diagnostics")?, Rules::default())?;
    let commands: Result<Vec<&str>, String> =
        got.need("handlers")?.items().iter().map(|handler| handler.need("command")?.str()).collect();
    if dropped.is_empty() || commands? != left {
        return Err(format!("expected the handlers {left:?} to be left, got {}", got.need("handlers")?.raw));
    }
    vector.decided()
}

/// D16: what is recorded, with each handler's argv substituted once from what its group declares.
fn one_pass(input: &Json<'_>, expect: &Json<'_>) -> Result<String, String> {
    let mut text = expect.raw.to_owned();
    let declared: Vec<&Json<'_>> = expect
        .need("groups")?
        .entries()
        .into_iter()
        .flat_map(|(_, groups)| groups.items())
        .flat_map(|group| group.get("hooks").map(Json::items).unwrap_or_default())
        .collect();
    let handlers = expect.need("handlers")?.items();
    if declared.len() != handlers.len() || input.given("plugins").is_none() {
        return Err("expected a plugin's handlers, each declared once".to_owned());
    }
    for (handler, declared) in handlers.iter().zip(declared) {
        let (Some(env), Some(argv)) = (handler.get("env"), declared.given("argv")) else { continue };
        let substituted: Result<Vec<String>, String> =
            argv.items().iter().map(|word| Ok(substituted_once(word.str()?, env))).collect();
        let recorded = handler.need("argv")?.raw;
        let fixed = handler.raw.replace(recorded, &json!(substituted?).to_string());
        text = text.replacen(handler.raw, &fixed, 1);
    }
    Ok(text)
}

fn substituted_once(word: &str, env: &Json<'_>) -> String {
    let mut parts = word.split("${");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let value = part.split_once('}').and_then(|(name, rest)| Some((env.get(name)?.text()?, rest)));
        match value {
            Some((value, rest)) => out.extend([value, rest]),
            None => out.extend(["${", part]),
        }
    }
    out
}

/// Lays the case out, loads it, and tells the result in the vectors' words.
fn loaded(input: &Json<'_>, spec: &Spec) -> Result<String, String> {
    let mut place = Place::new(&[])?;
    let project = place.base().join("case-project/.deepagents/hooks.json");
    let user = match input.get("layout").map(Json::str).transpose()? {
        Some("user-is-project") => project.clone(),
        Some(layout) => return Err(format!("unknown layout {layout:?}")),
        None => place.base().join("case-user/hooks.json"),
    };
    place.name("<PROJECT>", &project);
    if user != project {
        place.name("<USER>", &user);
    }
    lay_out(place.base(), input.get("files").map(Json::items).unwrap_or_default(), &|text| place.real(text))?;
    for (path, name) in [(&project, "project"), (&user, "user")] {
        document(path, input.get(name), spec, &place)?;
    }
    let plugins: Result<Vec<PluginDocument>, String> =
        input.get("plugins").map(Json::items).unwrap_or_default().iter().map(plugin).collect();
    let trusted = input.need("trusted")?.bool().ok_or("trusted is no boolean")?;
    let loaded = load(&user, Some(&project), &|_| trusted, &plugins?);
    Ok(place.placeholders(&told(&loaded).to_string()))
}

fn document(path: &Path, spec: Option<&Json<'_>>, bytes: &Spec, place: &Place) -> Result<(), String> {
    fs::create_dir_all(path.parent().unwrap()).map_err(|error| error.to_string())?;
    let Some(spec) = spec else { return Ok(()) };
    let made = if spec.get("directory").is_some() {
        fs::create_dir(path)
    } else if let Some(target) = spec.get("symlink") {
        std::os::unix::fs::symlink(PathBuf::from(place.real(target.str()?)), path)
    } else {
        fs::write(path, bytes(spec)?)
    };
    made.map_err(|error| format!("{}: {error}", path.display()))
}

fn plugin(plugin: &Json<'_>) -> Result<PluginDocument, String> {
    let env: Result<Vec<(String, String)>, String> = plugin
        .need("env")?
        .entries()
        .into_iter()
        .map(|(name, value)| Ok((name.lossy.clone(), value.str()?.to_owned())))
        .collect();
    Ok(PluginDocument {
        plugin_id: plugin.need("plugin_id")?.str()?.to_owned(),
        location: plugin.need("location")?.str()?.to_owned(),
        env: env?,
        document: plugin.need("document")?.raw.to_owned(),
    })
}

fn told(loaded: &Loaded) -> Value {
    let snapshot = &loaded.snapshot;
    let (load, compile) = snapshot.diagnostics.split_at(snapshot.load_diagnostics);
    let sources = snapshot.sources.iter().filter(|source| source.loaded && source.source.path().is_some());
    let groups: serde_json::Map<String, Value> = snapshot
        .groups
        .iter()
        .map(|(event, groups)| (event.to_string(), groups.iter().map(told_group).collect::<Value>()))
        .collect();
    let handlers = snapshot.handlers().iter().map(|handler| {
        let mut told = json!({
            "id": handler.id,
            "matcher": handler.matcher_text,
            "command": handler.command,
            "argv": handler.argv,
            "timeout": handler.timeout,
            "statusMessage": handler.status_message,
        });
        if handler.source.plugin().is_some() {
            told["env"] = handler.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        }
        told
    });
    json!({
        "load_diagnostics": load.iter().map(told_diagnostic).collect::<Value>(),
        "snapshot_diagnostics": compile.iter().map(told_diagnostic).collect::<Value>(),
        "sources": sources.map(|source| source.source.label()).collect::<Value>(),
        "project_source_loaded": loaded.project.loaded,
        "project_source_fingerprint": loaded.project.fingerprint.as_ref().filter(|_| loaded.project.loaded),
        "groups": groups,
        "handlers": handlers.collect::<Value>(),
        "configured_events": snapshot.events(),
        "configured_server_events": snapshot.server_events(),
        "canonical": snapshot.canonical,
        "snapshot_id": snapshot.id,
    })
}

fn told_group(group: &Group) -> Value {
    let handlers = group.declaration.handlers.iter().map(|handler| {
        json!({
            "command": handler.command,
            "argv": handler.argv,
            "timeout": handler.timeout,
            "statusMessage": handler.status_message,
        })
    });
    json!({
        "source": group.source.label(),
        "matcher": group.declaration.matcher,
        "hooks": handlers.collect::<Value>(),
    })
}

pub(crate) fn told_diagnostic(diagnostic: &Diagnostic) -> Value {
    json!({"code": diagnostic.code, "severity": diagnostic.severity, "field": diagnostic.field})
}

/// What is expected, key by key. Keys that a vector with list-shaped documents leaves out are left open; there an
/// opaque command is anything, and the recorded timeout of 6 s is our 5 s (D17).
fn compare(expect: &Json<'_>, got: &Json<'_>) -> Result<(), String> {
    for (key, expected) in expect.entries() {
        let found = got.need(&key.lossy)?;
        let checked = match key.lossy.as_str() {
            "groups" | "handlers" if expect.get("canonical").is_none() => opaque(expected, found),
            _ => same(expected, found, Rules::default()),
        };
        checked.map_err(|error| format!("{}: {error}", key.lossy))?;
    }
    Ok(())
}

fn opaque(expected: &Json<'_>, got: &Json<'_>) -> Result<(), String> {
    let keys = |value: &Json<'_>| value.entries().len();
    // Only a handler has more to it than what is recorded.
    let is_handler = expected.get("command").or(expected.get("id")).is_some();
    match &expected.node {
        Node::Object(_) if !is_handler && keys(expected) != keys(got) => {
            Err(format!("expected {}, got {}", expected.raw, got.raw))
        }
        Node::Object(_) => expected.entries().into_iter().try_for_each(|(key, expected)| {
            match (key.lossy.as_str(), expected.raw, got.need(&key.lossy)?) {
                ("timeout", "6.0", got) if got.raw == "5.0" => Ok(()),
                ("timeout", _, got) => Err(format!("timeout: expected 5.0 (D17), got {}", got.raw)),
                (_, "\"<OPAQUE>\"", _) => Ok(()),
                (_, _, got) => opaque(expected, got),
            }
        }),
        Node::Array(items) if items.len() == got.items().len() => {
            items.iter().zip(got.items()).try_for_each(|(expected, got)| opaque(expected, got))
        }
        _ => same(expected, got, Rules::default()),
    }
}
