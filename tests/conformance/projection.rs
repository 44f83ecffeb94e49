//! projection: the exact text that handlers read.
//!
//! The vectors record that the reference re-encodes what it passes on; we do not (D4). So a text that differs from
//! the recorded one is accepted only if both are the same JSON: the same keys in the same order (the last of
//! duplicates wins), strings equal after unescaping, integers equal digit for digit (`-0` is `0`), other numbers the
//! same double, and a number too large for a double where null is recorded. Such vectors are counted apart.

use hooksd_engine::projection::{Transcripts, stdin};
use hooksd_json::{Dialect, Value};
use hooksd_protocol::invocation::{Event, check_cwd};

use crate::bytes::spelled_out;
use crate::compare::{Rules, same};
use crate::invoke::lenient;
use crate::json::{Json, has_lone, short};
use crate::vector::{Checked, Held, Vector};

/// What is nested deeper may be refused by the reference, whose limit is near 250. Levels.
const DEEP: usize = 200;

pub(crate) fn check(vector: &Vector) -> Checked {
    let (input, expect) = (vector.input(), vector.expect());
    let text = match input.get("invocation_text") {
        Some(text) => text.str()?.to_owned(),
        None => spelled_out(input.need("invocation")?)?,
    };
    match vector.decision() {
        None | Some("D4") => {}
        Some("D23") => {
            return match Value::parse(&text, Dialect::Strict) {
                Err(_) => vector.decided(),
                Ok(_) => Err("was read as JSON".to_owned()),
            };
        }
        Some("D20") => {
            let refused = check_cwd(&lenient(&text)?.context.cwd);
            return refused.map_or_else(|_| vector.decided(), |()| Err("the cwd was accepted".to_owned()));
        }
        Some("D19") => return null_result(vector, &text),
        Some(_) => return vector.no_rule(),
    }
    let says = |key: &str| expect.get(key).and_then(Json::bool) == Some(true);
    let (fails, rejected) = (says("projection_failed"), says("rejected"));
    if (fails || rejected || vector.decision().is_some()) && is_beyond_the_reference(&text) {
        return untouched(vector, &text);
    }
    let invocation = match lenient(&text) {
        Err(_) if rejected => return Ok(Held::AsRecorded),
        Ok(_) if rejected => return Err("expected it to be rejected".to_owned()),
        read => read?,
    };
    if fails && matches!(&invocation.event, Event::PostToolUse(event) if event.result.get() == "null") {
        return null_result(vector, &text);
    }
    let got = stdin(&invocation, &transcripts(vector)?);
    match (got, expect.get("stdin")) {
        (Err(_), None) if fails => Ok(Held::AsRecorded),
        (Ok(got), None) if fails => Err(format!("expected no projection, got {}", short(&got))),
        (Ok(got), Some(expected)) if got == expected.str()? => Ok(Held::AsRecorded),
        (Ok(got), Some(expected)) => {
            let rules = Rules { ordered: true, null_is_infinite: true };
            same(&Json::parse(expected.str()?)?, &Json::parse(&got)?, rules)?;
            Ok(Held::Untouched)
        }
        (Err(error), Some(_)) => Err(format!("not projected: {error}")),
        (_, None) => Err("the vector expects nothing that is known here".to_owned()),
    }
}

fn transcripts(vector: &Vector) -> Result<Transcripts, String> {
    let path = |name: &str| vector.input().given(name).map(|path| path.str().map(str::to_owned)).transpose();
    Ok(Transcripts {
        session: path("transcript_path")?.ok_or("the vector has no transcript_path")?,
        agent: path("agent_transcript_path")?,
    })
}

/// D19: a null result is a result. The text is that of another result, with null in its place.
fn null_result(vector: &Vector, text: &str) -> Checked {
    const OTHER: &str = "\"another result\"";
    let mut invocation = lenient(text)?;
    let null = stdin(&invocation, &transcripts(vector)?).map_err(|error| error.to_string())?;
    let Event::PostToolUse(event) = &mut invocation.event else { return vector.no_rule() };
    event.result = hooksd_json::RawJson::new(OTHER.to_owned()).map_err(|error| error.to_string())?;
    let other = stdin(&invocation, &transcripts(vector)?).map_err(|error| error.to_string())?;
    let field = |result: &str| format!("\"tool_response\":{result},\"tool_use_id\"");
    let expected = other.replace(&field(OTHER), &field("null"));
    if expected == other || null != expected {
        return Err(format!("expected {expected}, got {null}"));
    }
    Ok(Held::AsDecided("D19".to_owned()))
}

/// D4: what the reference cannot pass on, because it is nested too deep or has a lone surrogate, reaches handlers as
/// it came: the raw text of each such part is in what they read.
fn untouched(vector: &Vector, text: &str) -> Checked {
    let invocation = lenient(text)?;
    let got = stdin(&invocation, &transcripts(vector)?).map_err(|error| error.to_string())?;
    let value = Value::parse(text, Dialect::Strict).map_err(|error| error.to_string())?;
    let event = value.get("event").ok_or("no event")?;
    let mut parts: Vec<String> =
        event.get("result").into_iter().map(|result| result.raw().to_owned()).collect();
    let args = event.get("call").and_then(|call| call.get("args"));
    parts.extend(args.iter().flat_map(members));
    parts.extend(members(&event).into_iter().filter(|part| part.starts_with('"')));
    parts.retain(|part| is_beyond_the_reference(part));
    if parts.is_empty() || !parts.iter().all(|part| got.contains(part.as_str())) {
        return Err(format!("what is odd was not passed on as it came: {}", short(&got)));
    }
    Ok(Held::Untouched)
}

/// The raw text of each member.
fn members(value: &Value<'_>) -> Vec<String> {
    value.entries().into_iter().map(|(_, value)| value.raw().to_owned()).collect()
}

/// Whether the reference cannot pass it on.
fn is_beyond_the_reference(text: &str) -> bool {
    let deep = Value::parse(text, Dialect::Strict).is_ok_and(|value| value.depth() > DEEP);
    deep || Json::parse(text).is_ok_and(|value| has_lone(&value))
}
