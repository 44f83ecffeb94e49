//! One document to groups of handlers. Validation is per item: a bad event, group or handler is dropped with a
//! diagnostic that says where, and the rest still loads (contract section 4, B31).

use std::borrow::Cow;

use hooksd_json::{Dialect, Kind, Value, lenient_bool, lenient_float};
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::LegacyCommand;

use crate::contents::Contents;
use crate::legacy;
use crate::lifecycle::{self, Lifecycle};
use crate::model::{GroupDeclaration, HandlerDeclaration, OnFailure, Parsed};

/// What a diagnostic about a whole document ends with.
pub const NONE_LOADED: &str = "; none of its hooks is loaded";

/// Whether list-shaped documents are allowed: in files yes, in plugins no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListForm {
    /// Migrate them.
    Allowed,
    /// They are an invalid document.
    Refused,
}

/// What can be used of a file, when it is read as a document. Read once.
#[must_use]
pub fn parsed(contents: &Contents) -> &Parsed {
    contents.parsed_by(|contents| {
        parse_bytes(&contents.bytes, &contents.path.display().to_string(), ListForm::Allowed)
    })
}

/// Reads the bytes of a document that stands at `location`.
#[must_use]
pub fn parse_bytes(bytes: &[u8], location: &str, list_form: ListForm) -> Parsed {
    let unreadable = |reason: String| Parsed {
        declarations: None,
        legacy: Vec::new(),
        diagnostics: vec![
            Diagnostic::warning(code::CONFIG_READ_FAILED, format!("{location} {reason}{NONE_LOADED}"))
                .field(location),
        ],
    };
    // Editors write the mark and users cannot see it (D6).
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return unreadable(format!("is not UTF-8 (at byte {})", error.valid_up_to())),
    };
    match Value::parse(text, Dialect::Python) {
        Ok(value) => parse_value(&value, location, list_form),
        Err(error) => unreadable(format!("is not JSON: {error}")),
    }
}

/// Reads a document that is JSON already.
#[must_use]
pub fn parse_value(value: &Value<'_>, location: &str, list_form: ListForm) -> Parsed {
    let mut reader = DocumentReader { location, legacy: Vec::new(), diagnostics: Vec::new() };
    let declarations = reader.document(value, list_form);
    Parsed { declarations, legacy: reader.legacy, diagnostics: reader.diagnostics }
}

struct DocumentReader<'a> {
    location: &'a str,
    legacy: Vec<LegacyCommand>,
    diagnostics: Vec<Diagnostic>,
}

/// Something that was empty stays; something that lost everything goes.
fn kept<T>(declared: usize, left: Vec<T>) -> Option<Vec<T>> {
    if declared > 0 && left.is_empty() { None } else { Some(left) }
}

