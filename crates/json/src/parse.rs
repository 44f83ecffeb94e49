//! The scanner: it checks a text and indexes the values in it.
//!
//! Guarantee: it does not recurse. Each open level costs one bit, so that no depth can harm.

use std::fmt;

/// How many levels below the parsed value are indexed. Levels. Of a container at the last one only the span is known;
/// its members are scanned again when somebody asks for them. Three levels are enough for most messages, which hold
/// there what is passed on untouched.
pub const RECORD_DEPTH: u32 = 3;

/// The most values that are indexed at once, so that a hostile text costs at most about 16 MB beside itself. Values.
/// A text with more of them in its first levels is refused.
pub const MAX_RECORDED: usize = 1_000_000;

/// For how many values there is room in a new index. Values. It grows when there are more.
const USUAL_VALUES: usize = 48;

/// Which kind of JSON a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// RFC 8259 and nothing else.
    Strict,
    /// What Python's `json` module reads: RFC 8259, and also `NaN`, `Infinity` and `-Infinity`.
    Python,
}

/// Where and why a text is not JSON.
///
/// ```
/// use hooksd_json::{Dialect, Value};
///
/// let error = Value::parse("{\n  \"a\": tru\n}", Dialect::Strict).unwrap_err();
/// assert_eq!(error.to_string(), "line 2 column 8: expected a JSON value");
/// assert_eq!(error.offset, 9);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Where in the text it is. Bytes from the beginning.
    pub offset: usize,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What was expected there, or what is wrong.
    pub message: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Null,
    Bool(bool),
    Number,
    /// `NaN`, `Infinity` or `-Infinity`.
    Constant,
    String {
        /// Whether the string has escapes.
        escaped: bool,
    },
    Array,
    Object,
}

/// One entry of the index: a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// Where the value begins in the text. Bytes.
    pub(crate) start: u32,
    /// Where the value ends in the text. Bytes.
    pub(crate) end: u32,
    /// The number of the first entry that is not inside of this value.
    pub(crate) next: u32,
}

/// Eight bytes of a string, looked at together: the high bit of every byte that is a quote, a backslash or a control
/// character. The lowest bit that is set is right, and no such byte is missed; a higher bit may be set without reason.
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = ONES << 7;
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word;
    let quotes = zero_bytes(word ^ (ONES * b'"' as u64));
    let backslashes = zero_bytes(word ^ (ONES * b'\\' as u64));
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (quotes | backslashes | controls) & HIGHS
}

/// Checks that a text is one value with nothing but white space around it, and indexes it.
pub(crate) fn scan(text: &str, dialect: Dialect) -> Result<Vec<Node>, ParseError> {
    if u32::try_from(text.len()).is_err() {
        return Err(error_at(text, 0, "text is longer than 4 GiB"));
    }
    let mut scanner = Scanner {
        text: text.as_bytes(),
        at: 0,
        dialect,
        nodes: Vec::with_capacity(USUAL_VALUES),
        open: [0; RECORD_DEPTH as usize + 1],
        levels: Levels::default(),
    };
    scanner.document().map_err(|(at, message)| error_at(text, at, message))?;
    Ok(scanner.nodes)
}

/// The error at this offset, with its line and column.
fn error_at(text: &str, offset: usize, message: &'static str) -> ParseError {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    ParseError {
        offset,
        line: before.matches('\n').count() + 1,
        column: before.get(line_start..).map_or(0, |line| line.chars().count()) + 1,
        message,
    }
}

