//! Adding to and taking out of a JSON text, one item at a time, in the style around it. Every byte that is not the item,
//! its comma or the space before it stays, and [`remove`] takes out exactly what [`append`] has put in, except where
//! nothing is left that would tell how an empty container was written: that is found in the backup.

use super::parse::{BOM, Item, Node};
use super::render::{Style, Value, deeper, quoted};

/// What a file without any indentation of its own gets.
const DEFAULT_UNIT: &str = "  ";

/// How `text` is laid out.
pub(crate) fn style_of(text: &str, root: &Node) -> Style {
    let newline = match text.find('\n') {
        Some(at) if text.get(..at).is_some_and(|before| before.ends_with('\r')) => "\r\n",
        _ => "\n",
    };
    let unit = match root.items().first() {
        None => Some(DEFAULT_UNIT.to_owned()),
        Some(first) => match own_line_indent(text, first.start) {
            Some(indent) if !indent.is_empty() => Some(indent.to_owned()),
            _ => slice(text, root.span.start, root.span.end).contains('\n').then(|| DEFAULT_UNIT.to_owned()),
        },
    };
    Style { newline, unit }
}

/// Adds an item at the end of a container: a member if there is a key, else an element.
pub(crate) fn append(
    text: &str,
    container: &Node,
    key: Option<&str>,
    value: &Value,
    style: &Style,
) -> String {
    let spell = |style: &Style, indent: &str| match key {
        Some(key) => format!("{}: {}", quoted(key), value.render(style, indent)),
        None => value.render(style, indent),
    };
    match container.items().last() {
        None => append_first(text, container, style, spell),
        Some(last) => append_after(text, container, last, style, spell),
    }
}

fn append_first(
    text: &str,
    container: &Node,
    style: &Style,
    spell: impl Fn(&Style, &str) -> String,
) -> String {
    let (open, close) = (container.span.start + 1, container.span.end - 1);
    let inner = slice(text, open, close);
    // What stands inside an empty container can only be space and comments; ours comes after them.
    let kept = inner.trim_end();
    let outer = line_indent(text, container.span.start);
    let line_comment = ends_in_line_comment(kept);
    if style.unit.is_none() && !line_comment {
        return splice(text, open + kept.len(), open + kept.len(), &spell(style, ""));
    }
    let indent = deeper(style, outer);
    let before = format!("{}{indent}", style.newline);
    let closing = format!("{}{outer}", style.newline);
    let rest = slice(inner, kept.len(), inner.len());
    let after = if rest.contains('\n') { rest } else { &closing };
    let item = format!("{before}{}{after}", spell(style, &indent));
    splice(text, open + kept.len(), close, &item)
}

fn append_after(
    text: &str,
    container: &Node,
    last: &Item,
    style: &Style,
    spell: impl Fn(&Style, &str) -> String,
) -> String {
    let value_end = last.value.span.end;
    let (comment_end, line_comment) = after_comments(text, last.comma.map_or(value_end, |comma| comma + 1));
    let one_line = !slice(text, container.span.start, container.span.end).contains('\n');
    let item = match own_line_indent(text, last.start) {
        Some(indent) => format!("{}{indent}{}", style.newline, spell(style, indent)),
        None if line_comment => {
            let indent = line_indent(text, last.start);
            format!("{}{indent}{}", style.newline, spell(style, indent))
        }
        None if one_line => {
            let plain = Style { newline: style.newline, unit: None };
            format!("{}{}", space_between(text, container), spell(&plain, ""))
        }
        None => format!("{}{}", space_between(text, container), spell(style, line_indent(text, last.start))),
    };
    match last.comma {
        Some(_) => splice(text, comment_end, comment_end, &format!("{item},")),
        None => {
            let text = splice(text, comment_end, comment_end, &item);
            splice(&text, value_end, value_end, ",")
        }
    }
}

