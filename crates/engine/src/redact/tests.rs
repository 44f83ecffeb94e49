//! No planted secret survives, in whatever dress it comes; what is none stays as it is.

use super::*;
use hooksd_json::{Dialect, RawJson};
use proptest::prelude::*;
use text::LOOKED;

const SECRET: &str = "Hunter2-x9q/Z+w=";

fn clean(text: &str) -> String {
    Redactor::default().text(text).unwrap_or_else(|| text.to_owned())
}

#[test]
fn a_planted_secret_never_survives() {
    let forms = [
        "export API_KEY=<S>",
        "API_KEY = '<S>' next",
        "db_password: <S>",
        "{\"client_secret\": \"<S>\", \"x\": 1}",
        "{\\\"token\\\": \\\"<S>\\\"}",
        "{'access-token' => '<S>'}",
        "curl --api-key <S> x",
        "curl --password=<S>",
        "PASSWORD=\"<S>\\\"<S>\"",
        "PASSWD=\"two <S>\"",
        "curl -H 'Authorization: Basic <S>' https://x",
        "authorization: <S>, <S>",
        "Cookie: a=<S>; b=<S>",
        "bearer <S>",
        "BEARER:  <S>",
        "see https://user:<S>@host/path",
        "postgres://Hunter2@host:5432/db",
        "postgres://u:<S>@host:5432/db",
        "https://u:p@ss<S>@host",
        "sk-<S>",
        "(ghp_<S>)",
        "x_github_pat_<S>",
        "AKIA<S>",
        "eyJhbGciOi.<S>.<S>",
        "-----BEGIN RSA PRIVATE KEY-----\n<S>\n-----END RSA PRIVATE KEY----- rest",
        "-----BEGIN PRIVATE KEY-----\n<S>",
        "ｕ MY_TOKEN=<S>é",
    ];
    for form in forms {
        let text = form.replace("<S>", SECRET);
        let clean = clean(&text);
        assert!(clean.contains(REDACTED), "{text}: {clean}");
        for part in ["Hunter2", "x9q", "Z+w"] {
            assert!(!clean.contains(part), "{text}: {clean}");
        }
    }
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "ls -la /tmp # nothing",
        "git clone https://github.com/a/b.git",
        "ask-anything sk-learn task-force-of-many",
        "the bearer of news",
        "see user@host and a://b",
        "PATH=/usr/bin HOME=/home/x",
        "",
        "ü😀",
    ] {
        assert_eq!(Redactor::default().text(text), None, "{text}");
    }
    assert_eq!(clean("A=1 API_KEY=x B=2"), "A=1 API_KEY=[redacted] B=2");
    assert_eq!(clean("https://u:p@h/x?y"), "https://[redacted]@h/x?y");
}

#[test]
fn values_of_secret_variables_are_secret_everywhere() {
    let variables = [
        ("DB_PASSWORD", "correct horse"),
        ("X_TOKEN", "short"),
        ("HOME", "/home/someone"),
        ("OLDPWD", "/home/x"),
    ];
    let redactor = Redactor::new(variables);
    assert_eq!(redactor.text("say correct horse twice"), Some("say [redacted] twice".to_owned()));
    assert_eq!(redactor.text("in /home/someone is short, /home/x"), None);
}

/// Wherever the end of a text is cut off, nothing is left of the secret that the cut went through.
#[test]
fn a_secret_that_is_cut_does_not_survive() {
    let known = "correct horse battery";
    let redactor = Redactor::new([("DB_PASSWORD", known)]);
    for before in ["", "it was ", "TOKEN=", "bearer ", "https://user:", "say \""] {
        for secret in [known, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "sk-abcdefghijklmnop", SECRET] {
            let text = format!("{before}{secret}");
            for end in before.len() + 1..=text.len() {
                let clean = redactor.cut_text(&text[..end]);
                let left = clean.replace(REDACTED, "");
                assert!(before.starts_with(left.trim_end()), "{:?}: {clean:?}", &text[..end]);
            }
        }
    }
    assert_eq!(
        redactor.cut_text("two words A=1 API_KEY=x B=2"),
        "two words A=1 API_KEY=[redacted] [redacted]"
    );
    assert_eq!((redactor.cut_text(""), redactor.cut_text("é")), (REDACTED.to_owned(), REDACTED.to_owned()));
}

