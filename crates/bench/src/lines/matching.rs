//! f: finding the handlers for an event among many. In this process; the floor is a look into a hash map of as many.

use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hooksd_config::Snapshot;
use hooksd_config::document::{ListForm, parse_value};
use hooksd_config::model::{Group, Source};
use hooksd_engine::plan::{Input, PayloadInput, choose};
use hooksd_engine::projection::Transcripts;
use hooksd_json::{Dialect, Value};
use serde_json::json;

use super::{USUAL, payload};
use crate::Size;
use crate::sample::by_turns;
use crate::table::Row;

/// Matches timed together: one takes less than the clock resolves.
const BATCH: u32 = 20;

pub(crate) fn handlers(size: &Size, _own: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for count in [10, 1_000, size.handlers] {
        for kind in ["exact", "regex", "mixed"] {
            let target = if kind == "exact" && count >= 10_000 { "< 20 us" } else { "" };
            rows.push(row(size, count, kind, target)?);
        }
    }
    Ok(rows)
}

/// A matcher that is for one tool of many.
fn matcher(kind: &str, index: usize) -> String {
    match (kind, index % 2) {
        ("exact", _) | ("mixed", 0) => format!("tool_{index}"),
        _ => format!("^mcp__server_{index}__.*"),
    }
}

fn row(size: &Size, count: usize, kind: &str, target: &str) -> Result<Row> {
    let snapshot = snapshot(count, kind)?;
    let last = count - if kind == "mixed" { 2 - count % 2 } else { 1 };
    let wanted = if kind == "regex" { format!("mcp__server_{last}__x") } else { format!("tool_{last}") };
    let text = payload(&wanted, USUAL);
    let value = Value::parse(&text, Dialect::Strict).ok().context("the payload is JSON")?;
    let input = Input::Payload(PayloadInput::read(&value).ok().context("the payload is an event")?);
    let transcripts = Transcripts { session: String::new(), agent: None };
    let plan = || {
        choose(&snapshot, black_box(&input), &|| false)
            .map(|chosen| chosen.plan(&snapshot, &input, &transcripts))
    };
    let found = plan().map(|plan| plan.selected.len());
    anyhow::ensure!(found == Some(1), "{kind} {count}: expected one handler, got {found:?}");
    let names: HashMap<String, usize> = (0..count).map(|index| (format!("tool_{index}"), index)).collect();
    let mut ours = || Ok(batch(plan));
    let mut floor = || Ok(batch(|| names.get(black_box(wanted.as_str())).copied()));
    // A regex a handler: a tenth of the matches is plenty.
    let trips = if kind == "exact" { size.trips } else { size.trips.div_ceil(20) } / BATCH as usize + 1;
    let [ours, floor] = &by_turns(size.rounds, trips, [&mut ours, &mut floor])?;
    Ok(Row::beside("f", &format!("match among {count} {kind}; floor: a hash map"), ours, floor, target))
}

fn batch<T>(mut work: impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..BATCH {
        black_box(work());
    }
    start.elapsed() / BATCH
}

fn snapshot(count: usize, kind: &str) -> Result<Snapshot> {
    let group = |index| json!({ "matcher": matcher(kind, index), "hooks": [{ "type": "command", "command": "true" }] });
    let groups: Vec<_> = (0..count).map(group).collect();
    let text = json!({ "hooks": { "PreToolUse": groups } }).to_string();
    let value = Value::parse(&text, Dialect::Strict).ok().context("the document is JSON")?;
    let parsed = parse_value(&value, "hooks.json", ListForm::Refused);
    let source = std::sync::Arc::new(Source::User("hooks.json".into()));
    let events = parsed.declarations.context("the document declares something")?.into_iter();
    let groups = events.map(|(event, declarations)| {
        let group = |declaration| Group { declaration, source: source.clone(), env: Default::default() };
        (event, declarations.into_iter().map(group).collect())
    });
    Ok(Snapshot::compile(groups.collect(), Vec::new(), Vec::new()))
}
