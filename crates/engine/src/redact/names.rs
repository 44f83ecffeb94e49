//! Says by its name whether a value is a secret. This is about what is written down; which variables handlers get is
//! [`crate::environment`], which goes by fewer words and more simply.

use crate::environment::has_word;

/// What a name says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grade {
    /// Nothing.
    None,
    /// It is a secret if it looks like one.
    Weak,
    /// It is a secret if it looks like one, or is a number that is long enough.
    Digits,
    /// It is a secret unless it is plainly something else.
    Strong,
    /// It is a secret that goes on to the end of the line.
    Line,
}

/// A name that contains one of these has a secret.
const STRONG: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PASSCODE",
    "CREDENTIAL",
    "PRIVATE",
    "AUTHORIZATION",
    "COOKIE",
];

/// Words in names whose value is the rest of the line.
const WHOLE_LINE: &[&str] = &["AUTHORIZATION", "COOKIE"];

/// Words that contain one of [`STRONG`] and have no secret.
const HARMLESS: &[&str] = &[
    "KEYBOARD",
    "KEYWORD",
    "KEYNOTE",
    "KEYFRAME",
    "KEYMAP",
    "KEYBIND",
    "KEYPRESS",
    "KEYSTROKE",
    "KEYEVENT",
    "KEYCODE",
    "KEYUP",
    "KEYDOWN",
    "KEYPAD",
    "KEYSPACE",
    "KEYSERVER",
    "KEYGEN",
    "HOTKEY",
    "MONKEY",
    "DONKEY",
    "TURKEY",
    "HOCKEY",
    "JOCKEY",
    "WHISKEY",
    "PUBKEY",
    "PUBLICKEY",
    "PUBLIC_KEY",
    "PUBLIC-KEY",
    "PRIMARYKEY",
    "PRIMARY_KEY",
    "FOREIGN_KEY",
    "TOKENIZ",
    "TOKENIS",
    "SECRETARY",
    "SECRETARIES",
    "PASSWORDLESS",
    "PASSWORD-LESS",
    "COOKIECUTTER",
];

/// A name that has one of these among its words may have a secret.
const WEAK: &[&str] = &[
    "AUTH",
    "BEARER",
    "CONN",
    "CONNECTION",
    "CONNECTIONSTRING",
    "CONNSTR",
    "CRED",
    "CREDS",
    "CSRF",
    "DSN",
    "ENCRYPTION",
    "HMAC",
    "JSESSIONID",
    "JWT",
    "MFA",
    "MNEMONIC",
    "OTP",
    "PASS",
    "PASSWRD",
    "PAT",
    "PEPPER",
    "PHPSESSID",
    "PIN",
    "PSK",
    "PSW",
    "PWD",
    "SALT",
    "SAS",
    "SESSID",
    "SESSION",
    "SIGNATURE",
    "SIGNING",
    "TOTP",
    "XSRF",
];

/// Words of [`WEAK`] whose secrets are numbers.
const NUMBERS: &[&str] = &["MFA", "OTP", "PASS", "PIN", "TOTP"];

/// Parameters of an address that have a secret, beside those of names like any others.
const QUERY: &[&str] = &["sig", "signature", "X-Amz-Signature", "X-Goog-Signature", "hmac", "assertion"];

/// Parameters of an address that may have a secret.
const QUERY_WEAK: &[&str] =
    &["code", "ticket", "sid", "pw", "pass", "pwd", "samlresponse", "tk", "magic", "invite"];

/// Words that contain `PASS` at their end and have no secret.
const PASSING: &[&str] = &["BYPASS", "COMPASS", "TRESPASS", "OVERPASS", "UNDERPASS", "SURPASS"];

/// A name that ends so says something about a secret: how long, of which kind.
const MEASURES: &[&str] = &[
    "ALG",
    "ALGORITHM",
    "AGE",
    "COUNT",
    "ENABLED",
    "EXPIRATION",
    "EXPIRES",
    "EXPIRY",
    "FORMAT",
    "IN",
    "LEN",
    "LENGTH",
    "LIMIT",
    "MAX",
    "MIN",
    "METHOD",
    "MODE",
    "POLICY",
    "SIZE",
    "STATUS",
    "TIMEOUT",
    "TTL",
    "TYPE",
    "VERSION",
];

/// A name that ends so says where a secret is.
const PLACES: &[&str] = &["DIR", "DIRECTORY", "FILE", "FILENAME", "PATH", "SOCK", "SOCKET", "STDIN"];

/// A name with a weak word that ends so has no secret, beside [`MEASURES`] and [`PLACES`].
const SUBJECTS: &[&str] = &[
    "CLASS", "DESKTOP", "DOMAIN", "ENDPOINT", "HOST", "ID", "LEADER", "MANAGER", "NAME", "PORT", "PROVIDER",
    "SCOPE", "SERVER", "STATE", "URI", "URL", "USER",
];

/// How the names of hooksd's own variables begin.
const OWN: &str = "HOOKSD_";

/// What this name says of its value.
pub(super) fn grade(name: &str) -> Grade {
    if is_strong(name) {
        return if has_word(name, WHOLE_LINE) { Grade::Line } else { Grade::Strong };
    }
    let upper = |part: &str| name.len() >= part.len() && has_word(name, &[part]);
    if matches!(name, "PWD" | "OLDPWD") || name.get(..OWN.len()).is_some_and(|own| own == OWN) {
        return Grade::None;
    }
    let bare = name.trim_start_matches('-');
    if upper("PWD") && !bare.eq_ignore_ascii_case("pwd") {
        return Grade::Strong;
    }
    let passes = ends_with(bare, "PASS") && !PASSING.iter().any(|word| ends_with(bare, word));
    if passes && name.len() > "PASS".len() {
        return Grade::Strong;
    }
    let is_weak = words(name).any(|word| is_one_of(word, WEAK));
    let is_about = last_word(name).is_some_and(|word| {
        is_one_of(word, SUBJECTS) || is_one_of(word, MEASURES) || is_one_of(word, PLACES)
    });
    if !is_weak || is_about {
        return Grade::None;
    }
    if words(name).any(|word| is_one_of(word, NUMBERS)) { Grade::Digits } else { Grade::Weak }
}

