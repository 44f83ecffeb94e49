use serde::Deserialize;

use super::*;

fn parse(text: &str) -> Value<'_> {
    Value::parse(text, Dialect::Python).unwrap()
}

#[test]
fn depth_costs_no_stack() {
    // Far deeper than any thread's stack could hold a frame for.
    const LEVELS: usize = 2_000_000;
    let text = format!("{{\"deep\":{}{},\"a\":1}}", "[".repeat(LEVELS), "]".repeat(LEVELS));
    let value = parse(&text);
    assert_eq!(value.get("a").unwrap().raw(), "1");
    assert_eq!(value.depth(), LEVELS + 1);
    let mut inner = value.get("deep").unwrap();
    for _ in 0..10 {
        inner = inner.items().remove(0);
    }
    assert_eq!(inner.kind(), Kind::Array);
    assert!(Value::parse(&"[".repeat(LEVELS), Dialect::Python).is_err());
    assert!(Value::parse(&"[{\"a\":".repeat(LEVELS), Dialect::Python).is_err());
}

/// Each level has its own kind, also those beyond the first word of 64.
#[test]
fn a_bracket_closes_what_it_opened_at_any_level() {
    for levels in [1, 63, 64, 65, 128, 129, 300] {
        let is_object = |level: usize| level.is_multiple_of(3);
        let open: String = (0..levels).map(|level| if is_object(level) { "{\"k\":" } else { "[" }).collect();
        let close = |wrong: Option<usize>| -> String {
            let bracket = |level| if is_object(level) == (wrong != Some(level)) { '}' } else { ']' };
            (0..levels).rev().map(bracket).collect()
        };
        assert!(Value::parse(&format!("{open}1{}", close(None)), Dialect::Strict).is_ok(), "{levels}");
        for wrong in 0..levels {
            let text = format!("{open}1{}", close(Some(wrong)));
            let error = Value::parse(&text, Dialect::Strict).unwrap_err();
            assert_eq!(error.offset, open.len() + levels - wrong, "{levels} {wrong}");
        }
    }
}

