//! hooksd.toml: read item by item, each with its line.

use std::path::Path;

use hooksd_config::read::{Found, bounded};
use toml::de::{DeTable, DeValue};

use super::{KEYS, Key, Kind, Layers, SettingsError, Value};

/// The largest hooksd.toml. Bytes. With every key and a page of comments it has a few thousand.
const MAX_FILE: u64 = 64 * 1024;

/// Edits that make another key of one, at most, for it to be what was meant.
const NEAR: usize = 3;

/// Takes what the file says, if it is there.
pub(super) fn take(layers: &mut Layers, path: &Path) -> Result<(), SettingsError> {
    let whole = |message: String| SettingsError { place: path.display().to_string(), message };
    match bounded(path, MAX_FILE) {
        Found::Absent => Ok(()),
        Found::Unreadable { reason, .. } => Err(whole(reason)),
        Found::File(contents) => take_bytes(layers, path, &contents.bytes),
    }
}

/// Takes what the bytes of a file say.
pub(super) fn take_bytes(layers: &mut Layers, path: &Path, bytes: &[u8]) -> Result<(), SettingsError> {
    let text = std::str::from_utf8(bytes).map_err(|error| SettingsError {
        place: path.display().to_string(),
        message: format!("is not UTF-8 (at byte {})", error.valid_up_to()),
    })?;
    let file = File { path, text };
    let table = DeTable::parse(text).map_err(|error| {
        file.wrong(error.span().map_or(0, |span| span.start), format!("is not TOML: {}", error.message()))
    })?;
    file.table(layers, "", table.get_ref())
}

struct File<'a> {
    path: &'a Path,
    text: &'a str,
}

impl File<'_> {
    fn line(&self, at: usize) -> usize {
        1 + self.text.bytes().take(at).filter(|byte| *byte == b'\n').count()
    }

    fn origin(&self, at: usize) -> String {
        format!("{}:{}", self.path.display(), self.line(at))
    }

    fn wrong(&self, at: usize, message: String) -> SettingsError {
        SettingsError { place: self.origin(at), message }
    }

    fn table(&self, layers: &mut Layers, section: &str, table: &DeTable<'_>) -> Result<(), SettingsError> {
        for (name, value) in table {
            let at = name.span().start;
            let full = match section {
                "" => name.get_ref().to_string(),
                section => format!("{section}.{}", name.get_ref()),
            };
            let is_section =
                KEYS.iter().any(|key| key.name.split_once('.').is_some_and(|(own, _)| own == full));
            match (KEYS.iter().find(|key| key.name == full), value.get_ref()) {
                (Some(key), value) => {
                    let value = read(key, value).map_err(|message| self.wrong(at, message))?;
                    layers.set(key.name, value, &self.origin(at));
                }
                (None, DeValue::Table(inner)) if is_section => self.table(layers, &full, inner)?,
                (None, _) if is_section => {
                    return Err(self.wrong(at, format!("{full} is a section: write [{full}] above its keys")));
                }
                (None, _) => return Err(self.wrong(at, unknown(&full))),
            }
        }
        Ok(())
    }
}

fn read(key: &Key, value: &DeValue<'_>) -> Result<Value, String> {
    let read = match (key.kind, value) {
        (Kind::Text, DeValue::String(text)) => Value::Text(text.to_string()),
        (Kind::Switch, DeValue::Boolean(switch)) => Value::Switch(*switch),
        (Kind::Number(..), DeValue::Integer(number)) => {
            let digits = number.as_str();
            let number = u64::from_str_radix(digits, number.radix()).map_err(|_| key.misfit(digits))?;
            Value::Number(number)
        }
        (_, other) => return Err(key.misfit(&format!("a value of the type {}", other.type_str()))),
    };
    key.check(read)
}

/// An unknown key, with the one that was probably meant.
fn unknown(name: &str) -> String {
    let near = KEYS
        .iter()
        // A key without its section, or in the wrong one, is a near miss as well.
        .map(|key| {
            let own = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
            let whole = strsim::osa_distance(name, key.name);
            (whole.min(strsim::osa_distance(&own(name), &own(key.name))), key.name)
        })
        .min()
        .filter(|(distance, _)| *distance <= NEAR);
    match near {
        Some((_, meant)) => format!("unknown key {name}; did you mean {meant}?"),
        None => {
            let all: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
            format!("unknown key {name}; known are {}", all.join(", "))
        }
    }
}