impl DocumentReader<'_> {
    fn drop_item(&mut self, field: &str, reason: &str) {
        let field = format!("{}:{field}", self.location);
        self.diagnostics
            .push(Diagnostic::warning(code::INVALID_CONFIG, format!("{field}: {reason}")).field(field));
    }

    fn document(
        &mut self,
        value: &Value<'_>,
        list_form: ListForm,
    ) -> Option<Vec<(EventName, Vec<GroupDeclaration>)>> {
        if !value.is_object() {
            let message =
                format!("{}: expected an object with \"hooks\", got {}", self.location, value.kind().noun());
            self.diagnostics.push(Diagnostic::warning(code::INVALID_CONFIG, message).field(self.location));
            return None;
        }
        let Some(hooks) = value.get("hooks") else {
            self.drop_item("hooks", "this field is required; no hooks are loaded");
            return None;
        };
        match hooks.kind() {
            Kind::Object => {}
            Kind::Array if list_form == ListForm::Allowed && legacy::is_list_form(&hooks) => {
                let (declarations, diagnostics) = legacy::migrate(&hooks, self.location);
                self.diagnostics.extend(diagnostics);
                self.legacy = legacy::commands(&hooks, self.location);
                return Some(declarations);
            }
            kind => {
                let reason =
                    format!("expected an object of events, got {}; no hooks are loaded", kind.noun());
                self.drop_item("hooks", &reason);
                return None;
            }
        }
        let entries = hooks.entries();
        let declared = entries.len();
        let mut events = Vec::new();
        for (name, groups) in entries {
            let field = format!("hooks.{name}");
            let Ok(event) = name.parse::<EventName>() else {
                self.drop_item(&field, &unknown_event(&name));
                continue;
            };
            if groups.kind() != Kind::Array {
                let reason = format!("expected a list of groups, got {}", groups.kind().noun());
                self.drop_item(&field, &reason);
                continue;
            }
            let items = groups.items();
            let left = items
                .iter()
                .enumerate()
                .filter_map(|(index, group)| self.group(group, &format!("{field}[{index}]")))
                .collect();
            if let Some(left) = kept(items.len(), left) {
                events.push((event, left));
            }
        }
        kept(declared, events)
    }

    fn group(&mut self, group: &Value<'_>, field: &str) -> Option<GroupDeclaration> {
        if !group.is_object() {
            self.drop_item(
                field,
                &format!("expected a group {{matcher, hooks}}, got {}", group.kind().noun()),
            );
            return None;
        }
        let group = group.opened();
        let hooks = group.get("hooks").filter(|hooks| hooks.kind() == Kind::Array);
        let Some(hooks) = hooks else {
            let reason = if group.get("command").is_some() {
                "a handler stands where a group should be: put it into {\"hooks\": [...]}"
            } else {
                "expected a list of handlers"
            };
            self.drop_item(&format!("{field}.hooks"), reason);
            return None;
        };
        let items = hooks.items();
        let mut handlers = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let at = || format!("{field}.hooks[{index}]");
            match self.handler(item, &at) {
                Ok(handler) => handlers.push(handler),
                Err(reason) => self.drop_item(&at(), &reason),
            }
        }
        // A group that has lost all of its handlers is gone already: its matcher is not remarked on as well.
        let handlers = kept(items.len(), handlers)?;
        let matcher = match group.get("matcher") {
            None => None,
            Some(matcher) => match matcher.kind() {
                Kind::Null => None,
                Kind::String(_) if matcher.has_lone_surrogate() => {
                    self.drop_item(field, "the matcher has a surrogate without a partner");
                    return None;
                }
                Kind::String(text) => Some(text.into_owned()),
                kind => {
                    let reason =
                        format!("matcher: expected a string, got {}; the group is dropped", kind.noun());
                    self.drop_item(field, &reason);
                    return None;
                }
            },
        };
        Some(GroupDeclaration { matcher, handlers })
    }

    /// `field` says where it stands: most handlers are right, and nobody asks.
    fn handler(
        &mut self,
        item: &Value<'_>,
        field: &dyn Fn() -> String,
    ) -> Result<HandlerDeclaration, String> {
        if !item.is_object() {
            return Err(format!("expected a handler, got {}", item.kind().noun()));
        }
        match item.get("type").map(|kind| kind.kind()) {
            Some(Kind::String(word)) if word == "command" => {}
            Some(Kind::String(word)) => {
                return Err(format!("type: only \"command\" is supported, not {word:?}"));
            }
            Some(kind) => return Err(format!("type: expected \"command\", got {}", kind.noun())),
            None => return Err("type: this field is required: \"command\"".to_owned()),
        }
        let command = match item.get("command") {
            Some(command) => string(&command, "command")?,
            None => return Err("command: this field is required".to_owned()),
        };
        let argv = match item.get("argv").filter(|argv| !argv.is_null()) {
            Some(argv) => Some(argument_list(&argv)?),
            None => None,
        };
        let timeout = match item.get("timeout").filter(|timeout| !timeout.is_null()) {
            Some(timeout) => Some(seconds(&timeout)?),
            None => None,
        };
        // The documented spelling wins, even when it is null.
        let status_message = match item.get("statusMessage").or_else(|| item.get("status_message")) {
            Some(message) if !message.is_null() => Some(string(&message, "statusMessage")?),
            _ => None,
        };
        if let Some(flag) = item.get("async").or_else(|| item.get("async_")).filter(|flag| !flag.is_null()) {
            match lenient_bool(&flag) {
                Some(false) => {}
                Some(true) => {
                    return Err("async: handlers that nobody waits for are not supported".to_owned());
                }
                None => return Err(format!("async: expected a boolean, got {}", flag.kind().noun())),
            }
        }
        let on_failure = self.on_failure(item, field);
        let lifecycle = self.or_default(item, field, "lifecycle", Lifecycle::read, || {
            "expected \"per_event\", \"prewarmed\" or \"persistent\"".to_owned()
        });
        let workers = self.or_default(item, field, "workers", lifecycle::workers, || {
            format!("expected a whole number from 1 to {}", lifecycle::MAX_WORKERS)
        });
        Ok(HandlerDeclaration {
            command,
            argv,
            timeout,
            status_message,
            on_failure,
            lifecycle: lifecycle.unwrap_or_default(),
            workers: workers.unwrap_or(1),
            legacy: None,
        })
    }

    /// A key that only makes a handler faster: a value that cannot be read counts as absent, and never costs the
    /// handler.
    fn or_default<T>(
        &mut self,
        item: &Value<'_>,
        field: &dyn Fn() -> String,
        key: &str,
        read: impl FnOnce(&Value<'_>) -> Option<T>,
        expected: impl FnOnce() -> String,
    ) -> Option<T> {
        let value = item.get(key).filter(|value| !value.is_null())?;
        let known = read(&value);
        if known.is_none() {
            let reason = format!("{}, got {}; the default is used", expected(), excerpt(value.raw()));
            self.drop_item(&format!("{}.{key}", field()), &reason);
        }
        known
    }

    /// A misspelled `onFailure` fails closed: dropping the handler, or ignoring the key, would fail open.
    fn on_failure(&mut self, item: &Value<'_>, field: &dyn Fn() -> String) -> OnFailure {
        let Some(value) = item.get("onFailure").filter(|value| !value.is_null()) else {
            return OnFailure::Ignore;
        };
        match value.as_str().as_deref() {
            Some("ignore") => OnFailure::Ignore,
            Some("block") => OnFailure::Block,
            _ => {
                let field = format!("{}.onFailure", field());
                let reason =
                    format!("expected \"ignore\" or \"block\", got {}; taken as \"block\"", value.raw());
                self.drop_item(&field, &reason);
                OnFailure::Block
            }
        }
    }
}

