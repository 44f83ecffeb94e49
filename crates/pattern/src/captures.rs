//! What groups have captured during a search.
//!
//! Guarantees: what is forgotten on the way back, and what is not, is exactly what CPython forgets. It always goes
//! back to an older number of marks that count, but puts old values back only inside loops.

/// A mark that was not reached
const NONE: u32 = u32::MAX;

/// The start and end of every group
#[derive(Debug)]
pub(crate) struct Captures {
    /// Positions: twice the group's number less two for its start, one more for its end
    marks: Vec<u32>,
    /// How many marks count; those behind are leftovers of failed attempts
    valid: u32,
    /// Old values, last in first out
    saved: Vec<u32>,
}

/// The state of the captures at an earlier time
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saved {
    start: u32,
    count: u32,
    valid: u32,
}

impl Saved {
    /// How many values are kept
    pub(crate) fn size(self) -> usize {
        self.count as usize
    }
}

impl Captures {
    pub(crate) fn new(marks: usize) -> Captures {
        Captures { marks: vec![NONE; marks], valid: 0, saved: Vec::new() }
    }

    /// Forgets everything, for the next start of an attempt
    pub(crate) fn clear(&mut self) {
        self.valid = 0;
    }

    /// Remembers the present state, and the values too if `values`
    pub(crate) fn save(&mut self, values: bool) -> Saved {
        let start = self.saved.len() as u32;
        let count = if values { self.valid } else { 0 };
        self.saved.extend(self.marks.iter().take(count as usize));
        Saved { start, count, valid: self.valid }
    }

    /// Goes back to a state, which stays remembered
    pub(crate) fn restore(&mut self, saved: Saved) {
        let values = self.saved.iter().skip(saved.start as usize).take(saved.size());
        for (mark, value) in self.marks.iter_mut().zip(values) {
            *mark = *value;
        }
        self.valid = saved.valid;
    }

    /// Drops this remembered state and all later ones
    pub(crate) fn discard(&mut self, saved: Saved) {
        self.saved.truncate(saved.start as usize);
    }

    /// Remembers a position, and says how many marks before it were skipped
    pub(crate) fn mark(&mut self, mark: usize, at: usize) -> usize {
        let Some(slot) = self.marks.get_mut(mark) else { return 0 };
        *slot = at as u32;
        let skipped = mark.saturating_sub(self.valid as usize);
        self.marks.iter_mut().take(mark).rev().take(skipped).for_each(|mark| *mark = NONE);
        self.valid = self.valid.max(mark as u32 + 1);
        skipped
    }

    /// Where a group begins and ends, if it has taken part
    pub(crate) fn group(&self, group: usize) -> Option<(usize, usize)> {
        let start = group.checked_sub(1)? * 2;
        if start + 1 >= self.valid as usize {
            return None;
        }
        let (from, to) = (*self.marks.get(start)?, *self.marks.get(start + 1)?);
        (from != NONE && to != NONE && from <= to).then_some((from as usize, to as usize))
    }
}
