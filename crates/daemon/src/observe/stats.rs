//! What is counted: how often, how long, and how it ended, by event and by handler.
//!
//! Guarantee: counting takes no lock that another event holds for longer than a look into a table, and what is counted
//! has a bound, however many events, handlers and outcomes there are.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use crate::base::lock::{read, write};
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::{HandlerStats, HandlerStatus, Latency};
use hooksd_protocol::outcome::EventOutcome;

/// The most handlers that are counted each by itself. Handlers. All others are counted together.
const MAX_HANDLERS: usize = 1024;

/// The name of events that hooksd does not know, and of handlers beyond the limit.
const OTHER: &str = "other";

/// Parts of each power of two that are told apart: a percentile is at most an eighth too large.
const PARTS: usize = 8;

/// Powers of two of microseconds that are told apart: up to 71 minutes. What takes longer counts as that long.
const POWERS: usize = 32;

/// How long something took, and how it ended.
struct Histogram {
    buckets: [AtomicU64; PARTS * POWERS],
    sum: AtomicU64,
    max: AtomicU64,
    outcomes: [AtomicU64; EventOutcome::ALL.len()],
}

impl Default for Histogram {
    fn default() -> Histogram {
        let zeros = || std::array::from_fn(|_| AtomicU64::new(0));
        Histogram {
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            sum: AtomicU64::new(0),
            max: AtomicU64::new(0),
            outcomes: zeros(),
        }
    }
}

/// The bucket that a number of microseconds is counted in. Each number below 8 has its own.
fn bucket(micros: u64) -> usize {
    let power = (u64::BITS - 1).saturating_sub(micros.leading_zeros());
    let bucket = match power {
        0..3 => micros as usize,
        power => (power as usize - 2) * PARTS + ((micros >> (power - 3)) as usize & (PARTS - 1)),
    };
    bucket.min(PARTS * POWERS - 1)
}

/// The largest number that is counted in a bucket.
fn top(bucket: usize) -> u64 {
    match bucket / PARTS {
        0 => bucket as u64,
        row => (((PARTS + bucket % PARTS + 1) as u64) << (row - 1)) - 1,
    }
}

impl Histogram {
    fn count(&self, duration: Duration, outcome: usize) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let one = |counter: Option<&AtomicU64>| {
            if let Some(counter) = counter {
                counter.fetch_add(1, Ordering::Relaxed);
            }
        };
        one(self.buckets.get(bucket(micros)));
        one(self.outcomes.get(outcome));
        self.sum.fetch_add(micros, Ordering::Relaxed);
        self.max.fetch_max(micros, Ordering::Relaxed);
    }

    fn latency(&self, names: &[&str]) -> Latency {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let buckets: Vec<u64> = self.buckets.iter().map(of).collect();
        let (count, max): (u64, u64) = (buckets.iter().sum(), of(&self.max));
        let percentile = |percent: u64| {
            let wanted = (count * percent).div_ceil(100).max(1);
            let mut seen = 0;
            let found = buckets.iter().position(|bucket| {
                seen += bucket;
                seen >= wanted
            });
            found.map_or(0, top).min(max)
        };
        let outcomes = names.iter().zip(&self.outcomes).map(|(name, counter)| (*name, of(counter)));
        Latency {
            count,
            sum_us: of(&self.sum),
            p50_us: percentile(50),
            p95_us: percentile(95),
            p99_us: percentile(99),
            max_us: max,
            outcomes: outcomes
                .filter(|(_, count)| *count > 0)
                .map(|(name, count)| (name.to_owned(), count))
                .collect(),
        }
    }
}

/// Handlers by document and id.
#[derive(Default)]
struct Handlers {
    by_source: HashMap<String, HashMap<String, Arc<Histogram>>>,
    count: usize,
}

impl Handlers {
    fn get(&self, source: &str, id: &str) -> Option<&Arc<Histogram>> {
        self.by_source.get(source)?.get(id)
    }
}

/// The counts of events and of handlers, since the daemon started.
#[derive(Default)]
pub(crate) struct Stats {
    events: [Histogram; EventName::ALL.len()],
    other_events: Histogram,
    handlers: RwLock<Handlers>,
    other_handlers: Histogram,
}

impl Stats {
    /// Counts an event.
    pub(crate) fn event(&self, event: Option<EventName>, outcome: EventOutcome, duration: Duration) {
        let place = event.and_then(|event| EventName::ALL.iter().position(|known| *known == event));
        let histogram = place.and_then(|place| self.events.get(place)).unwrap_or(&self.other_events);
        histogram.count(duration, outcome as usize);
    }

