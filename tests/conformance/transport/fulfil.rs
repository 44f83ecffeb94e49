//! Requests delivered to the real daemon over a real socket, in batches; the requests of one batch at the same time
//! on one connection.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::time::SystemTime;

use hooksd_client::ClientError;
use hooksd_client::asynchronous::Client;
use hooksd_protocol::rpc::error_code;
use hooksd_protocol::timestamp::Timestamp;

use crate::compare::{Rules, same};
use crate::daemon::{Daemon, call};
use crate::json::{Json, quote, short};
use crate::place::Place;
use crate::reduce::TRANSCRIPT;
use crate::reduce::decision::{same_decision, split};
use crate::vector::{Checked, Held, Vector};
use crate::world::World;

/// What a delivery came to.
type Delivered = Result<String, ClientError>;

/// Whether any result was judged by a decision instead of the record.
type ByDecision = bool;

pub(super) async fn check(world: &World, vector: &Vector) -> Checked {
    let mut place = Place::new(&[("<CWD>", "cwd"), ("<OUT>", "out")])?;
    let project = place.base().join("cwd/.deepagents");
    fs::create_dir_all(&project).map_err(|error| error.to_string())?;
    let document = place.real_json(vector.input().need("project_document")?.raw);
    fs::write(project.join("hooks.json"), document).map_err(|error| error.to_string())?;
    let daemon = Daemon::start(world.mark().environment("/"))?;
    let delivered = deliver(vector, &daemon, &mut place).await;
    daemon.stop().await?;
    let by_decision = judge(vector, &delivered?, &place)?;
    let log =
        fs::File::open(place.base().join("out/log")).and_then(std::io::read_to_string).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    let expected = match vector.decision() {
        // What is refused runs nothing.
        Some("D20" | "D22") => "[]",
        _ => vector.expect().need("log_lines")?.raw,
    };
    let lines = place.placeholders(&serde_json::json!(lines).to_string());
    same(&Json::parse(expected)?, &Json::parse(&lines)?, Rules::default())
        .map_err(|error| format!("log: {error}"))?;
    match (by_decision, vector.decision()) {
        (true, Some(_)) => vector.decided(),
        (true, None) => Ok(Held::AsDecided("D18".to_owned())),
        (false, None) => Ok(Held::AsRecorded),
        (false, Some(decision)) => Err(format!("{decision} has changed nothing here")),
    }
}

/// Opens the session and delivers. The results are in the order of the deliveries.
async fn deliver(vector: &Vector, daemon: &Daemon, place: &mut Place) -> Result<Vec<Vec<Delivered>>, String> {
    let withdraw = vector.input().get("withdraw_trust").and_then(Json::bool) == Some(true);
    let cwd = quote(&place.real("<CWD>"));
    let store = daemon.config_dir().join(".state/hooks_trust.json");
    let trusting = |projects: String| {
        let text = format!("{{\"version\":1,\"projects\":{{{projects}}}}}");
        fs::write(&store, text).map_err(|error| error.to_string())
    };
    // Trust that can be withdrawn is in the store; the other is the session's own.
    let trust = if withdraw {
        trusting(format!("{cwd}:{{\"trusted_at\":\"2026-01-01T00:00:00+00:00\"}}"))?;
        ""
    } else {
        ",\"trust\":\"explicit\""
    };
    let client = Arc::new(daemon.connect().await?);
    let open = format!("{{\"thread_id\":\"t\",\"cwd\":{cwd},\"mode\":\"interactive\"{trust}}}");
    let opened =
        call(&client, "session/open", open).await.map_err(|error| format!("session/open: {error}"))?;
    let opened = Json::parse(&opened)?;
    if opened.need("project")?.need("trusted")?.bool() != Some(true) {
        return Err(format!("the project is not trusted: {}", opened.raw));
    }
    let session = opened.need("session")?.raw.to_owned();
    let snapshot = opened.need("snapshot")?.need("id")?.str()?;
    place.stand_for("<SNAPSHOT>", snapshot);
    place.stand_for("<SNAPSHOT-UPPER>", &snapshot.to_uppercase());
    if withdraw {
        trusting(String::new())?;
    }
    let mut delivered = Vec::new();
    for batch in vector.input().need("deliveries")?.items() {
        let requests: Vec<String> =
            batch.items().iter().map(|request| params(&session, request, place)).collect();
        delivered.push(at_once(&client, requests).await?);
    }
    Ok(delivered)
}

fn params(session: &str, request: &Json<'_>, place: &Place) -> String {
    let members = request.raw.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default();
    let members = place.real_json(members);
    let transcripts =
        format!("\"transcript_path\":{},\"agent_transcript_path\":\"/h/a.jsonl\"", quote(TRANSCRIPT));
    format!("{{\"session\":{session},{transcripts},{members}}}")
}

