//! What the daemon does, told while it does it (PROTOCOL, Streams): one sequence of items, kept for a while, and those
//! who subscribe to it.
//!
//! Guarantees: publishing never waits for a subscriber; while nobody listens it costs one atomic load and builds
//! nothing; every subscriber gets its items in order, each once, and is told where some are missing.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use hooksd_protocol::methods::{EventsSubscribe, EventsSubscribed, ItemBody};
use hooksd_protocol::rpc::RpcError;

use crate::base::lock::lock;
use crate::observe::items::{About, Item};
use crate::observe::subscriber::{Fate, Filter, Subscriber};

/// How many items are kept for those who subscribe with `since`. Items. The last 200 events or so.
pub(crate) const RING: usize = 1024;

/// How many subscriptions there may be. Subscriptions. One more is refused with -32005.
const MAX_SUBSCRIPTIONS: usize = 256;

/// The numbers that one millisecond of daemons' lives has room for. A daemon begins with the time of its start, so
/// that its numbers are larger than those of every daemon before it.
const NUMBERS_A_MS: u64 = 1000;

/// The sequence of items, and those who subscribe to it.
pub(crate) struct Feed {
    /// Whether items are kept although nobody subscribes.
    remembers: AtomicBool,
    subscribers: AtomicUsize,
    lost: AtomicU64,
    dropped: AtomicU64,
    /// The number before the first item of this daemon; smaller numbers are items of earlier daemons.
    first: u64,
    state: Mutex<State>,
}

struct State {
    last: u64,
    /// Everything after this number is in the ring.
    complete_after: u64,
    ring: VecDeque<Arc<Item>>,
    subscribers: Vec<Arc<Subscriber>>,
    subscriptions: u64,
}

/// What a subscription begins with.
pub(crate) struct Begun {
    pub(crate) subscriber: Arc<Subscriber>,
    pub(crate) answer: EventsSubscribed,
}

impl Feed {
    /// A feed that keeps items for later subscribers, or only works while there are some.
    pub(crate) fn new(remembers: bool) -> Feed {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let first = u64::try_from(now).unwrap_or(0).saturating_mul(NUMBERS_A_MS);
        let state = State {
            last: first,
            complete_after: first,
            ring: VecDeque::new(),
            subscribers: Vec::new(),
            subscriptions: 0,
        };
        Feed {
            remembers: AtomicBool::new(remembers),
            subscribers: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            first,
            state: Mutex::new(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Whether anybody would hear an item, now or later.
    pub(crate) fn is_heard(&self) -> bool {
        self.remembers.load(Ordering::Relaxed) || self.subscribers.load(Ordering::Acquire) > 0
    }

    /// Tells something, if anybody would hear it. The body is made only then.
    pub(crate) fn publish(&self, about: About<'_>, body: impl FnOnce() -> ItemBody) {
        if !self.is_heard() {
            return;
        }
        let (body, time) = (body(), SystemTime::now());
        let (session, event) = (about.session.cloned(), about.event.cloned());
        let mut state = self.lock();
        state.last += 1;
        let item =
            Arc::new(Item { seq: state.last, time, session, invocation: about.invocation, event, body });
        state.subscribers.retain(|subscriber| match subscriber.offer(&item) {
            Fate::Takes => true,
            Fate::Loses => {
                self.lost.fetch_add(1, Ordering::Relaxed);
                true
            }
            Fate::Ended { dropped } => {
                self.dropped.fetch_add(u64::from(dropped), Ordering::Relaxed);
                self.subscribers.fetch_sub(1, Ordering::AcqRel);
                false
            }
        });
        if state.ring.len() >= RING
            && let Some(oldest) = state.ring.pop_front()
        {
            state.complete_after = oldest.seq;
        }
        state.ring.push_back(item);
    }

    /// Begins a subscription.
    ///
    /// # Errors
    /// -32005 when there are too many.
    pub(crate) fn subscribe(&self, connection: u64, wanted: EventsSubscribe) -> Result<Begun, RpcError> {
        let mut state = self.lock();
        state.subscribers.retain(|subscriber| {
            let ended = subscriber.closed.is_cancelled();
            if ended {
                self.subscribers.fetch_sub(1, Ordering::AcqRel);
            }
            !ended
        });
        if state.subscribers.len() >= MAX_SUBSCRIPTIONS {
            let message = format!("there are {MAX_SUBSCRIPTIONS} subscriptions; end some or try again");
            return Err(RpcError::overloaded(message));
        }
        if !self.is_heard() {
            // What happened unheard has no number. This one stands for all of it.
            state.last += 1;
            state.complete_after = state.last;
            state.ring.clear();
        }
        state.subscriptions += 1;
        let since = wanted.since;
        let subscriber = Arc::new(Subscriber::new(state.subscriptions, connection, Filter::new(wanted)));
        if let Some(since) = since {
            self.replay(&state, since, &subscriber);
        }
        let answer = EventsSubscribed { subscription: subscriber.id, seq: state.last };
        state.subscribers.push(subscriber.clone());
        self.subscribers.fetch_add(1, Ordering::AcqRel);
        Ok(Begun { subscriber, answer })
    }

    fn replay(&self, state: &State, since: u64, subscriber: &Subscriber) {
        if since < self.first || since > state.last {
            subscriber.begin_with_gap(None);
        } else if since < state.complete_after {
            subscriber.begin_with_gap(Some(state.complete_after - since));
        }
        for item in state.ring.iter().filter(|item| item.seq > since || since > state.last) {
            subscriber.replay(item);
        }
    }

    /// Ends a subscription of a connection; returns whether there was one.
    pub(crate) fn unsubscribe(&self, connection: u64, id: u64) -> bool {
        self.end(|subscriber| subscriber.connection == connection && subscriber.id == id)
    }

    /// Ends all subscriptions of a connection.
    pub(crate) fn leave(&self, connection: u64) {
        if self.subscribers.load(Ordering::Acquire) > 0 {
            self.end(|subscriber| subscriber.connection == connection);
        }
    }

    fn end(&self, which: impl Fn(&Subscriber) -> bool) -> bool {
        let mut state = self.lock();
        let before = state.subscribers.len();
        state.subscribers.retain(|subscriber| {
            let ends = which(subscriber);
            if ends {
                subscriber.closed.cancel();
            }
            !ends
        });
        let ended = before - state.subscribers.len();
        self.subscribers.fetch_sub(ended, Ordering::AcqRel);
        ended > 0
    }

    /// How many subscriptions there are, how many items were lost, and how many subscriptions were dropped for that.
    pub(crate) fn counts(&self) -> (usize, u64, u64) {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (self.subscribers.load(Ordering::Acquire), of(&self.lost), of(&self.dropped))
    }
}
