//! Turns a read expression into instructions for the matcher.
//!
//! Guarantees: flags are resolved here and nowhere else. The instructions and their order are those of Python's own
//! compiler, so that captures survive backtracking exactly where they survive there.

use std::collections::HashMap;

use crate::ast::{At, Flags, Greed, Node, Seq, SetItem};
use crate::parse::Parsed;
use crate::set::CharSet;
use crate::{MAX_SET_RANGES, PatternError};

/// A test of one character.
#[derive(Clone, Copy, Debug)]
pub(crate) enum One {
    Any,
    NotNewline,
    Char(char),
    /// Whether the character is in the set of this index.
    Set(usize),
}

/// One instruction. A target is the index of an instruction.
#[derive(Debug)]
pub(crate) enum Inst {
    One(One),
    At(At),
    /// Sets a mark to the position. The mark of a group's start is twice its number less two, that of its end one more.
    Mark(usize),
    Branch(Vec<usize>),
    Jump(usize),
    /// Repeats a test of one character.
    RepeatOne {
        one: One,
        min: u32,
        max: u32,
        greed: Greed,
    },
    /// Starts a loop whose body follows and whose `Until` is at `until`.
    Repeat {
        until: usize,
    },
    Until {
        body: usize,
        min: u32,
        max: u32,
        lazy: bool,
    },
    /// Runs the body that follows again and again, each time without a way back.
    Possessive {
        min: u32,
        max: u32,
        end: usize,
    },
    Atomic {
        end: usize,
    },
    Assert {
        negated: bool,
        back: usize,
        end: usize,
    },
    GroupRef {
        group: usize,
        fold: Option<fn(u32) -> u32>,
    },
    IfGroup {
        group: usize,
        otherwise: usize,
    },
    Success,
}

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) code: Vec<Inst>,
    pub(crate) sets: Vec<CharSet>,
    /// How many marks there are; none when nothing reads them.
    pub(crate) marks: usize,
    /// The fewest characters of a match.
    pub(crate) min: u64,
}

/// Compiles a whole expression.
pub(crate) fn compile(parsed: &Parsed) -> Result<Program, PatternError> {
    let mut compiler = Compiler::default();
    compiler.sequence(&parsed.seq, parsed.flags);
    compiler.code.push(Inst::Success);
    if compiler.ranges > MAX_SET_RANGES {
        return Err(PatternError::unsupported(0, "an expression with so many and so large sets"));
    }
    let Compiler { mut code, sets, .. } = compiler;
    let reads = code.iter().any(|inst| matches!(inst, Inst::GroupRef { .. } | Inst::IfGroup { .. }));
    if !reads {
        for inst in &mut code {
            if let Inst::Mark(mark) = inst {
                *mark = usize::MAX;
            }
        }
    }
    let marks = if reads { parsed.groups.saturating_sub(1) * 2 } else { 0 };
    Ok(Program { code, sets, marks, min: parsed.width.0 })
}

#[derive(Default)]
struct Compiler {
    code: Vec<Inst>,
    sets: Vec<CharSet>,
    /// The sets by what they were made of, so that equal ones are made once.
    known: HashMap<(Vec<SetItem>, bool, u8), One>,
    /// How many ranges all sets have together.
    ranges: usize,
}

impl Compiler {
    fn sequence(&mut self, seq: &Seq, flags: Flags) {
        for node in seq {
            self.node(node, flags);
        }
    }

    /// Adds an instruction that `patch` fills in later.
    fn reserve(&mut self) -> usize {
        self.code.push(Inst::Success);
        self.code.len() - 1
    }

    fn patch(&mut self, at: usize, inst: Inst) {
        if let Some(slot) = self.code.get_mut(at) {
            *slot = inst;
        }
    }

    /// Adds a body that runs on its own, and says where the code after it starts.
    fn enclosed(&mut self, body: &Seq, flags: Flags) -> usize {
        self.sequence(body, flags);
        self.code.push(Inst::Success);
        self.code.len()
    }

