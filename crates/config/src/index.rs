//! Which handlers can be for an event, found by its name: those with exact matchers cost nothing on events of other
//! names, however many there are.

use std::collections::HashMap;

use hooksd_protocol::event::EventName;

use crate::matcher::Matcher;
use crate::model::Handler;

/// The handlers of one event, by index in the snapshot, each list in configuration order.
#[derive(Debug, Clone, Default)]
struct Entry {
    by_name: HashMap<String, Vec<usize>>,
    /// Those that have to be asked.
    others: Vec<usize>,
}

/// All handlers of a snapshot.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    events: HashMap<EventName, Entry>,
}

impl Index {
    /// Files the handlers.
    pub(crate) fn new(handlers: &[Handler]) -> Index {
        let mut index = Index::default();
        for (number, handler) in handlers.iter().enumerate() {
            let entry = index.events.entry(handler.event).or_default();
            match &*handler.matcher {
                Matcher::Exact(names) => {
                    for name in names {
                        entry.by_name.entry(name.clone()).or_default().push(number);
                    }
                }
                Matcher::All | Matcher::Expression(_) => entry.others.push(number),
            }
        }
        index
    }

    /// Handlers that may be for the event; all others are not. In configuration order.
    pub(crate) fn candidates(&self, event: EventName, subject: Option<&str>) -> Vec<usize> {
        let Some(entry) = self.events.get(&event) else { return Vec::new() };
        let named = subject.and_then(|subject| entry.by_name.get(subject));
        let mut all: Vec<usize> = named.into_iter().flatten().chain(&entry.others).copied().collect();
        all.sort_unstable();
        all
    }
}
