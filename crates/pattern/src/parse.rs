//! Reads an expression as Python 3.13's `re` does.
//!
//! Guarantees: it accepts what Python accepts, with the same structure, except for the few things that it reports as
//! not supported. It refuses everything that Python refuses. `MAX_NESTING` bounds its recursion.

use crate::ast::{At, Flags, Greed, Node, Seq, UNLIMITED, Width, alternatives, width};
use crate::tokens::{MAX_DIGITS, Token, Tokens, interval};
use crate::{MAX_NESTING, PatternError};

/// The widest look-behind. Characters. Python keeps the width in 32 bits.
const MAX_LOOK_BEHIND: u64 = u32::MAX as u64;

/// The first group number that Python cannot name in a condition.
const MAX_GROUP_NUMBER: usize = 1_073_741_823;

/// An expression that was read.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) seq: Seq,
    /// The flags that hold for the whole expression.
    pub(crate) flags: Flags,
    /// How many groups there are, the whole match included.
    pub(crate) groups: usize,
    pub(crate) width: Width,
}

/// Reads a whole expression.
pub(crate) fn parse(text: &str) -> Result<Parsed, PatternError> {
    let mut parser = Parser {
        tokens: Tokens::new(text)?,
        flags: Flags::NONE,
        groups: vec![None],
        names: Vec::new(),
        forward: Vec::new(),
        behind_from: None,
        depth: 0,
    };
    let seq = parser.alternation(false, true)?;
    if parser.tokens.peek().is_some() {
        return Err(PatternError::python(parser.tokens.offset(), "an unbalanced closing parenthesis"));
    }
    if parser.flags.has(Flags::ASCII) && parser.flags.has(Flags::UNICODE) {
        return Err(PatternError::python(0, "the flags `a` and `u` together"));
    }
    if let Some(&(offset, _)) = parser.forward.iter().find(|(_, group)| *group >= parser.groups.len()) {
        return Err(PatternError::python(offset, "a condition on a group that does not exist"));
    }
    let width = width(&seq, &parser.groups);
    Ok(Parsed { seq, flags: parser.flags, groups: parser.groups.len(), width })
}

/// What is known so far of an expression that is being read.
#[derive(Debug)]
pub(crate) struct Parser {
    pub(crate) tokens: Tokens,
    flags: Flags,
    /// The width of each group by its number; `None` while it is open. Number 0 is the whole match.
    groups: Vec<Option<Width>>,
    names: Vec<(String, usize)>,
    /// The groups that conditions name, which may be defined later: the offset of the condition, and the number.
    forward: Vec<(usize, usize)>,
    /// Inside a look-behind, how many groups there were at its start.
    behind_from: Option<usize>,
    depth: usize,
}

impl Parser {
    fn alternation(&mut self, mut verbose: bool, top: bool) -> Result<Seq, PatternError> {
        let mut items = Vec::new();
        loop {
            items.push(self.sequence(verbose, top && items.is_empty())?);
            if !self.tokens.eat('|') {
                return Ok(alternatives(items));
            }
            if top {
                verbose = self.flags.has(Flags::VERBOSE);
            }
        }
    }

