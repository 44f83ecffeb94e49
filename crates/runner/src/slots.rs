//! The places in which handlers run, and the queue in front of them.
//!
//! Guarantees: never more handlers than places; of the first [`LANES_COMPARED`] sessions (lanes) that wait, the one that got
//! the fewest places is next, those included that it held when it began to wait; lanes that got as many take turns, each in
//! its own order; one that got many still gets its turn, and none holds all places; a wait ends by a place, the deadline or
//! a cancel, and whichever it is, no place is lost; beyond [`QUEUE_MOST`] waiting handlers one more is turned away at once.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hooksd_protocol::outcome::End;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::limits::{GOT_MOST, LANES_COMPARED, OTHERS_PART, QUEUE_MOST, TURN_EVERY};

/// Whose turn it is: one session's.
pub(crate) type Lane = Arc<str>;

/// The places of one level.
#[derive(Debug)]
pub(crate) struct Slots {
    places: usize,
    /// Places that one lane may hold.
    lane_most: usize,
    starting_most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    starting: usize,
    queued: usize,
    next: u64,
    /// Places given so far.
    given: u64,
    lanes: HashMap<Lane, Queue>,
    /// The lanes that wait, in the order of their turns.
    turns: VecDeque<Lane>,
}

#[derive(Debug, Default)]
struct Queue {
    running: usize,
    /// Places that it held when it began to wait, and has been given since.
    got: usize,
    waiting: BTreeMap<u64, oneshot::Sender<()>>,
}

/// A place taken. Given back when the last holder drops it.
#[derive(Debug)]
pub(crate) struct Place {
    slots: Arc<Slots>,
    lane: Lane,
    starting: AtomicBool,
}

impl Slots {
    pub(crate) fn new(places: usize, starting_most: usize) -> Slots {
        let others = if places > 1 { (places / OTHERS_PART).max(1) } else { 0 };
        Slots { places, lane_most: places - others, starting_most, state: Mutex::default() }
    }

    pub(crate) fn places(&self) -> usize {
        self.places
    }

    /// Handlers that wait.
    pub(crate) fn queued(&self) -> usize {
        self.lock().queued
    }

    /// Waits for a place: until the deadline, or until it is cancelled.
    pub(crate) async fn take(
        self: &Arc<Slots>,
        lane: &Lane,
        deadline: Instant,
        cancel: &CancellationToken,
    ) -> Result<Place, End> {
        let mut waiting = {
            let mut state = self.lock();
            if state.queued >= QUEUE_MOST {
                return Err(End::QueuedOut);
            }
            let (ticket, granted) = state.enqueue(lane);
            self.grant(&mut state);
            Waiting { slots: self, lane, ticket, granted, over: false }
        };
        tokio::select! {
            biased;
            result = &mut waiting.granted => {
                waiting.over = true;
                // A sender is only dropped after it has sent.
                result.map_err(|_| End::Cancelled)?;
                Ok(Place { slots: self.clone(), lane: lane.clone(), starting: AtomicBool::new(true) })
            }
            () = cancel.cancelled() => Err(End::Cancelled),
            () = tokio::time::sleep_until(deadline.into()) => Err(End::QueuedOut),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives free places to whoever is next.
    fn grant(&self, state: &mut State) {
        while state.running < self.places && state.starting < self.starting_most {
            let Some(turn) = self.next(state) else { return };
            let Some(lane) = state.turns.remove(turn) else { return };
            let Some(queue) = state.lanes.get_mut(&lane) else { continue };
            let Some((_, waiter)) = queue.waiting.pop_first() else { continue };
            state.queued -= 1;
            if waiter.send(()).is_ok() {
                queue.running += 1;
                queue.got += 1;
                state.running += 1;
                state.starting += 1;
                state.given += 1;
            }
            if !queue.waiting.is_empty() {
                state.turns.push_back(lane);
            }
        }
    }

    /// Which of the lanes that wait is next, of those that may hold one more place. Turns alone would share out what is
    /// given from now on, and leave a flood all that it got while nobody else was there.
    fn next(&self, state: &State) -> Option<usize> {
        let mut may = state.turns.iter().enumerate().filter_map(|(turn, lane)| {
            let queue = state.lanes.get(lane)?;
            (queue.running < self.lane_most).then_some((turn, queue.got.min(GOT_MOST)))
        });
        let next = if state.given.is_multiple_of(TURN_EVERY) {
            may.next()
        } else {
            may.take(LANES_COMPARED).min_by_key(|(_, got)| *got)
        };
        next.map(|(turn, _)| turn)
    }

    fn give_back(&self, lane: &Lane, starting: bool) {
        let mut state = self.lock();
        state.running -= 1;
        state.starting -= usize::from(starting);
        if let Some(queue) = state.lanes.get_mut(lane) {
            queue.running -= 1;
            if queue.running == 0 && queue.waiting.is_empty() {
                state.lanes.remove(lane);
            }
        }
        self.grant(&mut state);
    }
}

impl State {
    fn enqueue(&mut self, lane: &Lane) -> (u64, oneshot::Receiver<()>) {
        let (sender, receiver) = oneshot::channel();
        let ticket = self.next;
        self.next += 1;
        self.queued += 1;
        let queue = self.lanes.entry(lane.clone()).or_default();
        if queue.waiting.is_empty() {
            self.turns.push_back(lane.clone());
            queue.got = queue.running;
        }
        queue.waiting.insert(ticket, sender);
        (ticket, receiver)
    }

    /// Whether it was still waiting.
    fn leave(&mut self, lane: &Lane, ticket: u64) -> bool {
        let Some(queue) = self.lanes.get_mut(lane) else { return false };
        if queue.waiting.remove(&ticket).is_none() {
            return false;
        }
        self.queued -= 1;
        if queue.waiting.is_empty() {
            self.turns.retain(|other| other != lane);
            if queue.running == 0 {
                self.lanes.remove(lane);
            }
        }
        true
    }
}

/// A handler in the queue. Dropped, it leaves the queue, and gives back the place it may have got meanwhile.
struct Waiting<'a> {
    slots: &'a Slots,
    lane: &'a Lane,
    ticket: u64,
    granted: oneshot::Receiver<()>,
    /// It has its place.
    over: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let was_waiting = self.slots.lock().leave(self.lane, self.ticket);
        if !was_waiting && self.granted.try_recv().is_ok() {
            self.slots.give_back(self.lane, true);
        }
    }
}

impl Place {
    /// Its handler has started: another may.
    pub(crate) fn mark_started(&self) {
        if self.starting.swap(false, Ordering::AcqRel) {
            let mut state = self.slots.lock();
            state.starting -= 1;
            self.slots.grant(&mut state);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.slots.give_back(&self.lane, *self.starting.get_mut());
    }
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
