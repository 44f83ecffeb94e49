//! charclass: what each code point is to matchers, expressions and handler text.

use hooksd_config::matcher::Matcher;
use hooksd_engine::output::{HandlerOutput, exit_reason, read_stdout};
use hooksd_pattern::Pattern;
use hooksd_protocol::event::EventName;

use crate::json::Json;
use crate::vector::{Checked, Held, Vector};

pub(crate) fn check(vector: &Vector) -> Checked {
    if vector.decision().is_some() {
        return vector.no_rule();
    }
    let class = vector.input().need("class")?.str()?;
    let is_member: Box<dyn Fn(char) -> Result<bool, String>> = match class {
        "exact" => Box::new(|c| Ok(exact_names(&format!("a{c}")).is_some())),
        "trimmed" => Box::new(trimmed),
        "word" => expression(r"\w")?,
        "space" => expression(r"\s")?,
        "digit" => expression(r"\d")?,
        "dot" => expression(".")?,
        _ => return Err(format!("unknown class {class:?}")),
    };
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    let mut count = 0;
    for c in '\0'..=char::MAX {
        if !is_member(c)? {
            continue;
        }
        count += 1;
        let c = u32::from(c);
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == c => *last = c,
            _ => ranges.push((c, c)),
        }
    }
    let expected =
        vector.expect().need("ranges")?.items().iter().map(range).collect::<Result<Vec<_>, String>>()?;
    let difference = |(expected, got)| format!("expected the range {expected:x?}, got {got:x?}");
    if let Some(pair) = expected.iter().zip(&ranges).find(|(expected, got)| expected != got) {
        return Err(difference((Some(pair.0), Some(pair.1))));
    }
    if expected.len() != ranges.len() {
        let at = expected.len().min(ranges.len());
        return Err(difference((expected.get(at), ranges.get(at))));
    }
    let expected = vector.expect().need("count")?.number()?;
    if expected != f64::from(count) {
        return Err(format!("expected {expected} code points, got {count}"));
    }
    Ok(Held::AsRecorded)
}

fn range(range: &Json<'_>) -> Result<(u32, u32), String> {
    match range.items() {
        [first, last] => Ok((first.number()? as u32, last.number()? as u32)),
        _ => Err(format!("not a range: {}", range.raw)),
    }
}

/// The names of a matcher of the exact form.
fn exact_names(matcher: &str) -> Option<Vec<String>> {
    match Matcher::compile(EventName::SubagentStart, Some(matcher)) {
        Ok(Matcher::Exact(names)) => Some(names.into_iter().collect()),
        _ => None,
    }
}

/// One class for both: what is trimmed from names and from handler text.
fn trimmed(c: char) -> Result<bool, String> {
    // Separators of names are removed from a name too, but they are not white space.
    let name =
        !matches!(c, ',' | '|') && exact_names(&format!("{c}x{c}")).is_some_and(|names| names == ["x"]);
    let reason = |text: String| exit_reason(text.as_bytes()) == "x";
    // JSON is looked for first, which is slow; no white space is outside the first plane in any version of Unicode.
    let said = |text: String| match read_stdout(text.as_bytes()) {
        HandlerOutput::Plain { text, .. } => text == "x",
        _ => false,
    };
    let mut texts = vec![reason(format!("{c}x")), reason(format!("x{c}"))];
    if c <= '\u{ffff}' {
        texts.extend([said(format!("{c}x")), said(format!("x{c}"))]);
    }
    if texts.iter().all(|text| *text == name) {
        return Ok(name);
    }
    Err(format!(
        "{c:?} is trimmed from names: {name}, from a reason's and an output's beginning and end: {texts:?}"
    ))
}

#[allow(clippy::type_complexity, reason = "the type of the table above")]
fn expression(text: &str) -> Result<Box<dyn Fn(char) -> Result<bool, String>>, String> {
    let pattern = Pattern::compile(text).map_err(|error| error.to_string())?;
    Ok(Box::new(move |c| pattern.search(c.encode_utf8(&mut [0; 4])).map_err(|error| error.to_string())))
}
