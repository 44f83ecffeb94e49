//! What `top` shows, as lines.

use hooksd_protocol::methods::{DaemonStats, HandlerStats, SessionRow};
use serde::Serialize;

use crate::print::{many, one_line, took};

/// The slowest handlers that are shown. Handlers.
const SLOWEST: usize = 10;

/// The sessions that are shown on a screen, those that did something last. Sessions.
const SESSIONS: usize = 8;

/// The running handlers that are shown on a screen, those that run longest. Handlers.
const RUNNING: usize = 8;

/// One look at the daemon.
#[derive(Debug, Serialize)]
pub(super) struct Snapshot {
    version: String,
    uptime_seconds: u64,
    /// In the last 60 seconds.
    last_minute: Minute,
    running_handlers: usize,
    queued_handlers: usize,
    queued_events: usize,
    warm_processes: usize,
    connections: usize,
    resident_bytes: Option<u64>,
    /// Least idle first.
    sessions: Vec<SessionRow>,
    /// Longest first.
    running: Vec<RunningHandler>,
    /// By the 95th percentile, slowest first.
    slowest: Vec<HandlerStats>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Minute {
    pub(super) events: usize,
    pub(super) denied: usize,
}

/// A handler that has not ended.
#[derive(Debug, Clone, Serialize)]
pub(super) struct RunningHandler {
    pub(super) handler: String,
    pub(super) event: String,
    pub(super) session: String,
    /// Microseconds since 1970.
    pub(super) since_us: i64,
    pub(super) running_ms: u64,
    /// Its `statusMessage`.
    pub(super) message: Option<String>,
}

impl Snapshot {
    pub(super) fn new(
        stats: DaemonStats,
        mut sessions: Vec<SessionRow>,
        running: Vec<RunningHandler>,
        last_minute: Minute,
    ) -> Snapshot {
        let mut slowest = stats.handlers;
        slowest.sort_by_key(|handler| std::cmp::Reverse(handler.latency.p95_us));
        slowest.truncate(SLOWEST);
        sessions.sort_by_key(|session| (session.running == 0, session.idle_seconds));
        Snapshot {
            version: stats.version,
            uptime_seconds: stats.uptime_seconds,
            last_minute,
            running_handlers: stats.running_handlers,
            queued_handlers: stats.queued_handlers,
            queued_events: stats.queued_events,
            warm_processes: stats.warm_processes,
            connections: stats.connections,
            resident_bytes: stats.resident_bytes,
            sessions,
            running,
            slowest,
        }
    }
}

/// At most so many lines, each at most so wide.
pub(super) fn lines(seen: &Snapshot, width: usize, most: usize) -> Vec<String> {
    let Minute { events, denied } = seen.last_minute;
    let memory =
        seen.resident_bytes.map(|bytes| format!(", {} MiB", bytes / 1024 / 1024)).unwrap_or_default();
    let mut lines = vec![
        format!("hooksd {}, up for {} s{memory}", one_line(&seen.version), seen.uptime_seconds),
        format!("last minute  {}, {denied} denied", many(events, "event")),
        format!(
            "handlers     {} running, {} waiting, {} waiting, {} warm",
            seen.running_handlers,
            seen.queued_handlers,
            many(seen.queued_events, "event"),
            many(seen.warm_processes, "process")
        ),
        format!("sessions     {} open, {}", seen.sessions.len(), many(seen.connections, "connection")),
    ];
    let is_screen = most < usize::MAX;
    let mut section = |title: String, rows: Vec<String>, shown: usize| {
        let shown = if is_screen { shown } else { usize::MAX };
        lines.push(String::new());
        lines.push(title);
        let more = rows.len().saturating_sub(shown);
        lines.extend(if rows.is_empty() { vec!["  none".to_owned()] } else { rows }.into_iter().take(shown));
        if more > 0 {
            lines.push(format!("  and {more} more"));
        }
    };
    let running = seen.running.iter().map(|one| {
        let message = one.message.as_deref().map(|text| format!("  {}", one_line(text))).unwrap_or_default();
        let (session, handler) = (one_line(short(&one.session)), one_line(&one.handler));
        format!("  {:>10}  {session:<8}  {handler}{message}", took(one.running_ms.saturating_mul(1000)))
    });
    section("RUNNING         session   handler".to_owned(), running.collect(), RUNNING);
    let slowest = seen.slowest.iter().map(|handler| {
        let latency = &handler.latency;
        let [p50, p95, max] = [latency.p50_us, latency.p95_us, latency.max_us].map(took);
        let (id, source) = (one_line(&handler.id), one_line(&handler.source));
        format!("  {p95:>10} {p50:>10} {max:>10} {:>8}  {id}  {source}", latency.count)
    });
    section("SLOWEST     p95        p50        max    count  handler".to_owned(), slowest.collect(), SLOWEST);
    let sessions = seen.sessions.iter().map(|session| {
        let id = one_line(short(&session.session));
        let did = match session.running {
            0 => format!("idle {} s", session.idle_seconds),
            running => format!("{running} running"),
        };
        let thread = one_line(&session.thread_id.decoded());
        format!("  {id:<8}  {did:<14}  {}  {thread}", one_line(&session.cwd))
    });
    section("SESSIONS".to_owned(), sessions.collect(), SESSIONS);
    lines.truncate(most);
    lines.into_iter().map(|line| line.chars().take(width).collect()).collect()
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}
