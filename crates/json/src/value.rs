//! A parsed value: a place in a text, whose members are found when somebody asks for them.

use std::borrow::Cow;
use std::rc::Rc;

use crate::parse::{Dialect, Node, NodeKind, ParseError, scan};

/// Up to how many members duplicate keys are looked for without a hash map. Members.
const FEW_MEMBERS: usize = 32;

/// One JSON value inside a text. The text was checked when it was parsed, so that asking for parts of it does not fail.
///
/// A clone shares the index with the original. A value is not `Send`: parse on the thread that reads.
///
/// ```
/// use hooksd_json::{Dialect, Kind, Value};
///
/// let value = Value::parse(r#"{"n": [1.0, "x"], "t": null}"#, Dialect::Strict)?;
/// let items = value.get("n").map(|list| list.items()).unwrap_or_default();
/// assert_eq!(items.iter().map(Value::kind).collect::<Vec<_>>(), [Kind::Number("1.0"), Kind::String("x".into())]);
/// assert!(value.get("t").is_some_and(|t| t.is_null()));
/// assert!(value.get("missing").is_none());
/// # Ok::<(), hooksd_json::ParseError>(())
/// ```
#[derive(Clone)]
pub struct Value<'a> {
    text: &'a str,
    dialect: Dialect,
    nodes: Rc<Vec<Node>>,
    index: usize,
}

/// The kind of a value, with its content where it is a scalar.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it was spelled.
    Number(&'a str),
    /// `NaN`, `Infinity` or `-Infinity`, as it was spelled. Only [`Dialect::Python`] has these.
    Constant(&'a str),
    /// The content of a string. A surrogate without a partner is U+FFFD in it.
    String(Cow<'a, str>),
    /// An array; [`Value::items`] has its elements.
    Array,
    /// An object; [`Value::entries`] has its members.
    Object,
}

impl Kind<'_> {
    /// What people call such a value: `null`, `a boolean`, `a number` and so on.
    #[must_use]
    pub fn noun(&self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) | Kind::Constant(_) => "a number",
            Kind::String(_) => "a string",
            Kind::Array => "an array",
            Kind::Object => "an object",
        }
    }
}

impl<'a> Value<'a> {
    /// Parses `text` as one JSON value.
    ///
    /// # Errors
    /// Where the text stops being JSON of this dialect; also when it is longer than 4 GiB, or when its first levels
    /// have more than [`MAX_RECORDED`](crate::MAX_RECORDED) values.
    pub fn parse(text: &'a str, dialect: Dialect) -> Result<Value<'a>, ParseError> {
        Ok(Value { text, dialect, nodes: Rc::new(scan(text, dialect)?), index: 0 })
    }

    fn node(&self) -> Node {
        let nowhere = Node { kind: NodeKind::Null, start: 0, end: 0, next: 0 };
        self.nodes.get(self.index).copied().unwrap_or(nowhere)
    }

    /// The value's own text, without white space around it.
    #[must_use]
    pub fn raw(&self) -> &'a str {
        let node = self.node();
        self.text.get(node.start as usize..node.end as usize).unwrap_or("null")
    }