    /// Counts a handler's run.
    pub(crate) fn handler(&self, source: &str, id: &str, status: HandlerStatus, duration: Duration) {
        let outcome = status as usize;
        {
            let handlers = read(&self.handlers);
            if let Some(histogram) = handlers.get(source, id) {
                return histogram.count(duration, outcome);
            }
            if handlers.count >= MAX_HANDLERS {
                return self.other_handlers.count(duration, outcome);
            }
        }
        let mut handlers = write(&self.handlers);
        let Handlers { by_source, count } = &mut *handlers;
        let histogram = by_source.entry(source.to_owned()).or_default().entry(id.to_owned());
        let histogram = histogram.or_insert_with(|| {
            *count += 1;
            Arc::default()
        });
        histogram.count(duration, outcome);
    }

    /// The counts of events, by name.
    pub(crate) fn events(&self) -> BTreeMap<String, Latency> {
        let known = EventName::ALL.iter().map(|event| event.as_str()).zip(&self.events);
        known
            .chain([(OTHER, &self.other_events)])
            .map(|(name, histogram)| {
                (name.to_owned(), histogram.latency(&EventOutcome::ALL.map(EventOutcome::as_str)))
            })
            .filter(|(_, latency)| latency.count > 0)
            .collect()
    }

    /// The counts of handlers, by document and id.
    pub(crate) fn handlers(&self) -> Vec<HandlerStats> {
        let handlers = read(&self.handlers);
        let mut rows: Vec<HandlerStats> = handlers
            .by_source
            .iter()
            .flat_map(|(source, by_id)| by_id.iter().map(move |(id, histogram)| (source, id, histogram)))
            .map(|(source, id, histogram)| HandlerStats {
                id: id.clone(),
                source: source.clone(),
                latency: histogram.latency(&HandlerStatus::ALL.map(HandlerStatus::as_str)),
            })
            .collect();
        rows.sort_by(|a, b| (&a.source, &a.id).cmp(&(&b.source, &b.id)));
        let other = self.other_handlers.latency(&HandlerStatus::ALL.map(HandlerStatus::as_str));
        if other.count > 0 {
            rows.push(HandlerStats { id: OTHER.to_owned(), source: OTHER.to_owned(), latency: other });
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_what_is_at_most_an_eighth_smaller() {
        let powers = (14..31).flat_map(|power| [1 << power, (1 << power) + 1, 3 << (power - 1)]);
        let mut last = 0;
        for micros in (0..10_000).chain(powers) {
            let at = bucket(micros);
            assert!(at >= last, "{micros}");
            assert!(
                top(at) >= micros && top(at) <= micros + micros / 8,
                "{micros} is in {at}, up to {}",
                top(at)
            );
            last = at;
        }
        assert_eq!(bucket(u64::MAX), PARTS * POWERS - 1);
    }

    #[test]
    fn percentiles_and_outcomes_are_those_of_what_was_counted() {
        let stats = Stats::default();
        for micros in 1..=100 {
            let outcome = if micros > 90 { EventOutcome::Deny } else { EventOutcome::None };
            stats.event(Some(EventName::PreToolUse), outcome, Duration::from_micros(micros));
        }
        stats.event(None, EventOutcome::None, Duration::from_micros(7));
        let events = stats.events();
        let pre = &events["PreToolUse"];
        assert_eq!((pre.count, pre.sum_us, pre.max_us), (100, 5050, 100));
        assert!((50..=56).contains(&pre.p50_us) && (95..=100).contains(&pre.p95_us), "{pre:?}");
        assert_eq!(pre.outcomes, BTreeMap::from([("none".to_owned(), 90), ("deny".to_owned(), 10)]));
        assert_eq!(events["other"].count, 1);
        assert_eq!(events.len(), 2);
    }

    #[test]
    fn too_many_handlers_are_counted_together() {
        let stats = Stats::default();
        for number in 0..MAX_HANDLERS + 5 {
            let id = format!("Stop:0:{number}");
            stats.handler("user", &id, HandlerStatus::Timeout, Duration::from_millis(3));
            stats.handler("user", &id, HandlerStatus::Ok, Duration::from_millis(3));
        }
        let handlers = stats.handlers();
        assert_eq!(handlers.len(), MAX_HANDLERS + 1);
        let last = &handlers[MAX_HANDLERS];
        assert_eq!(
            (last.id.as_str(), last.latency.count, last.latency.outcomes["timeout"]),
            ("other", 10, 5)
        );
    }
}
