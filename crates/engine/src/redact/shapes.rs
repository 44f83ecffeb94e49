//! Secrets that are known by their looks alone: keys of services, web tokens, private keys.

use super::text::{Found, Passed, find, run};

/// What must follow the beginning of a key.
#[derive(Debug, Clone, Copy)]
enum Rest {
    /// So many characters of a token, whatever they are.
    Any(usize),
    /// So many characters of a token, one of them a digit unless there are [`MIN_WITHOUT_DIGIT`]: words of a text
    /// look like the beginning of such keys.
    Mixed(usize),
    /// The same, or so many letters and digits in a row: short words with hyphens between them are no keys.
    Solid(usize),
    /// So many letters and digits in a row.
    Alnum(usize),
    /// So many hexadecimal digits, and no letter or digit after them.
    Hex(usize),
}

/// How long a token must be that has no digit. Characters.
const MIN_WITHOUT_DIGIT: usize = 20;

/// How the keys of well-known services begin, and what follows.
const PREFIXES: &[(&str, Rest)] = &[
    // Models and their hosts.
    ("sk-", Rest::Solid(8)),
    ("gsk_", Rest::Solid(8)),
    ("hf_", Rest::Mixed(16)),
    ("lsv2_", Rest::Any(8)),
    ("xai-", Rest::Mixed(20)),
    ("pplx-", Rest::Mixed(20)),
    ("nvapi-", Rest::Mixed(20)),
    ("r8_", Rest::Alnum(30)),
    ("csk-", Rest::Mixed(20)),
    ("tvly-", Rest::Mixed(16)),
    // Payments and shops.
    ("sk_live_", Rest::Any(8)),
    ("sk_test_", Rest::Any(8)),
    ("rk_live_", Rest::Any(8)),
    ("rk_test_", Rest::Any(8)),
    ("whsec_", Rest::Any(8)),
    ("sq0atp-", Rest::Any(16)),
    ("sq0csp-", Rest::Any(16)),
    ("shpat_", Rest::Any(16)),
    ("shpca_", Rest::Any(16)),
    ("shppa_", Rest::Any(16)),
    ("shpss_", Rest::Any(16)),
    ("shippo_live_", Rest::Any(16)),
    // Code, packages and builds.
    ("ghp_", Rest::Any(8)),
    ("gho_", Rest::Any(8)),
    ("ghu_", Rest::Any(8)),
    ("ghs_", Rest::Any(8)),
    ("ghr_", Rest::Any(8)),
    ("github_pat_", Rest::Any(8)),
    ("glpat-", Rest::Any(8)),
    ("gldt-", Rest::Mixed(12)),
    ("glrt-", Rest::Mixed(12)),
    ("glptt-", Rest::Mixed(12)),
    ("glcbt-", Rest::Mixed(12)),
    ("glft-", Rest::Mixed(12)),
    ("glimt-", Rest::Mixed(12)),
    ("glagent-", Rest::Mixed(12)),
    ("glsoat-", Rest::Mixed(12)),
    ("gloas-", Rest::Mixed(12)),
    ("ATATT3x", Rest::Any(16)),
    ("ATCTT3x", Rest::Any(16)),
    ("ATBB", Rest::Alnum(20)),
    ("npm_", Rest::Alnum(30)),
    ("pypi-", Rest::Mixed(16)),
    ("rubygems_", Rest::Hex(48)),
    ("oy2", Rest::Alnum(43)),
    ("dckr_pat_", Rest::Any(8)),
    ("dckr_oat_", Rest::Any(8)),
    ("CFPAT-", Rest::Any(16)),
    ("PMAK-", Rest::Any(16)),
    ("figd_", Rest::Mixed(16)),
    ("lin_api_", Rest::Any(16)),
    ("lin_oauth_", Rest::Any(16)),
    ("ntn_", Rest::Alnum(30)),
    ("secret_", Rest::Alnum(40)),
    ("sntrys_", Rest::Any(16)),
    ("sntryu_", Rest::Any(16)),
    // Chat and mail.
    ("xoxa-", Rest::Any(8)),
    ("xoxb-", Rest::Any(8)),
    ("xoxc-", Rest::Any(8)),
    ("xoxd-", Rest::Any(8)),
    ("xoxe-", Rest::Any(8)),
    ("xoxe.", Rest::Any(8)),
    ("xoxo-", Rest::Any(8)),
    ("xoxp-", Rest::Any(8)),
    ("xoxr-", Rest::Any(8)),
    ("xoxs-", Rest::Any(8)),
    ("xapp-", Rest::Any(8)),
    ("SG.", Rest::Mixed(32)),
    ("key-", Rest::Hex(32)),
    ("SK", Rest::Hex(32)),
    ("xkeysib-", Rest::Any(16)),
    ("xsmtpsib-", Rest::Any(16)),
    // Clouds and what runs there.
    ("AKIA", Rest::Any(12)),
    ("ASIA", Rest::Any(12)),
    ("ABIA", Rest::Alnum(16)),
    ("ACCA", Rest::Alnum(16)),
    ("AIza", Rest::Any(16)),
    ("ya29.", Rest::Any(8)),
    ("1//0", Rest::Mixed(20)),
    ("GOCSPX-", Rest::Any(16)),
    ("dop_v1_", Rest::Any(8)),
    ("doo_v1_", Rest::Any(8)),
    ("dor_v1_", Rest::Any(8)),
    ("HRKU-", Rest::Any(16)),
    ("dapi", Rest::Hex(32)),
    ("tskey-", Rest::Any(8)),
    ("hvs.", Rest::Mixed(16)),
    ("hvb.", Rest::Mixed(16)),
    ("hvr.", Rest::Mixed(16)),
    ("dp.st.", Rest::Mixed(16)),
    ("dp.pt.", Rest::Mixed(16)),
    ("ops_ey", Rest::Any(16)),
    ("sbp_", Rest::Hex(40)),
    ("sb_secret_", Rest::Any(8)),
    ("pscale_tkn_", Rest::Any(16)),
    ("pscale_pw_", Rest::Any(16)),
    ("glsa_", Rest::Any(16)),
    ("glc_", Rest::Mixed(20)),
    ("NRAK-", Rest::Any(16)),
    ("AGE-SECRET-KEY-1", Rest::Any(8)),
];