#[test]
fn b22_the_last_of_a_repeated_key_wins_at_every_depth() {
    let value = parse(r#"{"a":1,"b":{"c":1,"c":2},"a":3,"d":{"e":{"f":{"g":{"h":1,"h":2}}}}}"#);
    let entries: Vec<(String, &str)> =
        value.entries().into_iter().map(|(key, value)| (key.into_owned(), value.raw())).collect();
    let expected = [("a", "3"), ("b", r#"{"c":1,"c":2}"#), ("d", r#"{"e":{"f":{"g":{"h":1,"h":2}}}}"#)];
    assert_eq!(entries, expected.map(|(key, raw)| (key.to_owned(), raw)));
    assert_eq!(value.get("b").unwrap().get("c").unwrap().raw(), "2");
    let deep = ["d", "e", "f", "g", "h"].iter().fold(value, |value, key| value.get(key).unwrap());
    assert_eq!(deep.raw(), "2");
}

#[test]
fn strings_are_decoded_and_lone_surrogates_noticed() {
    let table = [
        (r#""plain ü""#, "plain ü", false),
        (r#""\u00fc\n\/\"\\\b\f""#, "ü\n/\"\\\u{8}\u{c}", false),
        (r#""\ud83d\ude00""#, "😀", false),
        (r#""a\ud83d""#, "a\u{fffd}", true),
        (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}", true),
        (r#""\ud83d\u0041""#, "\u{fffd}A", true),
    ];
    for (text, expected, lone) in table {
        let value = parse(text);
        assert_eq!(value.as_str().as_deref(), Some(expected), "{text}");
        assert_eq!(value.has_lone_surrogate(), lone, "{text}");
    }
}

#[test]
fn the_dialects_differ_in_three_words_only() {
    for text in ["NaN", "[Infinity,-Infinity]", "{\"a\":NaN}"] {
        assert!(Value::parse(text, Dialect::Python).is_ok(), "{text}");
        assert!(Value::parse(text, Dialect::Strict).is_err(), "{text}");
    }
    for dialect in [Dialect::Python, Dialect::Strict] {
        for text in ["1e999", "-0.0", "123456789012345678901234567890", " \t\r\n[1 , 2]\n", "\"\u{7f}\""] {
            assert!(Value::parse(text, dialect).is_ok(), "{text}");
        }
        for text in [
            "",
            " ",
            "01",
            "+1",
            "1.",
            ".5",
            "1e",
            "0x1",
            "tru",
            "nul",
            "{\"a\":1,}",
            "[1,]",
            "{,}",
            "{a:1}",
            "'a'",
            "\"a\nb\"",
            "\"\\x41\"",
            "\"\\u12g4\"",
            "1 2",
            "{}{}",
            "\u{c}1",
            "\u{feff}1",
            "[1}",
            "{\"a\":1]",
            "nan",
        ] {
            assert!(Value::parse(text, dialect).is_err(), "{text:?}");
        }
    }
}

#[test]
fn an_error_says_line_and_column() {
    let error = Value::parse("{\n  \"ü\": 01\n}", Dialect::Strict).unwrap_err();
    assert_eq!(error.to_string(), "line 2 column 9: expected ',' or '}'");
}

#[test]
fn a_hostile_width_is_refused_before_it_costs_memory() {
    let wide = format!("[{}1]", "1,".repeat(MAX_RECORDED));
    assert!(Value::parse(&wide, Dialect::Strict).is_err());
    // Where a big result really is, nothing below is recorded.
    let nested = format!("{{\"a\":{{\"b\":{{\"c\":{wide}}}}}}}");
    assert!(Value::parse(&nested, Dialect::Strict).is_ok());
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    flag: bool,
    #[serde(default)]
    count: Option<Integer>,
    #[serde(default)]
    any: Option<RawJson>,
}

#[test]
fn d23_scalars_are_strict_for_code_and_lenient_for_people() {
    let table = [
        (r#"{"flag":true}"#, true, Some(true)),
        (r#"{"flag":"no"}"#, false, Some(false)),
        (r#"{"flag":1.0}"#, false, Some(true)),
        (r#"{"flag":2}"#, false, None),
        (r#"{"flag":null}"#, false, None),
        (r#"{"flag":" true"}"#, false, None),
    ];
    for (text, strict, lenient) in table {
        let value = parse(text);
        assert_eq!(read::<Sample>(&value, Reading::Strict).is_ok(), strict, "{text}");
        assert_eq!(
            read::<Sample>(&value, Reading::Lenient).ok().map(|sample| sample.flag),
            lenient,
            "{text}"
        );
    }
    let count = |text: &str, reading| {
        let text = format!("{{\"flag\":true,\"count\":{text}}}");
        read::<Sample>(&parse(&text), reading).ok().and_then(|sample| sample.count)
    };
    assert_eq!(
        count("123456789012345678901234567890", Reading::Strict).unwrap().as_str(),
        "123456789012345678901234567890"
    );
    for text in ["1.0", "\"2\"", "true", "1e3"] {
        assert_eq!(count(text, Reading::Strict), None, "{text}");
        assert!(count(text, Reading::Lenient).is_some(), "{text}");
    }
    assert_eq!(count("1.5", Reading::Lenient), None);
}

#[test]
fn a_byte_that_means_something_is_found_wherever_it_stands() {
    for at in 0..20 {
        for byte in 0..0x80u8 {
            let mut text = "x".repeat(20);
            text.replace_range(at..=at, char::from(byte).encode_utf8(&mut [0; 4]));
            let parsed = Value::parse(&format!("\"{text}\""), Dialect::Strict).is_ok();
            // A quote ends the string early, a backslash before an x is no escape.
            let plain = byte >= 0x20 && byte != b'"' && byte != b'\\';
            assert_eq!(parsed, plain, "byte {byte:#x} at {at}");
        }
    }
    assert!(Value::parse(&format!("\"{}\"", "é\u{80}\u{7f}ÿ😀".repeat(5)), Dialect::Strict).is_ok());
}

#[test]
fn members_are_picked_as_each_is_got() {
    let text = r#"{"a":1,"b":{"c":[{"d":{"e":{"f":2}}}]},"\u0061":3,"a\n":4,"":5,"b":{"x":[1]},"ab":6}"#;
    let value = parse(text);
    let keys = ["a", "b", "", "a\n", "ab", "none"];
    for (key, picked) in keys.iter().zip(value.pick(keys)) {
        let entry = value.entries().into_iter().find(|(name, _)| name == key).map(|(_, value)| value);
        assert_eq!(picked.as_ref().map(Value::raw), entry.as_ref().map(Value::raw), "{key:?}");
        assert_eq!(picked.as_ref().map(Value::raw), value.get(key).as_ref().map(Value::raw), "{key:?}");
    }
    assert_eq!(value.pick(["a"]).map(|value| value.unwrap().raw().to_owned()), ["3"]);
    assert_eq!(parse("[1]").pick(["a"]).map(|value| value.is_some()), [false]);
}

#[test]
fn a_unknown_key_the_known_ones_is_found_however_it_is_spelled() {
    let value = parse(r#"{"a":1,"\u0062":2,"c":{"d":1}}"#);
    assert_eq!(value.unknown_key(&["a", "b", "c"]), None);
    assert_eq!(value.unknown_key(&["a", "c"]).as_deref(), Some("b"));
    assert_eq!(parse("7").unknown_key(&[]), None);
}

#[test]
fn what_is_opened_is_the_same_value() {
    let text = r#"{"1":{"2":{"3":{"4":{"5":{"6":[true, "x\u00e9"]}}}}}}"#;
    let (mut value, mut opened) = (parse(text), parse(text));
    for key in ["1", "2", "3", "4", "5", "6"] {
        (value, opened) = (value.get(key).unwrap(), opened.get(key).unwrap().opened());
        assert_eq!((value.raw(), value.kind()), (opened.raw(), opened.kind()), "{key}");
    }
    let texts =
        |value: &Value<'_>| value.items().iter().map(|item| item.raw().to_owned()).collect::<Vec<_>>();
    assert_eq!(texts(&value), texts(&opened));
    for scalar in ["1", "\"a\"", "null", "[]", "{}"] {
        assert_eq!(parse(scalar).opened().raw(), scalar);
    }
}