/// What this name says of its value in the query or the fragment of an address.
pub(super) fn query_grade(name: &str) -> Grade {
    match grade(name) {
        Grade::Line => Grade::Strong,
        Grade::None | Grade::Weak | Grade::Digits if is_one_of(name, QUERY) => Grade::Strong,
        Grade::None if is_one_of(name, QUERY_WEAK) => Grade::Weak,
        grade => grade,
    }
}

/// Whether a name has one of the words that mean a secret, and not only as a part of a harmless one.
fn is_strong(name: &str) -> bool {
    if !has_word(name, STRONG) {
        return false;
    }
    let at = |from: usize, word: &str| {
        name.get(from..from + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word))
    };
    // A name in other letters is compared in full upper case, and has nothing harmless about it.
    if !name.is_ascii() {
        return true;
    }
    let harmless = |from: usize, word: &str| {
        HARMLESS.iter().any(|longer| {
            longer
                .find(word)
                .and_then(|offset| from.checked_sub(offset))
                .is_some_and(|start| at(start, longer))
        })
    };
    STRONG.iter().any(|word| (0..name.len()).any(|from| at(from, word) && !harmless(from, word)))
}

/// Whether the name of a secret and this value say something about it and do not tell it: `token_type: bearer`,
/// `PASSWORD_MIN_LENGTH=12`, `KEY_FILE=/etc/key.pem`, `max_tokens: 4096`.
pub(super) fn is_about(name: &str, value: &str) -> bool {
    let Some(last) = last_word(name) else { return false };
    /// As much of a value as is looked at. Bytes.
    const MAX_VALUE: usize = 256;
    let value = value.get(..MAX_VALUE).unwrap_or(value).trim_end_matches([',', ';', '.', ')', ']', '}']);
    /// The longest number that is a measure. Digits.
    const MAX_MEASURE: usize = 9;
    let number =
        value.len() <= MAX_MEASURE && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let word = value.bytes().all(|byte| byte.is_ascii_alphabetic());
    let path = value.starts_with(['/', '~']) || value.starts_with("./") || value.starts_with("../");
    if last.eq_ignore_ascii_case("STDIN") {
        return true;
    }
    (is_one_of(last, MEASURES) && (number || word))
        || (is_one_of(last, PLACES) && path)
        || (last.eq_ignore_ascii_case("TOKENS") && number)
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|one| word.eq_ignore_ascii_case(one))
}

fn ends_with(name: &str, end: &str) -> bool {
    let at = name.len().checked_sub(end.len());
    at.and_then(|at| name.get(at..)).is_some_and(|last| last.eq_ignore_ascii_case(end))
}

fn last_word(name: &str) -> Option<&str> {
    words(name).last()
}

/// The words of a name, which marks and capitals part: `DB_PASS`, `db-pass`, `dbPass`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    parts.flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let bytes = rest.as_bytes();
            let starts = |at: usize| {
                let is = |at: usize, test: fn(&u8) -> bool| bytes.get(at).is_some_and(test);
                is(at, u8::is_ascii_uppercase)
                    && (!is(at - 1, u8::is_ascii_uppercase) || is(at + 1, u8::is_ascii_lowercase))
            };
            let end = (1..bytes.len()).find(|at| starts(*at)).unwrap_or(bytes.len());
            let (word, after) = rest.split_at_checked(end)?;
            rest = after;
            Some(word)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parted_at_marks_and_capitals() {
        let parts = |name: &str| words(name).map(str::to_owned).collect::<Vec<_>>().join(" ");
        for (name, expected) in [
            ("DB_PASS", "DB PASS"),
            ("--db-pass", "db pass"),
            ("sessionId", "session Id"),
            ("XAuthToken", "X Auth Token"),
            ("PHPSESSID", "PHPSESSID"),
            ("a.b_c", "a b c"),
            ("", ""),
        ] {
            assert_eq!(parts(name), expected);
        }
    }

    #[test]
    fn a_name_says_what_its_value_is() {
        let table = [
            (
                Grade::Strong,
                "API_KEY apikey dbPassword DB_PASS --pass PGPASS MYSQL_PWD ſecret GOOGLE_CREDENTIALS",
            ),
            (Grade::Line, "Authorization Proxy-Authorization set-cookie"),
            (Grade::Weak, "AUTH SESSION SENTRY_DSN CONN SIGNING SALT pwd npm_auth SESSION_SALT"),
            (Grade::Digits, "PIN pass USER_OTP"),
            (
                Grade::None,
                "PATH AUTHOR PINNED KEYBOARD monkey PWD OLDPWD SESSION_ID sessionId HOOKSD_SESSION SSH_AUTH_SOCK \
                 BYPASS compass tokenizer PUBLIC_KEY XDG_SESSION_TYPE auth_url spinner connect MULTIPASS_X",
            ),
        ];
        for (expected, names) in table {
            for name in names.split_whitespace() {
                assert_eq!(grade(name), expected, "{name}");
            }
        }
    }
}
