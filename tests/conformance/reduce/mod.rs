//! reduce: a whole engine run with real processes, from the document to the decision.

mod case;
mod decided;
pub(crate) mod decision;

use std::time::Duration;

pub(crate) use case::{As, Case, Ran, TRANSCRIPT};

use crate::compare::{Rules, same};
use crate::json::{Json, short};
use crate::vector::{Checked, Held, Vector};
use crate::world::World;

/// What a loaded machine may add to the longest recorded time. Seconds.
pub(crate) const SLACK: f64 = 1.5;

pub(crate) async fn check(world: &World, vector: &Vector) -> Checked {
    if let Some(missing) = missing_program(vector)? {
        return Ok(Held::Skipped(format!("needs {missing}")));
    }
    if vector.decision().is_some() {
        return decided::check(world, vector).await;
    }
    let case = Case::new(world, vector, &As::RECORDED)?;
    let ran = case.run(world).await?;
    if vector.expect().get("raises").is_some() {
        return match Json::parse(&ran.decision)?.need("diagnostics")?.items() {
            [] => Err("the reference throws here; ours does not even diagnose".to_owned()),
            _ => Ok(Held::AsRecorded),
        };
    }
    as_recorded(vector, &case, &ran).await?;
    Ok(Held::AsRecorded)
}

/// Everything that the vector records.
pub(crate) async fn as_recorded(vector: &Vector, case: &Case, ran: &Ran) -> Result<(), String> {
    let expect = vector.expect();
    decision::same_decision(expect.need("decision")?.raw, &ran.decision)?;
    if let Some(expected) = expect.get("progress") {
        same(expected, &Json::parse(&ran.progress)?, Rules::default())
            .map_err(|error| format!("progress{error}"))?;
    }
    in_time(expect, ran.elapsed)?;
    observe(vector, case).await
}

fn in_time(expect: &Json<'_>, elapsed: f64) -> Result<(), String> {
    let Some([least, most]) = expect.get("elapsed_between").map(Json::items) else { return Ok(()) };
    let (least, most) = (least.number()?, most.number()? + SLACK);
    if (least..=most).contains(&elapsed) {
        return Ok(());
    }
    Err(format!("took {elapsed:.3} s, expected {least} to {most} s"))
}

/// Files that the vector wants to be looked at after the run.
async fn observe(vector: &Vector, case: &Case) -> Result<(), String> {
    let Some(observe) = vector.input().get("observe") else { return Ok(()) };
    if let Some(file) = observe.get("file") {
        let wait = observe.need("wait_s")?.number()?;
        tokio::time::sleep(Duration::from_millis((wait * 1000.0) as u64)).await;
        let exists = case.cwd().join(file.str()?).exists();
        if Some(exists) != vector.expect().need("file_exists_afterwards")?.bool() {
            return Err(format!("{} exists afterwards: {exists}", file.raw));
        }
    }
    if let Some(file) = observe.get("stdin_file") {
        let expected = vector.expect().need("stdin")?.str()?;
        let read = std::fs::read_to_string(case.cwd().join(file.str()?))
            .map_err(|error| format!("stdin file: {error}"))?;
        let got = case.place.placeholders(&read);
        if got != expected {
            return Err(format!("stdin: expected {}, got {}", short(expected), short(&got)));
        }
    }
    Ok(())
}

fn missing_program(vector: &Vector) -> Result<Option<String>, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    for program in vector.input().get("requires").map(Json::items).unwrap_or_default() {
        let program = program.str()?;
        if !std::env::split_paths(&path).any(|folder| folder.join(program).exists()) {
            return Ok(Some(program.to_owned()));
        }
    }
    Ok(None)
}
