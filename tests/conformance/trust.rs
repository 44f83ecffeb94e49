//! trust: the store as other programs write it, what one session trusts, where a project is, and writing the store.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hooksd_config::contents::fingerprint;
use hooksd_config::project;
use hooksd_config::trust::{Policy, Store, store_path, write};
use serde_json::{Value, json};

use crate::bytes::{bytes, lay_out};
use crate::compare::{Rules, same};
use crate::json::{Json, Node};
use crate::place::Place;
use crate::vector::{Checked, Held, Vector};

/// How deep the store is that `{"deep": true}` stands for.
const DEEP: usize = 200_000;

/// What D18 and D23 come to here.
const NOT_TRUSTED: &str = "not trusted";
const NO_ROOT: &str = "as a broken .git file: no project root";

pub(crate) fn check(vector: &Vector) -> Checked {
    let input = vector.input();
    let place = Place::new(&[])?;
    let given = input.get("fs").map(Json::items).unwrap_or_default();
    lay_out(place.base(), given, &|text| place.real(text))?;
    store(input.given("store"), &place)?;
    let expected = match (vector.decision(), vector.ours()) {
        (None, _) => vector.expect().raw.to_owned(),
        (Some("D18" | "D23"), NOT_TRUSTED) => distrust(vector.expect())?,
        (Some("D18"), NO_ROOT) => json!({
            "project_root": null, "cwd": input.need("cwd")?.str()?, "trust_root": input.need("cwd")?.str()?,
        })
        .to_string(),
        _ => return vector.no_rule(),
    };
    let expected = place.real_json(&expected);
    let expected = Json::parse(&expected)?;
    match input.need("kind")?.str()? {
        "store" => {
            let got = json!({ "trusted": Store::read(&config_dir(&place)).trusts(&path(input, "project", &place)?, "any") });
            same(&expected, &Json::parse(&got.to_string())?, Rules::default())?;
        }
        "policy" => {
            let got = json!({ "results": policy(input, &place)? });
            same(&expected, &Json::parse(&got.to_string())?, Rules::default())?;
        }
        "root" => {
            let found = project::place(&path(input, "cwd", &place)?).ok_or("the cwd is not absolute")?;
            let got = json!({
                "project_root": found.project_root, "cwd": found.cwd, "trust_root": found.clone().trust_root(),
            });
            same(&expected, &Json::parse(&got.to_string())?, Rules::default())?;
        }
        "write" => written(input, &expected, &place)?,
        kind => return Err(format!("unknown kind {kind:?}")),
    }
    if vector.decision().is_some() { vector.decided() } else { Ok(Held::AsRecorded) }
}

fn config_dir(place: &Place) -> PathBuf {
    place.base().join("cfg")
}

fn path(value: &Json<'_>, key: &str, place: &Place) -> Result<PathBuf, String> {
    Ok(place.real(value.need(key)?.str()?).into())
}

/// The recorded answer with every yes, and every error of the reference, a no.
fn distrust(expect: &Json<'_>) -> Result<String, String> {
    let no = |value: &Json<'_>| if value.node == Node::Null { Value::Null } else { json!(false) };
    let key = if expect.get("results").is_some() { "results" } else { "trusted" };
    let value = expect.need(key)?;
    let value = match &value.node {
        Node::Array(items) => items.iter().map(no).collect(),
        _ => no(value),
    };
    Ok(json!({ key: value }).to_string())
}

