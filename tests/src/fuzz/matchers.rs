//! Matchers: everything, names, or expressions with Python's meaning.

use arbitrary::Unstructured;
use hooksd_config::matcher::{Matched, Matcher};
use hooksd_pattern::Pattern;
use hooksd_protocol::event::EventName;

use super::SHAPED;
use super::shape::Words;

pub(super) const PATTERN: Words = Words(&[
    "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?P<n>", "(?P=n)", "(?(1)", "(?>", ")", "|", "*", "+", "?", "*?",
    "++", "{2,3}", "{,2}", "[^", "[a-", "]", "\\1", "\\b", "\\B", "\\w", "\\W", "\\d", "\\s", "\\A", "\\Z",
    "\\x41", "\\u00e9", "\\N", "^", "$", ".", "(?i)", "(?s)", "(?m:", "(?x)", "Bash", "mcp__", "a", "ab",
    "\n",
]);

/// An expression on the first line, the name it is tried on after it. Compiling and matching end, say the same twice,
/// and where an automaton can say it as well, it says the same.
pub(super) fn matchers(data: &[u8]) {
    if let [SHAPED, choices @ ..] = data {
        return same_as_automaton(&mut Unstructured::new(choices));
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (pattern, subject) = text.split_once('\n').unwrap_or((text, "Bash"));
    let Ok(matcher) = Matcher::compile(EventName::PreToolUse, Some(pattern)) else { return };
    let matched = matcher.matches(Some(subject));
    assert_eq!(matcher.matches(Some(subject)), matched);
    match &matcher {
        Matcher::All => assert_eq!(matched, Matched::Yes),
        Matcher::Exact(names) => assert_eq!(matched == Matched::Yes, names.contains(subject)),
        Matcher::Expression(_) if matched != Matched::BoundReached => {
            // A group around it means nothing, as long as nothing in it counts groups or stands for all of it.
            if !pattern.contains(['\\', '(', '#']) {
                let wrapped =
                    Pattern::compile(&format!("(?:{pattern})")).expect("a group around it compiles");
                assert!(wrapped.search(subject).is_ok_and(|found| found == (matched == Matched::Yes)));
            }
        }
        Matcher::Expression(_) => {}
    }
    let stop = Matcher::compile(EventName::Stop, Some(pattern));
    assert_eq!(stop.is_ok(), matches!(pattern, "" | "*"));
}

/// A pattern in the part of the language that automata know, tried on a name of the same few letters.
fn same_as_automaton(choices: &mut Unstructured<'_>) {
    let mut pattern = String::new();
    expression(choices, 0, &mut pattern);
    let subject: String = (0..choices.int_in_range(0..=12).unwrap_or(0))
        .map(|_| *choices.choose(&LETTERS).unwrap_or(&'a'))
        .collect();
    let Ok(theirs) = regex::Regex::new(&pattern) else { return };
    let ours = Pattern::compile(&pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    if let Ok(found) = ours.search(&subject) {
        assert_eq!(found, theirs.is_match(&subject), "{pattern} on {subject:?}");
    }
}

const LETTERS: [char; 6] = ['a', 'b', 'c', '_', ' ', 'é'];

fn expression(choices: &mut Unstructured<'_>, depth: usize, out: &mut String) {
    /// The deepest nesting of a built pattern. Levels.
    const MAX_DEPTH: usize = 5;
    for index in 0..choices.int_in_range(1..=4).unwrap_or(1) {
        if index > 0 && choices.ratio(1, 4).unwrap_or(false) {
            out.push('|');
        }
        let kinds = if depth >= MAX_DEPTH || choices.is_empty() { 7 } else { 9 };
        match choices.choose_index(kinds).unwrap_or(0) {
            0..=2 => out.push(*choices.choose(&LETTERS).unwrap_or(&'a')),
            3 => out
                .push_str(choices.choose(&["[ab]", "[^a]", "[a-c_]", "[^\\s]", "[\\w]"]).unwrap_or(&"[ab]")),
            4 => out.push_str(choices.choose(&["\\w", "\\W", "\\s", "\\S", "\\d", "."]).unwrap_or(&".")),
            // Between nothing and nothing, Python's word boundaries differ from everybody's: none stands alone.
            5 => out.push_str(choices.choose(&["^", "a\\b", "\\bb", "c$"]).unwrap_or(&"^")),
            6 => out.push_str("(?:)"),
            kind => {
                out.push_str(if kind == 7 { "(" } else { "(?:" });
                expression(choices, depth + 1, out);
                out.push(')');
            }
        }
        if !out.ends_with(['^', '$', 'b', '|']) && choices.ratio(1, 3).unwrap_or(false) {
            out.push_str(
                choices.choose(&["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?"]).unwrap_or(&"*"),
            );
        }
    }
}
