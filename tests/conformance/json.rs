//! A JSON reader of the tests' own: what the product reads and writes is judged by code it does not share.
//!
//! Keeps what comparing needs and serde_json's value loses: key order, duplicates, the spelling of numbers, lone
//! surrogates, and the text of every part. Reads RFC 8259 and, as Python writes it, `NaN` and `Infinity`.

/// The deepest nesting that is read. The vectors' deeper texts are compared as texts.
const MAX_DEPTH: usize = 2_000;

/// A value with the text it was read from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Json<'a> {
    pub(crate) raw: &'a str,
    pub(crate) node: Node<'a>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node<'a> {
    Null,
    Bool(bool),
    /// As spelled; also `NaN`, `Infinity`, `-Infinity`.
    Number(&'a str),
    Text(Text),
    Array(Vec<Json<'a>>),
    /// Members as they stand, duplicates included.
    Object(Vec<(Text, Json<'a>)>),
}

/// A string's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    /// With U+FFFD for each lone surrogate.
    pub(crate) lossy: String,
    /// The lone surrogates by their place in characters.
    pub(crate) lone: Vec<(usize, u16)>,
}

impl<'a> Json<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Json<'a>, String> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        parser.space();
        let value = parser.value()?;
        parser.space();
        if parser.at < text.len() { Err(parser.fail("text after the value")) } else { Ok(value) }
    }

    /// The members of an object in order of first appearance, each with its last value. Empty otherwise.
    pub(crate) fn entries(&self) -> Vec<(&Text, &Json<'a>)> {
        let mut entries: Vec<(&Text, &Json<'a>)> = Vec::new();
        if let Node::Object(members) = &self.node {
            for (key, value) in members {
                match entries.iter_mut().find(|(known, _)| *known == key) {
                    Some(entry) => entry.1 = value,
                    None => entries.push((key, value)),
                }
            }
        }
        entries
    }

    /// The last member with this key.
    pub(crate) fn get(&self, key: &str) -> Option<&Json<'a>> {
        let Node::Object(members) = &self.node else { return None };
        members
            .iter()
            .rev()
            .find(|(name, _)| name.lossy == key && name.lone.is_empty())
            .map(|(_, value)| value)
    }

    /// The same, where null counts as absent.
    pub(crate) fn given(&self, key: &str) -> Option<&Json<'a>> {
        self.get(key).filter(|value| value.node != Node::Null)
    }

    /// A member that has to be there.
    pub(crate) fn need(&self, key: &str) -> Result<&Json<'a>, String> {
        self.get(key).ok_or_else(|| format!("the vector has no {key:?} in {}", short(self.raw)))
    }

    pub(crate) fn items(&self) -> &[Json<'a>] {
        match &self.node {
            Node::Array(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.node {
            Node::Text(text) => Some(&text.lossy),
            _ => None,
        }
    }

    /// A string that has to be one.
    pub(crate) fn str(&self) -> Result<&str, String> {
        self.text().ok_or_else(|| format!("expected a string in the vector, got {}", short(self.raw)))
    }

    pub(crate) fn bool(&self) -> Option<bool> {
        match self.node {
            Node::Bool(value) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn number(&self) -> Result<f64, String> {
        match self.node {
            Node::Number(text) => text.parse().map_err(|_| format!("not a number: {text}")),
            _ => Err(format!("expected a number in the vector, got {}", short(self.raw))),
        }
    }
}

/// Whether any string in it has a lone surrogate.
pub(crate) fn has_lone(value: &Json<'_>) -> bool {
    match &value.node {
        Node::Text(Text { lone, .. }) => !lone.is_empty(),
        Node::Array(items) => items.iter().any(has_lone),
        Node::Object(members) => members.iter().any(|(_, value)| has_lone(value)),
        _ => false,
    }
}

/// The beginning of a text, for messages.
pub(crate) fn short(text: &str) -> String {
    const MOST: usize = 400;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

/// A JSON string token with this content.
pub(crate) fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn fail(&self, what: &str) -> String {
        format!("{what} at byte {}", self.at)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.text[self.at..].starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn value(&mut self) -> Result<Json<'a>, String> {
        let start = self.at;
        let node = match self.peek().ok_or_else(|| self.fail("the text ends"))? {
            b'{' | b'[' => self.container()?,
            b'"' => Node::Text(self.string()?),
            _ if self.eat("null") => Node::Null,
            _ if self.eat("true") => Node::Bool(true),
            _ if self.eat("false") => Node::Bool(false),
            _ if self.eat("NaN") || self.eat("Infinity") || self.eat("-Infinity") => {
                Node::Number(&self.text[start..self.at])
            }
            _ => self.number()?,
        };
        Ok(Json { raw: &self.text[start..self.at], node })
    }

    fn container(&mut self) -> Result<Node<'a>, String> {
        let object = self.eat("{") || !self.eat("[");
        let end = if object { "}" } else { "]" };
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.fail("nested too deep for a comparison"));
        }
        let (mut members, mut items) = (Vec::new(), Vec::new());
        self.space();
        let mut more = !self.eat(end);
        while more {
            if object {
                let key = self.string()?;
                self.space();
                if !self.eat(":") {
                    return Err(self.fail("expected a colon"));
                }
                self.space();
                members.push((key, self.value()?));
            } else {
                items.push(self.value()?);
            }
            self.space();
            more = self.eat(",");
            if !more && !self.eat(end) {
                return Err(self.fail("expected a comma or the end"));
            }
            self.space();
        }
        self.depth -= 1;
        Ok(if object { Node::Object(members) } else { Node::Array(items) })
    }

    fn number(&mut self) -> Result<Node<'a>, String> {
        let start = self.at;
        let allowed = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        while self.peek().is_some_and(allowed) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        // serde_json decides what is a number, by its grammar only.
        match serde_json::from_str::<&serde_json::value::RawValue>(text) {
            Ok(_) => Ok(Node::Number(text)),
            Err(_) => Err(self.fail("expected a value")),
        }
    }

    fn string(&mut self) -> Result<Text, String> {
        if !self.eat("\"") {
            return Err(self.fail("expected a string"));
        }
        let mut units = Vec::new();
        loop {
            let rest = &self.text[self.at..];
            let c = rest.chars().next().ok_or_else(|| self.fail("a string without end"))?;
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(Text::from_units(&units)),
                '\\' => units.push(self.escape()?),
                '\0'..='\u{1f}' => return Err(self.fail("a control character in a string")),
                c => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
            }
        }
    }

    fn escape(&mut self) -> Result<u16, String> {
        let byte = self.peek().ok_or_else(|| self.fail("a string without end"))?;
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => byte.into(),
            b'b' => 8,
            b'f' => 12,
            b'n' => 10,
            b'r' => 13,
            b't' => 9,
            b'u' => {
                let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
                self.at += digits.len();
                let hexadecimal = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                let unit = u16::from_str_radix(digits, 16).ok().filter(|_| hexadecimal);
                unit.ok_or_else(|| self.fail("expected four hexadecimal digits"))?
            }
            _ => return Err(self.fail("an unknown escape")),
        })
    }
}

impl Text {
    fn from_units(units: &[u16]) -> Text {
        let mut text = Text { lossy: String::new(), lone: Vec::new() };
        for (place, c) in char::decode_utf16(units.iter().copied()).enumerate() {
            match c {
                Ok(c) => text.lossy.push(c),
                Err(lone) => {
                    text.lossy.push(char::REPLACEMENT_CHARACTER);
                    text.lone.push((place, lone.unpaired_surrogate()));
                }
            }
        }
        text
    }
}