    fn sequence(&mut self, mut verbose: bool, first: bool) -> Result<Seq, PatternError> {
        let mut seq = Seq::new();
        loop {
            let offset = self.tokens.offset();
            let c = match self.tokens.peek() {
                None | Some(Token::Plain('|' | ')')) => return Ok(unpack(seq)),
                Some(Token::Escaped(c)) => {
                    self.tokens.take();
                    seq.push(self.escape(c, offset)?);
                    continue;
                }
                Some(Token::Plain(c)) => c,
            };
            self.tokens.take();
            match c {
                ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c' if verbose => {}
                '#' if verbose => while !matches!(self.tokens.take(), None | Some(Token::Plain('\n'))) {},
                '[' => seq.push(self.set(offset)?),
                '.' => seq.push(Node::Any),
                '^' => seq.push(Node::At(At::Begin)),
                '$' => seq.push(Node::At(At::End)),
                '?' => self.repeat(&mut seq, offset, 0, 1)?,
                '*' => self.repeat(&mut seq, offset, 0, UNLIMITED)?,
                '+' => self.repeat(&mut seq, offset, 1, UNLIMITED)?,
                '{' => match interval(&mut self.tokens, offset)? {
                    Some((min, max)) => self.repeat(&mut seq, offset, min, max)?,
                    None => seq.push(Node::Literal('{'.into())),
                },
                '(' => match self.group(offset, verbose, first && seq.is_empty())? {
                    Some(node) => seq.push(node),
                    None => verbose |= first && self.flags.has(Flags::VERBOSE),
                },
                c => seq.push(Node::Literal(c.into())),
            }
        }
    }

    fn repeat(&mut self, seq: &mut Seq, offset: usize, min: u32, max: u32) -> Result<(), PatternError> {
        let body = match seq.last() {
            None | Some(Node::At(_)) => return Err(PatternError::python(offset, "nothing to repeat")),
            Some(Node::Repeat { .. }) => return Err(PatternError::python(offset, "a repeated repetition")),
            Some(_) => match seq.pop() {
                Some(Node::Group { index: None, add: Flags::NONE, del: Flags::NONE, body }) => body,
                item => item.into_iter().collect(),
            },
        };
        let greed = if self.tokens.eat('?') {
            Greed::Lazy
        } else if self.tokens.eat('+') {
            Greed::Possessive
        } else {
            Greed::Greedy
        };
        seq.push(Node::Repeat { min, max, greed, body });
        Ok(())
    }

    /// Reads what an opening parenthesis starts. Comments and flags of the whole expression leave nothing in the tree.
    fn group(&mut self, open: usize, verbose: bool, first: bool) -> Result<Option<Node>, PatternError> {
        if !self.tokens.eat('?') {
            return self.capture(open, verbose, None).map(Some);
        }
        let kind = match self.tokens.take() {
            Some(Token::Plain(c)) => c,
            Some(Token::Escaped(_)) => return Err(PatternError::python(open, "an unknown kind of group")),
            None => return Err(PatternError::python(open, "a group without an end")),
        };
        let node = match kind {
            'P' if self.tokens.eat('<') => {
                let offset = self.tokens.offset();
                let name = self.tokens.take_name('>')?;
                check_name(&name, offset)?;
                return self.capture(open, verbose, Some((name, offset))).map(Some);
            }
            'P' if self.tokens.eat('=') => {
                let offset = self.tokens.offset();
                let name = self.tokens.take_name(')')?;
                let group = self.named(&name, offset)?;
                Node::GroupRef(self.referable(group, offset)?)
            }
            ':' => self.plain_group(open, verbose, Flags::NONE, Flags::NONE)?,
            '#' => loop {
                match self.tokens.take() {
                    None => return Err(PatternError::python(open, "a comment without an end")),
                    Some(Token::Plain(')')) => return Ok(None),
                    Some(_) => {}
                }
            },
            '=' | '!' => self.assertion(open, verbose, false, kind == '!')?,
            '<' if self.tokens.eat('=') => self.assertion(open, verbose, true, false)?,
            '<' if self.tokens.eat('!') => self.assertion(open, verbose, true, true)?,
            '(' => self.conditional(open, verbose)?,
            '>' => Node::Atomic(self.nested(open, verbose)?),
            '-' | 'a' | 'i' | 'm' | 's' | 'u' | 'x' => match self.inline_flags(kind)? {
                Some((add, del)) => self.plain_group(open, verbose, add, del)?,
                None if first => return Ok(None),
                None => {
                    let what = "flags for the whole expression that are not at its start";
                    return Err(PatternError::python(open, what));
                }
            },
            'L' => return Err(PatternError::python(open, "the flag `L`, which is for byte strings only")),
            _ => return Err(PatternError::python(open, "an unknown kind of group")),
        };
        Ok(Some(node))
    }

