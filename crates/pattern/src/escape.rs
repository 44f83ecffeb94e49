//! Reads escapes and sets as Python 3.13's `re` does.
//!
//! Guarantees: `[` is an ordinary character inside a set, and so are `&&`, `||`, `~~` and `--`: there are no nested
//! sets and no operations on sets. Unknown escapes of ASCII letters and of digits are refused.

use crate::PatternError;
use crate::ast::{At, Category, Node, SetItem, distinct};
use crate::parse::Parser;
use crate::tokens::Token;

/// The highest value of an octal escape.
const MAX_OCTAL: u32 = 0o377;

impl Parser {
    /// Reads an escape outside a set.
    pub(crate) fn escape(&mut self, c: char, offset: usize) -> Result<Node, PatternError> {
        let boundary = |negated| Node::At(At::Boundary { ascii: false, negated });
        Ok(match c {
            'A' => Node::At(At::BeginString),
            'Z' => Node::At(At::EndString),
            'b' => boundary(false),
            'B' => boundary(true),
            '1'..='9' => return self.octal_or_reference(c, offset),
            c => match category(c) {
                Some(item) => Node::In { negated: false, items: vec![item] },
                None => Node::Literal(self.character(c, offset)?),
            },
        })
    }

    /// Reads `\1` to `\99`, or three octal digits.
    fn octal_or_reference(&mut self, first: char, offset: usize) -> Result<Node, PatternError> {
        let mut digits = String::from(first);
        digits += &self.tokens.take_while(1, |c| c.is_ascii_digit());
        if digits.len() == 2 && digits.chars().all(is_octal) {
            let third = self.tokens.take_while(1, is_octal);
            if !third.is_empty() {
                return Ok(Node::Literal(octal(&(digits + &third), offset)?));
            }
        }
        let group = digits.parse().unwrap_or(usize::MAX);
        Ok(Node::GroupRef(self.referable(group, offset)?))
    }

    /// Reads an escape that stands for one character.
    fn character(&mut self, c: char, offset: usize) -> Result<u32, PatternError> {
        Ok(match c {
            'a' => 0x07,
            'f' => 0x0c,
            'n' => 0x0a,
            'r' => 0x0d,
            't' => 0x09,
            'v' => 0x0b,
            'x' => self.hexadecimal(2, offset)?,
            'u' => self.hexadecimal(4, offset)?,
            'U' => match self.hexadecimal(8, offset)? {
                c if c > char::MAX.into() => {
                    return Err(PatternError::python(offset, "an escape above U+10FFFF"));
                }
                c => c,
            },
            'N' => return Err(PatternError::unsupported(offset, r"a character by its name, `\N{...}`,")),
            '0'..='7' => {
                let digits = String::from(c) + &self.tokens.take_while(2, is_octal);
                octal(&digits, offset)?
            }
            c if c.is_ascii_alphanumeric() => {
                return Err(PatternError::python(offset, &format!(r"the unknown escape `\{c}`")));
            }
            c => c.into(),
        })
    }

    fn hexadecimal(&mut self, count: usize, offset: usize) -> Result<u32, PatternError> {
        let digits = self.tokens.take_while(count, |c| c.is_ascii_hexdigit());
        match u32::from_str_radix(&digits, 16) {
            Ok(value) if digits.len() == count => Ok(value),
            _ => Err(PatternError::python(offset, "an incomplete escape")),
        }
    }

    /// Reads a set, after its opening bracket.
    pub(crate) fn set(&mut self, open: usize) -> Result<Node, PatternError> {
        let negated = self.tokens.eat('^');
        let mut items = Vec::new();
        loop {
            let first = self.tokens.offset();
            let item = match self.member(open)? {
                (Token::Plain(']'), _) if !items.is_empty() => break,
                (_, item) => item,
            };
            if !self.tokens.eat('-') {
                items.push(item);
                continue;
            }
            let (end, last) = self.member(open)?;
            if end == Token::Plain(']') {
                items.extend([item, SetItem::Literal('-'.into())]);
                break;
            }
            match (item, last) {
                (SetItem::Literal(low), SetItem::Literal(high)) if low <= high => {
                    items.push(SetItem::Range(low, high));
                }
                _ => return Err(PatternError::python(first, "a bad character range")),
            }
        }
        let items = distinct(items);
        Ok(match items.as_slice() {
            [SetItem::Literal(c)] if negated => Node::NotLiteral(*c),
            [SetItem::Literal(c)] => Node::Literal(*c),
            _ => Node::In { negated, items },
        })
    }

    fn member(&mut self, open: usize) -> Result<(Token, SetItem), PatternError> {
        let offset = self.tokens.offset();
        let token = self.tokens.take();
        let token = token.ok_or_else(|| PatternError::python(open, "a set without an end"))?;
        let item = match token {
            Token::Plain(c) => SetItem::Literal(c.into()),
            Token::Escaped('b') => SetItem::Literal(0x08),
            Token::Escaped(c) => match category(c) {
                Some(item) => item,
                None => SetItem::Literal(self.character(c, offset)?),
            },
        };
        Ok((token, item))
    }
}

fn category(c: char) -> Option<SetItem> {
    let category = match c {
        'd' | 'D' => Category::Digit,
        's' | 'S' => Category::Space,
        'w' | 'W' => Category::Word,
        _ => return None,
    };
    Some(SetItem::Category { category, negated: c.is_ascii_uppercase() })
}

fn is_octal(c: char) -> bool {
    ('0'..='7').contains(&c)
}

fn octal(digits: &str, offset: usize) -> Result<u32, PatternError> {
    match u32::from_str_radix(digits, 8) {
        Ok(value) if value <= MAX_OCTAL => Ok(value),
        _ => Err(PatternError::python(offset, "an octal escape above 0o377")),
    }
}
