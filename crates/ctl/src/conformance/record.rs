//! The programs that stand for handlers: each writes down that it ran, what it read and what it was given, and then does
//! what the scenario says.

use std::fmt::Write;
use std::fs;

use super::layout::World;
use super::scenario::{Bytes, Handler};

/// The most that is read back of what a handler wrote down. Bytes.
const MAX_RECORD: u64 = 16 << 20;

/// The script of a handler. It needs a shell and `cat`, and `sleep` where it waits.
pub(super) fn script(
    world: &mut World,
    name: &str,
    handler: &Handler,
    looks_at_env: bool,
) -> Result<String, String> {
    let seen = world.at("seen").join(name);
    let seen = seen.display();
    let mut text = format!("#!/bin/sh\necho >>'{seen}.ran'\n/bin/cat >'{seen}.stdin'\n");
    if looks_at_env {
        // The shell's own view lacks what has no name for it.
        let _ = writeln!(text, "/bin/cat /proc/$$/environ >'{seen}.env' 2>/dev/null || env -0 >'{seen}.env'");
    }
    if handler.delay > 0.0 {
        let _ = writeln!(text, "sleep {}", handler.delay);
    }
    for (stream, printed, to) in [("stdout", &handler.stdout, ""), ("stderr", &handler.stderr, " >&2")] {
        if let Some(bytes) = printed {
            text.push_str(&print(world, name, stream, bytes, to)?);
        }
    }
    if handler.signal > 0 {
        let _ = writeln!(text, "kill -{} $$", handler.signal);
    }
    let _ = writeln!(text, "exit {}", handler.exit);
    Ok(text)
}

/// The line that prints bytes: itself when they are a text, from a file otherwise.
fn print(world: &mut World, name: &str, stream: &str, bytes: &Bytes, to: &str) -> Result<String, String> {
    let bytes = bytes.bytes(&|text| world.real(text))?;
    match String::from_utf8(bytes) {
        Ok(text) if text.len() < 4096 && !text.contains('\0') => {
            Ok(format!("printf %s '{}'{to}\n", text.replace('\'', r"'\''")))
        }
        Ok(text) => file(world, name, stream, text.as_bytes(), to),
        Err(error) => file(world, name, stream, error.as_bytes(), to),
    }
}

fn file(world: &mut World, name: &str, stream: &str, bytes: &[u8], to: &str) -> Result<String, String> {
    let path = world.at("seen").join(format!("{name}.{stream}"));
    world.write(&path, bytes, 0o644, false)?;
    Ok(format!("/bin/cat '{}'{to}\n", path.display()))
}

/// How often a handler ran.
pub(super) fn times(world: &World, name: &str) -> usize {
    let path = world.at("seen").join(format!("{name}.ran"));
    fs::metadata(path).map_or(0, |found| usize::try_from(found.len()).unwrap_or(usize::MAX))
}

/// What a handler read.
pub(super) fn stdin(world: &World, name: &str) -> Option<String> {
    read(world, &format!("{name}.stdin"))
}

/// A variable that a handler had.
pub(super) fn variable(world: &World, handler: &str, name: &str) -> Option<String> {
    let text = read(world, &format!("{handler}.env"))?;
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(found, _)| *found == name).map(|(_, value)| value.to_owned())
}

fn read(world: &World, name: &str) -> Option<String> {
    read_file(&world.at("seen").join(name))
}

/// A file as text.
pub(super) fn read_file(path: &std::path::Path) -> Option<String> {
    match hooksd_config::read::bounded(path, MAX_RECORD) {
        hooksd_config::read::Found::File(contents) => {
            Some(String::from_utf8_lossy(&contents.bytes).into_owned())
        }
        _ => None,
    }
}