    fn node(&mut self, node: &Node, flags: Flags) {
        if let Some(one) = self.one(node, flags) {
            self.code.push(Inst::One(one));
            return;
        }
        match node {
            Node::At(at) => self.code.push(Inst::At(position(*at, flags))),
            Node::Branch(items) => self.branch(items, flags),
            Node::Repeat { min, max, greed, body } => self.repeat((*min, *max, *greed), body, flags),
            Node::Group { index, add, del, body } => {
                let flags = flags.scoped(*add, *del);
                let mark = index.map(|index| index.saturating_sub(1) * 2);
                self.code.extend(mark.map(Inst::Mark));
                self.sequence(body, flags);
                self.code.extend(mark.map(|mark| Inst::Mark(mark + 1)));
            }
            Node::Atomic(body) => {
                let at = self.reserve();
                let end = self.enclosed(body, flags);
                self.patch(at, Inst::Atomic { end });
            }
            Node::Assert { back, negated, body } => {
                let at = self.reserve();
                let end = self.enclosed(body, flags);
                self.patch(at, Inst::Assert { negated: *negated, back: *back, end });
            }
            Node::GroupRef(group) => {
                let fold: Option<fn(u32) -> u32> =
                    match (flags.has(Flags::IGNORE_CASE), flags.has(Flags::ASCII)) {
                        (false, _) => None,
                        (true, false) => Some(crate::chars::lower),
                        (true, true) => Some(crate::chars::lower_ascii),
                    };
                self.code.push(Inst::GroupRef { group: *group, fold });
            }
            Node::IfGroup { group, yes, no } => {
                let at = self.reserve();
                self.sequence(yes, flags);
                let mut otherwise = self.code.len();
                if let Some(no) = no.as_ref().filter(|no| !no.is_empty()) {
                    let jump = self.reserve();
                    otherwise = self.code.len();
                    self.sequence(no, flags);
                    self.patch(jump, Inst::Jump(self.code.len()));
                }
                self.patch(at, Inst::IfGroup { group: *group, otherwise });
            }
            Node::Literal(_) | Node::NotLiteral(_) | Node::Any | Node::In { .. } => {}
        }
    }

    fn branch(&mut self, items: &[Seq], flags: Flags) {
        let at = self.reserve();
        let mut starts = Vec::new();
        let mut jumps = Vec::new();
        for item in items {
            starts.push(self.code.len());
            self.sequence(item, flags);
            jumps.push(self.reserve());
        }
        let end = self.code.len();
        for jump in jumps {
            self.patch(jump, Inst::Jump(end));
        }
        self.patch(at, Inst::Branch(starts));
    }

    fn repeat(&mut self, (min, max, greed): (u32, u32, Greed), body: &Seq, flags: Flags) {
        if let Some(one) = self.simple(body, flags) {
            self.code.push(Inst::RepeatOne { one, min, max, greed });
            return;
        }
        let at = self.reserve();
        if greed == Greed::Possessive {
            let end = self.enclosed(body, flags);
            return self.patch(at, Inst::Possessive { min, max, end });
        }
        self.sequence(body, flags);
        self.patch(at, Inst::Repeat { until: self.code.len() });
        self.code.push(Inst::Until { body: at + 1, min, max, lazy: greed == Greed::Lazy });
    }

    /// The test, when a body is one test of one character, at most inside of groups that capture nothing.
    fn simple(&mut self, body: &Seq, flags: Flags) -> Option<One> {
        match body.as_slice() {
            [Node::Group { index: None, add, del, body }] => self.simple(body, flags.scoped(*add, *del)),
            [node] => self.one(node, flags),
            _ => None,
        }
    }

    fn one(&mut self, node: &Node, flags: Flags) -> Option<One> {
        let set = |c: &u32| vec![SetItem::Literal(*c)];
        let (items, negated) = match node {
            Node::Any if flags.has(Flags::DOT_ALL) => return Some(One::Any),
            Node::Any => return Some(One::NotNewline),
            Node::Literal(c) => (set(c), false),
            Node::NotLiteral(c) => (set(c), true),
            Node::In { negated, items } => (items.clone(), *negated),
            _ => return None,
        };
        let kind = u8::from(flags.has(Flags::ASCII)) | u8::from(flags.has(Flags::IGNORE_CASE)) << 1;
        let key = (items, negated, kind);
        if let Some(&one) = self.known.get(&key) {
            return Some(one);
        }
        let set = CharSet::new(&key.0, negated, flags);
        let one = match set.single() {
            Some(c) => One::Char(c),
            // Beyond the limit the whole expression is refused, so that it does not matter what stands here.
            None if self.ranges > MAX_SET_RANGES => One::Any,
            None => {
                self.ranges += set.size();
                self.sets.push(set);
                One::Set(self.sets.len() - 1)
            }
        };
        self.known.insert(key, one);
        Some(one)
    }
}

fn position(at: At, flags: Flags) -> At {
    match at {
        At::Begin if flags.has(Flags::MULTI_LINE) => At::BeginLine,
        At::End if flags.has(Flags::MULTI_LINE) => At::EndLine,
        At::Boundary { negated, .. } => At::Boundary { ascii: flags.has(Flags::ASCII), negated },
        at => at,
    }
}
