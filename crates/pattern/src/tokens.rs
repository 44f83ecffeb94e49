//! Takes an expression apart into characters, each escape together with what it escapes.
//!
//! Guarantees: the units are those of Python's tokenizer, so that an escaped `)`, `]` or line end never ends a
//! comment, a set or a name. Offsets count characters.

use crate::{PatternError, ast};

/// How many digits the longest number has that Python reads, leading zeros included. Digits.
pub(crate) const MAX_DIGITS: usize = 4300;

/// One unit of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Plain(char),
    Escaped(char),
}

/// The units of an expression, and how far they were read.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// The units, each with its offset in characters.
    items: Vec<(usize, Token)>,
    /// The index of the unit that is read next.
    next: usize,
    /// How many characters the expression has.
    chars: usize,
}

impl Tokens {
    pub(crate) fn new(text: &str) -> Result<Tokens, PatternError> {
        let mut items = Vec::new();
        let mut chars = text.chars().enumerate();
        while let Some((at, c)) = chars.next() {
            let token = match c {
                '\\' => match chars.next() {
                    Some((_, escaped)) => Token::Escaped(escaped),
                    None => return Err(PatternError::python(at, "an escape without a character")),
                },
                c => Token::Plain(c),
            };
            items.push((at, token));
        }
        Ok(Tokens { items, next: 0, chars: text.chars().count() })
    }

    pub(crate) fn peek(&self) -> Option<Token> {
        self.items.get(self.next).map(|&(_, token)| token)
    }

    pub(crate) fn take(&mut self) -> Option<Token> {
        let token = self.peek()?;
        self.next += 1;
        Some(token)
    }

    /// Takes the next token if it is this plain character.
    pub(crate) fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(Token::Plain(c));
        self.next += usize::from(found);
        found
    }

    /// Takes plain characters that `wanted` accepts, up to `most` of them.
    pub(crate) fn take_while(&mut self, most: usize, wanted: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while taken.len() < most
            && let Some(Token::Plain(c)) = self.peek()
            && wanted(c)
        {
            taken.push(c);
            self.next += 1;
        }
        taken
    }

    /// Takes a name and the `end` after it.
    pub(crate) fn take_name(&mut self, end: char) -> Result<String, PatternError> {
        let start = self.offset();
        let mut name = String::new();
        loop {
            match self.take() {
                None => return Err(PatternError::python(start, "a group name without an end")),
                Some(Token::Plain(c)) if c == end => break,
                Some(Token::Plain(c)) => name.push(c),
                Some(Token::Escaped(c)) => name.extend(['\\', c]),
            }
        }
        if name.is_empty() { Err(PatternError::python(start, "a missing group name")) } else { Ok(name) }
    }

    /// The offset of the next token. Characters.
    pub(crate) fn offset(&self) -> usize {
        self.items.get(self.next).map_or(self.chars, |&(at, _)| at)
    }

    pub(crate) fn mark(&self) -> usize {
        self.next
    }

    pub(crate) fn reset(&mut self, mark: usize) {
        self.next = mark;
    }
}

/// Reads the two counts of `{n}`, `{n,}`, `{,m}` or `{n,m}`. `None` means that the brace at `open` is an ordinary
/// character.
pub(crate) fn interval(tokens: &mut Tokens, open: usize) -> Result<Option<(u32, u32)>, PatternError> {
    let start = tokens.mark();
    if tokens.peek() == Some(Token::Plain('}')) {
        return Ok(None);
    }
    let low = tokens.take_while(usize::MAX, |c| c.is_ascii_digit());
    let high =
        if tokens.eat(',') { tokens.take_while(usize::MAX, |c| c.is_ascii_digit()) } else { low.clone() };
    if !tokens.eat('}') {
        tokens.reset(start);
        return Ok(None);
    }
    let count = |digits: &str, missing: u32| match digits.parse::<u32>() {
        _ if digits.is_empty() => Ok(missing),
        Ok(count) if count < ast::UNLIMITED && digits.len() <= MAX_DIGITS => Ok(count),
        _ => Err(PatternError::python(open, "a repetition count of 4294967295 or more")),
    };
    let (min, max) = (count(&low, 0)?, count(&high, ast::UNLIMITED)?);
    if max < min {
        return Err(PatternError::python(open, "a repetition whose least count is above its greatest"));
    }
    Ok(Some((min, max)))
}
