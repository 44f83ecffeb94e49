//! The text of a source file as tokens, without comments, literals, and what only tests are compiled with.

/// Words, `::`, and single characters of other kinds.
pub(super) fn tokens(text: &str) -> Vec<String> {
    without_tests(&split(text))
}

fn split(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let mut tokens = Vec::new();
    let mut index = 0;
    while index < chars.len() {
        match (at(index), at(index + 1)) {
            ('/', '/') => index = line_end(&chars, index),
            ('/', '*') => index = comment_end(&chars, index),
            ('"', _) => index = string_end(&chars, index + 1),
            ('r' | 'b' | 'c', '"' | '#' | 'r') if raw_start(&chars, index).is_some() => {
                index = raw_end(&chars, raw_start(&chars, index).unwrap());
            }
            ('\'', _) => index = character_end(&chars, index),
            (':', ':') => {
                tokens.push("::".to_owned());
                index += 2;
            }
            (first, _) if first.is_alphanumeric() || first == '_' => {
                let word: String =
                    chars[index..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').collect();
                index += word.chars().count();
                tokens.push(word);
            }
            (space, _) if space.is_whitespace() => index += 1,
            (other, _) => {
                tokens.push(other.to_string());
                index += 1;
            }
        }
    }
    tokens
}

fn line_end(chars: &[char], from: usize) -> usize {
    chars[from..].iter().position(|c| *c == '\n').map_or(chars.len(), |length| from + length)
}

fn comment_end(chars: &[char], from: usize) -> usize {
    let mut depth = 0;
    let mut index = from;
    while index < chars.len() {
        match chars[index..] {
            ['/', '*', ..] => (depth, index) = (depth + 1, index + 2),
            ['*', '/', ..] => (depth, index) = (depth - 1, index + 2),
            _ => index += 1,
        }
        if depth == 0 {
            break;
        }
    }
    index
}

fn string_end(chars: &[char], from: usize) -> usize {
    let mut index = from;
    while index < chars.len() && chars[index] != '"' {
        index += if chars[index] == '\\' { 2 } else { 1 };
    }
    index + 1
}

/// Where the `#`s of a raw string begin, if one begins here.
fn raw_start(chars: &[char], from: usize) -> Option<usize> {
    let after = from + usize::from(matches!(chars[from..], ['b' | 'c', 'r', ..]));
    if chars.get(after) != Some(&'r') {
        // A byte string or a C string that is not raw: its quote begins an ordinary one.
        return None;
    }
    let quote = chars[after + 1..].iter().position(|c| *c != '#')?;
    (chars.get(after + 1 + quote) == Some(&'"')).then_some(after + 1)
}

fn raw_end(chars: &[char], from: usize) -> usize {
    let marks = chars[from..].iter().take_while(|c| **c == '#').count();
    let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', marks)).collect();
    let text = from + marks + 1;
    let length = chars[text..].windows(end.len()).position(|part| part == end.as_slice());
    length.map_or(chars.len(), |length| text + length + end.len())
}

/// The end of a character, or of the tick of a lifetime.
fn character_end(chars: &[char], from: usize) -> usize {
    match chars[from..] {
        ['\'', '\\', ..] => {
            let end = chars[from + 3..].iter().position(|c| *c == '\'');
            end.map_or(chars.len(), |length| from + 3 + length + 1)
        }
        ['\'', _, '\'', ..] => from + 3,
        _ => from + 1,
    }
}

/// Without the items below `#[cfg(test)]` and `#[cfg(all(test, ...))]`.
fn without_tests(tokens: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        let attribute = attribute_end(tokens, index);
        let words: Vec<&str> = tokens[index..attribute.unwrap_or(index)].iter().map(String::as_str).collect();
        if matches!(
            words.as_slice(),
            ["#", "[", "cfg", "(", "test", ..] | ["#", "[", "cfg", "(", "all", "(", "test", ..]
        ) {
            index = item_end(tokens, attribute.unwrap());
        } else {
            kept.push(tokens[index].clone());
            index += 1;
        }
    }
    kept
}

/// Behind the attribute that begins here.
fn attribute_end(tokens: &[String], from: usize) -> Option<usize> {
    let begins = matches!(tokens.get(from..from + 2), Some([mark, open]) if mark == "#" && open == "[");
    begins.then(|| group_end(tokens, from + 1))
}

/// Behind the bracket that closes the one here.
fn group_end(tokens: &[String], from: usize) -> usize {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(from) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// Behind the item that begins here, after its other attributes: a block, or a semicolon.
fn item_end(tokens: &[String], mut index: usize) -> usize {
    while let Some(end) = attribute_end(tokens, index) {
        index = end;
    }
    let is_use = tokens.get(index).is_some_and(|token| token == "use");
    while index < tokens.len() {
        match tokens[index].as_str() {
            ";" => return index + 1,
            "{" if !is_use => return group_end(tokens, index),
            "(" | "[" | "{" => index = group_end(tokens, index),
            _ => index += 1,
        }
    }
    index
}

#[test]
fn comments_literals_and_tests_are_no_code() {
    let text = r##"
        //! crate::a
        /* crate::b /* crate::c */ crate::d */
        fn f<'a>(x: &'a str) -> char { g("crate::e \" crate::f", r#"crate::g " "#, b"crate::h", '"', '\'') }
        #[cfg(test)]
        #[path = "x.rs"]
        mod tests;
        #[cfg(all(test, unix))]
        use crate::{i, j};
        #[cfg(test)]
        mod more { use crate::k; fn f() { {} } }
        use crate::l;
    "##;
    let tokens = tokens(text);
    assert_eq!(tokens.iter().filter(|token| *token == "crate").count(), 1, "{tokens:?}");
    assert_eq!(tokens[tokens.len() - 5..], ["use", "crate", "::", "l", ";"]);
}
