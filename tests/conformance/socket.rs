//! A sample of the reduce vectors once more, through the daemon's socket: the first of each kind that a session can
//! ask for.

use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;

use crate::daemon::{Daemon, call};
use crate::json::{Json, quote};
use crate::reduce::{As, Case, Ran, TRANSCRIPT, as_recorded};
use crate::vector::{Checked, Held, Vector};
use crate::world::World;

/// The first vector of each kind whose run needs nothing that only the engine can be told.
pub(crate) fn samples(vectors: &[Vector]) -> Vec<Vector> {
    let mut kinds = BTreeSet::new();
    let needs_more = |vector: &Vector| {
        let input = vector.input();
        let odd = input.get("engine").or(input.get("requires")).is_some();
        odd || vector.decision().is_some() || vector.expect().get("decision").is_none()
    };
    vectors
        .iter()
        .filter(|vector| vector.area() == "reduce" && !needs_more(vector))
        .filter(|vector| kinds.insert(vector.slug().to_owned()))
        .cloned()
        .collect()
}

pub(crate) async fn check(world: &World, vector: &Vector) -> Checked {
    let case = Case::new(world, vector, &As::RECORDED)?;
    let home = case.cwd();
    let daemon = Daemon::start(case.mark.environment(home.to_str().unwrap()))?;
    fs::write(daemon.config_dir().join("hooks.json"), &case.document).map_err(|error| error.to_string())?;
    let ran = run(&daemon, &case).await;
    daemon.stop().await?;
    as_recorded(vector, &case, &ran?).await?;
    Ok(Held::AsRecorded)
}

async fn run(daemon: &Daemon, case: &Case) -> Result<Ran, String> {
    let client = daemon.connect().await?;
    let cwd = quote(case.cwd().to_str().unwrap());
    let mut params = format!(
        "{{\"session\":{{\"thread_id\":\"thread-7\",\"cwd\":{cwd},\"mode\":\"headless\"}},\"invocation\":{},\
         \"transcript_path\":{},\"progress\":true",
        case.invocation,
        quote(TRANSCRIPT)
    );
    if let Some(path) = &case.agent_transcript {
        params.push_str(&format!(",\"agent_transcript_path\":{}", quote(path)));
    }
    params.push('}');
    let started = Instant::now();
    let result = call(&client, "hook/invoke", params).await.map_err(|error| format!("refused: {error}"))?;
    let elapsed = started.elapsed().as_secs_f64();
    let result = case.place.placeholders(&result);
    let result = Json::parse(&result)?;
    // Each handler begins and ends; what was reported came before the answer.
    let mut reports = Vec::new();
    for _ in 0..2 * result.need("handlers")?.items().len() {
        let notification = client.notification().await.ok_or("the connection ended")?;
        reports.push(without_invocation(&notification.params)?);
    }
    let progress = format!("[{}]", reports.join(","));
    Ok(Ran { decision: result.need("decision")?.raw.to_owned(), progress, elapsed })
}

/// A progress report as the vectors have it.
fn without_invocation(params: &str) -> Result<String, String> {
    let params = Json::parse(params)?;
    let members: Vec<String> = params
        .entries()
        .into_iter()
        .filter(|(key, _)| key.lossy != "invocation_id")
        .map(|(key, value)| format!("{}:{}", quote(&key.lossy), value.raw))
        .collect();
    Ok(format!("{{{}}}", members.join(",")))
}
