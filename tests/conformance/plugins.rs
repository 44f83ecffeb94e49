//! plugins: which are found, what each of them has, and the handlers that come of it.

use std::fs;
use std::path::{Path, PathBuf};

use hooksd_config::layers::{PluginDocument, load};
use hooksd_config::plugins::{Plugin, collect, data_dir, discover, manifest};
use hooksd_protocol::diagnostic::Diagnostic;
use serde_json::{Map, Value, json};

use crate::bytes::lay_out;
use crate::compare::{Rules, same};
use crate::config::told_diagnostic;
use crate::json::Json;
use crate::place::Place;
use crate::vector::{Checked, Held, Vector};

/// What D18 comes to here.
const OURS: &str = "only that plugin is dropped, with plugin_hooks_failed";

/// What is compared, by key.
type Told = Map<String, Value>;

pub(crate) fn check(vector: &Vector) -> Checked {
    let (input, expect) = (vector.input(), vector.expect());
    let kind = input.need("kind")?.str()?;
    match (vector.decision(), vector.ours()) {
        (None, _) => {
            let place = Place::new(&[])?;
            as_recorded(expect, &told(kind, input, &place, &[])?, &place)?;
            Ok(Held::AsRecorded)
        }
        (Some("D18"), OURS) => dropped(vector, kind),
        _ => vector.no_rule(),
    }
}

fn as_recorded(expect: &Json<'_>, got: &Told, place: &Place) -> Result<(), String> {
    let expected = place.real_json(expect.raw);
    for (key, expected) in Json::parse(&expected)?.entries() {
        let found = got.get(&key.lossy).ok_or_else(|| format!("unknown key {:?}", key.lossy))?;
        same(expected, &Json::parse(&found.to_string())?, Rules::default())
            .map_err(|error| format!("{}: {error}", key.lossy))?;
    }
    Ok(())
}

/// D18: everything is as if the plugin that makes the reference throw were not enabled, and one remark says so.
fn dropped(vector: &Vector, kind: &str) -> Checked {
    let input = vector.input();
    let (place, other) = (Place::new(&[])?, Place::new(&[])?);
    let got = told(kind, input, &place, &[])?;
    if kind == "layout" {
        if got["plugins"] != json!([{ "loaded": false, "warnings": 1 }]) || got["documents"] != json!([]) {
            return Err(format!("expected the plugin to be dropped, got {got:?}"));
        }
        return vector.decided();
    }
    let without = told(kind, input, &other, &["demo@m"])?;
    let remark = json!([{ "code": "plugin_hooks_failed", "severity": "warning", "field": null }]);
    if got["diagnostics"] != remark || got["warnings"] != json!(1) || got["discovered"] == json!([]) {
        return Err(format!("expected one remark and the other plugins, got {got:?}"));
    }
    let bare = |told: &Told, place: &Place| {
        let mut told = told.clone();
        told.retain(|key, _| key != "diagnostics" && key != "warnings");
        place.placeholders(&Value::Object(told).to_string())
    };
    if bare(&got, &place) != bare(&without, &other) {
        return Err(format!("expected the others as without it, {without:?}, got {got:?}"));
    }
    vector.decided()
}

