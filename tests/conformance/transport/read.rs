//! What is accepted, what it is then, and which field is to blame otherwise. Our readers name the first field that
//! does not fit: it has to be one of those the vector records.

use hooksd_client::check_response;
use hooksd_json::{Dialect, ReadError, Value};
use hooksd_protocol::event::EventName;
use hooksd_protocol::invocation::ServerRequest;
use hooksd_protocol::methods::InvokeResult;
use hooksd_protocol::timestamp::Timestamp;

use crate::compare::{Rules, is_integer, same};
use crate::json::{Json, Node};
use crate::vector::{Checked, Held, Vector};

pub(super) fn request(vector: &Vector) -> Checked {
    let input = vector.input();
    let text = match input.get("request_text") {
        Some(text) => text.str()?,
        None => input.need("request")?.raw,
    };
    let read = match Value::parse(text, Dialect::Strict) {
        Ok(value) => ServerRequest::read(&value),
        Err(error) => Err(ReadError { path: String::new(), message: error.to_string() }),
    };
    match vector.decision() {
        None | Some("D18") => {}
        Some("D20" | "D23") => return refused(vector, read.as_ref().err()),
        Some(_) => return vector.no_rule(),
    }
    let normalized = read.map(|request| serde_json::to_string(&request).unwrap());
    judge(vector, normalized)?;
    if vector.decision().is_some() { vector.decided() } else { Ok(Held::AsRecorded) }
}

pub(super) fn interrupt(vector: &Vector) -> Checked {
    let text = vector.input().need("value")?.raw;
    let value = Value::parse(text, Dialect::Strict).map_err(|error| error.to_string())?;
    let looks_like_hook = ServerRequest::is_interrupt(&value);
    if vector.expect().need("looks_like_hook")?.bool() != Some(looks_like_hook) {
        return Err(format!("looks like a hook: {looks_like_hook}"));
    }
    let read = ServerRequest::read_interrupt(&value);
    client_side(vector, read.map(|request| serde_json::to_string(&request).unwrap()))
}

pub(super) fn response(vector: &Vector) -> Checked {
    let (input, expect) = (vector.input(), vector.expect());
    let value = Value::parse(input.need("value")?.raw, Dialect::Strict).map_err(|error| error.to_string())?;
    let read = InvokeResult::read(&value);
    if let Ok(result) = &read {
        let id = input.need("expected_invocation_id")?.str()?.parse();
        let id = id.map_err(|error| format!("the expected id is none: {error}"))?;
        let mismatch = check_response(result, id, input.need("expected_snapshot_id")?.str()?).err();
        let (got, expected) =
            (mismatch.map(|mismatch| mismatch.field), expect.get("mismatch").and_then(Json::text));
        if got != expected {
            return Err(format!("expected the ids to differ in {expected:?}, got {got:?}"));
        }
        if expected.is_some() {
            return if expect.need("accepted")?.bool() == Some(false) {
                Ok(Held::AsRecorded)
            } else {
                Err("a mismatch that is accepted".to_owned())
            };
        }
    } else if expect.get("mismatch").is_some() {
        return Err(format!("expected a mismatch of ids, got {read:?}"));
    }
    // Ours has more to say: the handlers and how long it took.
    let told = read.map(|result| {
        let mut told = serde_json::to_value(&result).unwrap();
        told.as_object_mut().unwrap().retain(|key, _| key != "handlers" && key != "duration_ms");
        told.to_string()
    });
    client_side(vector, told)
}

/// D23 on the client's side: the same is accepted, except where the reference turns one kind of scalar into another.
fn client_side(vector: &Vector, read: Result<String, ReadError>) -> Checked {
    match vector.decision() {
        None => judge(vector, read).map(|()| Held::AsRecorded),
        Some("D23") => {
            let value = vector.input().need("value")?;
            match vector.expect().get("normalized") {
                Some(normalized) if !same_kinds(value, normalized) => refused(vector, read.as_ref().err()),
                _ => judge(vector, read).map(|()| Held::AsRecorded),
            }
        }
        Some(_) => vector.no_rule(),
    }
}

