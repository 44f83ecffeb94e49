//! What must hold for any bytes: one function for each parser that reads what others wrote.
//!
//! `fuzz/` gives them what libFuzzer finds, `tests/fuzz` the corpus and a bounded number of mutations of it. A function
//! takes bytes and panics when something that must hold does not.
//!
//! Bytes stand for themselves. If the first is [`SHAPED`], the rest are choices from which a text is built that is
//! nearly right ([`shape`]): what a parser says of half-broken documents is reached sooner that way.

mod answers;
mod documents;
mod files;
mod matchers;
mod secrets;
pub mod shape;
mod stdin;
mod wire;

pub use answers::chosen;

use std::borrow::Cow;

use shape::Words;

/// The first byte of an input that is built rather than read. It is never the beginning of UTF-8.
pub const SHAPED: u8 = 0xff;

/// One parser and what must hold for it.
pub struct Target {
    /// Its name: that of the corpus and of the fuzzer's program.
    pub name: &'static str,
    /// Panics when something that must hold does not.
    pub run: fn(&[u8]),
    /// Words its input is made of, for shapes and mutations.
    pub words: Words,
}

/// All of them.
pub const TARGETS: [Target; 14] = [
    Target { name: "frames", run: wire::frames, words: Words(&["\n", "\r\n", "\r", "\n\n"]) },
    Target { name: "requests", run: wire::requests, words: wire::REQUEST },
    Target { name: "json", run: wire::json, words: wire::JSON },
    Target { name: "documents", run: documents::documents, words: documents::DOCUMENT },
    Target { name: "legacy", run: documents::legacy, words: documents::LEGACY },
    Target { name: "plugins", run: files::plugins, words: files::MANIFEST },
    Target { name: "trust", run: files::trust, words: files::STORE },
    Target { name: "settings", run: files::settings, words: files::SETTINGS },
    Target { name: "variables", run: files::variables, words: files::VARIABLES },
    Target { name: "outputs", run: answers::outputs, words: answers::OUTPUT },
    Target { name: "decisions", run: answers::decisions, words: answers::OUTPUT },
    Target { name: "stdin", run: stdin::stdin, words: stdin::PAYLOAD },
    Target { name: "matchers", run: matchers::matchers, words: matchers::PATTERN },
    Target { name: "secrets", run: secrets::secrets, words: secrets::TEXT },
];

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> &'static Target {
    static ALL: [Target; 14] = TARGETS;
    ALL.iter().find(|target| target.name == name).unwrap_or_else(|| panic!("no target {name}"))
}

/// The text an input stands for: itself, or JSON that is built of the target's words.
fn text(data: &[u8], words: Words) -> Cow<'_, [u8]> {
    match data {
        [SHAPED, choices @ ..] => shape::json(choices, words).into_bytes().into(),
        data => data.into(),
    }
}
