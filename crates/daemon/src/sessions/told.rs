//! What a conversation was told already, so that it is told once.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;

use crate::base::lock::lock;

/// How much is remembered. Things told. The oldest is forgotten first, and then told once more.
const MAX_REMEMBERED: usize = 4096;

/// Remembers what was told to which conversation.
#[derive(Default)]
pub(crate) struct ToldOnce {
    hasher: RandomState,
    told: Mutex<VecDeque<u64>>,
}

impl ToldOnce {
    /// Notes that a conversation is told something; false when it was told the same before.
    pub(crate) fn is_new(&self, thread: &str, what: &str) -> bool {
        let hash = self.hasher.hash_one((thread, what));
        let mut told = lock(&self.told);
        if told.contains(&hash) {
            return false;
        }
        if told.len() >= MAX_REMEMBERED {
            told.pop_front();
        }
        told.push_back(hash);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_conversation_is_told_once_as_far_as_is_remembered() {
        let told = ToldOnce::default();
        assert!(told.is_new("t", "a") && told.is_new("t", "b") && told.is_new("u", "a"));
        assert!(!told.is_new("t", "a") && !told.is_new("u", "a"));
        (0..MAX_REMEMBERED).for_each(|number| assert!(told.is_new("v", &number.to_string())));
        assert!(told.is_new("t", "a"), "what is forgotten is told again");
    }
}
