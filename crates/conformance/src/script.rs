//! The programs that stand for handlers: each writes down that it ran, what it read and what it was given, and then does
//! what the scenario says.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::scenario::Handler;

/// The longest text that stands in a script itself. Bytes.
const MAX_INLINE: usize = 4096;

/// A handler's script, and the files that it prints from.
pub(crate) struct Script {
    /// It needs a shell and `cat`, and `sleep` where it waits.
    pub(crate) text: String,
    /// Each file's path and content.
    pub(crate) files: Vec<(PathBuf, Vec<u8>)>,
}

/// The script of a handler that writes down into files that begin with `seen`. `real` puts paths for placeholders.
pub(crate) fn script(
    handler: &Handler,
    seen: &Path,
    looks_at_env: bool,
    real: &dyn Fn(&str) -> String,
) -> Result<Script, String> {
    let mut files = Vec::new();
    let to_print = [("stdout", &handler.stdout, ""), ("stderr", &handler.stderr, " >&2")];
    let seen = seen.display();
    let mut text = format!("#!/bin/sh\necho >>'{seen}.ran'\n/bin/cat >'{seen}.stdin'\n");
    if looks_at_env {
        // The shell's own view lacks what has no name for it.
        let _ = writeln!(text, "/bin/cat /proc/$$/environ >'{seen}.env' 2>/dev/null || env -0 >'{seen}.env'");
    }
    if handler.delay > 0.0 {
        let _ = writeln!(text, "sleep {}", handler.delay);
    }
    for (stream, printed, to) in to_print {
        let Some(bytes) = printed else { continue };
        match inline(bytes.bytes(real)?) {
            Ok(quoted) => {
                let _ = writeln!(text, "printf %s {quoted}{to}");
            }
            Err(bytes) => {
                let path = format!("{seen}.{stream}");
                let _ = writeln!(text, "/bin/cat '{path}'{to}");
                files.push((path.into(), bytes));
            }
        }
    }
    if handler.signal > 0 {
        let _ = writeln!(text, "kill -{} $$", handler.signal);
    }
    let _ = writeln!(text, "exit {}", handler.exit);
    Ok(Script { text, files })
}

/// A short text as a word for a shell, or the bytes again where they are none.
fn inline(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    let text = String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes)?;
    if text.len() < MAX_INLINE && !text.contains('\0') {
        Ok(format!("'{}'", text.replace('\'', r"'\''")))
    } else {
        Err(text.into_bytes())
    }
}
