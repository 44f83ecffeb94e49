//! What groups have captured during a search.
//!
//! Guarantee: on the way back exactly that is forgotten which CPython forgets. CPython always goes back to the older
//! number of marks that count, but puts the old values of the marks back only inside loops.

/// The value of a mark that was not reached.
const NONE: u32 = u32::MAX;

/// Where every group starts and ends.
#[derive(Debug)]
pub(crate) struct Captures {
    /// The positions. The start of a group is at twice its number less two, its end one after that.
    marks: Vec<u32>,
    /// How many marks count. Those after them are left over from attempts that failed.
    valid: u32,
    /// Old values of marks, the last saved at the end.
    saved: Vec<u32>,
}

/// The state of the captures at an earlier time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saved {
    /// Where its values begin in the old values.
    start: u32,
    /// How many values it has.
    count: u32,
    /// How many marks counted then.
    valid: u32,
}

impl Saved {
    /// How many values are saved with it.
    pub(crate) fn size(self) -> usize {
        self.count as usize
    }
}

impl Captures {
    pub(crate) fn new(marks: usize) -> Captures {
        Captures { marks: vec![NONE; marks], valid: 0, saved: Vec::new() }
    }

    /// Forgets everything, before the next attempt starts.
    pub(crate) fn clear(&mut self) {
        self.valid = 0;
    }

    /// Saves the present state, and with `values` also the values of the marks.
    pub(crate) fn save(&mut self, values: bool) -> Saved {
        let start = self.saved.len() as u32;
        let count = if values { self.valid } else { 0 };
        self.saved.extend(self.marks.iter().take(count as usize));
        Saved { start, count, valid: self.valid }
    }

    /// Goes back to a saved state, which stays saved.
    pub(crate) fn restore(&mut self, saved: Saved) {
        let values = self.saved.iter().skip(saved.start as usize).take(saved.size());
        for (mark, value) in self.marks.iter_mut().zip(values) {
            *mark = *value;
        }
        self.valid = saved.valid;
    }

    /// Drops this saved state and all later ones.
    pub(crate) fn discard(&mut self, saved: Saved) {
        self.saved.truncate(saved.start as usize);
    }

    /// Sets a mark to a position, and says how many marks before it were skipped.
    pub(crate) fn mark(&mut self, mark: usize, at: usize) -> usize {
        let Some(slot) = self.marks.get_mut(mark) else { return 0 };
        *slot = at as u32;
        let skipped = mark.saturating_sub(self.valid as usize);
        self.marks.iter_mut().take(mark).rev().take(skipped).for_each(|mark| *mark = NONE);
        self.valid = self.valid.max(mark as u32 + 1);
        skipped
    }

    /// Where a group begins and ends, if it has taken part.
    pub(crate) fn group(&self, group: usize) -> Option<(usize, usize)> {
        let start = group.checked_sub(1)? * 2;
        if start + 1 >= self.valid as usize {
            return None;
        }
        let (from, to) = (*self.marks.get(start)?, *self.marks.get(start + 1)?);
        (from != NONE && to != NONE && from <= to).then_some((from as usize, to as usize))
    }
}
