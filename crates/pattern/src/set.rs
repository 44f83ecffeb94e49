//! Sets of characters as sorted ranges.
//!
//! Guarantees: under IGNORECASE a set holds exactly the characters Python matches: those whose lower case is that
//! of a member, or is equivalent to it in Python's own table (`i` with dotless and dotted i, `k` with the Kelvin sign).

use crate::ast::{Category, Flags, SetItem};
use crate::{chars, tables};

/// The last character that Python keeps in its table of a set. It treats higher ones in another way.
const LAST_LOW: u32 = 0xffff;

type Ranges = Vec<(u32, u32)>;

/// A class escape, and whether it stands for everything else.
type Escape = (Category, bool);

/// A fixed set of characters.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct CharSet {
    /// The ranges of the set: sorted, disjoint, with both ends in the set.
    ranges: Box<[(u32, u32)]>,
}

impl CharSet {
    /// The set that these items mean under these flags.
    pub(crate) fn new(items: &[SetItem], negated: bool, flags: Flags) -> CharSet {
        let ascii = flags.has(Flags::ASCII);
        let ignore_case = flags.has(Flags::IGNORE_CASE);
        let (mut ranges, mut high) = (Ranges::new(), Ranges::new());
        let mut escapes: Vec<Escape> = Vec::new();
        for &item in items {
            match item {
                // Python forgets the lower case of such a character when it is in a set with others.
                SetItem::Literal(c) if ignore_case && !ascii && items.len() > 1 && is_high_upper(c) => {}
                SetItem::Literal(c) => ranges.push((c, c)),
                SetItem::Range(first, last) => {
                    ranges.push((first, last));
                    high.extend((last > LAST_LOW).then_some((first, last)));
                }
                SetItem::Category { category, negated } if !escapes.contains(&(category, negated)) => {
                    escapes.push((category, negated));
                }
                SetItem::Category { .. } => {}
            }
        }
        let mut ranges = merged(ranges);
        if ignore_case {
            ranges = if ascii { fold_ascii(ranges, &high) } else { fold(ranges, &high) };
        }
        for (category, negated) in escapes {
            let members = members(category, ascii);
            ranges.extend(if negated { complement(members) } else { members.to_vec() });
        }
        let ranges = merged(ranges);
        CharSet { ranges: if negated { complement(&ranges) } else { ranges }.into() }
    }

    pub(crate) fn contains(&self, c: char) -> bool {
        chars::contains(&self.ranges, c.into())
    }

    /// The only member, if there is only one.
    pub(crate) fn single(&self) -> Option<char> {
        match *self.ranges {
            [(first, last)] if first == last => char::from_u32(first),
            _ => None,
        }
    }

    /// How many ranges the set has.
    pub(crate) fn size(&self) -> usize {
        self.ranges.len()
    }
}

fn members(category: Category, ascii: bool) -> &'static [(u32, u32)] {
    match (category, ascii) {
        (Category::Digit, false) => tables::DIGIT,
        (Category::Space, false) => tables::SPACE,
        (Category::Word, false) => tables::WORD,
        (Category::Digit, true) => &[(0x30, 0x39)],
        (Category::Space, true) => &[(0x09, 0x0d), (0x20, 0x20)],
        (Category::Word, true) => &[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)],
    }
}

fn merged(mut ranges: Ranges) -> Ranges {
    ranges.sort_unstable();
    let mut merged = Ranges::with_capacity(ranges.len());
    for (first, last) in ranges {
        match merged.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
            _ => merged.push((first, last)),
        }
    }
    merged
}

fn complement(ranges: &[(u32, u32)]) -> Ranges {
    let mut next = 0;
    let mut rest = Ranges::with_capacity(ranges.len() + 1);
    for &(first, last) in ranges {
        if next < first {
            rest.push((next, first - 1));
        }
        next = last + 1;
    }
    if next <= char::MAX.into() {
        rest.push((next, char::MAX.into()));
    }
    rest
}

/// Whether a character is above `LAST_LOW` and is not its own lower case.
fn is_high_upper(c: u32) -> bool {
    c > LAST_LOW && chars::lower(c) != c
}

/// Every character of a table of cases, with its other case.
fn other_case(table: &'static [(u32, u32, u32, i32)]) -> impl Iterator<Item = (u32, u32)> {
    table.iter().flat_map(|&(first, last, step, add)| {
        (first..=last).step_by(step as usize).map(move |c| (c, c.saturating_add_signed(add)))
    })
}

/// Characters whose upper case is in a range that goes above `LAST_LOW`; Python tests such ranges with it, by
/// the upper case of all scripts even under the `a` flag
fn with_upper_in(high: &[(u32, u32)]) -> Ranges {
    if high.is_empty() {
        return Ranges::new();
    }
    let high = merged(high.to_vec());
    let found = other_case(tables::UPPER).filter(|&(_, upper)| chars::contains(&high, upper));
    found.map(|(c, _)| (c, c)).collect()
}

fn fold(ranges: Ranges, high: &[(u32, u32)]) -> Ranges {
    let has = |ranges: &Ranges, c| chars::contains(ranges, c);
    let mut lower = ranges.clone();
    lower.extend(other_case(tables::LOWER).filter(|&(c, _)| has(&ranges, c)).map(|(_, low)| (low, low)));
    let lower = merged(lower);
    let mut folded = with_upper_in(high);
    for (c, equivalent) in tables::EQUIVALENT {
        if has(&lower, *c) {
            folded.extend(equivalent.iter().map(|&c| (c, c)));
        }
    }
    folded.extend(lower);
    let mut folded = merged(folded);
    let upper = other_case(tables::LOWER).filter(|&(_, low)| has(&folded, low)).map(|(c, _)| (c, c));
    let upper: Ranges = upper.collect();
    folded.extend(upper);
    merged(folded)
}

fn fold_ascii(ranges: Ranges, high: &[(u32, u32)]) -> Ranges {
    let mut folded = with_upper_in(high);
    let letters = |offset: u32| (0x41..=0x5a).map(move |c: u32| (c + offset, c + 0x20 - offset));
    let pairs = letters(0).chain(letters(0x20));
    folded.extend(pairs.filter(|&(c, _)| chars::contains(&ranges, c)).map(|(_, other)| (other, other)));
    folded.extend(ranges);
    merged(folded)
}
