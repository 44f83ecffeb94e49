//! What a page shows, as numbers.

use std::collections::{BTreeMap, HashMap};

use hooksd_protocol::diagnostic::Severity;
use hooksd_protocol::methods::{HandlerStatus, JournalHandler, JournalRecord};
use hooksd_protocol::outcome::EventOutcome;
use serde::Serialize;

use crate::commands::see::waterfall::Waterfall;
use crate::print::word;

/// How many columns the time has. Columns.
const COLUMNS: usize = 48;

/// The handlers that have a colour of their own; the others share one. Handlers.
pub(super) const COLOURS: usize = 6;

/// The slowest events that are drawn. Events.
const SLOWEST: usize = 6;

/// How many of them may be of the same event and tool: ten times the same says less than three kinds. Events.
const OF_A_KIND: usize = 2;

/// The tools that have a row; the others share one. Tools.
const TOOLS: usize = 12;

/// The handlers of the table, the most costly. Handlers.
const TABLE: usize = 40;

/// What a page shows.
#[derive(Debug, Default, Serialize)]
pub(super) struct Figures {
    pub(super) events: usize,
    pub(super) runs: usize,
    pub(super) denied: usize,
    pub(super) failed: usize,
    /// Whether older events were left out.
    pub(super) cut: bool,
    /// RFC 3339, UTC; of the oldest and the newest event.
    pub(super) first: Option<String>,
    pub(super) last: Option<String>,
    /// From request to answer. Microseconds.
    pub(super) median_us: u64,
    pub(super) p95_us: u64,
    /// The most costly first.
    pub(super) handlers: Vec<HandlerCost>,
    pub(super) handlers_left_out: usize,
    pub(super) over_time: OverTime,
    pub(super) slowest: Vec<Waterfall>,
    /// The most events first.
    pub(super) tools: Vec<Tool>,
    /// The most frequent first: what went wrong, and how often.
    pub(super) failures: Vec<(String, usize)>,
    /// The same of diagnostics.
    pub(super) diagnostics: Vec<(String, usize)>,
}

/// One handler of one document.
#[derive(Debug, Serialize)]
pub(super) struct HandlerCost {
    pub(super) id: String,
    pub(super) source: String,
    pub(super) command: String,
    pub(super) runs: usize,
    pub(super) failed: usize,
    pub(super) blocked: usize,
    pub(super) total_us: u64,
    pub(super) median_us: u64,
    pub(super) p95_us: u64,
    pub(super) max_us: u64,
}

/// What handlers have cost, in columns of time.
#[derive(Debug, Default, Serialize)]
pub(super) struct OverTime {
    /// Microseconds since 1970.
    pub(super) from_us: i64,
    /// The length of a column. Microseconds.
    pub(super) column_us: i64,
    /// For each column the microseconds of the first handlers, and of all others together.
    pub(super) columns: Vec<Vec<u64>>,
}

/// How the events about one tool have ended.
#[derive(Debug, Serialize)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) events: usize,
    pub(super) outcomes: BTreeMap<String, usize>,
}

impl Figures {
    /// Of records, newest first.
    pub(super) fn of(records: &[JournalRecord], cut: bool) -> Figures {
        let mut durations: Vec<u64> = records.iter().map(|record| record.duration_us).collect();
        durations.sort_unstable();
        let mut handlers = costs(records);
        let over_time = over_time(records, &handlers);
        let handlers_left_out = handlers.len().saturating_sub(TABLE);
        handlers.truncate(TABLE);
        let runs = || records.iter().flat_map(|record| &record.handlers);
        let diagnostics = || records.iter().flat_map(|record| &record.diagnostics);
        Figures {
            events: records.len(),
            runs: runs().count(),
            denied: records.iter().filter(|record| record.outcome == EventOutcome::Deny).count(),
            failed: runs().filter(|handler| kind_of_failure(handler).is_some()).count(),
            cut,
            first: records.last().map(|record| record.time.to_string()),
            last: records.first().map(|record| record.time.to_string()),
            median_us: part(&durations, 50),
            p95_us: part(&durations, 95),
            handlers,
            handlers_left_out,
            over_time,
            slowest: slowest(records),
            tools: tools(records),
            failures: counted(runs().filter_map(kind_of_failure)),
            diagnostics: counted(
                diagnostics()
                    .filter(|diagnostic| diagnostic.severity != Severity::Debug)
                    .map(|diagnostic| diagnostic.code.to_string()),
            ),
        }
    }
}

/// The value below which so many of 100 are, of sorted values.
fn part(sorted: &[u64], of_100: usize) -> u64 {
    let rank = (sorted.len() * of_100).div_ceil(100).saturating_sub(1);
    sorted.get(rank).copied().unwrap_or(0)
}

/// What went wrong with a run; `None` when it did what it should, blocking included.
fn kind_of_failure(handler: &JournalHandler) -> Option<String> {
    match handler.status {
        HandlerStatus::Ok | HandlerStatus::Blocked | HandlerStatus::Skipped => None,
        HandlerStatus::Failed => Some(match (handler.exit_code, handler.signal) {
            (Some(0), _) => "failed: exit 0, answer not understood".to_owned(),
            (Some(code), _) => format!("failed: exit {code}"),
            (None, Some(signal)) => format!("failed: signal {signal}"),
            (None, None) => "failed: not started".to_owned(),
        }),
        status => Some(word(&status).replace('_', " ")),
    }
}

