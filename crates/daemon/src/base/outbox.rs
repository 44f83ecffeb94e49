//! The lines of one connection on their way out: written at once where they are made when nothing waits, else by the
//! connection's writer. Lines never mix, and what waits is bounded: an answer waits for room, a notification that has
//! none is dropped by whoever sends it.

use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use crate::base::lock::lock;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How much may wait to be written. Bytes. One line goes in while less than that waits, however long it is: an answer is
/// never too long to be given.
const MOST_WAITING: usize = 1024 * 1024;

/// How long a client may read nothing at all while answers wait for it. Seconds. Then it is cut off: its
/// answers would otherwise be held for ever.
const WRITE_STALL_SECONDS: u64 = 30;

/// How often somebody who does not read items is looked at for answers that wait behind them. Seconds.
const LOOK_SECONDS: u64 = 1;

/// Takes the lines that are sent to one client, and writes them in order. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<Shared>);

/// An outbox that does not keep its connection's memory.
pub(crate) struct WeakOutbox(Weak<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Wakes the writer: lines wait for it, or nothing more will come.
    work: Notify,
    /// Wakes those who wait for room: the writer has taken what waited, or has nothing left.
    room: Notify,
}

struct State {
    waiting: Vec<u8>,
    /// Whether the writer holds lines that come before everything that waits.
    writing: bool,
    /// Whether all that waits are items of subscriptions, which nobody waits for.
    items: bool,
    /// `None` when nothing more will be sent: whoever still holds the outbox does not keep the connection open.
    stream: Option<Arc<OwnedWriteHalf>>,
}

/// Why a line was not taken.
pub(crate) enum Refused {
    /// Too much waits already; the line is given back.
    Full(String),
    /// The connection is over.
    Closed,
}

impl Outbox {
    /// An outbox that writes to the sending half of a connection.
    pub(crate) fn new(stream: OwnedWriteHalf) -> Outbox {
        let state =
            State { waiting: Vec::new(), writing: false, items: false, stream: Some(Arc::new(stream)) };
        Outbox(Arc::new(Shared { state: Mutex::new(state), work: Notify::new(), room: Notify::new() }))
    }

    /// Sends a line if there is room for it now.
    pub(crate) fn try_send(&self, line: String) -> Result<(), Refused> {
        let mut state = self.0.lock();
        let Some(stream) = &state.stream else { return Err(Refused::Closed) };
        if state.waiting.len() >= MOST_WAITING {
            return Err(Refused::Full(line));
        }
        let mut rest = line.as_bytes();
        if !state.writing && state.waiting.is_empty() {
            // An error is met again where the rest is written.
            let written = stream.try_write(rest).unwrap_or(0);
            rest = rest.get(written..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(());
            }
        }
        state.waiting.extend_from_slice(rest);
        state.items = false;
        drop(state);
        self.0.work.notify_one();
        Ok(())
    }

    /// Waits until nothing waits to be written; false when the connection is over.
    pub(crate) async fn idle(&self) -> bool {
        loop {
            let room = self.0.room.notified();
            {
                let state = self.0.lock();
                if state.stream.is_none() {
                    return false;
                }
                if state.is_idle() {
                    return true;
                }
            }
            room.await;
        }
    }

    /// Sends items of a subscription, once no answer waits: answers overtake them. False when the connection is over.
    pub(crate) async fn send_items(&self, lines: String) -> bool {
        loop {
            if !self.idle().await {
                return false;
            }
            let mut state = self.0.lock();
            if !state.is_idle() {
                continue;
            }
            let Some(stream) = &state.stream else { return false };
            let written = stream.try_write(lines.as_bytes()).unwrap_or(0);
            let rest = lines.as_bytes().get(written..).unwrap_or_default();
            if !rest.is_empty() {
                state.waiting.extend_from_slice(rest);
                state.items = true;
                self.0.work.notify_one();
            }
            return true;
        }
    }

    /// Sends a line; waits for room until the connection is over.
    pub(crate) async fn send(&self, mut line: String) {
        loop {
            let room = self.0.room.notified();
            match self.try_send(line) {
                Ok(()) | Err(Refused::Closed) => return,
                Err(Refused::Full(back)) => line = back,
            }
            room.await;
        }
    }

    /// Nothing more will come: the writer ends once everything is written.
    pub(crate) fn finish(&self) {
        self.0.lock().stream = None;
        self.0.work.notify_one();
        self.0.room.notify_waiters();
    }

    /// The same outbox for somebody who only wants to send as long as the connection is there.
    pub(crate) fn downgrade(&self) -> WeakOutbox {
        WeakOutbox(Arc::downgrade(&self.0))
    }

    /// Writes what could not be written at once, until [`finish`](Outbox::finish) or until the client has gone, which
    /// cancels `gone`.
    pub(crate) async fn write(self, gone: CancellationToken) {
        let Some(stream) = self.0.lock().stream.clone() else { return };
        while let Some((lines, items)) = self.take().await {
            if let Err(reason) = self.write_all(&stream, &lines, items).await {
                tracing::debug!(reason, "the client has gone");
                self.0.lock().waiting = Vec::new();
                self.finish();
                gone.cancel();
                return;
            }
        }
    }

    async fn write_all(&self, stream: &OwnedWriteHalf, mut rest: &[u8], items: bool) -> Result<(), String> {
        let mut waited = 0;
        while !rest.is_empty() {
            match stream.try_write(rest) {
                Ok(0) => return Err("nothing can be written any more".to_owned()),
                Ok(written) => {
                    rest = rest.get(written..).unwrap_or_default();
                    waited = 0;
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    let look = if items { LOOK_SECONDS } else { WRITE_STALL_SECONDS };
                    match tokio::time::timeout(Duration::from_secs(look), stream.writable()).await {
                        Ok(Ok(())) => {}
                        Ok(Err(error)) => return Err(error.to_string()),
                        Err(_) => {
                            waited = self.waits_since(waited + look, items)?;
                        }
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }

    /// The client has read nothing for so many seconds: whether it may go on so. Items alone do not count.
    fn waits_since(&self, seconds: u64, items: bool) -> Result<u64, String> {
        let state = self.0.lock();
        if items && state.waiting.is_empty() {
            let over = state.stream.is_none().then(|| Err("nobody waits for the rest".to_owned()));
            return over.unwrap_or(Ok(0));
        }
        if seconds < WRITE_STALL_SECONDS {
            return Ok(seconds);
        }
        tracing::warn!("cut off a client that read nothing for {WRITE_STALL_SECONDS} s");
        Err("it reads nothing".to_owned())
    }

    /// What waits, as soon as there is something, and whether that is items only.
    async fn take(&self) -> Option<(Vec<u8>, bool)> {
        loop {
            {
                let mut state = self.0.lock();
                state.writing = !state.waiting.is_empty();
                if state.writing {
                    let lines = (std::mem::take(&mut state.waiting), std::mem::take(&mut state.items));
                    drop(state);
                    self.0.room.notify_waiters();
                    return Some(lines);
                }
                self.0.room.notify_waiters();
                state.stream.as_ref()?;
            }
            self.0.work.notified().await;
        }
    }
}

impl WeakOutbox {
    /// The outbox, if its connection is still there.
    pub(crate) fn upgrade(&self) -> Option<Outbox> {
        self.0.upgrade().map(Outbox)
    }
}

impl State {
    fn is_idle(&self) -> bool {
        !self.writing && self.waiting.is_empty()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}
