//! env: which variables of a session reach its handlers, and what a real handler process sees.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hooksd_engine::environment::is_secret;
use hooksd_engine::outcome::End;
use hooksd_runner::{OUTPUT_CAP, Program, Run};
use tokio_util::sync::CancellationToken;

use crate::compare::{Rules, same};
use crate::json::Json;
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
        let mut env = kept(process)?;
        for (name, value) in input.given("plugin_env").map(pairs).transpose()?.unwrap_or_default() {
            env.retain(|(known, _)| *known != name);
            env.push((name, value));
        }
        let seen = seen(world, env).await?;
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
    let members: Vec<String> =
        env.iter().map(|(name, value)| format!("{}:{}", crate::json::quote(name), crate::json::quote(value))).collect();
    format!("{{{}}}", members.join(","))
}

/// What a process of the runner has as its environment.
async fn seen(world: &World, env: Env) -> Result<String, String> {
    let run = Run {
        program: Program::Argv(vec!["env".to_owned(), "-0".to_owned()]),
        cwd: PathBuf::from("/"),
        fallback_cwds: Vec::new(),
        env: env.into_iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect(),
        payload: Arc::from(&b"{}"[..]),
        timeout: Duration::from_secs(20),
        output_cap: OUTPUT_CAP,
        umask: None,
    };
    let outcome = world.runner.run(run, &CancellationToken::new()).await;
    if outcome.end != End::Exited(0) {
        return Err(format!("the handler did not run: {outcome:?}"));
    }
    let output = String::from_utf8(outcome.stdout.bytes).map_err(|error| error.to_string())?;
    let pairs = output.split_terminator('\0').filter_map(|pair| pair.split_once('='));
    Ok(told(&pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
}
