//! Takes secrets out of what diagnostics and reasons quote. A quote is cut and put on one line, so that what is left
//! of a secret in it may not be recognised any more. Therefore secrets are taken out of what was quoted, and it is
//! quoted again.

use hooksd_config::Handler;

use crate::names::command_text;
use crate::output::{excerpt, exit_reason, last_words};
use crate::redact::{REDACTED, Redactor};
use hooksd_protocol::outcome::{Captured, Outcome};

/// What a handler has printed on one stream, without secrets.
#[must_use]
pub fn printed(output: &Captured, redactor: &Redactor) -> String {
    let text = String::from_utf8_lossy(&output.bytes);
    if output.truncated() {
        return redactor.cut_text(&text);
    }
    redactor.text(&text).unwrap_or_else(|| text.into_owned())
}

/// What [`crate::reduce`] has said of a handler, with every quote of the handler's command and output made anew without
/// secrets. The rest of the text stays as it was.
#[must_use]
pub fn quote_again(said: &str, handler: &Handler, outcome: Option<&Outcome>, redactor: &Redactor) -> String {
    let command = command_text(handler);
    let clean = || redactor.text(&command).unwrap_or_else(|| command.clone());
    let mut said = replaced(said.to_owned(), &excerpt(&command), || excerpt(&clean()));
    let Some(Outcome { stdout, stderr, .. }) = outcome else { return said };
    let beginning: fn(&[u8]) -> String = |output| excerpt(&String::from_utf8_lossy(output));
    for (output, quote) in [(stdout, beginning), (stderr, last_words), (stderr, exit_reason)] {
        said = replaced(said, &quote(&output.bytes), || quote(printed(output, redactor).as_bytes()));
    }
    said
}

/// A remark without what it quotes. This is for remarks of which nobody has kept what the quote was cut from.
#[must_use]
pub fn unquoted(said: &str) -> String {
    match said.split_once('"').and_then(|(before, rest)| Some((before, rest.rsplit_once('"')?.1))) {
        Some((before, after)) => format!("{before}{REDACTED}{after}"),
        None => said.to_owned(),
    }
}

/// The text with another quote in place of this one. The other quote is made only when this one is there.
fn replaced(text: String, quote: &str, again: impl FnOnce() -> String) -> String {
    if quote.is_empty() || !text.contains(quote) {
        return text;
    }
    text.replace(quote, &again())
}
