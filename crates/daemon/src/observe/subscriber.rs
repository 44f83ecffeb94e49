//! One subscription: what it asked for, what waits for it, and how that gets to its connection.
//!
//! Guarantee: what waits is bounded, and separate from the answers of the connection; where items were lost stands how
//! many, in their place.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use hooksd_protocol::diagnostic::Severity;
use hooksd_protocol::methods::{EventsDropped, EventsGap, EventsItem, EventsSubscribe, ItemBody, ItemKind};
use hooksd_protocol::rpc::request_line;
use hooksd_protocol::timestamp::Timestamp;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::base::lock::lock;
use crate::base::outbox::Outbox;
use crate::base::peer::PeerIdentity;
use crate::observe::items::Item;

/// Items that wait for one subscriber. Items. One more is lost and counted.
const QUEUE: usize = 1024;

/// How long a subscriber may take nothing while items are lost. Seconds. Then it is dropped.
pub(crate) const STALLED_SECONDS: u64 = 60;

/// How many items a subscriber may lose without taking one. Items. Then it is dropped.
pub(crate) const MAX_LOST: u64 = 100_000;

/// How long items are gathered before they are written. Milliseconds. Nobody sees the difference, and a busy daemon
/// does not wake a task for each.
const GATHER_MS: u64 = 5;

/// How much is written at once. Bytes. The last item of it may go beyond.
const CHUNK: usize = 32 * 1024;

/// Which items a subscription asked for.
#[derive(Debug)]
pub(crate) struct Filter {
    kinds: Option<Vec<ItemKind>>,
    sessions: Option<Vec<String>>,
    events: Option<Vec<String>>,
    min_severity: Option<Severity>,
}

impl Filter {
    pub(crate) fn new(wanted: EventsSubscribe) -> Filter {
        let EventsSubscribe { kinds, sessions, events, min_severity, since: _ } = wanted;
        Filter { kinds, sessions, events, min_severity }
    }

    fn takes(&self, item: &Item) -> bool {
        let one_of = |wanted: &Option<Vec<String>>, is: Option<&str>| match (wanted, is) {
            (None, _) => true,
            (Some(wanted), Some(is)) => wanted.iter().any(|wanted| wanted == is),
            (Some(_), None) => false,
        };
        let matters = match (&item.body, self.min_severity) {
            (ItemBody::Diagnostic { severity, .. }, Some(least)) => *severity >= least,
            _ => true,
        };
        matters
            && self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&item.body.kind()))
            && one_of(&self.sessions, item.session.as_deref())
            && one_of(&self.events, item.event.as_deref())
    }
}

/// Something that waits for a subscriber.
enum Entry {
    Item(Arc<Item>),
    Gap(Option<u64>),
    Dropped { reason: String, lost: u64 },
}

#[derive(Default)]
struct Waiting {
    entries: VecDeque<Entry>,
    /// Items of the ring that it began with: room for them is its own.
    replayed: usize,
    /// Since when nothing was taken although items are lost.
    losing_since: Option<Instant>,
}

/// What became of an item that was offered.
pub(crate) enum Fate {
    /// The item waits for the subscriber, or was not asked for.
    Takes,
    /// There is no room: the item is lost, and counted where it is missing.
    Loses,
    /// The subscription is over, because it lost too much or because it was ended.
    Ended { dropped: bool },
}

