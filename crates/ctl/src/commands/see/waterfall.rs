//! When what of an event happened: the phases of each handler's run, from the event's arrival on.

use hooksd_protocol::methods::{HandlerStatus, JournalHandler, JournalRecord};
use serde::Serialize;

use crate::print::ended;

/// One event.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Waterfall {
    pub(crate) invocation_id: String,
    /// RFC 3339, UTC.
    pub(crate) time: String,
    pub(crate) event: String,
    pub(crate) tool: Option<String>,
    pub(crate) outcome: String,
    pub(crate) reason: Option<String>,
    /// From the request to the answer. Microseconds.
    pub(crate) duration_us: u64,
    pub(crate) handlers: Vec<Lane>,
}

/// One handler of it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Lane {
    pub(crate) id: String,
    pub(crate) status: HandlerStatus,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) warm: bool,
    /// In order, without those that took no time.
    pub(crate) phases: Vec<Phase>,
}

/// A part of a handler's run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Phase {
    #[serde(rename = "phase")]
    pub(crate) kind: Kind,
    /// Since the event's arrival. Microseconds.
    pub(crate) from_us: u64,
    pub(crate) to_us: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// It waited for a place.
    Queue,
    /// Its process was being started.
    Spawn,
    /// Its process ran.
    Run,
    /// Its process had ended, its output had not.
    Drain,
}

impl Kind {
    pub(crate) const ALL: [Kind; 4] = [Kind::Queue, Kind::Spawn, Kind::Run, Kind::Drain];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Queue => "waiting",
            Kind::Spawn => "starting",
            Kind::Run => "running",
            Kind::Drain => "output open",
        }
    }
}

impl Waterfall {
    pub(crate) fn of(record: &JournalRecord) -> Waterfall {
        Waterfall {
            invocation_id: record.invocation_id.clone(),
            time: record.time.to_string(),
            event: record.event.clone(),
            tool: record.tool.clone(),
            outcome: record.outcome.to_string(),
            reason: record.reason.clone(),
            duration_us: record.duration_us,
            handlers: record.handlers.iter().map(Lane::of).collect(),
        }
    }

    /// Where the picture ends. At least 1 µs, so that it can be divided by. Microseconds.
    pub(crate) fn end_us(&self) -> u64 {
        let last = self.handlers.iter().filter_map(|lane| lane.phases.last()).map(|phase| phase.to_us).max();
        self.duration_us.max(last.unwrap_or(0)).max(1)
    }
}

impl Lane {
    fn of(handler: &JournalHandler) -> Lane {
        let inside = handler.run_us;
        let spawn = handler.spawn_us.min(inside);
        let drain = handler.drain_us.min(inside - spawn);
        let took = [handler.queue_us, spawn, inside - spawn - drain, drain];
        let mut from_us = handler.start_us;
        let mut phases = Vec::new();
        for (kind, took) in Kind::ALL.into_iter().zip(took) {
            let to_us = from_us.saturating_add(took);
            if took > 0 {
                phases.push(Phase { kind, from_us, to_us });
            }
            from_us = to_us;
        }
        Lane {
            id: handler.id.clone(),
            status: handler.status,
            exit_code: handler.exit_code,
            signal: handler.signal,
            warm: handler.warm,
            phases,
        }
    }

    /// How long a phase took. Microseconds.
    pub(crate) fn took(&self, kind: Kind) -> u64 {
        self.phases.iter().filter(|phase| phase.kind == kind).map(|phase| phase.to_us - phase.from_us).sum()
    }

    /// `blocked, exit 2`
    pub(crate) fn ended(&self) -> String {
        ended(self.status, self.exit_code, self.signal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handler(start: u64, queue: u64, run: u64, spawn: u64, drain: u64) -> JournalHandler {
        let json = serde_json::json!({
            "id": "Stop:0:0", "source": "/h", "command": "true", "status": "queued_out", "start_us": start,
            "queue_us": queue, "run_us": run, "spawn_us": spawn, "drain_us": drain, "stdout_bytes": 0, "stderr_bytes": 0,
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn phases_follow_each_other_and_add_up() {
        let lane = Lane::of(&handler(10, 5, 100, 20, 30));
        let spans: Vec<_> = lane.phases.iter().map(|phase| (phase.from_us, phase.to_us)).collect();
        assert_eq!(spans, [(10, 15), (15, 35), (35, 85), (85, 115)]);
        assert_eq!(lane.ended(), "queued_out");
        // What an older daemon has written, and what cannot be.
        let kinds = |handler| Lane::of(&handler).phases.iter().map(|phase| phase.kind).collect::<Vec<_>>();
        assert_eq!(kinds(handler(0, 0, 7, 0, 0)), [Kind::Run]);
        assert_eq!(kinds(handler(u64::MAX, 9, 7, 8, u64::MAX)), [Kind::Queue, Kind::Spawn]);
    }
}