    /// The kind of the value, with its content where it is a scalar.
    #[must_use]
    pub fn kind(&self) -> Kind<'a> {
        match self.node().kind {
            NodeKind::Null => Kind::Null,
            NodeKind::Bool(value) => Kind::Bool(value),
            NodeKind::Number => Kind::Number(self.raw()),
            NodeKind::Constant => Kind::Constant(self.raw()),
            NodeKind::String { escaped: false } => Kind::String(Cow::Borrowed(inside(self.raw()))),
            NodeKind::String { escaped: true } => Kind::String(decode(self.raw()).0),
            NodeKind::Array => Kind::Array,
            NodeKind::Object => Kind::Object,
        }
    }

    /// Whether the value is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.node().kind == NodeKind::Null
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.node().kind == NodeKind::Object
    }

    /// The content of a string; `None` when the value is not a string.
    #[must_use]
    pub fn as_str(&self) -> Option<Cow<'a, str>> {
        match self.kind() {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether the value is a string with a surrogate that has no partner, which no Rust string can hold.
    #[must_use]
    pub fn has_lone_surrogate(&self) -> bool {
        self.node().kind == NodeKind::String { escaped: true } && decode(self.raw()).1
    }

    /// The members of an object: each key once, in the order in which the keys stand first, with its last value.
    /// Empty when the value is not an object.
    #[must_use]
    pub fn entries(&self) -> Vec<(Cow<'a, str>, Value<'a>)> {
        let pairs = self.pairs();
        // A hash map costs more than it saves for the few members that requests have.
        if pairs.len() <= FEW_MEMBERS {
            let mut entries: Vec<(Cow<'a, str>, Value<'a>)> = Vec::with_capacity(pairs.len());
            for (key, value) in pairs {
                let key = key.as_str().unwrap_or_default();
                match entries.iter_mut().find(|(known, _)| *known == key) {
                    Some(entry) => entry.1 = value,
                    None => entries.push((key, value)),
                }
            }
            return entries;
        }
        let mut entries: Vec<(Cow<'a, str>, Value<'a>)> = Vec::with_capacity(pairs.len());
        let mut seen = std::collections::HashMap::with_capacity(pairs.len());
        for (key, value) in pairs {
            let key = key.as_str().unwrap_or_default();
            match seen.get(&key).and_then(|at: &usize| entries.get_mut(*at)) {
                Some(entry) => entry.1 = value,
                None => {
                    seen.insert(key.clone(), entries.len());
                    entries.push((key, value));
                }
            }
        }
        entries
    }

    /// The first key of an object that is none of `known`, decoded. `None` when there is no other, or when the value
    /// is not an object.
    #[must_use]
    pub fn unknown_key(&self, known: &[&str]) -> Option<Cow<'a, str>> {
        if !self.is_object() {
            return None;
        }
        let mut members = self.members();
        while let (Some(key), Some(_)) = (members.step(), members.step()) {
            if !known.iter().any(|known| members.spells(&key, known)) {
                return Some(decode(members.token(&key)).0);
            }
        }
        None
    }

    /// The members of an object as they stand in the text, duplicate keys included. The first of each pair is the
    /// key, as a string value. Empty when the value is not an object.
    #[must_use]
    pub fn pairs(&self) -> Vec<(Value<'a>, Value<'a>)> {
        let mut pairs = Vec::new();
        if self.is_object() {
            let mut members = self.members();
            while let (Some(key), Some(value)) = (members.next(), members.next()) {
                pairs.push((key, value));
            }
        }
        pairs
    }

    /// The elements of an array. Empty when the value is not an array.
    #[must_use]
    pub fn items(&self) -> Vec<Value<'a>> {
        if self.node().kind == NodeKind::Array { self.members().collect() } else { Vec::new() }
    }

    /// The value of the last member with this key. `None` when there is none, or when the value is not an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        let [value] = self.pick([key]);
        value
    }

    /// The values that [`get`](Value::get) finds for each of these keys, in one pass over the members. It allocates
    /// nothing when the members are indexed already and their keys have no escapes.
    #[must_use]
    pub fn pick<const N: usize>(&self, keys: [&str; N]) -> [Option<Value<'a>>; N] {
        if !self.is_object() {
            return [const { None }; N];
        }
        let mut members = self.members();
        let mut found = [None; N];
        while let (Some(name), Some(value)) = (members.step(), members.step()) {
            if let Some(place) = keys.iter().position(|key| members.spells(&name, key))
                && let Some(found) = found.get_mut(place)
            {
                *found = Some(value.index);
            }
        }
        found.map(|index| Some(members.value(index?)))
    }

    /// The same value with its members indexed. It is worth calling where most members of a value are going to be
    /// looked at that may be nested too deep to be indexed already: each look would scan them again.
    #[must_use]
    pub fn opened(&self) -> Value<'a> {
        if self.node().next as usize > self.index + 1 {
            return self.clone();
        }
        let text = self.raw();
        let nodes = Rc::new(scan(text, self.dialect).unwrap_or_default());
        Value { text, dialect: self.dialect, nodes, index: 0 }
    }

    /// The direct children of the value. Those of an object are keys and values in turn.
    fn members(&self) -> Members<'a> {
        let node = self.node();
        let first = self.index + 1;
        if (node.next as usize) > first {
            let (nodes, end) = (self.nodes.clone(), node.next as usize);
            return Members { text: self.text, dialect: self.dialect, nodes, index: first, end };
        }
        // The container is empty, or too deep to be indexed: it is scanned by itself.
        let Value { text, dialect, nodes, .. } = self.opened();
        let end = nodes.len();
        Members { text, dialect, nodes, index: 1, end }
    }

    /// How many containers are nested in one another: 0 for a scalar, 1 for `[]`. It looks at the whole text of the
    /// value.
    #[must_use]
    pub fn depth(&self) -> usize {
        let (mut depth, mut deepest, mut in_string, mut escaped) = (0usize, 0, false, false);
        for byte in self.raw().bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => {
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        deepest
    }
}

