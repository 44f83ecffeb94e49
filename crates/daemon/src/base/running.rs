//! The events that run now, by invocation id, so that anybody of this user's can stop one (`hook/cancel`).

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::base::lock::lock;
use hooksd_protocol::methods::HookCancelled;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// One running event.
struct Entry {
    invocation: Uuid,
    event: Cow<'static, str>,
    session: Arc<str>,
    cancel: CancellationToken,
}

/// The running events: no more than requests in flight, and those that outlive their client.
#[derive(Default)]
pub(crate) struct RunningEvents {
    entries: Mutex<(u64, HashMap<u64, Entry>)>,
}

/// Takes its event out again when it is dropped.
pub(crate) struct Registered {
    events: Arc<RunningEvents>,
    number: u64,
}

impl RunningEvents {
    fn lock(&self) -> MutexGuard<'_, (u64, HashMap<u64, Entry>)> {
        lock(&self.entries)
    }

    /// Registers an event until the guard is dropped.
    pub(crate) fn register(
        self: &Arc<RunningEvents>,
        invocation: Uuid,
        event: Cow<'static, str>,
        session: Arc<str>,
        cancel: CancellationToken,
    ) -> Registered {
        let entry = Entry { invocation, event, session, cancel };
        let mut entries = self.lock();
        // Two sessions may use one id: numbers tell them apart.
        let number = entries.0;
        entries.0 = number.wrapping_add(1);
        entries.1.insert(number, entry);
        Registered { events: self.clone(), number }
    }

    /// Stops the one event whose invocation id begins with `id`.
    ///
    /// # Errors
    /// How many events have such an id, when it is not exactly one.
    pub(crate) fn cancel(&self, id: &str) -> Result<HookCancelled, usize> {
        let entries = self.lock();
        let mut found = entries.1.values().filter(|entry| entry.invocation.to_string().starts_with(id));
        match (found.next(), found.count()) {
            (Some(entry), 0) => {
                entry.cancel.cancel();
                Ok(HookCancelled {
                    invocation_id: entry.invocation,
                    event: entry.event.clone().into_owned(),
                    session: entry.session.to_string(),
                })
            }
            (first, others) => Err(usize::from(first.is_some()) + others),
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.events.lock().1.remove(&self.number);
    }
}