    /// Reads the content of a group and its closing parenthesis.
    fn nested(&mut self, open: usize, verbose: bool) -> Result<Seq, PatternError> {
        self.descend(open)?;
        let seq = self.alternation(verbose, false)?;
        self.close(open)?;
        Ok(seq)
    }

    fn descend(&mut self, open: usize) -> Result<(), PatternError> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(PatternError::unsupported(
                open,
                &format!("nesting deeper than {MAX_NESTING} groups"),
            ));
        }
        Ok(())
    }

    fn close(&mut self, open: usize) -> Result<(), PatternError> {
        self.depth -= 1;
        if self.tokens.eat(')') { Ok(()) } else { Err(PatternError::python(open, "a group without an end")) }
    }

    fn capture(
        &mut self,
        open: usize,
        verbose: bool,
        name: Option<(String, usize)>,
    ) -> Result<Node, PatternError> {
        let index = self.groups.len();
        self.groups.push(None);
        if let Some((name, offset)) = name {
            if self.names.iter().any(|(known, _)| *known == name) {
                return Err(PatternError::python(offset, "a group name that is already in use"));
            }
            self.names.push((name, index));
        }
        let body = self.nested(open, verbose)?;
        let closed = width(&body, &self.groups);
        if let Some(group) = self.groups.get_mut(index) {
            *group = Some(closed);
        }
        Ok(Node::Group { index: Some(index), add: Flags::NONE, del: Flags::NONE, body })
    }

    fn plain_group(
        &mut self,
        open: usize,
        verbose: bool,
        add: Flags,
        del: Flags,
    ) -> Result<Node, PatternError> {
        let verbose = (verbose || add.has(Flags::VERBOSE)) && !del.has(Flags::VERBOSE);
        Ok(Node::Group { index: None, add, del, body: self.nested(open, verbose)? })
    }

    fn assertion(
        &mut self,
        open: usize,
        verbose: bool,
        behind: bool,
        negated: bool,
    ) -> Result<Node, PatternError> {
        let outer = self.behind_from;
        if behind {
            self.behind_from = outer.or(Some(self.groups.len()));
        }
        let body = self.nested(open, verbose)?;
        self.behind_from = outer;
        let mut back = 0;
        if behind {
            let (low, high) = width(&body, &self.groups);
            if low > MAX_LOOK_BEHIND {
                return Err(PatternError::python(open, "a look-behind that looks too far back"));
            }
            if low != high {
                return Err(PatternError::python(open, "a look-behind without a fixed width"));
            }
            back = usize::try_from(low).unwrap_or(usize::MAX);
        }
        Ok(Node::Assert { back, negated, body })
    }

    fn conditional(&mut self, open: usize, verbose: bool) -> Result<Node, PatternError> {
        let offset = self.tokens.offset();
        let name = self.tokens.take_name(')')?;
        let group = if name.bytes().all(|b| b.is_ascii_digit()) {
            match name.parse() {
                Ok(number @ 1..MAX_GROUP_NUMBER) if name.len() <= MAX_DIGITS => number,
                _ => return Err(PatternError::python(offset, "a bad group number")),
            }
        } else {
            self.named(&name, offset)?
        };
        self.forward.push((offset, group));
        if self.behind_from.is_some() {
            self.referable(group, offset)?;
        }
        self.descend(open)?;
        let yes = self.sequence(verbose, false)?;
        let no = if self.tokens.eat('|') { Some(self.sequence(verbose, false)?) } else { None };
        if self.tokens.peek() == Some(Token::Plain('|')) {
            return Err(PatternError::python(open, "a condition with more than two branches"));
        }
        self.close(open)?;
        Ok(Node::IfGroup { group, yes, no })
    }

    /// The number of the group with this name.
    fn named(&self, name: &str, offset: usize) -> Result<usize, PatternError> {
        check_name(name, offset)?;
        let known = self.names.iter().find(|(known, _)| known == name).map(|&(_, group)| group);
        known.ok_or_else(|| PatternError::python(offset, "an unknown group name"))
    }

    /// Checks that a reference at this place may refer to the group.
    pub(crate) fn referable(&self, group: usize, offset: usize) -> Result<usize, PatternError> {
        match self.groups.get(group) {
            None => Err(PatternError::python(offset, "a reference to a group that does not exist")),
            Some(None) => Err(PatternError::python(offset, "a reference to a group that is still open")),
            Some(Some(_)) if self.behind_from.is_some_and(|from| group >= from) => {
                Err(PatternError::python(offset, "a reference to a group of the same look-behind"))
            }
            Some(Some(_)) => Ok(group),
        }
    }

    /// Reads the flags of `(?flags)`, which it sets, or of `(?add-del:`.
    fn inline_flags(&mut self, kind: char) -> Result<Option<(Flags, Flags)>, PatternError> {
        let offset = self.tokens.offset().saturating_sub(1);
        let refuse = |what| Err(PatternError::python(offset, what));
        let (mut add, mut del, mut next) = (Flags::NONE, Flags::NONE, Some(Token::Plain(kind)));
        while let Some(flag) = flag(next) {
            add = add.with(flag);
            if flag.has(Flags::TYPE) && add.without(flag).has(Flags::TYPE) {
                return refuse("the flags `a` and `u` together");
            }
            next = self.tokens.take();
        }
        match next {
            Some(Token::Plain(')')) => {
                self.flags = self.flags.with(add);
                return Ok(None);
            }
            Some(Token::Plain(':')) => return Ok(Some((add, del))),
            Some(Token::Plain('-')) => next = self.tokens.take(),
            _ => return refuse("an unknown flag"),
        }
        while let Some(flag) = flag(next) {
            if flag.has(Flags::TYPE) {
                return refuse("the flag `a` or `u` turned off");
            }
            del = del.with(flag);
            next = self.tokens.take();
        }
        if next != Some(Token::Plain(':')) || del == Flags::NONE {
            return refuse("an unknown or missing flag");
        }
        if add.has(del) { refuse("a flag that is turned both on and off") } else { Ok(Some((add, del))) }
    }
}

