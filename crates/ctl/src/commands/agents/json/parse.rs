//! Where the parts of a JSON text stand. Comments and trailing commas are read if the agent reads them too; whatever it
//! would refuse is an error with line and column, so that nothing is added to a file it does not load.

use std::ops::Range;

/// Nesting that is read. Levels. Real configurations have a dozen; recursion must end before the stack does.
const MAX_DEPTH: usize = 128;

/// The byte order mark that some editors write.
pub(crate) const BOM: &str = "\u{feff}";

/// What besides strict JSON an agent reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Nothing.
    Strict,
    /// `//` and `/* */`.
    Comments,
    /// These, and a comma after the last item.
    Relaxed,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    /// From its first byte to after its last.
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Object(Vec<Item>),
    Array(Vec<Item>),
    /// A string, escapes resolved.
    String(String),
    /// A number, true, false or null.
    Scalar,
}

/// A member of an object, or an element of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// A member's key, escapes resolved; empty for an element.
    pub(crate) key: String,
    /// Where the item begins: its key, or its value.
    pub(crate) start: usize,
    pub(crate) value: Node,
    /// Where the comma after it stands.
    pub(crate) comma: Option<usize>,
}

impl Node {
    /// The members or elements; none for other values.
    pub(crate) fn items(&self) -> &[Item] {
        match &self.kind {
            Kind::Object(items) | Kind::Array(items) => items,
            Kind::String(_) | Kind::Scalar => &[],
        }
    }

    /// The value of a member; of repeated keys the last counts, as everywhere.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        match &self.kind {
            Kind::Object(items) => items.iter().rev().find(|item| item.key == key).map(|item| &item.value),
            _ => None,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self.kind, Kind::Object(_))
    }

    pub(crate) fn is_array(&self) -> bool {
        matches!(self.kind, Kind::Array(_))
    }
}

/// Why a text was not read: where, and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub(crate) struct SyntaxError {
    /// From 1.
    pub(crate) line: usize,
    /// From 1, in characters.
    pub(crate) column: usize,
    pub(crate) message: String,
}

impl SyntaxError {
    pub(crate) fn at(text: &str, offset: usize, message: impl Into<String>) -> SyntaxError {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(line_start..).unwrap_or_default().trim_start_matches(BOM).chars().count() + 1;
        SyntaxError { line: before.matches('\n').count() + 1, column, message: message.into() }
    }
}

/// Reads a whole text, with or without a byte order mark.
///
/// # Errors
/// When it is not JSON of this dialect.
pub(crate) fn parse(text: &str, dialect: Dialect) -> Result<Node, SyntaxError> {
    let at = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let mut reader = Reader { text, bytes: text.as_bytes(), at, dialect };
    reader.skip_space()?;
    let node = reader.value(0)?;
    reader.skip_space()?;
    if reader.at < reader.bytes.len() {
        return Err(reader.error("something stands after the end of the value"));
    }
    Ok(node)
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    dialect: Dialect,
}

impl Reader<'_> {
    fn error(&self, message: &str) -> SyntaxError {
        SyntaxError::at(self.text, self.at, message)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) -> Result<(), SyntaxError> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'/') if self.dialect == Dialect::Strict => {
                    return Err(self.error("a comment, which this agent does not read"));
                }
                Some(b'/') if self.rest().starts_with(b"//") => {
                    let line = self.rest().iter().position(|byte| *byte == b'\n');
                    // A carriage return belongs to the end of the line.
                    let end = line.map_or(self.bytes.len(), |line| self.at + line);
                    self.at =
                        if end > self.at && self.bytes.get(end - 1) == Some(&b'\r') { end - 1 } else { end };
                }
                Some(b'/') if self.rest().starts_with(b"/*") => {
                    let body = self.text.get(self.at + 2..).unwrap_or_default();
                    let Some(end) = body.find("*/") else {
                        return Err(self.error("a comment that is not closed"));
                    };
                    self.at += end + 4;
                }
                _ => return Ok(()),
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        if depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.items(depth, b'}')?),
            Some(b'[') => Kind::Array(self.items(depth, b']')?),
            Some(b'"') => Kind::String(self.string()?),
            Some(_) => self.scalar()?,
            None => return Err(self.error("a value is missing")),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn items(&mut self, depth: usize, close: u8) -> Result<Vec<Item>, SyntaxError> {
        self.at += 1;
        let mut items: Vec<Item> = Vec::new();
        loop {
            self.skip_space()?;
            if self.peek() == Some(close) {
                let trailing = items.last().is_some_and(|item| item.comma.is_some());
                if trailing && self.dialect != Dialect::Relaxed {
                    return Err(self.error("a comma before this, which this agent does not read"));
                }
                self.at += 1;
                return Ok(items);
            }
            if items.last().is_some_and(|item| item.comma.is_none()) {
                return Err(self.error("a comma or the closing bracket is missing"));
            }
            let start = self.at;
            let mut key = String::new();
            if close == b'}' {
                if self.peek() != Some(b'"') {
                    return Err(self.error("a key in double quotes is missing"));
                }
                key = self.string()?;
                self.skip_space()?;
                if self.peek() != Some(b':') {
                    return Err(self.error("a colon is missing"));
                }
                self.at += 1;
                self.skip_space()?;
            }
            let value = self.value(depth + 1)?;
            self.skip_space()?;
            let comma = (self.peek() == Some(b',')).then_some(self.at);
            if comma.is_some() {
                self.at += 1;
            }
            items.push(Item { key, start, value, comma });
        }
    }

    fn string(&mut self) -> Result<String, SyntaxError> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(0..=0x1f) => return Err(self.error("a control character in a string")),
                Some(_) => self.at += 1,
                None => {
                    self.at = start;
                    return Err(self.error("a string that is not closed"));
                }
            }
        }
        self.at += 1;
        let literal = self.text.get(start..self.at).unwrap_or_default();
        // Half of a surrogate pair is no text, but no reason to refuse the file either: it is only compared with ours.
        match serde_json::from_str(literal) {
            Ok(text) => Ok(text),
            Err(error)
                if error.to_string().contains("surrogate") || error.to_string().contains("hex escape") =>
            {
                Ok(literal.to_owned())
            }
            Err(_) => {
                self.at = start;
                Err(self.error("a string with an escape that does not exist"))
            }
        }
    }

    fn scalar(&mut self) -> Result<Kind, SyntaxError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-._".contains(&byte)) {
            self.at += 1;
        }
        let literal = self.text.get(start..self.at).unwrap_or_default();
        let valid = match literal {
            "true" | "false" | "null" => true,
            number => serde_json::from_str::<&serde_json::value::RawValue>(number).is_ok(),
        };
        if !valid {
            self.at = start;
            return Err(self.error("a value is missing or not JSON"));
        }
        Ok(Kind::Scalar)
    }
}
