//! Turns the names and inputs of an agent's own tools into those that handlers know (contract section 3).

use hooksd_json::{Dialect, Integer, Kind, RawJson, Text, Value};
use hooksd_protocol::invocation::Call;
use hooksd_protocol::payload::Tool;

/// What is done to one argument of an agent's own tool.
#[derive(Clone, Copy)]
enum Change {
    /// It is passed on as it came.
    Keep,
    /// An integer of seconds becomes milliseconds.
    ToMilliseconds,
    /// An integer that counts from 0 becomes one that counts from 1.
    FromOne,
    /// A literal text becomes an expression that matches exactly that text.
    Escape,
}

/// One argument: the agent's own name for it, the name that handlers know, and what is done to it.
type Argument = (&'static str, &'static str, Change);

/// A tool of the agent's own: its name, the name that handlers know, and its arguments in the order in which handlers
/// get them. Other arguments are left out.
type NativeTool = (&'static str, &'static str, &'static [Argument]);

const NATIVE_TOOLS: [NativeTool; 7] = [
    (
        "execute",
        "Bash",
        &[("command", "command", Change::Keep), ("timeout", "timeout", Change::ToMilliseconds)],
    ),
    (
        "write_file",
        "Write",
        &[("file_path", "file_path", Change::Keep), ("content", "content", Change::Keep)],
    ),
    (
        "edit_file",
        "Edit",
        &[
            ("file_path", "file_path", Change::Keep),
            ("old_string", "old_string", Change::Keep),
            ("new_string", "new_string", Change::Keep),
            ("replace_all", "replace_all", Change::Keep),
        ],
    ),
    (
        "read_file",
        "Read",
        &[
            ("file_path", "file_path", Change::Keep),
            ("limit", "limit", Change::Keep),
            ("offset", "offset", Change::FromOne),
        ],
    ),
    ("glob", "Glob", &[("pattern", "pattern", Change::Keep), ("path", "path", Change::Keep)]),
    (
        "grep",
        "Grep",
        &[
            ("path", "path", Change::Keep),
            ("glob", "glob", Change::Keep),
            ("output_mode", "output_mode", Change::Keep),
            ("pattern", "pattern", Change::Escape),
            ("max_count", "head_limit", Change::Keep),
        ],
    ),
    ("ls", "LS", &[("path", "path", Change::Keep)]),
];

/// The agent's own tools that handlers know by another name, each with that name.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    NATIVE_TOOLS.iter().map(|(native, known, _)| (*native, *known))
}

/// Turns a call of a tool into what handlers get.
#[must_use]
pub fn project(call: &Call) -> Tool {
    let name = call.name.decoded();
    if is_wire_mcp_name(&name) {
        return Tool { tool_name: call.name.clone(), tool_input: call.args.clone() };
    }
    if let Some(server) = &call.mcp_server {
        let server = server.decoded();
        let tool =
            name.strip_prefix(server.as_ref()).and_then(|rest| rest.strip_prefix('_')).unwrap_or(&name);
        let tool_name = Text::new(&format!("mcp__{server}__{tool}"));
        return Tool { tool_name, tool_input: call.args.clone() };
    }
    match NATIVE_TOOLS.iter().find(|(native, _, _)| *native == name) {
        Some((_, known, arguments)) => {
            Tool { tool_name: Text::new(known), tool_input: project_arguments(&call.args, arguments) }
        }
        None => Tool { tool_name: call.name.clone(), tool_input: call.args.clone() },
    }
}

/// Whether a name is `mcp__SERVER__TOOL` on one line, with neither part empty.
fn is_wire_mcp_name(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("mcp__").filter(|_| !name.contains('\n')) else { return false };
    let after_first = rest.char_indices().nth(1).map_or(rest.len(), |(at, _)| at);
    let tail = rest.get(after_first..).unwrap_or_default();
    tail.find("__").is_some_and(|at| tail.len() > at + 2)
}

fn project_arguments(args: &RawJson, arguments: &[Argument]) -> RawJson {
    let Ok(value) = Value::parse(args.get(), Dialect::Strict) else { return args.clone() };
    let members: Vec<String> = arguments
        .iter()
        .filter_map(|(native, known, change)| {
            let argument = value.get(native)?;
            Some(format!("\"{known}\":{}", changed(&argument, *change)))
        })
        .collect();
    // This does not fail, for every part is JSON.
    RawJson::new(format!("{{{}}}", members.join(","))).unwrap_or_else(|_| args.clone())
}

fn changed(argument: &Value<'_>, change: Change) -> String {
    let raw = argument.raw();
    match (change, argument.kind()) {
        (Change::ToMilliseconds, Kind::Number(text)) => Integer::parse(text)
            .map_or_else(|| raw.to_owned(), |number| number.times_1000().as_str().to_owned()),
        (Change::FromOne, Kind::Number(text)) => Integer::parse(text)
            .map_or_else(|| raw.to_owned(), |number| number.plus_one().as_str().to_owned()),
        (Change::Escape, Kind::String(_)) => escape_string_token(raw),
        _ => raw.to_owned(),
    }
}

/// The characters that Python's `re.escape` escapes, because they mean something in an expression.
const SPECIAL: &str = "()[]{}?*+-|^$\\.&~# \t\n\r\u{b}\u{c}";

/// Escapes the content of a JSON string token for use as an expression, and leaves its spelling untouched otherwise.
fn escape_string_token(token: &str) -> String {
    let mut out = String::with_capacity(token.len() + 8);
    let mut rest = token;
    while let Some(first) = rest.chars().next() {
        // A unit is a plain character, or an escape of the JSON spelling.
        let length = match (first, rest.as_bytes().get(1)) {
            ('\\', Some(b'u')) => 6,
            ('\\', _) => 2,
            _ => first.len_utf8(),
        };
        let (unit, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        let is_quote_of_token = unit == "\"";
        if !is_quote_of_token && unit_is_special(unit) {
            out.push_str("\\\\");
        }
        out.push_str(unit);
        rest = after;
    }
    out
}

/// Whether a unit of a JSON string stands for a character that means something in an expression.
fn unit_is_special(unit: &str) -> bool {
    let meant = match unit {
        "\\\\" => Some('\\'),
        "\\t" => Some('\t'),
        "\\n" => Some('\n'),
        "\\r" => Some('\r'),
        "\\f" => Some('\u{c}'),
        _ => match unit.strip_prefix("\\u") {
            Some(digits) => u32::from_str_radix(digits, 16).ok().and_then(char::from_u32),
            None if unit.starts_with('\\') => None,
            None => unit.chars().next(),
        },
    };
    meant.is_some_and(|meant| SPECIAL.contains(meant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_becomes_an_expression_without_changing_its_spelling() {
        let table = [
            (r#""a.b""#, r#""a\\.b""#),
            (r#""\u002e\ud83d""#, r#""\\\u002e\ud83d""#),
            (r#""\"'`""#, r#""\"'`""#),
            (r#""a\\b""#, r#""a\\\\b""#),
            ("\"a b\"", r#""a\\ b""#),
        ];
        for (token, expected) in table {
            assert_eq!(escape_string_token(token), expected, "{token}");
        }
    }

    #[test]
    fn only_a_complete_wire_name_is_one() {
        assert!(is_wire_mcp_name("mcp__a__b"));
        assert!(is_wire_mcp_name("mcp__ü__b"));
        for name in ["mcp____b", "mcp__a__", "mcp__a", "mcp__a__b\n", "xmcp__a__b"] {
            assert!(!is_wire_mcp_name(name), "{name}");
        }
    }
}
