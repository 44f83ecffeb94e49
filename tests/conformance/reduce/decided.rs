//! Where our decision differs on purpose. Each rule compares with a run that has nothing deliberate about it: the
//! same handlers without the helper (D1), in a folder that exists (D3), with ordinary text (D4), with an ordinary
//! answer (D18), with another result (D19).

use hooksd_engine::projection::subject;
use hooksd_protocol::invocation::check_cwd;

use super::case::{As, Case, Ran};
use super::decision::{Remark, same_decision, split};
use super::{SLACK, as_recorded};
use crate::bytes::{bytes, bytes_once};
use crate::invoke;
use crate::json::Json;
use crate::vector::{Checked, Vector};
use crate::world::World;

pub(crate) async fn check(world: &World, vector: &Vector) -> Checked {
    let expect = vector.expect();
    match vector.decision() {
        Some("D1") if vector.ours() == "as recorded" => recorded(world, vector).await?,
        Some("D1") => helper_left_running(world, vector).await?,
        Some("D3") => cwd_missing(world, vector).await?,
        Some("D4") => lone_surrogates(world, vector).await?,
        Some("D18") if expect.get("raises").is_some() && is_answer_at_fault(vector) => {
            let (_, ours) = run(world, vector, &As::RECORDED).await?;
            let (_, ordinary) = run(world, vector, &As { printed: &bytes_once, ..As::RECORDED }).await?;
            same_decision(&ordinary.decision, &ours.decision)?;
        }
        Some("D18") if expect.get("raises").is_some() => no_projection(world, vector).await?,
        Some("D19") => {
            let (_, ours) = run(world, vector, &As::RECORDED).await?;
            let other = |text: &str| {
                text.replace("\"result\":null", "\"result\":1").replace("\"result\": null", "\"result\": 1")
            };
            let (case, other) = run(world, vector, &As { invocation: &other, ..As::RECORDED }).await?;
            if case.invocation.contains("\"result\":null") {
                return Err("the result could not be replaced".to_owned());
            }
            same_decision(&other.decision, &ours.decision)?;
            if same_decision(expect.need("decision")?.raw, &ours.decision).is_ok() {
                return Err("no handler ran".to_owned());
            }
        }
        Some("D20") => {
            let case = Case::new(world, vector, &As::RECORDED)?;
            let cwd = invoke::lenient(&case.invocation)?.context.cwd;
            if check_cwd(&cwd).is_ok() {
                return Err(format!("the cwd {cwd:?} was accepted"));
            }
        }
        _ => return vector.no_rule(),
    }
    vector.decided()
}

async fn run(world: &World, vector: &Vector, variation: &As<'_>) -> Result<(Case, Ran), String> {
    let case = Case::new(world, vector, variation)?;
    let ran = case.run(world).await?;
    Ok((case, ran))
}

async fn recorded(world: &World, vector: &Vector) -> Result<(), String> {
    let (case, ran) = run(world, vector, &As::RECORDED).await?;
    as_recorded(vector, &case, &ran).await
}

/// What of a shell line is not left in the background: `helper & rest` is `rest`.
fn foreground(command: &str) -> Option<String> {
    command.split_once(" & ").map(|(_, rest)| rest.to_owned())
}

/// D1: a handler that exits by itself has given its verdict, whatever still holds its pipes; the helper lives on.
async fn helper_left_running(world: &World, vector: &Vector) -> Result<(), String> {
    let (case, ours) = run(world, vector, &As::RECORDED).await?;
    let alive = case.mark.alive();
    let (_, alone) = run(world, vector, &As { command: &foreground, ..As::RECORDED }).await?;
    let (timeouts, _) = split(&alone.decision, |remark| remark.code == "timeout")?;
    if !timeouts.is_empty() {
        // The handler itself runs out of time: then its tree is killed, and all is as recorded.
        return as_recorded(vector, &case, &ours).await;
    }
    let event = vector.input().need("invocation")?.need("event")?.need("event")?.str()?;
    let handlers = vector.input().need("handlers")?.items();
    let mut expected = Vec::new();
    let mut longest: f64 = 0.0;
    for (index, handler) in handlers.iter().enumerate() {
        if handler.get("command").and_then(Json::text).and_then(foreground).is_some() {
            expected.push(Remark {
                code: "output_left_open".to_owned(),
                severity: "debug".to_owned(),
                handler: Some(format!("{event}:0:{index}")),
                field: None,
            });
        }
        longest = longest.max(handler.get("timeout").map_or(Ok(600.0), Json::number)?);
    }
    let most = longest + 2.0 + SLACK;
    if !(0.2..=most).contains(&ours.elapsed) {
        return Err(format!("took {:.3} s, expected the grace of 0.25 s to {most} s", ours.elapsed));
    }
    let (left_open, rest) = split(&ours.decision, |remark| remark.code == "output_left_open")?;
    if left_open.is_empty() && !expected.is_empty() {
        // All pipes reached their end in time: the helper's output may count.
        return same_decision(vector.expect().need("decision")?.raw, &ours.decision);
    }
    if left_open != expected {
        return Err(format!("expected {expected:?}, got {left_open:?}"));
    }
    if alive == Some(0) {
        return Err("the helper did not live on".to_owned());
    }
    same_decision(&alone.decision, &rest)
}

