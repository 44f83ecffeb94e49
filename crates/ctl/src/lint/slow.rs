//! Handlers that have been slow, as the journal has it.

use std::path::Path;

use hooksd_config::places;
use hooksd_json::{Kind, Value};
use hooksd_protocol::methods::{HandlerStatus, JournalHandler, JournalQuery};

use super::{Document, Finding};

/// How far back the journal is looked at. Events.
const MAX_EVENTS: u32 = 1000;

/// A handler whose slower runs take this part of its time limit has little left.
const SHARE: f64 = 0.5;

/// The runs that are looked at are the slowest of so many.
const ONE_OF: usize = 20;

/// Looks at what the journal says of the handlers of a document; nothing when there is no journal.
pub(super) fn findings(document: &Document<'_>, real: &Path, journal: &Path) -> Vec<Finding> {
    let asked = JournalQuery { limit: Some(MAX_EVENTS), ..JournalQuery::default() };
    let Ok(page) = hooksd_journal::query(journal, &asked) else { return Vec::new() };
    let source = real.display().to_string();
    let mut found = Vec::new();
    for group in places::groups(document.text) {
        let Some(event) = group.event else { continue };
        for handler in &group.handlers {
            let command = handler.command();
            let runs: Vec<&JournalHandler> = page
                .records
                .iter()
                .filter(|record| record.event == event.as_str())
                .flat_map(|record| &record.handlers)
                .filter(|run| run.source == source && run.command == command)
                .collect();
            let limit = limit(&handler.value).unwrap_or_else(|| event.default_timeout_seconds());
            found.extend(
                verdict(&runs, limit)
                    .map(|(message, fix)| document.at(handler.value.raw(), "slow_handler", message, fix)),
            );
        }
    }
    found
}

/// Its own time limit. Seconds.
fn limit(handler: &Value<'_>) -> Option<f64> {
    match handler.get("timeout")?.kind() {
        Kind::Number(text) => text.parse().ok(),
        _ => None,
    }
}

fn verdict(runs: &[&JournalHandler], limit: f64) -> Option<(String, String)> {
    let late = runs.iter().filter(|run| run.status == HandlerStatus::Timeout).count();
    if late > 0 {
        let message = format!("it ran out of its {limit} s in {late} of its last {} runs", runs.len());
        return Some((message, "make it faster, or raise \"timeout\"".to_owned()));
    }
    let mut times: Vec<u64> = runs.iter().map(|run| run.run_us).collect();
    times.sort_unstable();
    let slow = *times.get((times.len().saturating_sub(1)) * (ONE_OF - 1) / ONE_OF)?;
    let seconds = slow as f64 / 1e6;
    if seconds <= limit * SHARE {
        return None;
    }
    let message = format!("its slower runs take {seconds:.1} s of the {limit} s it has");
    Some((message, "make it faster, or raise \"timeout\"".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(status: HandlerStatus, run_us: u64) -> JournalHandler {
        let run = serde_json::json!({
            "id": "Stop:0:0", "source": "s", "command": "c", "status": status, "queue_us": 0, "run_us": run_us,
            "stdout_bytes": 0, "stderr_bytes": 0,
        });
        serde_json::from_value(run).unwrap()
    }

    #[test]
    fn who_needs_most_of_its_time_is_slow() {
        let quick = run(HandlerStatus::Ok, 1_000);
        let slow = run(HandlerStatus::Ok, 1_600_000);
        let late = run(HandlerStatus::Timeout, 3_000_000);
        assert_eq!(verdict(&[], 3.0), None);
        assert_eq!(verdict(&[&quick, &quick], 3.0), None);
        assert_eq!(verdict(&[&slow, &slow], 3.0).unwrap().0, "its slower runs take 1.6 s of the 3 s it has");
        assert_eq!(
            verdict(&[&quick, &late], 3.0).unwrap().0,
            "it ran out of its 3 s in 1 of its last 2 runs"
        );
    }
}
