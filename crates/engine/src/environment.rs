//! Says which variables of a session reach its handlers (contract section 6).

/// A variable whose name contains one of these, in any case, is not passed on.
const SECRET_WORDS: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASSWORD"];

/// Whether a variable with this name is kept from handlers. Names are compared in full upper case, as recorded, so that
/// `ſecret` and `PAßWORD` are secrets too (vectors `env/odd/*`).
#[must_use]
pub fn is_secret(name: &str) -> bool {
    has_word(name, &SECRET_WORDS)
}

/// Whether a name, in any case, contains one of these words, which are in upper case.
pub(crate) fn has_word(name: &str, words: &[&str]) -> bool {
    if !name.is_ascii() {
        let upper = name.to_uppercase();
        return words.iter().any(|word| upper.contains(word));
    }
    let is_in = |word: &&str| {
        let mut parts = name.as_bytes().windows(word.len());
        parts.any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    };
    words.iter().any(is_in)
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn b52_names_decide_in_any_case() {
        for name in
            ["OPENAI_API_KEY", "my_token", "DB_PASSWORD", "CLIENT_SECRET", "AWS_ACCESS_KEY_ID", "MONKEY"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["GH_PAT", "DATABASE_URL", "SSH_AUTH_SOCK", "PATH", "KE_Y"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