/// The direct children of a container.
struct Members<'a> {
    text: &'a str,
    dialect: Dialect,
    nodes: Rc<Vec<Node>>,
    index: usize,
    end: usize,
}

/// An entry of the index, with its number.
struct Child {
    index: usize,
    node: Node,
}

impl<'a> Members<'a> {
    /// The next child, without a [`Value`] of its own.
    fn step(&mut self) -> Option<Child> {
        if self.index >= self.end {
            return None;
        }
        let node = *self.nodes.get(self.index)?;
        let child = Child { index: self.index, node };
        self.index = (node.next as usize).max(self.index + 1);
        Some(child)
    }

    fn token(&self, child: &Child) -> &'a str {
        self.text.get(child.node.start as usize..child.node.end as usize).unwrap_or_default()
    }

    /// Whether the content of a key is `text`. A key with an escape is longer than its content, so that most keys
    /// need no decoding.
    #[inline]
    fn spells(&self, key: &Child, text: &str) -> bool {
        let Node { kind, start, end, .. } = key.node;
        let inside = (start as usize + 1)..(end as usize).saturating_sub(1);
        match kind {
            NodeKind::String { escaped: true } => {
                inside.len() > text.len() && decode(self.token(key)).0 == text
            }
            _ => inside.len() == text.len() && self.text.as_bytes().get(inside) == Some(text.as_bytes()),
        }
    }

    fn value(&self, index: usize) -> Value<'a> {
        Value { text: self.text, dialect: self.dialect, nodes: self.nodes.clone(), index }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        let child = self.step()?;
        Some(self.value(child.index))
    }
}

/// What stands between the quotes of a string token.
fn inside(token: &str) -> &str {
    token.get(1..token.len().saturating_sub(1)).unwrap_or_default()
}

/// The content of a JSON string token, which has its quotes. The flag says whether a surrogate without a partner has
/// become U+FFFD.
pub(crate) fn decode(token: &str) -> (Cow<'_, str>, bool) {
    let inner = inside(token);
    if !inner.contains('\\') {
        return (Cow::Borrowed(inner), false);
    }
    let mut out = String::with_capacity(inner.len());
    let mut lone = false;
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
        let escape = rest.chars().next().unwrap_or('\\');
        rest = rest.get(escape.len_utf8()..).unwrap_or_default();
        match escape {
            'u' => {
                let unit = hex_unit(rest);
                rest = rest.get(4..).unwrap_or_default();
                let low = rest.strip_prefix("\\u").map(hex_unit).filter(|low| (0xDC00..0xE000).contains(low));
                let (code, used) = match (unit, low) {
                    (0xD800..0xDC00, Some(low)) => (0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), 6),
                    _ => (unit, 0),
                };
                rest = rest.get(used..).unwrap_or_default();
                lone |= char::from_u32(code).is_none();
                out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            other => out.push(other),
        }
    }
    out.push_str(rest);
    (Cow::Owned(out), lone)
}

/// The UTF-16 unit that the first four digits spell.
fn hex_unit(digits: &str) -> u32 {
    digits.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0xFFFD)
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.raw())
    }
}