impl Rest {
    /// How long the part of the key is that begins `text`, if it is one. Bytes.
    fn of(self, text: &str) -> Option<usize> {
        let (length, fits) = match self {
            Rest::Any(least) => {
                let length = run(text, is_token_char);
                (length, length >= least)
            }
            Rest::Mixed(least) | Rest::Solid(least) => {
                let length = run(text, is_token_char);
                let token = text.get(..length)?;
                let digit = token.bytes().any(|byte| byte.is_ascii_digit());
                let first = token.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(length);
                let solid = matches!(self, Rest::Solid(_)) && first >= least;
                (length, length >= least && (digit || solid || length >= MIN_WITHOUT_DIGIT))
            }
            Rest::Alnum(least) => {
                let length = run(text, |c| c.is_ascii_alphanumeric());
                (length, length >= least)
            }
            Rest::Hex(exact) => {
                let length = run(text, |c| c.is_ascii_alphanumeric());
                (length, length == exact && text.get(..length)?.bytes().all(|byte| byte.is_ascii_hexdigit()))
            }
        };
        fits.then_some(length)
    }
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '~' | '+' | '/' | '=')
}

/// Finds a private key in PEM form, or in that of OpenPGP.
pub(super) fn private_key(rest: &str) -> Option<Found> {
    let head = rest.strip_prefix("-----BEGIN ")?;
    let label = head.get(..find(head, "-----")?)?;
    if !label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") {
        return None;
    }
    let end = format!("-----END {label}-----");
    Some((0, find(rest, &end).map_or(rest.len(), |at| at + end.len())))
}

