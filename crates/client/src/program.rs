//! Runs other programs and listens to them until a deadline, and finds the daemon's program.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Instant;

/// The most that is kept of what a program says. Bytes. It is more than any message of ours.
const MAX_WORDS: u64 = 64 * 1024;

/// The variable that names the daemon's program where it does not lie beside the one that runs.
pub const PROGRAM_VARIABLE: &str = "HOOKSD_BIN";

/// Finds the daemon's program: beside the running one, else where `HOOKSD_BIN` says, else on `PATH`.
///
/// # Errors
/// A sentence for people that says where it was looked for.
pub fn find() -> Result<PathBuf, String> {
    if let Some(beside) = beside("hooksd") {
        return Ok(beside);
    }
    if let Some(named) = std::env::var_os(PROGRAM_VARIABLE).filter(|name| !name.is_empty()) {
        let path = PathBuf::from(named);
        if path.is_absolute() && executable(&path) {
            return Ok(path);
        }
        return Err(format!("{PROGRAM_VARIABLE} names no program by its absolute path: {}", path.display()));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_in(&path, "hooksd").ok_or_else(|| {
        format!(
            "the program hooksd is neither beside this one nor on PATH: install it, or set {PROGRAM_VARIABLE}"
        )
    })
}

/// Another program of ours: beside the running one, else on `PATH`.
#[must_use]
pub fn find_named(name: &str) -> Option<PathBuf> {
    beside(name).or_else(|| find_in(&std::env::var_os("PATH").unwrap_or_default(), name))
}

/// A program in the folder of the running one.
fn beside(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    Some(own.parent()?.join(name)).filter(|path| executable(path))
}

/// A program on a `PATH`; its relative folders are left out, since they mean another one everywhere.
fn find_in(path: &OsStr, name: &str) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| executable(path))
}

fn executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// A command that runs a program of the system or the daemon. Handlers are started by the runner and never here.
#[expect(
    clippy::disallowed_methods,
    reason = "starts the daemon or asks the service manager; runs no handler"
)]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Runs a program until it, and everything that has inherited its standard output and error, has closed them. Returns
/// how it ended and what it said there.
///
/// # Errors
/// When the program cannot be started, or when the output is still open at the deadline. In the second case the
/// program is killed, but nothing that it has started.
pub fn ask(mut command: Command, deadline: Instant) -> io::Result<(ExitStatus, String)> {
    let (mut ours, theirs) = UnixStream::pair()?;
    command.stderr(OwnedFd::from(theirs.try_clone()?)).stdout(OwnedFd::from(theirs));
    let mut child = command.spawn()?;
    // The command holds the other end of the stream as long as it lives.
    drop(command);
    let mut words = Vec::new();
    let heard = hear(&mut ours, &mut words, deadline);
    if heard.is_err() {
        // This fails when the program has ended by itself just now.
        let _ = child.kill();
    }
    let status = child.wait()?;
    heard?;
    Ok((status, String::from_utf8_lossy(&words).trim().to_owned()))
}

/// Reads what a program says until it closes its output.
fn hear(stream: &mut UnixStream, words: &mut Vec<u8>, deadline: Instant) -> io::Result<()> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let limit = MAX_WORDS.saturating_sub(words.len() as u64);
        match Read::take(&mut *stream, limit).read_to_end(words) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}
