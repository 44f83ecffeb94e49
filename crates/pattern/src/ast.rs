//! The tree of an expression, before flags are applied.
//!
//! Guarantee: the tree has the shape that Python's own parser gives it, with alternatives merged as there. That shape
//! decides where matching saves and restores captures.

use std::collections::HashSet;

/// Inline flags, as a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    pub(crate) const NONE: Flags = Flags(0);
    pub(crate) const IGNORE_CASE: Flags = Flags(1);
    pub(crate) const MULTI_LINE: Flags = Flags(2);
    pub(crate) const DOT_ALL: Flags = Flags(4);
    pub(crate) const VERBOSE: Flags = Flags(8);
    pub(crate) const ASCII: Flags = Flags(16);
    pub(crate) const UNICODE: Flags = Flags(32);
    /// The flags of which only one can hold.
    pub(crate) const TYPE: Flags = Flags(16 | 32);

    pub(crate) fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    pub(crate) fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    /// The flags that hold inside a group `(?add-del:...)`.
    pub(crate) fn scoped(self, add: Flags, del: Flags) -> Flags {
        let outer = if add.has(Flags::TYPE) { self.without(Flags::TYPE) } else { self };
        outer.with(add).without(del)
    }
}

/// What a class escape such as `\d` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Category {
    Digit,
    Space,
    Word,
}

/// One member of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SetItem {
    /// One character. It may be a surrogate, which matches nothing.
    Literal(u32),
    /// The characters from the first to the second. They may hold surrogates, which match nothing.
    Range(u32, u32),
    /// What a class escape stands for, or everything else.
    Category { category: Category, negated: bool },
}

/// A test of a position: `^`, `$`, `\b` and their like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Begin,
    BeginLine,
    BeginString,
    End,
    EndLine,
    EndString,
    Boundary { ascii: bool, negated: bool },
}

/// How a repeat chooses between one more round and going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Greed {
    Greedy,
    Lazy,
    Possessive,
}

/// The upper limit of a repeat that has none.
pub(crate) const UNLIMITED: u32 = u32::MAX;

/// What is matched one after the other.
pub(crate) type Seq = Vec<Node>;

/// One item of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Literal(u32),
    NotLiteral(u32),
    Any,
    In {
        negated: bool,
        items: Vec<SetItem>,
    },
    At(At),
    Branch(Vec<Seq>),
    Repeat {
        min: u32,
        max: u32,
        greed: Greed,
        body: Seq,
    },
    Group {
        index: Option<usize>,
        add: Flags,
        del: Flags,
        body: Seq,
    },
    Atomic(Seq),
    /// A look-around. `back` is the width of a look-behind in characters, and 0 for a look-ahead.
    Assert {
        back: usize,
        negated: bool,
        body: Seq,
    },
    GroupRef(usize),
    IfGroup {
        group: usize,
        yes: Seq,
        no: Option<Seq>,
    },
}

impl Node {
    /// Whether Python compares such items by value, so that alternatives which begin with equal ones are merged.
    fn is_flat(&self) -> bool {
        use Node::{Any, GroupRef, In, Literal, NotLiteral};
        matches!(self, Literal(_) | NotLiteral(_) | Any | In { .. } | Node::At(_) | GroupRef(_))
    }
}

/// The fewest and the most characters that something matches. The highest number stands for no limit.
pub(crate) type Width = (u64, u64);

/// The width of a sequence. `groups` holds the widths of the groups that are closed, by their number.
pub(crate) fn width(seq: &[Node], groups: &[Option<Width>]) -> Width {
    let widest = |branches: &mut dyn Iterator<Item = Width>| {
        branches.fold((u64::MAX, 0), |(low, high), (l, h)| (low.min(l), high.max(h)))
    };
    seq.iter().fold((0, 0), |(low, high): Width, node| {
        let (l, h) = match node {
            Node::Literal(_) | Node::NotLiteral(_) | Node::Any | Node::In { .. } => (1, 1),
            Node::At(_) | Node::Assert { .. } => (0, 0),
            Node::Branch(items) => widest(&mut items.iter().map(|item| width(item, groups))),
            Node::Repeat { min, max, body, .. } => {
                let (l, h) = width(body, groups);
                let most =
                    if *max == UNLIMITED && h > 0 { u64::MAX } else { h.saturating_mul((*max).into()) };
                (l.saturating_mul((*min).into()), most)
            }
            Node::Group { body, .. } | Node::Atomic(body) => width(body, groups),
            Node::GroupRef(group) => groups.get(*group).copied().flatten().unwrap_or((0, u64::MAX)),
            Node::IfGroup { yes, no, .. } => {
                let no = no.as_ref().map_or((0, 0), |no| width(no, groups));
                widest(&mut [width(yes, groups), no].into_iter())
            }
        };
        (low.saturating_add(l), high.saturating_add(h))
    })
}

/// The items in their order, each once.
pub(crate) fn distinct(items: Vec<SetItem>) -> Vec<SetItem> {
    let mut seen = HashSet::new();
    items.into_iter().filter(|&item| seen.insert(item)).collect()
}

/// Alternatives as Python keeps them: a beginning that all have in common stands before them, and alternatives of one
/// character each become a set.
pub(crate) fn alternatives(mut items: Vec<Seq>) -> Seq {
    if items.len() == 1 {
        return items.pop().unwrap_or_default();
    }
    let mut seq = Seq::new();
    if let Some((head, rest)) = items.split_first() {
        let common = head.iter().enumerate().take_while(|(at, node)| {
            node.is_flat() && rest.iter().all(|item| item.get(*at).is_some_and(|other| other == *node))
        });
        seq.extend(common.map(|(_, node)| node.clone()));
    }
    for item in &mut items {
        item.drain(..seq.len());
    }
    let single = items.iter().map(|item| match item.as_slice() {
        [Node::Literal(c)] => Some(vec![SetItem::Literal(*c)]),
        [Node::In { negated: false, items }] => Some(items.clone()),
        _ => None,
    });
    match single.collect::<Option<Vec<_>>>() {
        Some(sets) => seq.push(Node::In { negated: false, items: distinct(sets.concat()) }),
        None => seq.push(Node::Branch(items)),
    }
    seq
}
