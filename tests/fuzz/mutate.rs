//! Mutations of a corpus, the same ones every time.

use hooksd_tests::fuzz::{SHAPED, Target};

/// Splitmix64: enough to choose with, and the same on every machine.
pub(crate) struct Choices(u64);

impl Choices {
    /// The choices that go with a name.
    pub(crate) fn new(name: &str) -> Choices {
        Choices(name.bytes().fold(0, |seed: u64, byte| seed.wrapping_mul(31) + u64::from(byte)))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

pub(crate) struct Mutator<'a> {
    target: &'a Target,
    corpus: Vec<Vec<u8>>,
    longest: usize,
    choices: Choices,
}

impl<'a> Mutator<'a> {
    pub(crate) fn new(target: &'a Target, corpus: Vec<Vec<u8>>, longest: usize) -> Mutator<'a> {
        Mutator { target, corpus, longest, choices: Choices::new(target.name) }
    }

    /// The next one: some file with a few changes, or bytes to build a shape from.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        if self.choices.below(4) == 0 {
            let length = 1 + self.choices.below(300);
            return std::iter::once(SHAPED).chain((0..length).map(|_| self.choices.next() as u8)).collect();
        }
        let mut data = self.any().to_vec();
        for _ in 0..=self.choices.below(4) {
            self.change(&mut data);
            data.truncate(self.longest);
        }
        data
    }

    fn any(&mut self) -> &[u8] {
        let at = self.choices.below(self.corpus.len());
        &self.corpus[at]
    }

    fn change(&mut self, data: &mut Vec<u8>) {
        let at = self.choices.below(data.len() + 1);
        let end = (at + 1 + self.choices.below(16)).min(data.len());
        match self.choices.below(8) {
            0 if at < data.len() => data[at] ^= 1 << self.choices.below(8),
            1 if at < data.len() => data[at] = self.choices.next() as u8,
            2 => drop(data.drain(at.min(end)..end)),
            3 => {
                let part = data[at.min(end)..end].to_vec();
                data.splice(at..at, part);
            }
            4 => {
                let other = self.any().to_vec();
                let from = self.choices.below(other.len() + 1);
                data.truncate(at);
                data.extend_from_slice(&other[from..]);
            }
            5 => data.truncate(at),
            _ => {
                let words = self.target.words.0;
                let word = words[self.choices.below(words.len())];
                data.splice(at..at, word.bytes());
            }
        }
    }
}
