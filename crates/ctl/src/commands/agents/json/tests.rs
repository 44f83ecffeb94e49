//! Whatever a document holds, adding and taking out again gives its bytes back.

use proptest::prelude::*;

use super::edit::{append, remove, style_of};
use super::render::Value;
use super::{Dialect, parse};

fn ours() -> Value {
    Value::Object(vec![
        ("hooks", Value::Array(vec![Value::String("a\"b".to_owned()), Value::Number(5)])),
        ("on", Value::True),
    ])
}

fn added(text: &str) -> String {
    let root = parse(text, Dialect::Relaxed).unwrap();
    append(text, &root, root.is_object().then_some("ours"), &ours(), &style_of(text, &root))
}

fn removed(text: &str) -> String {
    let root = parse(text, Dialect::Relaxed).unwrap();
    remove(text, &root, root.items().len() - 1)
}

#[test]
fn ours_follows_the_style_of_the_file() {
    let many =
        "{\n\t\"ours\": {\n\t\t\"hooks\": [\n\t\t\t\"a\\\"b\",\n\t\t\t5\n\t\t],\n\t\t\"on\": true\n\t}\n}";
    let tabs = many.replacen("{\n", "{\n\t\"a\": 1,\n", 1);
    let one = r#""ours": {"hooks": ["a\"b", 5], "on": true}"#;
    for (before, after) in [
        ("{\n\t\"a\": 1\n}".to_owned(), tabs.clone()),
        ("{\r\n\t\"a\": 1\r\n}\r\n".to_owned(), tabs.replace('\n', "\r\n") + "\r\n"),
        ("\u{feff}{\n\t\"a\": 1\n}".to_owned(), format!("\u{feff}{tabs}")),
        ("{}".to_owned(), many.replace('\t', "  ")),
        ("{\"a\":1}".to_owned(), format!("{{\"a\":1, {one}}}")),
        ("{\"a\":1,\"b\":2}\n".to_owned(), format!("{{\"a\":1,\"b\":2,{one}}}\n")),
        ("{\n\t\"a\": 1 // why\n}".to_owned(), tabs.replace("1,", "1, // why")),
        ("{\n\t\"a\": 1, // why\n}".to_owned(), tabs.replace("1,", "1, // why").replace("\t}\n}", "\t},\n}")),
    ] {
        assert_eq!(added(&before), after);
    }
}

#[test]
fn an_error_names_line_and_column() {
    for (text, dialect, error) in [
        (
            "{\n  \"a\": 1,\n}",
            Dialect::Comments,
            "line 3, column 1: a comma before this, which this agent does not read",
        ),
        ("{ // x\n}", Dialect::Strict, "line 1, column 3: a comment, which this agent does not read"),
        ("\u{feff}{\"ä\": }", Dialect::Relaxed, "line 1, column 7: a value is missing or not JSON"),
        (
            "{\"a\": 1 \"b\": 2}",
            Dialect::Relaxed,
            "line 1, column 9: a comma or the closing bracket is missing",
        ),
        ("{\"a\": \"x\n\"}", Dialect::Relaxed, "line 1, column 9: a control character in a string"),
        ("{\"a\": \"x", Dialect::Relaxed, "line 1, column 7: a string that is not closed"),
        ("{} x", Dialect::Relaxed, "line 1, column 4: something stands after the end of the value"),
        ("{\"a\": 01}", Dialect::Relaxed, "line 1, column 7: a value is missing or not JSON"),
        ("{a: 1}", Dialect::Relaxed, "line 1, column 2: a key in double quotes is missing"),
        ("", Dialect::Relaxed, "line 1, column 1: a value is missing"),
    ] {
        assert_eq!(parse(text, dialect).unwrap_err().to_string(), error, "{text:?}");
    }
    let deep = "[".repeat(100_000);
    assert!(parse(&deep, Dialect::Relaxed).unwrap_err().message.contains("deeply"));
}

/// Space between tokens, with comments in it.
fn space() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        4 => Just(" ".to_owned()),
        2 => Just("\n  ".to_owned()),
        2 => Just("\r\n\t".to_owned()),
        1 => Just("\n\n    ".to_owned()),
        1 => Just(" /* a, b */ ".to_owned()),
        1 => Just(" // note }\n ".to_owned()),
        1 => Just("/* x */ // y\n".to_owned()),
    ]
}

/// A document of any shape; containers hold something, as an empty one does not tell how it was written.
fn document() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("1".to_owned()),
        Just("-0.5e3".to_owned()),
        Just("null".to_owned()),
        Just("\"a, } ] \\\" // x\"".to_owned()),
        Just("\"\\ud800\"".to_owned()),
        Just("{}".to_owned()),
        Just("[ ]".to_owned()),
    ];
    let inner = scalar.prop_recursive(3, 24, 4, |value| container(value).boxed());
    (space(), container(inner), space()).prop_map(|(before, value, after)| format!("{before}{value}{after}"))
}

fn container(value: impl Strategy<Value = String> + 'static) -> impl Strategy<Value = String> {
    let item = (space(), space(), value, space());
    (any::<bool>(), prop::collection::vec(item, 1..4), any::<bool>(), space()).prop_map(
        |(object, items, trailing, end)| {
            let count = items.len();
            let mut out = String::from(if object { "{" } else { "[" });
            for (at, (before, colon, value, after)) in items.into_iter().enumerate() {
                out += &before;
                if object {
                    out += &format!("\"k{at}\"{colon}:{colon}");
                }
                out += &format!("{value}{after}");
                if at + 1 < count || trailing {
                    out.push(',');
                }
            }
            out + &end + if object { "}" } else { "]" }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    /// What was added is there and the only change; taking it out is the inverse.
    #[test]
    fn adding_and_removing_gives_the_bytes_back(text in document()) {
        let with = added(&text);
        let before = parse(&text, Dialect::Relaxed).unwrap();
        let after = parse(&with, Dialect::Relaxed).unwrap();
        prop_assert_eq!(after.items().len(), before.items().len() + 1);
        prop_assert_eq!(removed(&with), text);
    }
}