/// Writes the store of the case.
fn store(spec: Option<&Json<'_>>, place: &Place) -> Result<(), String> {
    let Some(spec) = spec else { return Ok(()) };
    let file = store_path(&config_dir(place));
    fs::create_dir_all(file.parent().unwrap()).map_err(|error| error.to_string())?;
    let trusting = place.real_json(r#"{"version":1,"projects":{"<ROOT>/proj":{"trusted_at":"t"}}"#);
    let made = if let Some(text) = spec.text() {
        fs::write(&file, place.real(text))
    } else if spec.get("bom").is_some() {
        fs::write(&file, format!("\u{feff}{trusting}}}"))
    } else if spec.get("utf16").is_some() {
        let units =
            std::iter::once(0xFEFF).chain(format!("{trusting}}}").encode_utf16().collect::<Vec<u16>>());
        fs::write(&file, units.flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
    } else if spec.get("deep").is_some() {
        fs::write(&file, format!("{trusting},\"x\":{}{}}}", "[".repeat(DEEP), "]".repeat(DEEP)))
    } else if spec.get("directory").is_some() {
        fs::create_dir(&file)
    } else if let Some(target) = spec.get("symlink") {
        std::os::unix::fs::symlink(place.real(target.str()?), &file)
    } else {
        fs::write(&file, bytes(spec)?)
    };
    made.map_err(|error| error.to_string())
}

fn policy(input: &Json<'_>, place: &Place) -> Result<Vec<Value>, String> {
    let spec = input.need("policy")?;
    let stored = || Policy::with_store(Store::read(&config_dir(place)));
    let mut policy = match spec.need("kind")?.str()? {
        "for_session" | "none" => stored(),
        "explicit_only" => Policy::explicit_only(),
        kind => return Err(format!("unknown policy {kind:?}")),
    };
    if spec.get("granted").and_then(Json::bool) == Some(true) {
        policy.grant(&path(input, "cwd", place)?);
    }
    let mut results = Vec::new();
    for step in input.need("steps")?.items() {
        let file = |key: &str| Ok::<PathBuf, String>(place.base().join(step.need(key)?.str()?));
        let mut result = Value::Null;
        if step.get("allows").is_some() {
            let given = match (step.get("fingerprint"), step.get("fingerprint_of")) {
                (Some(given), _) => Some(given.str()?.to_owned()),
                (None, Some(text)) => Some(fingerprint(text.str()?.as_bytes())),
                (None, None) => None,
            };
            result = policy.allows(&path(step, "allows", place)?, given.as_deref()).into();
        } else if step.get("grant").is_some() {
            policy.grant(&path(step, "grant", place)?);
        } else if step.get("revoke").is_some() {
            policy.revoke(&path(step, "revoke", place)?);
        } else if step.get("write").is_some() {
            fs::write(file("write")?, step.need("text")?.str()?).map_err(|error| error.to_string())?;
        } else {
            fs::remove_file(file("remove")?).map_err(|error| error.to_string())?;
        }
        results.push(result);
    }
    Ok(results)
}

fn written(input: &Json<'_>, expected: &Json<'_>, place: &Place) -> Result<(), String> {
    let config_dir = config_dir(place);
    let file = store_path(&config_dir);
    let bytes_of = |path: &Path| fs::read(path).ok();
    let before = bytes_of(&file);
    let project = path(input, "project", place)?;
    // As other programs grant it: for whatever the document holds.
    let saved = write::grant(&config_dir, &project, None);
    let mode = |path: &Path| match fs::metadata(path) {
        Ok(data) => Ok(format!("{:#o}", data.permissions().mode() & 0o777)),
        Err(error) => Err(error.to_string()),
    };
    let text = String::from_utf8(bytes_of(&file).unwrap_or_default()).map_err(|error| error.to_string())?;
    for (key, expected) in expected.entries() {
        let got = match key.lossy.as_str() {
            "saved" => json!(saved.is_ok()),
            "unchanged" => json!(bytes_of(&file) == before),
            "file" => json!(without_time(&text)),
            "file_mode" => json!(mode(&file)?),
            "dir_mode" => json!(mode(file.parent().unwrap())?),
            "now_trusted" => json!(Store::read(&config_dir).trusts(&project, "any")),
            other => return Err(format!("unknown key {other:?}")),
        };
        same(expected, &Json::parse(&got.to_string())?, Rules::default())
            .map_err(|error| format!("{}: {error}", key.lossy))?;
    }
    let left: Vec<String> = fs::read_dir(file.parent().unwrap())
        .map_err(|error| error.to_string())?
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !["hooks_trust.json", "hooks_trust.json.lock"].contains(&name.as_str()))
        .collect();
    if left.is_empty() { Ok(()) } else { Err(format!("left behind: {left:?}")) }
}

/// `<TIME>` for every time as Python writes it, without its offset.
fn without_time(text: &str) -> String {
    const BEFORE: &str = "\"trusted_at\": \"";
    let mut parts = text.split(BEFORE);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (time, rest) = part.split_once('"').unwrap_or((part, ""));
        let shape: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        let is_time = shape == "0000-00-00T00:00:00.000000+00:00" || shape == "0000-00-00T00:00:00+00:00";
        out.extend([BEFORE, if is_time { "<TIME>+00:00" } else { time }, "\"", rest]);
    }
    out
}
