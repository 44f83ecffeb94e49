//! Tells a secret from a sentence, a placeholder and a reference that stand where a secret could. Who sees an error
//! needs to read it: `API_KEY: parameter not set`.

/// The longest digit string that is an ordinary number in a sentence. Digits.
const MAX_NUMBER: usize = 4;

/// The shortest value that looks like a secret. Bytes.
const MIN_LOOKS: usize = 6;

/// The shortest PIN. Digits.
const MIN_PIN: usize = 4;

/// The first word of what is said about a secret, and the whole of what stands for none.
const WORDS: &[&str] = &[
    "absent",
    "and",
    "any",
    "argument",
    "are",
    "array",
    "boolean",
    "bool",
    "bytes",
    "can",
    "cannot",
    "cant",
    "changed",
    "copied",
    "could",
    "created",
    "default",
    "deleted",
    "denied",
    "did",
    "disabled",
    "do",
    "does",
    "doesn't",
    "don't",
    "empty",
    "enabled",
    "error",
    "exceeded",
    "expected",
    "expired",
    "expires",
    "failed",
    "false",
    "flag",
    "for",
    "forbidden",
    "found",
    "from",
    "had",
    "has",
    "have",
    "if",
    "in",
    "incorrect",
    "instead",
    "int",
    "integer",
    "invalid",
    "is",
    "list",
    "malformed",
    "may",
    "mismatch",
    "missing",
    "must",
    "needed",
    "needs",
    "never",
    "nil",
    "none",
    "not",
    "null",
    "number",
    "object",
    "option",
    "optional",
    "or",
    "parameter",
    "please",
    "provided",
    "refused",
    "rejected",
    "removed",
    "required",
    "requires",
    "revoked",
    "rotated",
    "should",
    "str",
    "string",
    "takes",
    "to",
    "too",
    "true",
    "unable",
    "unauthorized",
    "undefined",
    "unknown",
    "unset",
    "updated",
    "valid",
    "value",
    "variable",
    "was",
    "will",
    "with",
    "wrong",
];

/// Words after which a secret may come all the same: `password: is hunter2`.
const LINKS: &[&str] = &["are", "changed", "default", "is", "not", "to", "updated", "was"];

/// Words with which a sentence about a secret begins, when one of [`WORDS`] is near: `"Password is too short"`.
const TOPICS: &[&str] =
    &["api", "field", "its", "key", "no", "password", "passwords", "secret", "the", "this", "token", "your"];

/// How many words after a topic one of [`WORDS`] must stand.
const NEAR: usize = 3;

/// Words of letters and digits that are names of methods and never secrets.
const METHODS: &[&str] = &[
    "aes128", "aes192", "aes256", "argon2", "argon2id", "base64", "ed25519", "ed448", "es256", "es384",
    "es512", "hs256", "hs384", "hs512", "http2", "http3", "ipv4", "ipv6", "oauth1", "oauth2", "p256", "p384",
    "pbkdf2", "pkcs12", "ps256", "rs256", "rs384", "rs512", "sha224", "sha256", "sha384", "sha512", "tls1.2",
    "tls1.3",
];

/// What an unquoted text that may be a secret turns out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Judged {
    /// No secret.
    Prose,
    /// A secret begins here. Bytes from the beginning.
    From(usize),
}

/// Judges what stands unquoted where a secret could. `spaced` says that a space stands before it, as in `name:
/// value`; then the rest of the line belongs to it.
pub(super) fn judge(line: &str, spaced: bool) -> Judged {
    let (word, rest) = next_word(line);
    if !is_one_of(bare(word), WORDS) {
        return Judged::From(0);
    }
    if !spaced {
        return Judged::Prose;
    }
    let (mut word, mut rest) = (word, rest);
    for _ in 0..NEAR {
        if !is_one_of(bare(word), LINKS) {
            break;
        }
        (word, rest) = next_word(rest);
        if looks_secret(bare(word)) {
            return Judged::From(line.len() - rest.len() - word.len());
        }
    }
    Judged::Prose
}

/// Whether the whole of a text is said about a secret, and does not tell it.
pub(super) fn is_sentence(text: &str) -> bool {
    let (first, mut rest) = next_word(text);
    let is_said = is_one_of(bare(first), WORDS);
    if rest.trim().is_empty() {
        return is_said;
    }
    let plain = text.split_whitespace().all(|word| is_plain(bare(word)));
    if is_said || !plain || !is_one_of(bare(first), TOPICS) {
        return plain && is_said;
    }
    (0..NEAR).any(|_| {
        let word;
        (word, rest) = next_word(rest);
        is_one_of(bare(word), WORDS)
    })
}