/// Finds a key by its prefix or its parts, a web token, or what comes after `Bearer`.
pub(super) fn token(rest: &str, at: usize, passed: &mut Passed) -> Option<Found> {
    let first = rest.as_bytes().first();
    let by_prefix = PREFIXES
        .iter()
        .filter(|(prefix, _)| prefix.as_bytes().first() == first)
        .find_map(|(prefix, after)| Some((0, prefix.len() + after.of(rest.strip_prefix(prefix)?)?)));
    by_prefix.or_else(|| web_token(rest, at, passed)).or_else(|| by_parts(rest)).or_else(|| bearer(rest))
}

/// Finds a JSON web token.
fn web_token(rest: &str, at: usize, passed: &mut Passed) -> Option<Found> {
    /// The shortest JSON web token that is worth hiding. Bytes.
    const MIN_JWT: usize = 20;
    if !rest.starts_with("eyJ") || at < passed.no_dot {
        return None;
    }
    let length = run(rest, is_token_char);
    let has_dot = rest.get(..length)?.contains('.');
    if !has_dot {
        passed.no_dot = at + length;
    }
    (length >= MIN_JWT && has_dot).then_some((0, length))
}

/// Finds the keys that have no beginning of their own, but parts of known lengths: those of bots on Telegram and
/// Discord, of Mailchimp, and secrets of Azure's applications.
fn by_parts(rest: &str) -> Option<Found> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let bytes = rest.as_bytes();
    if bytes.get(3).is_some_and(u8::is_ascii_digit) && bytes.get(4..6) == Some(b"Q~") {
        let length = run(rest, |c| is_part(c) || matches!(c, '~' | '.'));
        return (length >= 34).then_some((0, length));
    }
    // No two words have a letter in common, so that the text is gone through once.
    let first = run(rest, |c| c.is_ascii_alphanumeric());
    let (word, after) = rest.split_at_checked(first)?;
    match after.as_bytes().first()? {
        b':' if (8..=11).contains(&first) && word.bytes().all(|byte| byte.is_ascii_digit()) => {
            let secret = run(after.get(1..)?, is_part);
            (30..=40).contains(&secret).then_some((0, first + 1 + secret))
        }
        b'.' if (23..=28).contains(&first) && word.starts_with(['M', 'N', 'O']) => {
            let middle = after.get(1..8).and_then(|part| part.find('.')).filter(|middle| *middle == 6)?;
            let last = run(after.get(middle + 2..)?, is_part);
            (last >= 27).then_some((0, first + middle + 2 + last))
        }
        b'-' if first == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            let digits = run(after.strip_prefix("-us")?, |c| c.is_ascii_digit());
            (1..=2).contains(&digits).then_some((0, first + 3 + digits))
        }
        _ => None,
    }
}

/// Words that are long enough for a token and come after `Bearer` in a sentence.
const BEARER_WORDS: [&str; 6] =
    ["authentication", "authorization", "credential", "credentials", "certificate", "challenge"];

/// Finds what comes after `Bearer`.
fn bearer(rest: &str) -> Option<Found> {
    /// The shortest token after `Bearer`. Bytes. A shorter one is an ordinary word.
    const MIN_BEARER: usize = 8;
    let word = rest.get(..6).filter(|word| word.eq_ignore_ascii_case("bearer"))?;
    let after = rest.get(word.len()..)?;
    let space = run(after, |c| matches!(c, ' ' | '\t' | ':' | '='));
    let value = after.get(space..)?;
    let length = run(value, is_token_char);
    // "Bearer authentication failed" is about tokens and has none.
    let token = value.get(..length)?.trim_end_matches(['.', '-']);
    let is_word = BEARER_WORDS.iter().any(|word| token.eq_ignore_ascii_case(word));
    (space > 0 && length >= MIN_BEARER && !is_word).then_some((word.len() + space, length))
}
