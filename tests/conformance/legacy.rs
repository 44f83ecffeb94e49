//! legacy: list-shaped documents, what they are mapped to, and what their commands get when they run. All of it under
//! D17: natively, so that the time limit is their own 5 s and a failure is told as what it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use hooksd::event::fanout::{HandlerJobs, fan_out};
use hooksd_config::layers::{Loaded, load};
use hooksd_engine::plan::choose;
use hooksd_engine::projection::Transcripts;
use hooksd_engine::reduce::{Ran, reduce};
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_runner::JobTemplate;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::bytes::lay_out;
use crate::compare::{Rules, same};
use crate::config::told_diagnostic;
use crate::invoke;
use crate::json::Json;
use crate::place::Place;
use crate::reduce::decision::same_decision;
use crate::reduce::{SLACK, TRANSCRIPT};
use crate::vector::{Checked, Vector};
use crate::world::World;

/// What the decision says of every vector.
const OURS: &str = "timeout is 5.0 where 6.0 is recorded; everything else as recorded";

pub(crate) async fn check(world: &World, vector: &Vector) -> Checked {
    if (vector.decision(), vector.ours()) != (Some("D17"), OURS) {
        return vector.no_rule();
    }
    let mut place = Place::new(&[("<CWD>", "cwd"), ("<OUT>", "out")])?;
    for (name, file) in [("<USER>", "user/hooks.json"), ("<PROJECT>", "project/hooks.json")] {
        let file = place.base().join(file);
        place.name(name, &file);
    }
    if let Some(whole) = without_what_is_no_entry(vector)? {
        return costs_itself_alone(vector, &whole, &place);
    }
    let loaded = loaded(vector, &place, vector.input().need("document")?.str()?)?;
    let expected = place.real_json(vector.expect().raw);
    let expected = Json::parse(&expected)?;
    if vector.input().get("invocation").is_some() {
        run(world, vector, &expected, &loaded, &place).await?;
    } else {
        let told = told(&loaded).to_string();
        let got = Json::parse(&told)?;
        for (key, expected) in expected.entries() {
            if key.lossy == "diagnostics" {
                same(expected, &Json::parse(&as_a_whole(&loaded))?, Rules::default())
                    .map_err(|error| format!("diagnostics: {error}"))?;
                continue;
            }
            // The recorded limit leaves the adapter a second more (D17).
            let expected = instead(expected.raw, "timeout", "6.0", "5.0");
            same(&Json::parse(&expected)?, got.need(&key.lossy)?, Rules::default())
                .map_err(|error| format!("{}: {error}", key.lossy))?;
        }
    }
    vector.decided()
}

/// What is said of the document as a whole. Beside it each item that cannot be used is named, and each name that is never
/// derived although others are (D18); what is recorded says nothing of those.
fn as_a_whole(loaded: &Loaded) -> String {
    let all = &loaded.snapshot.diagnostics;
    let is_migrated = all.iter().any(|diagnostic| diagnostic.code == code::LEGACY_MIGRATED);
    let is_of_an_item = |diagnostic: &&Diagnostic| {
        let field = diagnostic.field.as_deref().unwrap_or_default();
        (diagnostic.code == code::INVALID_CONFIG && field.contains(":hooks["))
            || (diagnostic.code == code::LEGACY_UNMAPPED && is_migrated)
    };
    let whole = all.iter().filter(|diagnostic| !is_of_an_item(diagnostic));
    whole.map(told_diagnostic).collect::<Value>().to_string()
}

/// The document without what is no object in its list, if it has both: recorded is that all of it is refused, ours is that
/// such an item costs itself alone (D18).
fn without_what_is_no_entry(vector: &Vector) -> Result<Option<String>, String> {
    let Ok(document) = serde_json::from_str::<Value>(vector.input().need("document")?.str()?) else {
        return Ok(None);
    };
    let Some(items) = document["hooks"].as_array() else { return Ok(None) };
    let entries: Vec<&Value> = items.iter().filter(|item| item.is_object()).collect();
    let mixed = !entries.is_empty() && entries.len() < items.len();
    Ok(mixed.then(|| json!({ "hooks": entries }).to_string()))
}

fn costs_itself_alone(vector: &Vector, without: &str, place: &Place) -> Checked {
    let handlers = |document: &str| -> Result<(Value, Loaded), String> {
        let loaded = loaded(vector, place, document)?;
        Ok((told(&loaded)["handlers"].clone(), loaded))
    };
    let (with, loaded) = handlers(vector.input().need("document")?.str()?)?;
    let (expected, _) = handlers(without)?;
    let is_named = loaded.snapshot.diagnostics.iter().any(|diagnostic| {
        diagnostic.code == code::INVALID_CONFIG
            && diagnostic.field.as_deref().is_some_and(|field| field.ends_with(']'))
    });
    if with != expected || expected == json!([]) || !is_named {
        return Err(format!("expected {expected} and a word on what is no entry, got {with}"));
    }
    vector.decided()
}

