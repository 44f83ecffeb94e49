//! Standard input to its end, within bounds.
//!
//! Descriptor 0 is read and never opened by name: some agents hand a socket over, which cannot be opened. An agent that
//! never closes it (an IDE does not) costs a short wait, if what came is whole.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use hooksd_json::{Dialect as JsonDialect, Value};
use hooksd_protocol::rpc::MAX_LINE;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::Options;

/// The longest payload. Bytes. The daemon reads lines of 16 MiB; the rest of the request needs room in it.
const MAX_PAYLOAD: usize = MAX_LINE - 2 * 1024 * 1024;

/// How long standard input may stay open without anything coming. Milliseconds. Agents write at once and close.
const SILENCE_MS: u64 = 2_000;

/// Room for what is read at once. Bytes. Reserved, not cleared: pages that are not read into cost nothing.
const CHUNK: usize = 64 * 1024;

/// More is reserved only when less than this is left. Bytes. Growing copies all that was reserved, for the end of a short
/// payload alone.
const ROOM: usize = 4 * 1024;

/// The variable in which an IDE puts the event instead of closing standard input.
const IDE_VARIABLE: &str = "USER_PROMPT";

/// What came.
#[derive(Debug, Default)]
pub(super) struct Input {
    /// All of it, or what came before the trouble: it may still say which event it is.
    pub(super) bytes: Vec<u8>,
    /// Why it is not all, for people.
    pub(super) trouble: Option<String>,
}

pub(super) fn read(began: Instant, options: &Options) -> Input {
    if let Some(event) = from_ide(options) {
        return Input { bytes: event, trouble: None };
    }
    let mut bytes = Vec::new();
    let trouble = read_into(&mut bytes, began, options).err();
    Input { bytes, trouble }
}

fn read_into(bytes: &mut Vec<u8>, began: Instant, options: &Options) -> Result<(), String> {
    let silence = Duration::from_millis(SILENCE_MS);
    let silence = options.deadline.map_or(silence, |deadline| silence.min(deadline / 2));
    let mut last = began;
    loop {
        if !readable(silence.saturating_sub(last.elapsed()))? {
            return if is_whole(bytes) {
                Ok(())
            } else {
                Err(format!("standard input was not closed and nothing came for {silence:?}"))
            };
        }
        // Not through the library's buffer: what is in it cannot be waited for.
        if bytes.capacity() - bytes.len() < ROOM {
            bytes.reserve(CHUNK);
        }
        match hooksd_system::read_into_spare(io::stdin(), bytes) {
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(format!("standard input cannot be read: {}", io::Error::from(errno))),
        }
        if bytes.len() > MAX_PAYLOAD {
            return Err(format!("the payload is longer than {MAX_PAYLOAD} bytes"));
        }
        last = Instant::now();
    }
}

/// Whether there is something to read, or the end. False when it stays silent.
fn readable(wait: Duration) -> Result<bool, String> {
    let stdin = io::stdin();
    // Whole milliseconds are all that can be asked for: rather one too many than a wait of none.
    let wait = PollTimeout::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(PollTimeout::MAX);
    loop {
        let mut descriptors = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
        match poll(&mut descriptors, wait) {
            Ok(count) => return Ok(count > 0),
            Err(Errno::EINTR) => {}
            Err(errno) => {
                return Err(format!("standard input cannot be waited for: {}", io::Error::from(errno)));
            }
        }
    }
}

fn is_whole(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| Value::parse(text.trim(), JsonDialect::Strict).is_ok())
}

/// The event as an IDE before 1.0 hands it over.
fn from_ide(options: &Options) -> Option<Vec<u8>> {
    options.dialect.filter(|dialect| dialect.name.starts_with("kiro"))?;
    let event = std::env::var(IDE_VARIABLE).ok()?;
    let value = Value::parse(&event, JsonDialect::Strict).ok()?;
    value.get("toolName").is_some().then(|| event.clone().into_bytes())
}