/// Whether a value refers to a secret or holds its place: `$TOKEN`, `${TOKEN}`, `<your key>`, `***`,
/// `os.environ["KEY"]`.
pub(super) fn is_placeholder(value: &str) -> bool {
    /// The longest that is one. Bytes.
    const MAX_PLACEHOLDER: usize = 128;
    if value.len() > MAX_PLACEHOLDER {
        return false;
    }
    let value = value.trim_end_matches([',', ';', ')', '\'', '"']);
    let upper = |name: &str| {
        name.len() >= 2
            && name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let within = |open: &str, close: &str| value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    let reference = value.strip_prefix('$').is_some_and(upper)
        || within("${", "}").is_some_and(upper)
        || within("%", "%").is_some_and(upper)
        || within("${{", "}}").is_some_and(|inner| inner.trim().starts_with("secrets."))
        || value == "${{"
        || ["process.env.", "process.env[", "os.environ", "os.getenv(", "ENV["]
            .iter()
            .any(|begin| value.starts_with(begin));
    let mask = |mark: char| value.len() >= 3 && value.chars().all(|c| c == mark);
    let masked = ['*', '.', 'x', 'X', '•', '…', '-', '_'].into_iter().any(mask) || value == "…";
    // The opening of a list or of an object, or a mark that says nothing.
    let mark = value.len() < 3 && !value.contains(|c: char| c.is_alphanumeric());
    reference || masked || mark || is_place(value)
}

/// Whether a text begins with what holds the place of a value: `<your password>`.
pub(super) fn is_place(text: &str) -> bool {
    let inner = text.strip_prefix('<').and_then(|rest| rest.split_once('>')).map(|(inner, _)| inner);
    inner.is_some_and(|inner| {
        !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_alphabetic() || b" _-.".contains(&byte))
    })
}

/// Whether a value whose name is not certain looks like a secret.
pub(super) fn looks_secret(value: &str) -> bool {
    /// As much of a value as is looked at. Bytes. The rest looks no different.
    const MAX_LOOKS: usize = 256;
    let value = value.get(..MAX_LOOKS).unwrap_or(value);
    let value = value.trim_end_matches([',', ';']);
    if value.starts_with(['/', '~', '.', '<']) || is_placeholder(value) || is_one_of(value, METHODS) {
        return false;
    }
    if value.contains(char::is_whitespace) || value.contains("://") {
        return false;
    }
    if value.len() < MIN_LOOKS {
        return false;
    }
    // `user:password@host`, as data sources are written.
    let user = value.split_once('@').is_some_and(|(user, _)| user.contains(':'));
    let odd = value.contains(['!', '$', '%', '^', '*', '=', '~', '&', '#', '+']) && value.is_ascii();
    let pieces = || value.split(|c: char| !c.is_ascii_alphanumeric());
    let mixed = pieces().any(|piece| {
        piece.bytes().any(|byte| byte.is_ascii_digit())
            && piece.bytes().any(|byte| byte.is_ascii_alphabetic())
    });
    /// A piece of letters as long as this is no word. Bytes.
    const MAX_WORD: usize = 24;
    user || (odd && value.contains(|c: char| c.is_ascii_alphabetic()) && !value.contains('('))
        || (mixed && !pieces().any(|piece| is_one_of(piece, METHODS)))
        || pieces().any(|piece| piece.len() > MAX_WORD)
}

/// Whether a value whose name is not certain is a number that is long enough for a secret.
pub(super) fn is_pin(value: &str) -> bool {
    let value = value.trim_end_matches([',', ';', '.']);
    value.len() >= MIN_PIN && value.bytes().all(|byte| byte.is_ascii_digit())
}

/// The next word of a line, and what comes after it.
fn next_word(line: &str) -> (&str, &str) {
    let line = line.trim_start_matches([' ', '\t']);
    line.split_at_checked(line.find(char::is_whitespace).unwrap_or(line.len())).unwrap_or_default()
}

/// A word without the marks around it.
fn bare(word: &str) -> &str {
    let is_mark = |c: char| {
        matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '[' | ']' | '}' | '"' | '\'' | '`')
    };
    word.trim_matches(is_mark)
}

/// Whether this is a word of a sentence, or a small number.
fn is_plain(word: &str) -> bool {
    let number = word.len() <= MAX_NUMBER && word.bytes().all(|byte| byte.is_ascii_digit());
    number || word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '-' | '_' | '/'))
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|one| word.eq_ignore_ascii_case(one))
}