/// Whether each scalar that was sent is of the same kind after normalizing.
fn same_kinds(sent: &Json<'_>, normalized: &Json<'_>) -> bool {
    match (&sent.node, &normalized.node) {
        (Node::Object(members), Node::Object(_)) => members.iter().all(|(key, sent)| {
            normalized.get(&key.lossy).is_none_or(|normalized| same_kinds(sent, normalized))
        }),
        (Node::Array(sent), Node::Array(normalized)) => {
            sent.iter().zip(normalized).all(|(sent, normalized)| same_kinds(sent, normalized))
        }
        (Node::Number(sent), Node::Number(normalized)) => is_integer(sent) == is_integer(normalized),
        (sent, normalized) => std::mem::discriminant(sent) == std::mem::discriminant(normalized),
    }
}

fn refused(vector: &Vector, error: Option<&ReadError>) -> Checked {
    match error {
        Some(error) if !error.path.is_empty() && !error.message.is_empty() => vector.decided(),
        Some(error) => Err(format!("refused without naming the field: {error}")),
        None => Err("expected it to be refused".to_owned()),
    }
}

/// Compares with what is recorded.
fn judge(vector: &Vector, read: Result<String, ReadError>) -> Result<(), String> {
    let expect = vector.expect();
    let accepted = expect.need("accepted")?.bool().ok_or("accepted is no boolean")?;
    match read {
        Ok(_) if !accepted => Err("expected it to be refused".to_owned()),
        Err(error) if accepted => Err(format!("refused: {error}")),
        Ok(normalized) => match expect.get("normalized") {
            Some(expected) => same(
                &Json::parse(&instants(expected.raw))?,
                &Json::parse(&instants(&normalized))?,
                Rules::default(),
            ),
            None => Ok(()),
        },
        Err(error) => match expect.get("errors") {
            Some(errors) => blames_one_of(errors, &error),
            None => Ok(()),
        },
    }
}

/// Deadlines are compared as points in time, to the microsecond, which is all that the reference keeps: the text with
/// the outermost one spelled in UTC.
fn instants(request: &str) -> String {
    let deadline =
        Json::parse(request).ok().and_then(|request| Some(request.get("deadline")?.raw.to_owned()));
    let instant = deadline.as_deref().and_then(|raw| Timestamp::parse(raw.trim_matches('"')));
    let (Some(deadline), Some(instant)) = (deadline, instant) else { return request.to_owned() };
    let instant = instant.to_string();
    let (seconds, fraction) =
        instant.trim_end_matches('Z').split_once('.').unwrap_or((instant.trim_end_matches('Z'), ""));
    let microseconds = &fraction[..fraction.len().min(6)];
    request.replace(&deadline, &format!("\"{seconds}.{microseconds:0<6}Z\""))
}

fn blames_one_of(errors: &Json<'_>, error: &ReadError) -> Result<(), String> {
    let got = steps(&error.path);
    for recorded in errors.items() {
        let location = location(recorded.need("loc")?);
        // An unknown or missing tag of a union: the reference blames the union, we blame the tag in it.
        let tag = recorded.get("type").and_then(Json::text).is_some_and(|kind| kind.starts_with("union_tag"));
        let of_tag = || got.strip_suffix(&["event".to_owned()]).is_some_and(|union| union == location);
        if got == location || (tag && of_tag()) {
            return Ok(());
        }
    }
    Err(format!("blames {:?} ({}), expected one of {}", error.path, error.message, errors.raw))
}

/// `a.b[0].c` as its steps.
fn steps(path: &str) -> Vec<String> {
    let steps = path.split(['.', '[']).map(|step| step.trim_end_matches(']'));
    steps.filter(|step| !step.is_empty()).map(str::to_owned).collect()
}

/// The recorded steps without the tag that a union puts between, the name of an event.
fn location(location: &Json<'_>) -> Vec<String> {
    let steps = location.items().iter().map(|step| step.text().unwrap_or(step.raw));
    let is_tag = |step: &str| step.parse::<EventName>().is_ok();
    steps.filter(|step| !is_tag(step)).map(str::to_owned).collect()
}