fn string(value: &Value<'_>, name: &str) -> Result<String, String> {
    match value.kind() {
        Kind::String(_) if value.has_lone_surrogate() => {
            Err(format!("{name}: has a surrogate without a partner"))
        }
        Kind::String(text) => Ok(text.into_owned()),
        kind => Err(format!("{name}: expected a string, got {}", kind.noun())),
    }
}

fn argument_list(value: &Value<'_>) -> Result<Vec<String>, String> {
    if value.kind() != Kind::Array {
        return Err(format!("argv: expected a list of strings, got {}", value.kind().noun()));
    }
    let arguments: Vec<String> =
        value.items().iter().map(|argument| string(argument, "argv")).collect::<Result<_, _>>()?;
    match arguments.first() {
        None => Err("argv: expected at least the program".to_owned()),
        Some(program) if program.trim_matches(hooksd_pattern::chars::is_space).is_empty() => {
            Err("argv: the program's name is blank".to_owned())
        }
        Some(_) => Ok(arguments),
    }
}

fn seconds(value: &Value<'_>) -> Result<f64, String> {
    match lenient_float(value) {
        Some(seconds) if seconds.is_finite() && seconds > 0.0 => Ok(seconds),
        _ => {
            Err(format!("timeout: expected seconds, greater than 0 and finite, got {}", excerpt(value.raw())))
        }
    }
}

fn excerpt(raw: &str) -> Cow<'_, str> {
    /// The longest piece of a document quoted in a message. Characters.
    const MAX_EXCERPT: usize = 40;
    match raw.char_indices().nth(MAX_EXCERPT) {
        Some((end, _)) => Cow::Owned(format!("{}…", raw.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(raw),
    }
}

fn unknown_event(name: &str) -> String {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-', '.', ' '], "");
    match EventName::ALL.into_iter().find(|event| plain(event.as_str()) == plain(name)) {
        Some(event) => format!("unknown event; did you mean {event}? Names are case-sensitive"),
        None => {
            let known: Vec<&str> = EventName::ALL.iter().map(|event| event.as_str()).collect();
            format!("unknown event; known are {}", known.join(", "))
        }
    }
}
