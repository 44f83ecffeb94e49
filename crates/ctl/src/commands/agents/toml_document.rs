//! TOML configurations, edited as text at the places that `toml_edit` names: what it does not understand is refused, and
//! no byte of what is there is written anew. Additions are whole tables at the end of the file; each result is read again
//! before it counts, so a file whose own tables would clash with ours is refused instead of broken.

use std::ops::Range;

use hooksd_config::bridge::{self, Bridge};
use toml_edit::{Document, Item, TableLike, TomlError};

use super::entry::{Entry, command, timeout};
use super::json::edit::splice;
use super::json::parse::SyntaxError;
use super::known::Agent;

type Read<'t> = Document<&'t str>;

fn read(text: &str) -> Result<Read<'_>, SyntaxError> {
    let wrong = |error: TomlError| {
        let at = error.span().map_or(0, |span| span.start);
        SyntaxError::at(text, at, error.message().trim())
    };
    Document::parse(text).map_err(wrong)
}

/// A string as TOML.
fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

/// One `[[hooks]]` of ours, or one inline table of a list.
struct OurEntry {
    event: String,
    command: Range<usize>,
    line: String,
    bridge: Bridge,
    /// The whole table.
    span: Range<usize>,
    inline: bool,
}

fn own(table: &dyn TableLike, span: Option<Range<usize>>, inline: bool, agent: &Agent) -> Option<OurEntry> {
    let line = table.get("command")?.as_str()?.to_owned();
    let bridge = bridge::of_command(&line).filter(|bridge| agent.owns(bridge.agent.as_deref()))?;
    let start = span.as_ref()?.start;
    let ends = table.iter().filter_map(|(_, item)| item.span()).map(|span| span.end);
    let end = if inline { span?.end } else { ends.max()? };
    Some(OurEntry {
        event: table.get("event").and_then(Item::as_str).unwrap_or_default().to_owned(),
        command: table.get("command")?.span()?,
        line,
        bridge,
        span: start..end,
        inline,
    })
}

fn found(document: &Read<'_>, agent: &Agent) -> Vec<OurEntry> {
    match document.get("hooks") {
        Some(Item::ArrayOfTables(tables)) => {
            tables.iter().filter_map(|table| own(table, table.span(), false, agent)).collect()
        }
        Some(Item::Value(toml_edit::Value::Array(list))) => {
            let tables = list.iter().filter_map(|value| value.as_inline_table());
            tables.filter_map(|table| own(table, table.span(), true, agent)).collect()
        }
        _ => Vec::new(),
    }
}

/// The document with our hooks for every event of the agent.
///
/// # Errors
/// When it cannot be read, or our tables do not fit in.
pub(crate) fn with_ours(text: Option<&str>, agent: &Agent, program: &str) -> Result<String, SyntaxError> {
    let mut text = text.unwrap_or_default().to_owned();
    for event in agent.events {
        let document = read(&text)?;
        let own = found(&document, agent).into_iter().find(|own| own.event == event.name);
        let wanted = command(agent, program, *event, own.as_ref().map(|own| &own.bridge));
        let fields = [
            ("event", quoted(event.name)),
            ("command", quoted(&wanted)),
            ("timeout", timeout(agent, *event).to_string()),
        ];
        let list = document.get("hooks").and_then(Item::as_array);
        let end = list.and_then(toml_edit::Array::span).map(|span| span.end - 1);
        let empty = list.is_some_and(toml_edit::Array::is_empty);
        text = match (own, end) {
            (Some(own), _) if own.line == wanted => text,
            (Some(own), _) => splice(&text, own.command.start, own.command.end, &quoted(&wanted)),
            (None, Some(end)) => {
                let fields = fields.map(|(key, value)| format!("{key} = {value}")).join(", ");
                let before = text.get(..end).unwrap_or_default().trim_end();
                let comma = if empty || before.ends_with(',') { "" } else { "," };
                splice(&text, before.len(), before.len(), &format!("{comma}\n  {{ {fields} }}"))
            }
            (None, None) => with_table(&text, "[[hooks]]", &fields),
        };
    }
    read(&text).map(|_| text.clone())
}

