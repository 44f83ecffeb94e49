//! `hooksctl replay ID|FILE...`: events again, against the hooks of today, through the daemon.
//!
//! Guarantees: everything that was named is read before the first handler runs; a file is only written with `--update`,
//! and only `NAME.decision.json` beside the event it belongs to.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anstyle::AnsiColor;
use hooksd_client::ClientError;
use hooksd_client::blocking::Client;
use hooksd_protocol::decision::Decision;
use hooksd_protocol::methods::{HookInvoke, InvokeOptions, SessionRef};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::invoke;
use crate::arguments::{Arguments, Replay, RunOptions};
use crate::connect::connect_or_start;
use crate::failure::Failure;
use crate::input::{EventInput, absolute, read_event, read_text};
use crate::journal::one_record;
use crate::print::{Printer, one_line, paint};

/// What the names of events end with.
const EVENT: &str = ".event.json";

/// What the names of expected decisions end with.
const DECISION: &str = ".decision.json";

/// The most files of one folder. Files.
const MOST_FILES: usize = 10_000;

/// The longest reason that the journal keeps: longer ones of today are compared as it would have cut them. Bytes.
const KEPT_REASON: usize = 4096;

/// An event to be run again.
struct Case {
    name: String,
    event: EventInput,
    then: Expectation,
}

/// What it came to, or should.
enum Expectation {
    /// As the journal has it.
    Recorded(Value),
    /// The file's.
    Expected(Value),
    /// The file is not there yet, and is to be written.
    Unknown(PathBuf),
}

#[derive(Debug, Serialize)]
struct Replayed {
    cases: Vec<ReplayResult>,
    same: usize,
    differs: usize,
    written: usize,
    not_replayed: usize,
}

#[derive(Debug, Serialize)]
struct ReplayResult {
    name: String,
    /// `same`, `differs`, `written`, `not_replayed`.
    result: &'static str,
    then: Option<Value>,
    now: Option<Value>,
    differences: Vec<Difference>,
    /// Why it was not replayed.
    problem: Option<String>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Difference {
    /// `permission.reason`
    path: String,
    /// What was decided then; null when nothing of the kind was.
    then: Value,
    now: Value,
}

pub(crate) fn run(
    arguments: &Arguments,
    wanted: &Replay,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let folder = absolute(wanted.how.cwd.as_deref())?;
    let mut cases = Vec::new();
    for named in &wanted.events {
        collect(named, wanted, &folder, &mut cases)?;
    }
    let mut client =
        connect_or_start(arguments, printer)?.with_timeout(Duration::from_secs(wanted.how.timeout));
    let mut replayed = Replayed { cases: Vec::new(), same: 0, differs: 0, written: 0, not_replayed: 0 };
    for case in cases {
        let done = replay(&mut client, case, &wanted.how, &folder)?;
        *match done.result {
            "same" => &mut replayed.same,
            "differs" => &mut replayed.differs,
            "written" => &mut replayed.written,
            _ => &mut replayed.not_replayed,
        } += 1;
        replayed.cases.push(done);
    }
    printer.result(&replayed, |lines| describe(&replayed, lines))?;
    Ok(ExitCode::from(u8::from(replayed.differs + replayed.not_replayed > 0)))
}

/// The cases that an argument stands for: a folder, a file, or an event of the journal.
fn collect(named: &str, wanted: &Replay, folder: &Path, cases: &mut Vec<Case>) -> Result<(), Failure> {
    let path = Path::new(named);
    if path.is_dir() {
        let files = events_in(path)?;
        if files.is_empty() {
            return Err(Failure::Input(format!("{named} has no file whose name ends with {EVENT}")));
        }
        for file in files {
            cases.push(of_file(&file, wanted, folder)?);
        }
    } else if path.exists() || named.contains('/') || named.ends_with(".json") {
        cases.push(of_file(path, wanted, folder)?);
    } else {
        let journal = wanted.config_dir.journal()?;
        let record = one_record(&journal, named)?;
        let id = &record.invocation_id;
        let Some(payload) = record.payload.as_deref() else {
            return Err(Failure::Input(format!(
                "event {id} was recorded without its payload: the daemon keeps payloads only with \
                 `payloads = true` in [journal] of hooksd.toml, and of events that handlers were for"
            )));
        };
        let event = read_event(payload, folder).map_err(|failure| {
            Failure::Input(format!("the payload of event {id} was not kept whole ({failure})"))
        })?;
        let then = json!({ "outcome": record.outcome, "reason": record.reason });
        cases.push(Case { name: id.clone(), event, then: Expectation::Recorded(then) });
    }
    Ok(())
}

fn events_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error| Failure::Input(format!("{} cannot be read: {error}", folder.display()));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.to_string_lossy().ends_with(EVENT) {
            files.push(path);
        }
        if files.len() > MOST_FILES {
            return Err(Failure::Input(format!("{} has more than {MOST_FILES} events", folder.display())));
        }
    }
    files.sort();
    Ok(files)
}

fn of_file(path: &Path, wanted: &Replay, folder: &Path) -> Result<Case, Failure> {
    let name = path.display().to_string();
    let about = |failure: Failure| Failure::Input(format!("{name}: {failure}"));
    let event = read_event(&read_text(Some(path))?, folder).map_err(about)?;
    let stem = name.strip_suffix(EVENT).or_else(|| name.strip_suffix(".json")).unwrap_or(&name);
    let beside = PathBuf::from(format!("{stem}{DECISION}"));
    let then = match (beside.exists(), wanted.update) {
        (_, true) => Expectation::Unknown(beside),
        (true, false) => {
            let text = read_text(Some(&beside))?;
            let wrong = |problem: String| Failure::Input(format!("{}: {problem}", beside.display()));
            let expected: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
            if expected.as_object().is_none_or(Map::is_empty) {
                return Err(wrong("expected an object with what the decision has to have".to_owned()));
            }
            Expectation::Expected(expected)
        }
        (false, false) => {
            return Err(Failure::Input(format!(
                "{} is not there, so nothing is known to compare with: write it, or have it written with --update",
                beside.display()
            )));
        }
    };
    Ok(Case { name, event, then })
}