fn loaded(vector: &Vector, place: &Place, document: &str) -> Result<Loaded, String> {
    let input = vector.input();
    let (user, project) = (place.base().join("user/hooks.json"), place.base().join("project/hooks.json"));
    let is_project = match input.get("scope").map(Json::str).transpose()? {
        None | Some("user") => false,
        Some("project") => true,
        Some(scope) => return Err(format!("unknown scope {scope:?}")),
    };
    let file = if is_project { &project } else { &user };
    fs::create_dir_all(file.parent().unwrap()).map_err(|error| error.to_string())?;
    fs::write(file, place.real(document)).map_err(|error| error.to_string())?;
    let files = input.get("cwd_files").map(Json::items).unwrap_or_default();
    lay_out(&place.base().join("cwd"), files, &|text| place.real(text))?;
    let trusted = input.get("trusted").and_then(Json::bool).unwrap_or(true);
    Ok(load(&user, Some(&project), &|_| trusted, &[]))
}

/// The result in the vectors' words. The two documents are told apart by their folders.
fn told(loaded: &Loaded) -> Value {
    let handlers = loaded.snapshot.handlers().iter().map(|handler| {
        json!({
            "id": handler.id,
            "event": handler.event,
            "matcher": handler.matcher_text,
            "timeout": handler.timeout,
            "statusMessage": handler.status_message,
            "legacy_event": handler.legacy.map(|event| event.as_str()),
            "argv": handler.argv,
        })
    });
    json!({
        "diagnostics": loaded.snapshot.diagnostics.iter().map(told_diagnostic).collect::<Value>(),
        "project_source_loaded": loaded.project.loaded,
        "handlers": handlers.collect::<Value>(),
    })
}

async fn run(
    world: &World,
    vector: &Vector,
    expected: &Json<'_>,
    loaded: &Loaded,
    place: &Place,
) -> Result<(), String> {
    let invocation = place.real_json(vector.input().need("invocation")?.raw);
    let invocation = invoke::lenient(&invocation)?;
    let cwd = PathBuf::from(&invocation.context.cwd);
    let transcripts = Transcripts { session: TRANSCRIPT.to_owned(), agent: None };
    let input = invoke::input(invocation);
    let chosen = choose(&loaded.snapshot, &input, &|| false).ok_or("the event is not known")?;
    let plan = chosen.plan(&loaded.snapshot, &input, &transcripts);
    let env = world.mark().environment("/").into_iter().collect();
    let jobs = HandlerJobs::new(JobTemplate::new(cwd, Arc::new(env)));
    let started = Instant::now();
    let outcomes = fan_out(&world.runner, &plan, &jobs, &CancellationToken::new(), None).await;
    let elapsed = started.elapsed().as_secs_f64();
    let ran: Vec<Ran<'_>> = plan
        .selected
        .iter()
        .map(|one| &one.handler)
        .zip(outcomes.iter().map(|one| one.outcome.as_ref()))
        .collect();
    let (decision, _) = reduce(&plan.facts, &[], plan.diagnostics.clone(), &ran);
    let decision = serde_json::to_string(&decision).map_err(|error| error.to_string())?;
    same_decision(&natively(expected)?, &decision)?;

    let mut files = BTreeMap::new();
    for entry in fs::read_dir(place.base().join("out")).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
        files.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), text);
    }
    let recorded = expected.need("files")?;
    if recorded.get("hijacked").is_some() {
        // The recorded adapter runs the folder's code in place of the command. Ours has no adapter (D17).
        let left: Vec<&String> = files.keys().collect();
        return if left == ["a"] {
            Ok(())
        } else {
            Err(format!("expected the command's file only, got {left:?}"))
        };
    }
    same(recorded, &Json::parse(&json!(files).to_string())?, Rules::default())
        .map_err(|error| format!("files: {error}"))?;
    let Some([least, most]) = expected.get("elapsed_between").map(Json::items) else { return Ok(()) };
    let (least, most) = (least.number()?, most.number()? + SLACK);
    if (least..=most).contains(&elapsed) {
        return Ok(());
    }
    Err(format!("took {elapsed:.3} s, expected {least} to {most} s"))
}

/// The recorded decision as it is without the adapter, which told every failure by its own exit status 1.
fn natively(expected: &Json<'_>) -> Result<String, String> {
    let decision = expected.need("decision")?.raw;
    let least = expected.get("elapsed_between").and_then(|between| between.items().first());
    let waited = least.map(Json::number).transpose()?.is_some_and(|least| least > 1.0);
    let failure = if waited { "timeout" } else { "launch_failed" };
    Ok(instead(decision, "code", "\"nonzero_exit\"", &format!("\"{failure}\"")))
}

/// JSON text with another value for a key, where it has this one.
fn instead(text: &str, key: &str, from: &str, to: &str) -> String {
    [":", ": "].iter().fold(text.to_owned(), |text, colon| {
        text.replace(&format!("\"{key}\"{colon}{from}"), &format!("\"{key}\"{colon}{to}"))
    })
}