/// One subscription, and the items that wait for it.
pub(crate) struct Subscriber {
    pub(crate) id: u64,
    pub(crate) connection: u64,
    /// Cancelled when the subscription is over.
    pub(crate) closed: CancellationToken,
    filter: Filter,
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

impl Subscriber {
    pub(crate) fn new(id: u64, connection: u64, filter: Filter) -> Subscriber {
        Subscriber {
            id,
            connection,
            closed: CancellationToken::new(),
            filter,
            waiting: Mutex::default(),
            arrived: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }

    /// Offers an item. Never waits.
    pub(crate) fn offer(&self, item: &Arc<Item>) -> Fate {
        self.offer_at(item, Instant::now())
    }

    /// Offers an item as if it were that time, so that tests need no waiting.
    fn offer_at(&self, item: &Arc<Item>, now: Instant) -> Fate {
        if self.closed.is_cancelled() {
            return Fate::Ended { dropped: false };
        }
        if !self.filter.takes(item) {
            return Fate::Takes;
        }
        let mut waiting = self.lock();
        if waiting.entries.len() < QUEUE + waiting.replayed {
            waiting.entries.push_back(Entry::Item(item.clone()));
            self.arrived.notify_one();
            return Fate::Takes;
        }
        let since = *waiting.losing_since.get_or_insert(now);
        let lost = match waiting.entries.back_mut() {
            Some(Entry::Gap(Some(lost))) => {
                *lost += 1;
                *lost
            }
            _ => {
                waiting.entries.push_back(Entry::Gap(Some(1)));
                1
            }
        };
        let stalled = now.saturating_duration_since(since) >= Duration::from_secs(STALLED_SECONDS);
        if lost < MAX_LOST && !stalled {
            return Fate::Loses;
        }
        let reason = match stalled {
            true => format!("nothing was read for {STALLED_SECONDS} s while items were lost"),
            false => format!("{MAX_LOST} items were lost without one being read"),
        };
        let lost = lost + waiting.entries.len() as u64 - 1;
        waiting.entries.clear();
        waiting.entries.push_back(Entry::Dropped { reason, lost });
        self.arrived.notify_one();
        Fate::Ended { dropped: true }
    }

    /// Begins the subscription with a gap: items that it asked for are no longer there.
    pub(crate) fn begin_with_gap(&self, lost: Option<u64>) {
        self.lock().entries.push_back(Entry::Gap(lost));
        self.arrived.notify_one();
    }

    /// Adds an item of the ring, which is bounded itself.
    pub(crate) fn replay(&self, item: &Arc<Item>) {
        if self.filter.takes(item) {
            let mut waiting = self.lock();
            waiting.entries.push_back(Entry::Item(item.clone()));
            waiting.replayed += 1;
            self.arrived.notify_one();
        }
    }

    fn next(&self) -> Option<Entry> {
        let mut waiting = self.lock();
        let entry = waiting.entries.pop_front();
        if entry.is_some() {
            waiting.losing_since = None;
        }
        entry
    }

    /// Carries what waits to the connection, in order, until one of them is over.
    pub(crate) async fn carry(&self, who: &PeerIdentity, outbox: &Outbox) {
        loop {
            tokio::select! {
                () = self.arrived.notified() => {}
                () = self.closed.cancelled() => return,
            }
            tokio::time::sleep(Duration::from_millis(GATHER_MS)).await;
            loop {
                // What is taken out of the queue is on its way: room first.
                let open = tokio::select! {
                    open = outbox.idle() => open,
                    () = self.closed.cancelled() => return,
                };
                if !open {
                    return;
                }
                let (chunk, over) = self.chunk(who);
                if chunk.is_empty() {
                    break;
                }
                tokio::select! {
                    sent = outbox.send_items(chunk) => if !sent { return },
                    () = self.closed.cancelled() => return,
                }
                if over {
                    self.closed.cancel();
                    return;
                }
            }
        }
    }

    /// The lines of what waits, as much as is written at once, and whether the subscription ends with them.
    fn chunk(&self, who: &PeerIdentity) -> (String, bool) {
        let mut chunk = String::new();
        while chunk.len() < CHUNK {
            let Some(entry) = self.next() else { break };
            let over = matches!(entry, Entry::Dropped { .. });
            // Our own types have a JSON spelling.
            chunk.push_str(&self.line(entry, who).unwrap_or_default());
            if over {
                return (chunk, true);
            }
        }
        (chunk, false)
    }

    fn line(&self, entry: Entry, who: &PeerIdentity) -> Result<String, serde_json::Error> {
        let subscription = self.id;
        match entry {
            Entry::Gap(lost) => request_line(None, "events/gap", &EventsGap { subscription, lost }),
            Entry::Dropped { reason, lost } => {
                request_line(None, "events/dropped", &EventsDropped { subscription, reason, lost })
            }
            Entry::Item(item) => {
                let body = item.body.clone();
                let (body, withheld) = match who.may_read(item.session.as_deref()) {
                    true => (body, false),
                    false => body.without_texts(),
                };
                let item = EventsItem {
                    subscription,
                    seq: item.seq,
                    time: Timestamp::of(item.time).to_string(),
                    session: item.session.as_deref().map(str::to_owned),
                    invocation_id: item.invocation,
                    event: item.event.as_deref().map(str::to_owned),
                    withheld,
                    body,
                };
                request_line(None, "events/item", &item)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use serde_json::{Value, json};

    use super::*;

    fn item(seq: u64) -> Arc<Item> {
        let body = ItemBody::Received { tool: Some("execute".to_owned()) };
        let (session, time) = (Some("s".into()), SystemTime::UNIX_EPOCH);
        Arc::new(Item { seq, time, session, invocation: None, event: Some("Stop".into()), body })
    }

    fn subscriber() -> Subscriber {
        Subscriber::new(1, 1, Filter::new(EventsSubscribe::default()))
    }

    /// What it is told, in order: numbers of items, and the params of everything else.
    fn told(subscriber: &Subscriber) -> Vec<Value> {
        let (mut all, who) = (Vec::new(), PeerIdentity::default());
        loop {
            let (chunk, over) = subscriber.chunk(&who);
            for line in chunk.lines() {
                let mut message: Value = serde_json::from_str(line).unwrap();
                let what = match message["method"] == "events/item" {
                    true => &mut message["params"]["seq"],
                    false => &mut message["params"],
                };
                all.push(what.take());
            }
            if over || chunk.is_empty() {
                return all;
            }
        }
    }

    #[test]
    fn a_gap_stands_where_the_items_are_missing() {
        let subscriber = subscriber();
        let most = QUEUE as u64;
        for seq in 0..most + 10 {
            let fate = subscriber.offer(&item(seq));
            assert_eq!(matches!(fate, Fate::Loses), seq >= most, "{seq}");
        }
        // One is taken: the next items come after the gap.
        assert!(matches!(subscriber.next(), Some(Entry::Item(first)) if first.seq == 0));
        subscriber.next();
        assert!(matches!(subscriber.offer(&item(most + 10)), Fate::Takes));
        let mut expected: Vec<Value> = (2..most).map(|seq| json!(seq)).collect();
        expected.push(json!({ "subscription": 1, "lost": 10 }));
        expected.push(json!(most + 10));
        assert_eq!(told(&subscriber), expected);
        assert_eq!(told(&subscriber), [] as [Value; 0]);
    }

    #[test]
    fn who_loses_too_much_is_dropped_with_a_reason() {
        let subscriber = subscriber();
        let one = item(1);
        let offers = (0..).take_while(|_| !matches!(subscriber.offer(&one), Fate::Ended { dropped: true }));
        assert_eq!(offers.count() as u64 + 1, QUEUE as u64 + MAX_LOST);
        let reason = format!("{MAX_LOST} items were lost without one being read");
        let lost = QUEUE as u64 + MAX_LOST;
        assert_eq!(told(&subscriber), [json!({ "subscription": 1, "reason": reason, "lost": lost })]);
    }

    #[test]
    fn b79_who_reads_nothing_for_a_minute_while_items_are_lost_is_dropped() {
        let (subscriber, one, start) = (subscriber(), item(1), Instant::now());
        let after = |milliseconds| start + Duration::from_millis(milliseconds);
        let minute = STALLED_SECONDS * 1000;
        // Nothing is lost yet: it may take its time.
        (0..QUEUE).for_each(|_| assert!(matches!(subscriber.offer_at(&one, after(0)), Fate::Takes)));
        assert!(matches!(subscriber.offer_at(&one, after(10 * minute)), Fate::Loses));
        assert!(matches!(subscriber.offer_at(&one, after(11 * minute - 1)), Fate::Loses));
        // One that reads, however slowly, begins anew.
        subscriber.next();
        assert!(matches!(subscriber.offer_at(&one, after(11 * minute)), Fate::Loses | Fate::Takes));
        assert!(matches!(subscriber.offer_at(&one, after(11 * minute)), Fate::Loses));
        assert!(matches!(subscriber.offer_at(&one, after(12 * minute - 1)), Fate::Loses));
        assert!(matches!(subscriber.offer_at(&one, after(12 * minute)), Fate::Ended { dropped: true }));
        let all = told(&subscriber);
        let reason = format!("nothing was read for {STALLED_SECONDS} s while items were lost");
        assert_eq!(all.len(), 1);
        assert_eq!(all[0]["reason"], reason);
        assert!(all[0]["lost"].as_u64().unwrap() >= QUEUE as u64, "{all:?}");
    }

    #[test]
    fn what_is_replayed_takes_no_room_of_what_comes() {
        let subscriber = subscriber();
        subscriber.begin_with_gap(Some(3));
        (0..5000).for_each(|seq| subscriber.replay(&item(seq)));
        assert!(matches!(subscriber.offer(&item(5000)), Fate::Takes));
        let all = told(&subscriber);
        assert_eq!((&all[0]["lost"], all.len(), &all[5001]), (&json!(3), 5002, &json!(5000)));
    }
}