fn counted(words: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

fn costs(records: &[JournalRecord]) -> Vec<HandlerCost> {
    let mut found: HashMap<(&str, &str), (HandlerCost, Vec<u64>)> = HashMap::new();
    for handler in records.iter().flat_map(|record| &record.handlers) {
        let (cost, durations) = found.entry((&handler.source, &handler.id)).or_insert_with(|| {
            let (id, source) = (handler.id.clone(), handler.source.clone());
            // The newest.
            let command = handler.command.clone();
            let cost = HandlerCost {
                id,
                source,
                command,
                runs: 0,
                failed: 0,
                blocked: 0,
                total_us: 0,
                median_us: 0,
                p95_us: 0,
                max_us: 0,
            };
            (cost, Vec::new())
        });
        cost.runs += 1;
        cost.failed += usize::from(kind_of_failure(handler).is_some());
        cost.blocked += usize::from(handler.status == HandlerStatus::Blocked);
        cost.total_us = cost.total_us.saturating_add(handler.run_us);
        durations.push(handler.run_us);
    }
    let mut costs: Vec<HandlerCost> = found
        .into_values()
        .map(|(cost, mut durations)| {
            durations.sort_unstable();
            let (median_us, p95_us) = (part(&durations, 50), part(&durations, 95));
            HandlerCost { median_us, p95_us, max_us: part(&durations, 100), ..cost }
        })
        .collect();
    costs.sort_by(|a, b| (b.total_us, &a.source, &a.id).cmp(&(a.total_us, &b.source, &b.id)));
    costs
}

fn over_time(records: &[JournalRecord], handlers: &[HandlerCost]) -> OverTime {
    let times: Vec<i64> = records.iter().map(|record| record.time.micros()).collect();
    let (Some(from), Some(to)) = (times.iter().min(), times.iter().max()) else { return OverTime::default() };
    let column_us = ((to - from) / i64::try_from(COLUMNS).unwrap_or(1) + 1).max(1);
    let place: HashMap<(&str, &str), usize> = handlers
        .iter()
        .enumerate()
        .map(|(index, cost)| ((cost.source.as_str(), cost.id.as_str()), index.min(COLOURS)))
        .collect();
    let mut columns = vec![vec![0_u64; COLOURS + 1]; COLUMNS];
    for (record, time) in records.iter().zip(&times) {
        let column = usize::try_from((time - from) / column_us).ok().and_then(|index| columns.get_mut(index));
        let Some(column) = column else { continue };
        for handler in &record.handlers {
            let index = place.get(&(handler.source.as_str(), handler.id.as_str()));
            if let Some(sum) = index.and_then(|index| column.get_mut(*index)) {
                *sum = sum.saturating_add(handler.run_us);
            }
        }
    }
    OverTime { from_us: *from, column_us, columns }
}

fn slowest(records: &[JournalRecord]) -> Vec<Waterfall> {
    let mut slow: Vec<&JournalRecord> = records.iter().filter(|record| !record.handlers.is_empty()).collect();
    slow.sort_by_key(|record| std::cmp::Reverse(record.duration_us));
    let mut of_a_kind: HashMap<(&str, Option<&str>), usize> = HashMap::new();
    slow.retain(|record| {
        let seen = of_a_kind.entry((&record.event, record.tool.as_deref())).or_default();
        *seen += 1;
        *seen <= OF_A_KIND
    });
    slow.into_iter().take(SLOWEST).map(Waterfall::of).collect()
}

fn tools(records: &[JournalRecord]) -> Vec<Tool> {
    let mut found: BTreeMap<&str, Tool> = BTreeMap::new();
    for record in records {
        let name = record.tool.as_deref().unwrap_or("(no tool)");
        let tool = found.entry(name).or_insert_with(|| Tool {
            name: name.to_owned(),
            events: 0,
            outcomes: BTreeMap::new(),
        });
        tool.events += 1;
        *tool.outcomes.entry(record.outcome.to_string()).or_default() += 1;
    }
    let mut tools: Vec<Tool> = found.into_values().collect();
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.events));
    if tools.len() > TOOLS {
        let others = tools.split_off(TOOLS - 1);
        let mut rest =
            Tool { name: format!("{} others", others.len()), events: 0, outcomes: BTreeMap::new() };
        for tool in others {
            rest.events += tool.events;
            for (outcome, count) in tool.outcomes {
                *rest.outcomes.entry(outcome).or_default() += count;
            }
        }
        tools.push(rest);
    }
    tools
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_values_that_occurred() {
        let sorted: Vec<u64> = (1..=20).collect();
        assert_eq!([part(&sorted, 50), part(&sorted, 95), part(&sorted, 100)], [10, 19, 20]);
        assert_eq!([part(&[7], 50), part(&[], 95)], [7, 0]);
    }
}
