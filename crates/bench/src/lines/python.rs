//! d: a real guard in Python, in each lifecycle.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{TOOL, USUAL, document, payload};
use crate::cores::Cores;
use crate::daemon::{Connection, Server};
use crate::floor::{Loop, timed_run};
use crate::sample::{by_turns, ratio};
use crate::table::{Row, times};
use crate::{PATIENCE, Size};

/// The interpreter: the system's own, without anybody's wrapper.
const PYTHON: &str = "/usr/bin/python3";

/// JSON and a regular expression, as guards are.
pub(crate) const GUARD: &str = r#"import json, os, re, sys

DANGEROUS = re.compile(r"\brm\s+(-\w+\s+)*-\w*[rf]|\bmkfs\b|\bdd\s+.*of=/dev/|:\(\)\s*\{|>\s*/dev/sd")

def decide(event):
    if DANGEROUS.search(event.get("tool_input", {}).get("command", "")):
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
                                       "permissionDecisionReason": "this destroys data"}}
    return {}

persistent = os.environ.get("HOOKSD_LIFECYCLE") == "persistent"
for payload in sys.stdin if persistent else [sys.stdin.read()]:
    print(json.dumps(decide(json.loads(payload))), flush=True)
"#;

/// A handler of the guard.
pub(crate) fn handler(script: &str, lifecycle: &str, workers: usize) -> Value {
    let argv = [PYTHON, script];
    json!({ "type": "command", "command": "", "argv": argv, "lifecycle": lifecycle, "workers": workers })
}

/// The guard in a file of its own; `None` where there is no Python.
pub(crate) fn script() -> Result<Option<tempfile::NamedTempFile>> {
    if !Path::new(PYTHON).exists() {
        return Ok(None);
    }
    let file = tempfile::Builder::new().suffix(".py").tempfile().context("cannot make a file")?;
    fs::write(file.path(), GUARD).context("cannot write the guard")?;
    Ok(Some(file))
}

/// The guard's loop without hooksd.
pub(crate) fn bare_loop(script: &Path) -> Result<Loop> {
    Loop::start(PYTHON, &[&script.display().to_string()])
}

pub(crate) fn guard(size: &Size, _own: &Path) -> Result<Vec<Row>> {
    let Some(script) = script()? else {
        return Ok(vec![Row::figure("d", "a Python guard", format!("no {PYTHON}"), "")]);
    };
    let name = script.path().display().to_string();
    let payload = payload(TOOL, USUAL);
    let start = |lifecycle| -> Result<(Server, Connection, Vec<u8>)> {
        let daemon = Server::hooksd(&document(&[handler(&name, lifecycle, 1)]))?;
        let (mut connection, line) = daemon.session(&payload)?;
        connection.check(&line, 1)?;
        Ok((daemon, connection, line))
    };
    let (_one, mut per_event, line) = start("per_event")?;
    let (_two, mut prewarmed, prewarmed_line) = start("prewarmed")?;
    let mut bare = || timed_run(PYTHON, &[&name], &payload);
    let mut waited = || {
        // The time between two events of an agent; then the interpreter has started.
        one_waits(&mut prewarmed)?;
        std::thread::sleep(Duration::from_millis(100));
        prewarmed.trip(&prewarmed_line)
    };
    let starts = by_turns(size.rounds, size.starts, [&mut || per_event.trip(&line), &mut waited, &mut bare])?;
    let [per_event, prewarmed, bare] = &starts;

    let mut stays = Vec::new();
    for cores in Cores::each_way()? {
        let daemon = Server::hooksd(&document(&[handler(&name, "persistent", 1)]))?;
        let mut pipe = bare_loop(script.path())?;
        let _bound = cores.bind(&[daemon.pid(), pipe.pid()])?;
        let (mut persistent, line) = daemon.session(&payload)?;
        persistent.check(&line, 1)?;
        let answer = persistent.check(&line, 1)?;
        if answer.pointer("/result/handlers/0/warm") != Some(&Value::Bool(true)) {
            bail!("the second event did not find the process of the first: {answer}");
        }
        let there = format!("{payload}\n");
        let mut bare_trip = || pipe.trip(there.as_bytes());
        let [ours, pipe] =
            by_turns(size.rounds, size.trips, [&mut || persistent.trip(&line), &mut bare_trip])?;
        let what = format!("  persistent, {}; floor: a pipe", cores.name);
        let cheaper = per_event.percentile(50).as_secs_f64() / ours.percentile(50).as_secs_f64();
        stays.push(Row::beside("d", &what, &ours, &pipe, "<= 2.5"));
        stays.push(Row::figure("d", "  per event beside that", format!("{cheaper:.0}x"), ">= 50x"));
    }
    let of_per_event = times(ratio(prewarmed, per_event));
    let mut rows = vec![
        Row::beside("d", "Python guard, per event; floor: posix_spawn of it", per_event, bare, ""),
        Row::beside("d", "  prewarmed; the same floor", prewarmed, bare, ""),
        Row::figure("d", "  prewarmed beside per event", of_per_event, "<= 0.5"),
    ];
    rows.extend(stays);
    Ok(rows)
}

/// Waits until a process waits for the next event.
fn one_waits(connection: &mut Connection) -> Result<()> {
    let start = Instant::now();
    loop {
        let status = connection.call("daemon/status", &json!({}))?;
        if status.get("warm_processes").and_then(Value::as_u64).is_some_and(|count| count > 0) {
            return Ok(());
        }
        if start.elapsed() > PATIENCE {
            bail!("no process waits: {status}");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