fn replay(client: &mut Client, case: Case, how: &RunOptions, folder: &Path) -> Result<ReplayResult, Failure> {
    let session = invoke::session(how, &case.event, &folder.display().to_string());
    let EventInput { invocation, payload, .. } = case.event;
    let session = SessionRef::Inline(Box::new(session));
    let answered =
        client.invoke(&HookInvoke { session, invocation, payload, options: InvokeOptions::default() });
    let mut done = ReplayResult {
        name: case.name,
        result: "same",
        then: None,
        now: None,
        differences: Vec::new(),
        problem: None,
    };
    let decision = match answered {
        Ok(result) => result.decision,
        // It is the event's fault, and costs that event.
        Err(error @ (ClientError::Refused(_) | ClientError::TimedOut(_))) => {
            (done.result, done.problem) = ("not_replayed", Some(error.to_string()));
            return Ok(done);
        }
        Err(error) => return Err(error.into()),
    };
    let now = told(&decision)?;
    let then = match case.then {
        Expectation::Recorded(then) => {
            compare("", &then, &as_recorded(&decision), &mut done.differences);
            Some(then)
        }
        Expectation::Expected(then) => {
            compare("", &then, &now, &mut done.differences);
            Some(then)
        }
        Expectation::Unknown(file) => {
            write(&file, &now)?;
            done.result = "written";
            None
        }
    };
    if !done.differences.is_empty() {
        done.result = "differs";
    }
    (done.then, done.now) = (then, Some(now));
    Ok(done)
}

/// A decision with what it comes to.
fn told(decision: &Decision) -> Result<Value, Failure> {
    let mut value = serde_json::to_value(decision).map_err(|error| Failure::Output(error.into()))?;
    if let Some(members) = value.as_object_mut() {
        members.insert("outcome".to_owned(), json!(decision.outcome()));
        members.insert("reason".to_owned(), json!(decision.reason()));
    }
    Ok(value)
}

fn as_recorded(decision: &Decision) -> Value {
    let reason = decision.reason().map(|reason| hooksd_protocol::methods::cut(reason, KEPT_REASON));
    json!({ "outcome": decision.outcome(), "reason": reason })
}

/// Where what is expected is not so. What the expectation does not mention may be anything.
fn compare(path: &str, then: &Value, now: &Value, differences: &mut Vec<Difference>) {
    if let (Value::Object(then), Value::Object(now)) = (then, now) {
        for (key, then) in then {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            compare(&path, then, now.get(key).unwrap_or(&Value::Null), differences);
        }
    } else if then != now {
        differences.push(Difference { path: path.to_owned(), then: then.clone(), now: now.clone() });
    }
}

fn write(file: &Path, decision: &Value) -> Result<(), Failure> {
    let mut kept = decision.clone();
    if let Some(members) = kept.as_object_mut() {
        // Their wording is for people and changes.
        members.remove("diagnostics");
    }
    let mut text = serde_json::to_string_pretty(&kept).map_err(|error| Failure::Output(error.into()))?;
    text.push('\n');
    fs::write(file, text)
        .map_err(|error| Failure::Input(format!("{} cannot be written: {error}", file.display())))
}

fn describe(replayed: &Replayed, lines: &mut Vec<String>) {
    for case in &replayed.cases {
        let name = one_line(&case.name);
        let text = |value: &Value| one_line(&value.to_string());
        let outcome = case.now.as_ref().and_then(|now| now.get("outcome")?.as_str()).unwrap_or_default();
        match case.result {
            "same" => lines.push(format!("{} {name}: {outcome}", paint(AnsiColor::Green, "same"))),
            "written" => lines.push(format!("{} {name}: {outcome}", paint(AnsiColor::Green, "written"))),
            "differs" => {
                lines.push(format!("{} {name}", paint(AnsiColor::Red, "differs")));
                lines.extend(case.differences.iter().map(|difference| {
                    let Difference { path, then, now } = difference;
                    format!("    {}: {} then, {} now", one_line(path), text(then), text(now))
                }));
            }
            _ => {
                let problem = one_line(case.problem.as_deref().unwrap_or_default());
                lines.push(format!("{} {name}: {problem}", paint(AnsiColor::Red, "not replayed")));
            }
        }
    }
    let Replayed { same, differs, written, not_replayed, .. } = replayed;
    lines.push(format!("{same} the same, {differs} differ, {written} written, {not_replayed} not replayed"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_expected_is_compared() {
        let now =
            json!({"outcome": "deny", "permission": {"behavior": "deny", "reason": "no"}, "context": ["a"]});
        let differences = |then: Value| {
            let mut differences = Vec::new();
            compare("", &then, &now, &mut differences);
            differences.into_iter().map(|difference| difference.path).collect::<Vec<_>>()
        };
        assert_eq!(differences(json!({"outcome": "deny", "permission": {"behavior": "deny"}})), [""; 0]);
        assert_eq!(differences(json!({"permission": {"reason": "yes"}})), ["permission.reason"]);
        assert_eq!(differences(json!({"context": [], "gone": 1})), ["context", "gone"]);
        assert_eq!(differences(json!({"gone": null})), [""; 0]);
    }
}