async fn at_once(client: &Arc<Client>, requests: Vec<String>) -> Result<Vec<Delivered>, String> {
    let calls: Vec<_> = requests
        .into_iter()
        .map(|params| {
            let client = client.clone();
            tokio::spawn(async move { call(&client, "hook/invoke", params).await })
        })
        .collect();
    let mut results = Vec::new();
    for call in calls {
        results.push(call.await.map_err(|error| error.to_string())?);
    }
    Ok(results)
}

fn judge(vector: &Vector, delivered: &[Vec<Delivered>], place: &Place) -> Result<ByDecision, String> {
    let (deliveries, expected) =
        (vector.input().need("deliveries")?.items(), vector.expect().need("results")?.items());
    if !matches!(vector.decision(), None | Some("D18" | "D20" | "D21" | "D22")) {
        return vector.no_rule().map(|_| false);
    }
    if deliveries.len() != expected.len() || delivered.len() != expected.len() {
        return Err("as many batches as results were expected in the vector".to_owned());
    }
    let mut by_decision = false;
    let mut first: HashMap<String, String> = HashMap::new();
    for ((batch, expected), results) in deliveries.iter().zip(expected).zip(delivered) {
        if batch.items().len() != expected.items().len() || results.len() != expected.items().len() {
            return Err("as many requests as results were expected in the vector's batch".to_owned());
        }
        for ((request, expected), result) in batch.items().iter().zip(expected.items()).zip(results) {
            let at = |error: String| format!("{}: {error}", short(request.raw));
            let repeated = is_conflict(&mut first, request)?;
            by_decision |= match vector.decision() {
                Some("D21") if repeated => code_is(result, error_code::INVALID_PARAMS).map_err(at)?,
                Some("D20") if !is_absolute(request)? => {
                    code_is(result, error_code::INVALID_PARAMS).map_err(at)?
                }
                Some("D22") if is_past(request)? => {
                    code_is(result, error_code::DEADLINE_PASSED).map_err(at)?
                }
                _ => as_recorded(vector, request, expected, result, place).map_err(at)?,
            };
        }
    }
    Ok(by_decision)
}

/// Whether the request's id was used before for something else, as D21 sees it: another event or another spelling.
fn is_conflict(first: &mut HashMap<String, String>, request: &Json<'_>) -> Result<bool, String> {
    let spelling = request.need("invocation_id")?.str()?;
    let digits =
        spelling.strip_prefix("urn:uuid:").unwrap_or(spelling).chars().filter(char::is_ascii_hexdigit);
    let id: String = digits.map(|digit| digit.to_ascii_lowercase()).collect();
    let content = format!("{spelling}\n{}", request.need("invocation")?.raw);
    Ok(first.entry(id).or_insert_with(|| content.clone()) != &content)
}

fn is_past(request: &Json<'_>) -> Result<bool, String> {
    let deadline =
        Timestamp::parse(request.need("deadline")?.str()?).ok_or("the vector's deadline is none")?;
    Ok(deadline.remaining(SystemTime::now()).is_none())
}

fn is_absolute(request: &Json<'_>) -> Result<bool, String> {
    let cwd = request.need("invocation")?.need("context")?.need("cwd")?.str()?;
    Ok(cwd.starts_with(['/', '<']) && !cwd.contains('\0'))
}

fn code_is(result: &Delivered, code: i64) -> Result<ByDecision, String> {
    match result {
        Err(ClientError::Refused(error)) if error.code == code => Ok(true),
        other => Err(format!("expected the error {code}, got {other:?}")),
    }
}

fn as_recorded(
    vector: &Vector,
    request: &Json<'_>,
    expected: &Json<'_>,
    result: &Delivered,
    place: &Place,
) -> Result<ByDecision, String> {
    if expected.get("raises").is_none() {
        let result = result.as_ref().map_err(|error| format!("refused: {error:?}"))?;
        let result = place.placeholders(result);
        let result = Json::parse(&result)?;
        for (key, expected) in expected.entries() {
            let got = result.need(&key.lossy)?;
            match key.lossy.as_str() {
                "decision" => same_decision(expected.raw, got.raw)?,
                _ => same(expected, got, Rules::default())
                    .map_err(|error| format!("{}: {error}", key.lossy))?,
            }
        }
        return Ok(false);
    }
    let snapshot = request.need("snapshot_id")?.str()?;
    if snapshot != "<SNAPSHOT>" {
        return code_is(result, error_code::SNAPSHOT_MISMATCH).map(|_| false);
    }
    if vector.input().get("withdraw_trust").is_some() {
        return code_is(result, error_code::UNTRUSTED_WORKSPACE).map(|_| false);
    }
    match result {
        // Where the reference throws, ours says in the decision that no handler could be asked (D18).
        Ok(result) => {
            let result = Json::parse(result)?;
            let (failed, _) =
                split(result.need("decision")?.raw, |remark| remark.code == "projection_failed")?;
            match (failed.len(), result.need("handlers")?.items()) {
                (1, []) => Ok(true),
                _ => Err(format!("expected projection_failed, got {}", result.raw)),
            }
        }
        Err(ClientError::Refused(_)) => Ok(false),
        Err(error) => Err(format!("the connection failed: {error}")),
    }
}