/// Takes an item out, with the space before it and the comma that is no longer needed.
pub(crate) fn remove(text: &str, container: &Node, index: usize) -> String {
    let Some(item) = container.items().get(index) else { return text.to_owned() };
    let end = item.value.span.end;
    let previous = index.checked_sub(1).and_then(|at| container.items().get(at));
    let before = slice(text, 0, item.start).trim_end_matches([' ', '\t', '\r', '\n']).len();
    let gap_start = match previous {
        Some(previous) => previous.comma.map_or(previous.value.span.end, |comma| comma + 1),
        None => container.span.start + 1,
    };
    let rest = text.get(item.comma.map_or(end, |comma| comma + 1)..).unwrap_or_default();
    // A line comment before the item would swallow what comes after it on the same line.
    let ends_line = rest.trim_start_matches([' ', '\t']).starts_with(['\n', '\r']);
    let swallows = ends_in_line_comment(slice(text, gap_start, before));
    let start = if swallows && !ends_line { item.start } else { before };
    let mut out = text.to_owned();
    match (item.comma, previous.and_then(|previous| previous.comma)) {
        (Some(comma), _) => {
            out = splice(&out, comma, comma + 1, "");
            out = splice(&out, start, end, "");
        }
        (None, Some(comma)) => {
            out = splice(&out, start, end, "");
            out = splice(&out, comma, comma + 1, "");
        }
        (None, None) => out = splice(&out, start, end, ""),
    }
    if container.items().len() == 1 { collapsed(&out, container.span.start) } else { out }
}

/// The container that begins at `open` as `{}` or `[]`, if only line breaks are left in it.
fn collapsed(text: &str, open: usize) -> String {
    let inner = text.get(open + 1..).unwrap_or_default();
    let blank = inner.len() - inner.trim_start_matches([' ', '\t', '\r', '\n']).len();
    let closes = inner.get(blank..).is_some_and(|rest| rest.starts_with(['}', ']']));
    if closes && slice(inner, 0, blank).contains('\n') {
        return splice(text, open + 1, open + 1 + blank, "");
    }
    text.to_owned()
}

/// Replaces a part of a text.
pub(crate) fn splice(text: &str, start: usize, end: usize, new: &str) -> String {
    format!("{}{new}{}", text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default())
}

fn slice(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

/// Where the line of an offset begins, after a byte order mark.
fn line_start(text: &str, at: usize) -> usize {
    let before = slice(text, 0, at);
    match before.rfind('\n') {
        Some(newline) => newline + 1,
        None if before.starts_with(BOM) => BOM.len(),
        None => 0,
    }
}

/// The space at the beginning of the line of an offset.
fn line_indent(text: &str, at: usize) -> &str {
    let line = slice(text, line_start(text, at), at);
    slice(line, 0, line.len() - line.trim_start_matches([' ', '\t']).len())
}

/// The same, if nothing else stands before the offset on its line, and it is not the first line.
fn own_line_indent(text: &str, at: usize) -> Option<&str> {
    let start = line_start(text, at);
    let before = slice(text, start, at);
    (slice(text, 0, start).ends_with('\n') && before.trim_matches([' ', '\t']).is_empty()).then_some(before)
}

/// After the comments that follow on the same line, and whether the last of them ends with the line.
fn after_comments(text: &str, from: usize) -> (usize, bool) {
    let mut end = from;
    loop {
        let rest = text.get(end..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let rest = slice(rest, blank, rest.len());
        if rest.starts_with("//") {
            let line = rest.split(['\n', '\r']).next().unwrap_or_default();
            return (end + blank + line.len(), true);
        }
        match rest.strip_prefix("/*").and_then(|body| body.find("*/")) {
            Some(length) if !slice(rest, 0, length + 4).contains('\n') => end += blank + length + 4,
            _ => return (end, false),
        }
    }
}

/// Whether space and comments end in a `//` comment that no line break has ended.
fn ends_in_line_comment(space: &str) -> bool {
    let mut rest = space.trim_start();
    while !rest.is_empty() {
        let end = if rest.starts_with("//") {
            match rest.find('\n') {
                Some(end) => end + 1,
                None => return true,
            }
        } else {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        };
        rest = slice(rest, end, rest.len()).trim_start();
    }
    false
}

/// What stands between items of a container that share a line.
fn space_between<'t>(text: &'t str, container: &Node) -> &'t str {
    let [.., before, last] = container.items() else { return " " };
    let from = before.comma.map_or(last.start, |comma| comma + 1);
    let between = slice(text, from, last.start);
    if between.trim_matches([' ', '\t']).is_empty() { between } else { " " }
}
