//! env: which variables of a session reach its handlers, and what a real handler process sees.

use std::ffi::OsString;
use std::fs;
use std::sync::Arc;

use hooksd::base::handled::Handled;
use hooksd::event::fanout::{HandlerJobs, fan_out};
use hooksd_config::layers::{PluginDocument, load};
use hooksd_engine::environment::is_secret;
use hooksd_engine::plan::choose;
use hooksd_engine::projection::Transcripts;
use hooksd_protocol::outcome::End;
use hooksd_runner::JobTemplate;
use tokio_util::sync::CancellationToken;

use crate::compare::{Rules, same};
use crate::invoke::with_target;
use crate::json::Json;
use crate::place::Place;
use crate::vector::{Checked, Held, Vector};
use crate::world::World;

pub(crate) async fn check(world: &World, vector: &Vector) -> Checked {
    if vector.decision().is_some() {
        return vector.no_rule();
    }
    let (input, expect) = (vector.input(), vector.expect());
    if let Some(name) = input.get("name") {
        let kept = !is_secret(name.str()?);
        let expected = expect.need("kept")?.bool().ok_or("kept is no boolean")?;
        if kept != expected {
            return Err(format!("expected kept to be {expected}, got {kept}"));
        }
    } else if let Some(env) = input.get("env") {
        let kept = told(&kept(env)?);
        same(expect.need("env")?, &Json::parse(&kept)?, Rules { ordered: true, ..Rules::default() })?;
    } else if let Some(process) = input.get("process_env") {
        let seen = seen(world, kept(process)?, input.given("plugin_env")).await?;
        same(expect.need("handler_env")?, &Json::parse(&seen)?, Rules::default())?;
    } else {
        return Err(format!("unknown kind of vector: {}", input.raw));
    }
    Ok(Held::AsRecorded)
}

type Env = Vec<(String, String)>;

fn pairs(env: &Json<'_>) -> Result<Env, String> {
    env.entries().into_iter().map(|(name, value)| Ok((name.lossy.clone(), value.str()?.to_owned()))).collect()
}

fn kept(env: &Json<'_>) -> Result<Env, String> {
    Ok(pairs(env)?.into_iter().filter(|(name, _)| !is_secret(name)).collect())
}

/// As a JSON object, in this order.
fn told(env: &Env) -> String {
    let members: Vec<String> = env
        .iter()
        .map(|(name, value)| format!("{}:{}", crate::json::quote(name), crate::json::quote(value)))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// What a handler's process has as its environment: of a file's document, or of a plugin's with its variables.
async fn seen(world: &World, env: Env, plugin: Option<&Json<'_>>) -> Result<String, String> {
    const DOCUMENT: &str = r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"unused","argv":["env","-0"]}]}]}}"#;
    let place = Place::new(&[])?;
    let file = place.base().join("hooks.json");
    let mut plugins = Vec::new();
    match plugin {
        None => fs::write(&file, DOCUMENT).map_err(|error| error.to_string())?,
        Some(env) => plugins.push(PluginDocument {
            plugin_id: "p@m".to_owned(),
            location: "p".to_owned(),
            env: pairs(env)?,
            document: DOCUMENT.to_owned(),
        }),
    }
    let snapshot = load(&file, None, &|_| false, &plugins).snapshot;
    let invocation = with_target("SessionStart", &Json::parse("\"startup\"")?)?;
    let transcripts = Transcripts { session: "/t".to_owned(), agent: None };
    let input = crate::invoke::input(invocation);
    let chosen = choose(&snapshot, &input, &|| false).ok_or("the event is not known")?;
    let plan = chosen.plan(&snapshot, &input, &transcripts);
    let env = env.into_iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
    let jobs = HandlerJobs::new(JobTemplate::new(place.base().to_owned(), Arc::new(env)));
    let handled = fan_out(&world.runner, &plan, &jobs, &CancellationToken::new(), None).await;
    let [Handled { outcome: Some(outcome), .. }] = handled.as_slice() else {
        return Err(format!("expected one handler: {handled:?}"));
    };
    if outcome.end != End::Exited(0) {
        return Err(format!("the handler did not run: {outcome:?}"));
    }
    let output = String::from_utf8(outcome.stdout.bytes.clone()).map_err(|error| error.to_string())?;
    let variables = output.split_terminator('\0').filter_map(|pair| pair.split_once('='));
    // The one variable that the runner adds, to tell its runs apart.
    let variables = variables.filter(|(name, _)| *name != hooksd_runner::RUN_VARIABLE);
    Ok(told(&variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
}