/// Where a text is wrong, in bytes, and what is wrong.
type Failure = (usize, &'static str);

/// Which of the open containers are objects, in one bit for each level.
#[derive(Default)]
struct Levels {
    /// The outermost 64 levels, which nearly always are all.
    first: u64,
    /// The levels after those, 64 in each word.
    more: Vec<u64>,
    /// How many levels are open.
    depth: usize,
}

impl Levels {
    fn push(&mut self, object: bool) {
        let bit = self.depth % 64;
        let bits = match (self.depth / 64).checked_sub(1) {
            None => Some(&mut self.first),
            Some(word) => {
                if word == self.more.len() {
                    self.more.push(0);
                }
                self.more.get_mut(word)
            }
        };
        if let Some(bits) = bits {
            *bits = (*bits & !(1 << bit)) | (u64::from(object) << bit);
        }
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn in_object(&self) -> bool {
        let Some(top) = self.depth.checked_sub(1) else { return false };
        let bits = (top / 64).checked_sub(1).map_or(Some(&self.first), |word| self.more.get(word));
        bits.is_some_and(|bits| bits >> (top % 64) & 1 == 1)
    }
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    dialect: Dialect,
    nodes: Vec<Node>,
    /// The entries of the open containers that are indexed, by their level.
    open: [usize; RECORD_DEPTH as usize + 1],
    levels: Levels,
}

impl Scanner<'_> {
    fn document(&mut self) -> Result<(), Failure> {
        self.skip_space();
        self.value()?;
        while self.levels.depth > 0 {
            self.skip_space();
            self.member()?;
        }
        self.skip_space();
        if self.at < self.text.len() {
            Err((self.at, "text after the end of the JSON value"))
        } else {
            Ok(())
        }
    }

    /// Reads what follows a value inside a container: a comma and the next member, or the end of the container.
    fn member(&mut self) -> Result<(), Failure> {
        let object = self.levels.in_object();
        match (self.peek(), object) {
            (Some(b','), _) => {
                self.at += 1;
                self.skip_space();
                if object {
                    self.key()?
                }
                self.value()
            }
            (Some(b'}'), true) | (Some(b']'), false) => {
                self.at += 1;
                self.close();
                Ok(())
            }
            (Some(_), true) => Err((self.at, "expected ',' or '}'")),
            (Some(_), false) => Err((self.at, "expected ',' or ']'")),
            (None, _) => Err((self.at, "the text ends inside an object or array")),
        }
    }

    fn key(&mut self) -> Result<(), Failure> {
        if self.peek() != Some(b'"') {
            return Err((self.at, "expected a key in double quotes"));
        }
        self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err((self.at, "expected ':' after the key"));
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    /// Reads a value up to its first scalar or empty container, and opens the containers around that; `document` goes
    /// on from there.
    fn value(&mut self) -> Result<(), Failure> {
        loop {
            let (kind, end) = match self.peek() {
                Some(b'{') => (NodeKind::Object, b'}'),
                Some(b'[') => (NodeKind::Array, b']'),
                _ => return self.scalar(),
            };
            if let Some(open) = self.open.get_mut(self.levels.depth) {
                *open = self.nodes.len();
            }
            self.record(kind, self.at)?;
            self.at += 1;
            self.levels.push(kind == NodeKind::Object);
            self.skip_space();
            if self.peek() == Some(end) {
                self.at += 1;
                self.close();
                return Ok(());
            }
            if kind == NodeKind::Object {
                self.key()?;
            }
        }
    }

    fn scalar(&mut self) -> Result<(), Failure> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", NodeKind::Bool(true)),
            Some(b'f') => self.word("false", NodeKind::Bool(false)),
            Some(b'n') => self.word("null", NodeKind::Null),
            Some(b'N') if self.dialect == Dialect::Python => self.word("NaN", NodeKind::Constant),
            Some(b'I') if self.dialect == Dialect::Python => self.word("Infinity", NodeKind::Constant),
            Some(_) => Err((self.at, "expected a JSON value")),
            None => Err((self.at, "the text ends where a JSON value should be")),
        }
    }

    fn close(&mut self) {
        self.levels.pop();
        let next = self.nodes.len() as u32;
        if let Some(node) = self.open.get(self.levels.depth).and_then(|index| self.nodes.get_mut(*index)) {
            node.end = self.at as u32;
            node.next = next;
        }
    }

    fn string(&mut self) -> Result<(), Failure> {
        let start = self.at;
        let mut escaped = false;
        self.at += 1;
        loop {
            self.skip_plain();
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.at += 1;
                    match self.peek() {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
                        Some(b'u') => {
                            let digits = self.text.get(self.at + 1..self.at + 5).unwrap_or_default();
                            if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                                return Err((self.at, "expected four hexadecimal digits after \\u"));
                            }
                            self.at += 5;
                        }
                        _ => return Err((self.at, "not an escape that JSON knows")),
                    }
                }
                Some(0..0x20) => return Err((self.at, "a raw control character inside a string")),
                Some(_) => self.at += 1,
                None => return Err((start, "the string has no end")),
            }
        }
        self.at += 1;
        self.record(NodeKind::String { escaped }, start)
    }

    /// Skips characters of a string that mean themselves, eight at a time as far as that goes.
    fn skip_plain(&mut self) {
        while let Some(word) = self.text.get(self.at..).and_then(|rest| rest.first_chunk::<8>()) {
            let special = special_bytes(u64::from_le_bytes(*word));
            if special != 0 {
                self.at += (special.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += 8;
        }
    }

    fn number(&mut self) -> Result<(), Failure> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
            if self.peek() == Some(b'I') && self.dialect == Dialect::Python {
                self.expect_word("Infinity")?;
                return self.record(NodeKind::Constant, start);
            }
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err((self.at, "expected a digit")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.need_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.need_digits()?;
        }
        self.record(NodeKind::Number, start)
    }

    fn need_digits(&mut self) -> Result<(), Failure> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err((self.at, "expected a digit"));
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &'static str, kind: NodeKind) -> Result<(), Failure> {
        let start = self.at;
        self.expect_word(word)?;
        self.record(kind, start)
    }

    fn expect_word(&mut self, word: &'static str) -> Result<(), Failure> {
        let end = self.at + word.len();
        if self.text.get(self.at..end) != Some(word.as_bytes()) {
            return Err((self.at, "expected a JSON value"));
        }
        self.at = end;
        Ok(())
    }

    /// Adds a value that ends here to the index, unless its level is too deep. The end of a container is not known
    /// yet and is set when it is closed.
    fn record(&mut self, kind: NodeKind, start: usize) -> Result<(), Failure> {
        if self.levels.depth > RECORD_DEPTH as usize {
            return Ok(());
        }
        let index = self.nodes.len();
        if index >= MAX_RECORDED {
            return Err((start, "more than 1,000,000 values: split the text"));
        }
        self.nodes.push(Node { kind, start: start as u32, end: self.at as u32, next: index as u32 + 1 });
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }
}