/// D3: the handlers run in the first folder that can be entered, and each says so.
async fn cwd_missing(world: &World, vector: &Vector) -> Result<(), String> {
    let (_, ours) = run(world, vector, &As::RECORDED).await?;
    let cwd = vector.input().need("invocation")?.need("context")?.need("cwd")?;
    let elsewhere = |text: &str| text.replace(cwd.raw, "\"<FALLBACK>\"");
    let (_, there) = run(world, vector, &As { invocation: &elsewhere, ..As::RECORDED }).await?;
    let (said, rest) = split(&ours.decision, |remark| remark.code == "cwd_missing")?;
    let (failed, _) = split(vector.expect().need("decision")?.raw, |remark| remark.code == "launch_failed")?;
    let expected: Vec<Remark> = failed
        .into_iter()
        .map(|remark| Remark { code: "cwd_missing".to_owned(), field: Some("cwd".to_owned()), ..remark })
        .collect();
    if said != expected || expected.is_empty() {
        return Err(format!("expected {expected:?}, got {said:?}"));
    }
    same_decision(&there.decision, &rest)
}

/// D4: a handler's own output is read as if each lone surrogate were U+FFFD.
async fn lone_surrogates(world: &World, vector: &Vector) -> Result<(), String> {
    let (_, ours) = run(world, vector, &As::RECORDED).await?;
    let (_, replaced) = run(world, vector, &As { printed: &without_surrogates, ..As::RECORDED }).await?;
    same_decision(&replaced.decision, &ours.decision)?;
    match vector.expect().get("decision") {
        Some(expected) => same_decision(expected.raw, &ours.decision),
        None if ours.decision.contains('\u{fffd}') => Ok(()),
        None => Err(format!("the text was lost: {}", ours.decision)),
    }
}

/// What a handler prints with U+FFFD for each surrogate: escapes without partner, and those in three bytes.
fn without_surrogates(spec: &Json<'_>) -> Result<Vec<u8>, String> {
    let bytes = bytes(spec)?;
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    while let Some((first, after)) = rest.split_first() {
        match rest {
            [0xED, 0xA0..=0xBF, _, after @ ..] => {
                out.extend("\u{fffd}".as_bytes());
                rest = after;
            }
            [b'\\', b'u', ..] if rest.len() >= 6 => {
                let length = if is_pair(rest) { 12 } else { 6 };
                let unit = surrogate(rest);
                out.extend_from_slice(if unit.is_some() && length == 6 {
                    b"\\ufffd"
                } else {
                    &rest[..length]
                });
                rest = &rest[length..];
            }
            [b'\\', _, after @ ..] => {
                out.extend_from_slice(&rest[..2]);
                rest = after;
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    Ok(out)
}

/// The surrogate that an escape at the beginning spells.
fn surrogate(escape: &[u8]) -> Option<u16> {
    let digits = escape.strip_prefix(b"\\u")?.get(..4)?;
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xD800..0xE000).contains(&unit).then_some(unit)
}

fn is_pair(escapes: &[u8]) -> bool {
    let second = escapes.get(6..).and_then(surrogate);
    surrogate(escapes).is_some_and(|unit| unit < 0xDC00) && second.is_some_and(|unit| unit >= 0xDC00)
}

/// Whether it is a handler's answer at which the reference throws, and not the event.
fn is_answer_at_fault(vector: &Vector) -> bool {
    let invocation =
        vector.input().get("invocation").and_then(|invocation| invoke::lenient(invocation.raw).ok());
    invocation.is_some_and(|invocation| subject(&invocation.event).is_ok())
}

/// D18: an event that cannot be put into the handlers' terms runs none of them and says why.
async fn no_projection(world: &World, vector: &Vector) -> Result<(), String> {
    let (case, ours) = run(world, vector, &As::RECORDED).await?;
    let event = vector.input().need("invocation")?.need("event")?.need("event")?.raw;
    let expected = format!(
        "{{\"event\":{event},\"continue_processing\":true,\"stop_reason\":null,\"user_notices\":[],\
         \"terminal_sequences\":[],\"diagnostics\":[{{\"code\":\"projection_failed\",\"severity\":\"warning\",\
         \"handler_id\":null,\"field\":null}}]}}"
    );
    let (_, got) = split(&ours.decision, |_| false)?;
    same_decision(&expected, &got)?;
    if case.mark.alive().unwrap_or(0) > 0 || ours.progress != "[]" {
        return Err("a handler ran".to_owned());
    }
    Ok(())
}