/// The document without our hooks; `None` when nothing is left of it. `earlier` as for JSON.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn without_ours(
    text: &str,
    agent: &Agent,
    earlier: &[String],
) -> Result<Option<String>, SyntaxError> {
    let document = read(text)?;
    let Some(first) = found(&document, agent).into_iter().next() else { return Ok(Some(text.to_owned())) };
    let before =
        |version: &&String| with_ours(Some(version), agent, &first.bridge.program).as_deref() == Ok(text);
    if let Some(version) = earlier.iter().find(before) {
        return Ok(Some(version.clone()));
    }
    let mut out = text.to_owned();
    loop {
        let document = read(&out)?;
        let Some(own) = found(&document, agent).into_iter().next() else { break };
        out = if own.inline { without_inline(&out, &own.span) } else { without_table(&out, &own.span) };
    }
    Ok(if out.trim().is_empty() && earlier.is_empty() { None } else { Some(out) })
}

/// Our hooks in a document.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn entries(text: &str, agent: &Agent) -> Result<Vec<Entry>, SyntaxError> {
    let document = read(text)?;
    let entry = |own: OurEntry| Entry { event: own.event, command: own.line, program: own.bridge.program };
    Ok(found(&document, agent).into_iter().map(entry).collect())
}

/// The document with these tables `[<path>."<key>"]`, each with these fields; a value that differs is replaced.
///
/// # Errors
/// When it cannot be read, or the tables do not fit in.
pub(crate) fn with_keyed(
    text: Option<&str>,
    path: &[&str],
    tables: &[(String, Vec<(&'static str, String)>)],
) -> Result<String, SyntaxError> {
    let mut text = text.unwrap_or_default().to_owned();
    for (key, fields) in tables {
        let document = read(&text)?;
        let Some(table) = keyed(&document, path, key) else {
            let header = format!("[{}.{}]", path.join("."), quoted(key));
            text = with_table(&text, &header, fields);
            continue;
        };
        // From the last to the first, so that places stay right.
        let mut changes = Vec::new();
        for (name, value) in fields {
            let old = table.get(name).and_then(Item::span);
            let Some(span) = old else { continue };
            if text.get(span.clone()) != Some(value.as_str()) && *name == TRUSTED_HASH {
                changes.push((span, value.clone()));
            }
        }
        for (span, value) in changes.into_iter().rev() {
            text = splice(&text, span.start, span.end, &value);
        }
    }
    read(&text).map(|_| text.clone())
}

/// The field of Codex's trust records that follows what is installed; the others are the person's.
pub(crate) const TRUSTED_HASH: &str = "trusted_hash";

/// The document without these tables; `None` when nothing is left of it.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn without_keyed(text: &str, path: &[&str], keys: &[String]) -> Result<String, SyntaxError> {
    let mut out = text.to_owned();
    for key in keys {
        let document = read(&out)?;
        let Some(table) = keyed(&document, path, key) else { continue };
        let Some(start) = table.span().map(|span| span.start) else { continue };
        let end = table.iter().filter_map(|(_, item)| item.span()).map(|span| span.end).max();
        let end = end.unwrap_or_else(|| table.span().map_or(start, |span| span.end));
        out = without_table(&out, &(start..end));
    }
    Ok(out)
}

fn keyed<'d>(document: &'d Read<'_>, path: &[&str], key: &str) -> Option<&'d toml_edit::Table> {
    let mut table = document.as_table();
    for step in path {
        table = table.get(step)?.as_table()?;
    }
    table.get(key)?.as_table()
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A table at the end, after an empty line.
fn with_table(text: &str, header: &str, fields: &[(&'static str, String)]) -> String {
    let newline = newline(text);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    let gap = if text.is_empty() { "" } else { newline };
    let fields: String = fields.iter().map(|(key, value)| format!("{key} = {value}{newline}")).collect();
    format!("{text}{end}{gap}{header}{newline}{fields}")
}

/// Takes out a table from its header to the end of its last line, with the empty line before it.
fn without_table(text: &str, span: &Range<usize>) -> String {
    let rest = text.get(span.end..).unwrap_or_default();
    let end = span.end + rest.find('\n').map_or(rest.len(), |at| at + 1);
    let before = text.get(..span.start).unwrap_or_default();
    let start = ["\n\r\n", "\n\n"].iter().find(|gap| before.ends_with(**gap));
    let start = start.map_or(before.len(), |gap| before.len() + 1 - gap.len());
    splice(text, start, end, "")
}

/// Takes an inline table out of its list, with the space before it and the comma that is no longer needed.
fn without_inline(text: &str, span: &Range<usize>) -> String {
    let before = text.get(..span.start).unwrap_or_default().trim_end();
    let rest = text.get(span.end..).unwrap_or_default();
    let comma = rest.trim_start().starts_with(',');
    if comma {
        let end = span.end + rest.find(',').map_or(0, |at| at + 1);
        return splice(text, before.len(), end, "");
    }
    splice(text, before.strip_suffix(',').unwrap_or(before).len(), span.end, "")
}

#[cfg(test)]
mod tests {
    use super::super::known::named;
    use super::*;

    const PROGRAM: &str = "/opt/my bin/hooksctl";

    const EXISTING: &str = "# mine\ndefault_model = \"k2\"  # keep\n\n[[hooks]]\nevent = \"Stop\"\ncommand = '''say \"done\"\n[[hooks]]\n'''\n\n[providers.kimi]\ntype = \"kimi\"\n";

    #[test]
    fn ours_come_last_and_go_again() {
        let kimi = named("kimi")[0];
        for before in [
            EXISTING.to_owned(),
            EXISTING.replace('\n', "\r\n"),
            "a = 1\n".to_owned(),
            "hooks = []\n".to_owned(),
            "hooks = [{ event = \"Stop\", command = \"x\" }] # c\nb = 2\n".to_owned(),
        ] {
            let installed = with_ours(Some(&before), kimi, PROGRAM).unwrap();
            let found = entries(&installed, kimi).unwrap();
            let events: Vec<&str> = found.iter().map(|entry| entry.event.as_str()).collect();
            assert_eq!(events, kimi.events.iter().map(|event| event.name).collect::<Vec<_>>());
            assert_eq!(
                found[0].command,
                "'/opt/my bin/hooksctl' hook --agent kimi --event SessionStart --deadline 599"
            );
            assert_eq!(with_ours(Some(&installed), kimi, PROGRAM).unwrap(), installed);
            assert_eq!(without_ours(&installed, kimi, &[]).unwrap().unwrap(), before);
            if !before.starts_with("hooks") {
                assert!(installed.starts_with(&before), "{installed}");
                assert_eq!(installed.contains("\r\n"), before.contains("\r\n"));
            }
            let older = with_ours(Some(&before), kimi, "/old/hooksctl").unwrap();
            assert_eq!(with_ours(Some(&older), kimi, PROGRAM).unwrap(), installed);
        }
        let created = with_ours(None, kimi, PROGRAM).unwrap();
        assert_eq!(without_ours(&created, kimi, &[]), Ok(None));
        // Without a line end at the end there is nothing to tell it by but an earlier version.
        let bare = "a = 1".to_owned();
        let installed = with_ours(Some(&bare), kimi, PROGRAM).unwrap();
        assert_eq!(without_ours(&installed, kimi, std::slice::from_ref(&bare)), Ok(Some(bare)));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        let kimi = named("kimi")[0];
        let error = with_ours(Some("a = 1\nb = = 2\n"), kimi, PROGRAM).unwrap_err();
        assert_eq!((error.line, error.column), (2, 5), "{error}");
        assert!(with_ours(Some("[hooks]\na = 1\n"), kimi, PROGRAM).is_err());
    }

    #[test]
    fn keyed_tables_come_and_go() {
        let fields = |hash: &str| vec![("enabled", "true".to_owned()), (TRUSTED_HASH, quoted(hash))];
        let path = ["hooks", "state"];
        let before = "model = \"x\" # y\n\n[hooks.state.\"/a:stop:0:0\"]\ntrusted_hash = \"1\"\n\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n";
        let tables = [("/b \"c\":stop:0:0".to_owned(), fields("2")), ("/b:stop:1:0".to_owned(), fields("3"))];
        let after = with_keyed(Some(before), &path, &tables).unwrap();
        assert!(after.starts_with(before), "{after}");
        assert_eq!(with_keyed(Some(&after), &path, &tables).unwrap(), after);
        let keys = tables.map(|(key, _)| key);
        assert_eq!(without_keyed(&after, &path, &keys).unwrap(), before);
        // A person who has switched one off finds it switched off.
        let off = after.replacen("enabled = true", "enabled = false", 1);
        let newer = [(keys[0].clone(), fields("4"))];
        assert_eq!(with_keyed(Some(&off), &path, &newer).unwrap(), off.replace("\"2\"", "\"4\""));
    }
}