/// Replaces plain groups by their content.
fn unpack(seq: Seq) -> Seq {
    let content = |node| match node {
        Node::Group { index: None, add: Flags::NONE, del: Flags::NONE, body } => body,
        node => vec![node],
    };
    seq.into_iter().flat_map(content).collect()
}

fn flag(token: Option<Token>) -> Option<Flags> {
    let Some(Token::Plain(c)) = token else { return None };
    match c {
        'a' => Some(Flags::ASCII),
        'i' => Some(Flags::IGNORE_CASE),
        'm' => Some(Flags::MULTI_LINE),
        's' => Some(Flags::DOT_ALL),
        'u' => Some(Flags::UNICODE),
        'x' => Some(Flags::VERBOSE),
        _ => None,
    }
}

/// Refuses a group name that is not an identifier. Python knows more scripts than this does.
fn check_name(name: &str, offset: usize) -> Result<(), PatternError> {
    let letter = |c: char| {
        c.is_ascii_alphabetic() || c == '_' || crate::chars::contains(crate::tables::NAME, c.into())
    };
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(PatternError::python(offset, "a group name that is no identifier"));
    }
    match name.chars().find(|&c| !letter(c) && !c.is_ascii_digit()) {
        None => Ok(()),
        Some(c) if c.is_ascii() => Err(PatternError::python(offset, "a group name that is no identifier")),
        Some(_) => {
            Err(PatternError::unsupported(offset, "a group name in a script other than the most usual ones"))
        }
    }
}
