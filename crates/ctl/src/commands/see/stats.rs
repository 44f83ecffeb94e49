//! `hooksctl stats`

use std::process::ExitCode;

use hooksd_protocol::methods::{DaemonStats, Latency, NoParams};

use super::openmetrics;
use crate::arguments::{Arguments, Stats};
use crate::connect::connect;
use crate::failure::Failure;
use crate::print::{Printer, many, safe, took};

pub(crate) fn run(arguments: &Arguments, wanted: &Stats, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let stats: DaemonStats = connect(arguments)?.call("daemon/stats", &NoParams {})?;
    if wanted.openmetrics {
        return printer.plain(&openmetrics::text(&stats));
    }
    printer.result(&stats, |lines| describe(&stats, lines))
}

fn describe(stats: &DaemonStats, lines: &mut Vec<String>) {
    let head = format!("{:>9} {:>9} {:>9} {:>9} {:>9}  how they ended", "count", "p50", "p95", "p99", "max");
    if !stats.events.is_empty() {
        lines.push(format!("{:<22}{head}", "event"));
        lines.extend(stats.events.iter().map(|(name, latency)| row(name, latency)));
        lines.push(String::new());
    }
    if !stats.handlers.is_empty() {
        lines.push(format!("{:<22}{head}", "handler"));
        let mut source = None;
        for handler in &stats.handlers {
            if source != Some(&handler.source) {
                lines.push(format!("{}:", safe(&handler.source)));
                source = Some(&handler.source);
            }
            lines.push(row(&handler.id, &handler.latency));
        }
        lines.push(String::new());
    }
    let refused = match stats.connections_refused {
        0 => String::new(),
        refused => format!(", {refused} refused"),
    };
    lines.push(format!("connections  {}{refused}", stats.connections));
    lines.push(format!("sessions     {} on {}", stats.sessions, many(stats.snapshots, "snapshot")));
    lines.push(format!(
        "handlers     {} running, {} waiting, {} waiting, {} warm",
        stats.running_handlers,
        stats.queued_handlers,
        many(stats.queued_events, "event"),
        many(stats.warm_processes, "process")
    ));
    lines.push(format!(
        "subscribers  {}, {} lost, {} dropped",
        stats.subscribers,
        many(stats.items_lost, "item"),
        stats.subscribers_dropped
    ));
    let journal = &stats.journal;
    lines.push(match (journal.enabled, &journal.problem) {
        (false, _) => "journal      off".to_owned(),
        (true, problem) => {
            let problem =
                problem.as_deref().map(|problem| format!(": {}", safe(problem))).unwrap_or_default();
            format!(
                "journal      {} written, {} waiting, {} lost{problem}",
                journal.written, journal.waiting, journal.lost
            )
        }
    });
    let (fds, memory) = (stats.descriptors, stats.resident_bytes.map(|bytes| bytes / 1024 / 1024));
    if let (Some(fds), Some(memory)) = (fds, memory) {
        let unfinished = stats.unfinished_line_bytes / 1024;
        lines.push(format!(
            "process      {memory} MiB, {fds} descriptors, {unfinished} KiB of unfinished lines"
        ));
    }
}

fn row(name: &str, latency: &Latency) -> String {
    let [p50, p95, p99, max] = [latency.p50_us, latency.p95_us, latency.p99_us, latency.max_us].map(took);
    let ended: Vec<String> =
        latency.outcomes.iter().map(|(name, count)| format!("{count} {}", safe(name))).collect();
    let (name, ended) = (safe(name), ended.join(", "));
    format!("{name:<22}{:>9} {p50:>9} {p95:>9} {p99:>9} {max:>9}  {ended}", latency.count)
}