#[test]
fn json_is_cleaned_by_content_and_otherwise_untouched() {
    let json = |text: &str| Redactor::default().json(&Value::parse(text, Dialect::Strict).unwrap());
    let untouched = r#"{"b":12345678901234567890123,"a":[1.50,"\ud800 \u00fc/"],"a":null}"#;
    assert_eq!(json(untouched).as_deref(), Some(untouched));
    let table = [
        (r#"{"k": "s\u006b-abcdefgh1"}"#, r#"{"k":"[redacted]"}"#),
        (r#"{"api_key": "x", "usage": {"tokens": 5}}"#, r#"{"api_key":"[redacted]","usage":{"tokens":5}}"#),
        (r#"{"secrets": [{"v": "x"}, ["y", 1]]}"#, r#"{"secrets":[{"v":"[redacted]"},["[redacted]",1]]}"#),
        (r#"{"ghp_abcdefgh1": true}"#, r#"{"[redacted]":true}"#),
        ("[\n1 ,\r\n2]", "[1,2]"),
    ];
    for (text, expected) in table {
        assert_eq!(json(text).as_deref(), Some(expected));
    }
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(json(&deep(MAX_DEPTH)).is_some() && json(&deep(MAX_DEPTH + 1)).is_none());
}

/// How often each byte of a text is looked at, at most, beside the one step over it. Work that grows with the square of
/// a text looks at each byte as often as half of the text's parts.
const MOST_LOOKS: usize = 8;

/// Bytes that were looked through per byte of this part, many times repeated.
fn looks(part: &str) -> usize {
    /// Parts. Many times [`MOST_LOOKS`].
    const REPEATED: usize = 500;
    let text = part.repeat(REPEATED);
    LOOKED.set(0);
    let _ = Redactor::default().text(&text);
    LOOKED.get() / text.len().max(1)
}

/// Looking to the end of the line at each of these is work that grows with the square of the text.
#[test]
fn the_work_grows_with_the_text_and_no_faster() {
    for part in [
        "://",
        "eyJ_",
        "://a:",
        "-----BEGIN ",
        "bearer ",
        "token ",
        "token\"",
        "\\",
        "sk-",
        "--token ",
        "://@ ",
        "auth:",
        "auth:'",
        "auth:\\\"",
        "bearer://:",
        "key_file:/",
        "?key_file=/",
        "?code=a&",
        "key=is ",
        "key: is not ",
        "cookie: is ",
        "key: $KEY ",
        "a/",
        "discord.com/",
        "//discord.com:1/",
        "/hooks/",
        "/hooks/a/",
        "/bot1:",
        "M.",
        "12345678:",
        "curl -u ",
        "mysql -p ",
        "-u",
    ] {
        assert!(looks(part) <= MOST_LOOKS, "{part:?}: {}", looks(part));
    }
    assert_eq!(
        clean("://x ://u:p@h eyJ_eyJ_x eyJhbGciOi.eyJhbGciOi.x"),
        "://x ://[redacted]@h eyJ_eyJ_x [redacted]"
    );
}

/// Text between secrets: words, names of secrets, quotes and separators, which is what redaction goes by.
fn around() -> impl Strategy<Value = String> {
    let words = [
        "key",
        "TOKEN",
        "=",
        ":",
        " ",
        "\"",
        "'",
        "\\",
        "-----BEGIN ",
        "://",
        "@",
        "bearer",
        "\n",
        "é",
        "{",
        "}",
        "auth",
        "is ",
        "$",
        "/hooks/",
        "discord.com/",
        "curl -u ",
        "?sig=",
        "&",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..12).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn a_known_value_survives_in_no_surroundings((before, after) in (around(), around())) {
        let redactor = Redactor::new([("SERVICE_TOKEN", SECRET)]);
        let text = format!("{before}{SECRET}{after}{SECRET}");
        let clean = redactor.text(&text).unwrap();
        prop_assert!(!clean.contains(SECRET), "{text}: {clean}");
        let record = format!("{{{}:[{}]}}", RawJson::string(&text).get(), RawJson::string(&text).get());
        let json = redactor.json(&Value::parse(&record, Dialect::Strict).unwrap()).unwrap();
        prop_assert!(!json.contains(SECRET), "{record}: {json}");
    }

    #[test]
    fn a_named_value_survives_on_no_line_of_its_own((before, name) in (around(), "(DB_|x-)?(API_KEY|token|Password|secret)")) {
        let text = format!("{before}\n{name}={SECRET}\n");
        let clean = clean(&text);
        prop_assert!(!clean.contains(SECRET), "{text}: {clean}");
    }
}

proptest! {
    // Each case is a text of some thousand bytes.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn the_work_on_anything_repeated_grows_with_it(part in around()) {
        prop_assert!(looks(&part) <= MOST_LOOKS, "{part:?}: {}", looks(&part));
    }
}