fn told(kind: &str, input: &Json<'_>, place: &Place, not_enabled: &[&str]) -> Result<Told, String> {
    let config_dir = place.base().join("cfg");
    if kind == "data_dir" {
        let folder = data_dir(&config_dir, input.need("plugin_id")?.str()?);
        return Ok(told_of(json!({ "folder": folder.file_name().unwrap().to_str() })));
    }
    lay_out(place.base(), input.need("fs")?.items(), &|text| place.real(text))?;
    let project =
        input.given("project_dir").map(Json::str).transpose()?.map(|path| PathBuf::from(place.real(path)));
    let mut told = Told::new();
    let (plugins, mut diagnostics) = match kind {
        "layout" => {
            let mut rows = Vec::new();
            let mut plugins = Vec::new();
            for plugin in input.need("plugins")?.items() {
                let root = place.base().join(plugin.need("root")?.str()?);
                let loaded = manifest::load(&config_dir, plugin.need("id")?.str()?, &root);
                rows.push(match &loaded {
                    Ok(plugin) => row(plugin),
                    Err(_) => json!({ "loaded": false, "warnings": 1 }),
                });
                plugins.extend(loaded);
            }
            told.insert("plugins".to_owned(), rows.into());
            (plugins, Vec::new())
        }
        "discovery" => {
            fs::create_dir_all(config_dir.join(".state")).map_err(|error| error.to_string())?;
            for (key, file) in
                [("plugin_state", "plugin_state.json"), ("installed_plugins", "installed_plugins.json")]
            {
                let Some(text) = input.given(key) else { continue };
                let mut text = place.real(text.str()?);
                if key == "plugin_state" {
                    for id in not_enabled {
                        text = text.replace(&format!("\"{id}\": true"), &format!("\"{id}\": false"));
                    }
                }
                fs::write(config_dir.join(".state").join(file), text).map_err(|error| error.to_string())?;
            }
            let found = discover(&config_dir);
            let ids: Vec<&str> = found.plugins.iter().map(|plugin| plugin.id.as_str()).collect();
            let broken: Vec<&str> = found.broken.iter().map(|(id, _)| id.as_str()).collect();
            told.extend(told_of(
                json!({ "discovered": ids, "warnings": found.warnings.len(), "broken": broken }),
            ));
            let diagnostics = found.diagnostics();
            (found.plugins, diagnostics)
        }
        kind => return Err(format!("unknown kind {kind:?}")),
    };
    let (documents, more) = collect(&plugins, project.as_deref());
    diagnostics.extend(more);
    told.extend(collected(&documents, &diagnostics, &config_dir));
    Ok(told)
}

fn told_of(value: Value) -> Told {
    match value {
        Value::Object(told) => told,
        _ => Told::new(),
    }
}

fn row(plugin: &Plugin) -> Value {
    let (documents, _) = collect(std::slice::from_ref(plugin), None);
    let loaded = load(Path::new("/nonexistent"), None, &|_| false, &documents);
    json!({
        "loaded": true,
        "warnings": plugin.warnings.len(),
        "hook_files": plugin.hook_files,
        "inline": plugin.inline.is_some(),
        "event_names": loaded.snapshot.events(),
    })
}

fn collected(documents: &[PluginDocument], diagnostics: &[Diagnostic], config_dir: &Path) -> Told {
    let rows = documents.iter().map(|document| {
        let env: Map<String, Value> =
            document.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "plugin_id": document.plugin_id,
            "location": document.location,
            "env": env,
            "document": serde_json::from_str::<Value>(&document.document).unwrap(),
        })
    });
    let folders = documents.iter().map(|document| data_dir(config_dir, &document.plugin_id).is_dir());
    let loaded = load(&config_dir.join("hooks.json"), None, &|_| false, documents);
    let handlers = loaded.snapshot.handlers().iter().map(|handler| {
        json!({
            "id": handler.id,
            "plugin_id": handler.source.plugin(),
            "command": handler.command,
            "argv": handler.argv,
            "matcher": handler.matcher_text,
            "statusMessage": handler.status_message,
        })
    });
    let load_diagnostics = loaded.snapshot.diagnostics.iter().take(loaded.snapshot.load_diagnostics);
    told_of(json!({
        "diagnostics": diagnostics.iter().map(told_diagnostic).collect::<Value>(),
        "documents": rows.collect::<Value>(),
        "data_dirs_exist": folders.collect::<Vec<bool>>(),
        "load_diagnostics": load_diagnostics.map(told_diagnostic).collect::<Value>(),
        "handlers": handlers.collect::<Value>(),
    }))
}
