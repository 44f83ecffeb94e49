//! Turns, bounds, and that no place is ever lost.

use std::time::Duration;

use super::*;

fn slots(places: usize) -> Arc<Slots> {
    Arc::new(Slots::new(places, usize::MAX))
}

fn lane(name: &str) -> Lane {
    Arc::from(name)
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

async fn take(slots: &Arc<Slots>, name: &str) -> Place {
    slots.take(&lane(name), soon(), &CancellationToken::new()).await.unwrap()
}

/// Queues up, and says its name when it has its place; gives the place back at once.
fn queue_up(slots: &Arc<Slots>, name: &str, order: &Arc<Mutex<Vec<String>>>) -> tokio::task::JoinHandle<()> {
    let (slots, name, order) = (slots.clone(), name.to_owned(), order.clone());
    tokio::spawn(async move {
        let place = take(&slots, name.split('.').next().unwrap()).await;
        order.lock().unwrap().push(name);
        drop(place);
    })
}

async fn until_queued(slots: &Arc<Slots>, count: usize) {
    while slots.queued() != count {
        tokio::task::yield_now().await;
    }
}

fn running_and_young(slots: &Slots) -> (usize, usize) {
    let state = slots.lock();
    (state.running, state.starting)
}

fn lanes_and_turns(slots: &Slots) -> (usize, usize) {
    let state = slots.lock();
    (state.lanes.len(), state.turns.len())
}

#[tokio::test]
async fn lanes_take_turns_and_keep_their_own_order() {
    let slots = slots(1);
    let order = Arc::default();
    let held = take(&slots, "other").await;
    let mut tasks = Vec::new();
    for (count, name) in ["a.1", "a.2", "a.3", "b.1", "b.2", "c.1"].into_iter().enumerate() {
        tasks.push(queue_up(&slots, name, &order));
        until_queued(&slots, count + 1).await;
    }
    drop(held);
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*order.lock().unwrap(), ["a.1", "b.1", "c.1", "a.2", "b.2", "a.3"]);
    assert_eq!(lanes_and_turns(&slots), (0, 0));
}

#[tokio::test]
async fn who_got_fewer_places_is_next_but_every_turn_comes() {
    let slots = slots(16);
    let mut held = Vec::new();
    for _ in 0..14 {
        held.push(take(&slots, "flood").await);
    }
    let _others = (take(&slots, "other").await, take(&slots, "other").await);
    let (sender, mut given) = tokio::sync::mpsc::unbounded_channel();
    for count in 0..16 {
        let (slots, sender) = (slots.clone(), sender.clone());
        let name = if count < 8 { "flood" } else { "quiet" };
        tokio::spawn(async move { sender.send((name, take(&slots, name).await)).ok() });
        until_queued(&held[0].slots, count + 1).await;
    }
    let mut order = Vec::new();
    for place in held.drain(..8) {
        drop(place);
        order.push(given.recv().await.unwrap());
    }
    let order: Vec<&str> = order.iter().map(|(name, _)| *name).collect();
    assert_eq!(order, ["flood", "quiet", "quiet", "quiet", "flood", "quiet", "quiet", "quiet"]);
}

#[tokio::test]
async fn one_lane_leaves_places_to_others() {
    let slots = slots(16);
    let mut held = Vec::new();
    for _ in 0..14 {
        held.push(take(&slots, "flood").await);
    }
    let more = slots.take(&lane("flood"), Instant::now(), &CancellationToken::new()).await;
    assert_eq!(more.unwrap_err(), End::QueuedOut);
    held.push(take(&slots, "quiet").await);
    assert_eq!(slots.lock().running, 15);
}

#[tokio::test]
async fn young_ones_hold_others_up_until_they_settle_or_end() {
    let slots = Arc::new(Slots::new(10, 2));
    let (first, second) = (take(&slots, "a").await, take(&slots, "a").await);
    let next = |slots: &Arc<Slots>| {
        let slots = slots.clone();
        tokio::spawn(async move { take(&slots, "a").await })
    };
    let third = next(&slots);
    until_queued(&slots, 1).await;
    first.mark_started();
    first.mark_started();
    let third = third.await.unwrap();
    let fourth = next(&slots);
    until_queued(&slots, 1).await;
    drop(second);
    let fourth = fourth.await.unwrap();
    assert_eq!(running_and_young(&slots), (3, 2));
    drop((first, third, fourth));
    assert_eq!(running_and_young(&slots), (0, 0));
}

#[tokio::test]
async fn whoever_stops_waiting_leaves_nothing_behind() {
    let slots = slots(1);
    let held = take(&slots, "a").await;
    let at_once = slots.take(&lane("b"), Instant::now(), &CancellationToken::new()).await;
    assert_eq!(at_once.unwrap_err(), End::QueuedOut);
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert_eq!(slots.take(&lane("b"), soon(), &cancel).await.unwrap_err(), End::Cancelled);
    let dropped = queue_up(&slots, "b", &Arc::default());
    until_queued(&slots, 1).await;
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    assert_eq!((slots.queued(), lanes_and_turns(&slots)), (0, (1, 0)));
    drop(held);
    drop(take(&slots, "c").await);
}

#[tokio::test]
async fn a_place_given_to_somebody_who_has_just_left_is_not_lost() {
    let slots = slots(1);
    let held = take(&slots, "a").await;
    let cancel = CancellationToken::new();
    let name = lane("b");
    let mut waiting = Box::pin(slots.take(&name, soon(), &cancel));
    assert!(futures_poll(&mut waiting).is_pending());
    // The place is given before the waiter is looked at again, and then it is dropped.
    drop(held);
    assert_eq!(slots.lock().running, 1);
    drop(waiting);
    assert_eq!(running_and_young(&slots), (0, 0));
    drop(take(&slots, "c").await);
}

fn futures_poll<F: Future + Unpin>(future: &mut F) -> std::task::Poll<F::Output> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    std::pin::Pin::new(future).poll(&mut context)
}
