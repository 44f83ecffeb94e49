//! What differs from run to run, and what stands for it. Everything else is compared as it was printed.

use regex::{Captures, Regex};
use serde_json::Value;

/// Members whose numbers are measured: times, sizes, processes. By their whole names, so that a limit or a count is
/// compared.
const MEASURED: [&str; 28] = [
    "column_us",
    "connections",
    "descriptors",
    "drain_us",
    "duration_ms",
    "duration_us",
    "from_us",
    "idle_seconds",
    "max_handlers",
    "max_us",
    "median_us",
    "p50_us",
    "p95_us",
    "p99_us",
    "pid",
    "queue_ms",
    "queue_us",
    "resident_bytes",
    "run_us",
    "running_ms",
    "seq",
    "since_us",
    "spawn_us",
    "start_us",
    "to_us",
    "sum_us",
    "total_us",
    "uptime_seconds",
];

/// In JSON. Also which phases of a run took any time, and which columns of a report's time had something in them.
pub(crate) fn json(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(json),
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::Number(_) if MEASURED.contains(&key.as_str()) => *value = "[N]".into(),
                    Value::Array(columns) if key == "columns" => {
                        *value = format!("[{} columns]", columns.len()).into()
                    }
                    Value::Array(_) if key == "phases" => *value = "[phases]".into(),
                    _ => json(value),
                }
            }
        }
        _ => {}
    }
}

/// In text: patterns, and what stands for what they match.
const VARYING: [(&str, &str); 24] = [
    // 2026-01-31T23:59:59.123456Z, as people read it, and its time of day.
    (r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]+(Z|\+00:00)", "[TIME]"),
    (r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}", "[TIME]"),
    (r"(?m)^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3} ", "[TIME] "),
    // Ids of events and sessions that the test did not make.
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[ID]"),
    (r"hooksctl explain [0-9a-f]{8}`", "hooksctl explain [ID]`"),
    (r#""session":"[0-9a-f]{32}""#, r#""session":"[ID]""#),
    (r#"session [0-9a-f]{32}"#, r#"session [ID]"#),
    (r"process [0-9]+\b", "process [PID]"),
    (r"(up for +|idle )[0-9]+ s", "${1}[N] s"),
    // A row of its own, not aligned to the right.
    (r"(?m)^(took +)[0-9.]+ ms", "${1}N ms"),
    // A phase is told when it took any time.
    (r", waited [0-9.]+ ms, started", ", started"),
    (r", output open [0-9.]+ ms", ""),
    // Who has just left may still be counted.
    (r"(?m)^(connections +)[0-9]+", "${1}[N]"),
    (r"(sessions +[0-9]+ open, )[0-9]+ connections?", "${1}[N] connections"),
    (r"\.hooksd-[0-9]+-[0-9]+\.bak", ".hooksd-[STAMP].bak"),
    (r"journal\.db, [0-9]+ KiB", "journal.db, [N] KiB"),
    (r"running for [0-9.]+ s\b", "running for [N] s"),
    (r"stopped after [0-9.]+ s", "stopped after [N] s"),
    (r"[0-9]+ handlers may run at once", "[N] handlers may run at once"),
    (r"at most [0-9]+ at once", "at most [N] at once"),
    (r"[0-9]+ MiB", "[N] MiB"),
    (r"[0-9]+ descriptors", "[N] descriptors"),
    (r#""build": "[0-9a-f]+""#, r#""build": "[BUILD]""#),
    // The bars of a timeline; how long they are is tests/e2e/ctl_timeline.rs.
    (r"\|[ .+#~]{20,}\|", "|[BAR]|"),
];

/// `text` with what varies replaced: first these names of the test's own, then the patterns.
pub(crate) fn text(text: &str, names: &[(String, String)]) -> String {
    let mut out = text.to_owned();
    for (value, name) in names {
        out = out.replace(value, name);
    }
    for (pattern, name) in VARYING {
        out = Regex::new(pattern).unwrap().replace_all(&out, name).into_owned();
    }
    durations(&out)
}

/// `12 ms` and `3.4 ms` become `N ms`. In a table, where more than one space stands before, the column's end stays where
/// it was.
fn durations(text: &str) -> String {
    let measured = Regex::new(r"( *)[0-9]+(?:\.[0-9])? ms\b").unwrap();
    let settled = measured.replace_all(text, |found: &Captures<'_>| match found[1].len() {
        0 | 1 => format!("{}N ms", &found[1]),
        _ => format!("{:>1$}", "N ms", found[0].len()),
    });
    settled.into_owned()
}
