//! Where in a document something stands, for people who have to find it: every handler as it is written, used or not.

use std::fmt;

use hooksd_json::{Dialect, Kind, Value};
use hooksd_protocol::event::EventName;

/// A position in a text: line, and column in characters. Both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl Place {
    /// The place of a byte offset; one beyond the end is the end.
    #[must_use]
    pub fn at(text: &str, offset: usize) -> Place {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Place { line, column }
    }

    /// The place of a part of a text; `None` when it is no part of it.
    #[must_use]
    pub fn of(text: &str, part: &str) -> Option<Place> {
        let offset = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        (offset + part.len() <= text.len()).then(|| Place::at(text, offset))
    }
}

/// The text of a document without the mark that editors write (D6); `None` when it is not UTF-8.
#[must_use]
pub fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)).ok()
}

/// One handler as it is written.
#[derive(Debug, Clone)]
pub struct Written<'a> {
    /// What stands where the handler should be; the group when it has no list of handlers.
    pub value: Value<'a>,
    /// The path by which diagnostics call it: `hooks.EVENT[group].hooks[handler]`.
    pub path: String,
}

/// One group as it is written.
#[derive(Debug, Clone)]
pub struct WrittenGroup<'a> {
    /// The event's name as it is written.
    pub event_name: String,
    /// The event, if that is its name.
    pub event: Option<EventName>,
    /// The event's name in the text, with its quotes.
    pub event_key: &'a str,
    /// What stands where the group should be.
    pub value: Value<'a>,
    /// The paths by which diagnostics call what costs the whole group: itself, its list of handlers, its event.
    pub paths: [String; 3],
    /// Its handlers; itself alone when it has no list of them.
    pub handlers: Vec<Written<'a>>,
}

impl WrittenGroup<'_> {
    /// The matcher, if it is a text.
    #[must_use]
    pub fn matcher(&self) -> Option<String> {
        self.value.get("matcher")?.as_str().map(|text| text.into_owned())
    }
}

impl Written<'_> {
    /// What it would run, for people.
    #[must_use]
    pub fn command(&self) -> String {
        if let Some(argv) = self.value.get("argv").filter(|argv| argv.kind() == Kind::Array) {
            let words = argv.items();
            let words: Vec<String> =
                words.iter().filter_map(|word| Some(word.as_str()?.into_owned())).collect();
            return words.join(" ");
        }
        match self.value.get("command") {
            Some(command) => {
                command.as_str().map_or_else(|| command.raw().to_owned(), |text| text.into_owned())
            }
            None => String::new(),
        }
    }
}

/// All groups of a document of today's form, in its order; none when it is of another form or no JSON.
#[must_use]
pub fn groups(text: &str) -> Vec<WrittenGroup<'_>> {
    let Ok(document) = Value::parse(text, Dialect::Python) else { return Vec::new() };
    let Some(hooks) = document.get("hooks").filter(Value::is_object) else { return Vec::new() };
    // Of several events of one name the last counts, as it does for the parser.
    let keys = hooks.pairs();
    let key_of = |name: &str| keys.iter().rev().find(|(key, _)| key.as_str().as_deref() == Some(name));
    let mut found = Vec::new();
    for (name, groups) in hooks.entries() {
        let event_key = key_of(&name).map_or("", |(key, _)| key.raw());
        let event = name.parse::<EventName>().ok();
        for (number, value) in groups.items().into_iter().enumerate() {
            let path = format!("hooks.{name}[{number}]");
            let list = value.get("hooks").filter(|list| list.kind() == Kind::Array);
            let values = list.map_or_else(|| vec![value.clone()], |list| list.items());
            let written = |(index, value)| Written { value, path: format!("{path}.hooks[{index}]") };
            found.push(WrittenGroup {
                event_name: name.clone().into_owned(),
                event,
                event_key,
                handlers: values.into_iter().enumerate().map(written).collect(),
                paths: [path.clone(), format!("{path}.hooks"), format!("hooks.{name}")],
                value,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_handler_has_its_place() {
        let text = "{\"hooks\": {\n  \"Stop\": [{\"hooks\": [\n    {\"command\": \"é\"}, {\"command\": \"b\"}]},\n {\"command\": \"c\"}]}}";
        let groups = groups(text);
        let found: Vec<&Written> = groups.iter().flat_map(|group| &group.handlers).collect();
        let places: Vec<String> =
            found.iter().map(|written| Place::of(text, written.value.raw()).unwrap().to_string()).collect();
        assert_eq!(places, ["3:5", "3:23", "4:2"]);
        assert_eq!(Place::of(text, groups[0].event_key).unwrap().to_string(), "2:3");
        let commands: Vec<String> = found.iter().map(|written| written.command()).collect();
        assert_eq!(commands, ["é", "b", "c"]);
        assert_eq!(found[1].path, "hooks.Stop[0].hooks[1]");
        assert_eq!(Place::of(text, "elsewhere"), None);
    }
}
