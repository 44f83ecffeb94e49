//! File names from ids that anybody may have chosen.

use crate::contents::fingerprint;

/// The longest readable part. Characters.
const MAX_SLUG: usize = 48;

/// Digits of the hash that keeps names apart. Hexadecimal digits.
const DIGEST_DIGITS: usize = 32;

/// A name that is safe in a path, readable, short, and another one for every id. `fallback` stands for an id of which
/// nothing is readable.
#[must_use]
pub fn safe_name(id: &str, fallback: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '-' };
    let slug: String = id.chars().map(safe).collect();
    let slug: String = slug.trim_matches('-').chars().take(MAX_SLUG).collect();
    let slug = if slug.is_empty() { fallback } else { &slug };
    let digest: String = fingerprint(id.as_bytes()).chars().take(DIGEST_DIGITS).collect();
    format!("{slug}-{digest}")
}

#[cfg(test)]
mod tests {
    use super::safe_name;

    #[test]
    fn no_id_leads_anywhere() {
        let ids =
            ["../../x", "/etc/passwd", "a\0b", "", ".", "..", &"x".repeat(5_000), "-rf", "ü😀\n", "a b", "A"];
        let mut names = std::collections::BTreeSet::new();
        for id in ids {
            let name = safe_name(id, "thread");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')), "{name}");
            assert!(name.len() <= 81 && !name.starts_with('-'), "{name}");
            assert!(names.insert(name.to_lowercase()), "{id:?}");
        }
    }
}
