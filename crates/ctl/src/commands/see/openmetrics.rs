//! `daemon/stats` as OpenMetrics text (openmetrics.io, version 1.0): names, units and counters as it asks for them.

use std::fmt::Write;

use hooksd_protocol::methods::{DaemonStats, Latency};

/// The text, with its end.
pub(crate) fn text(stats: &DaemonStats) -> String {
    let mut out = String::new();
    let by_event =
        stats.events.iter().map(|(name, latency)| (label("event", name), latency)).collect::<Vec<_>>();
    let by_handler = stats.handlers.iter().map(|handler| {
        (format!("{},{}", label("handler", &handler.id), label("source", &handler.source)), &handler.latency)
    });
    let by_handler = by_handler.collect::<Vec<_>>();
    summary(&mut out, "hooksd_event", "From an event to its decision.", &by_event);
    summary(&mut out, "hooksd_handler", "From a handler's spawn to its end.", &by_handler);
    let journal = &stats.journal;
    for (name, help, value) in [
        ("hooksd_items_lost", "Items that subscribers have lost.", stats.items_lost),
        ("hooksd_subscribers_dropped", "Subscriptions that were dropped.", stats.subscribers_dropped),
        ("hooksd_connections_refused", "Connections beyond the limit.", stats.connections_refused),
        ("hooksd_journal_written", "Records written.", journal.written),
        ("hooksd_journal_lost", "Records lost.", journal.lost),
    ] {
        family(&mut out, name, "counter", help);
        put(&mut out, format_args!("{name}_total {value}"));
    }
    let gauges = [
        ("hooksd_uptime_seconds", "Since the start.", Some(stats.uptime_seconds)),
        ("hooksd_connections", "Open connections.", whole(stats.connections)),
        ("hooksd_sessions", "Open sessions.", whole(stats.sessions)),
        ("hooksd_snapshots", "Compiled snapshots in use.", whole(stats.snapshots)),
        ("hooksd_running_handlers", "Handler processes.", whole(stats.running_handlers)),
        ("hooksd_queued_handlers", "Handlers that wait.", whole(stats.queued_handlers)),
        ("hooksd_queued_events", "Events that wait.", whole(stats.queued_events)),
        ("hooksd_warm_processes", "Processes that wait or stay.", whole(stats.warm_processes)),
        ("hooksd_subscribers", "Subscriptions.", whole(stats.subscribers)),
        ("hooksd_unfinished_line_bytes", "Lines not ended yet.", whole(stats.unfinished_line_bytes)),
        ("hooksd_journal_waiting", "Records not written yet.", whole(journal.waiting)),
        ("hooksd_open_descriptors", "Open descriptors.", stats.descriptors),
        ("hooksd_resident_bytes", "Memory in RAM.", stats.resident_bytes),
    ];
    for (name, help, value) in gauges {
        if let Some(value) = value {
            family(&mut out, name, "gauge", help);
            put(&mut out, format_args!("{name} {value}"));
        }
    }
    out.push_str("# EOF\n");
    out
}

fn whole(count: usize) -> Option<u64> {
    u64::try_from(count).ok()
}

/// Writing to a string does not fail.
fn put(out: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "{line}");
}

fn family(out: &mut String, name: &str, kind: &str, help: &str) {
    put(out, format_args!("# TYPE {name} {kind}"));
    if let Some(unit) = ["seconds", "bytes"].iter().find(|unit| name.ends_with(&format!("_{unit}"))) {
        put(out, format_args!("# UNIT {name} {unit}"));
    }
    put(out, format_args!("# HELP {name} {help}"));
}

fn label(name: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{name}=\"{value}\"")
}

fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

fn summary(out: &mut String, name: &str, help: &str, rows: &[(String, &Latency)]) {
    let latency = format!("{name}_seconds");
    family(out, &latency, "summary", help);
    for (labels, row) in rows {
        for (quantile, micros) in [("0.5", row.p50_us), ("0.95", row.p95_us), ("0.99", row.p99_us)] {
            put(out, format_args!("{latency}{{{labels},quantile=\"{quantile}\"}} {}", seconds(micros)));
        }
        put(out, format_args!("{latency}_sum{{{labels}}} {}", seconds(row.sum_us)));
        put(out, format_args!("{latency}_count{{{labels}}} {}", row.count));
    }
    let outcomes = format!("{name}_outcomes");
    family(out, &outcomes, "counter", "The same by how they ended.");
    for (labels, row) in rows {
        for (outcome, count) in &row.outcomes {
            put(out, format_args!("{outcomes}_total{{{labels},{}}} {count}", label("outcome", outcome)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_numbers_are_spelled_as_the_format_asks() {
        assert_eq!(label("source", "a\\b\"c\nd"), "source=\"a\\\\b\\\"c\\nd\"");
        assert_eq!([seconds(0), seconds(1_500_000)], ["0.000000", "1.500000"]);
        let latency = Latency { count: 2, sum_us: 30, p50_us: 10, ..Latency::default() };
        let mut out = String::new();
        summary(&mut out, "x", "Help.", &[(label("event", "Stop"), &latency)]);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(
            lines[..3],
            ["# TYPE x_seconds summary", "# UNIT x_seconds seconds", "# HELP x_seconds Help."]
        );
        assert_eq!(lines[3], "x_seconds{event=\"Stop\",quantile=\"0.5\"} 0.000010");
        assert_eq!(
            lines[6..8],
            ["x_seconds_sum{event=\"Stop\"} 0.000030", "x_seconds_count{event=\"Stop\"} 2"]
        );
    }
}
