//! A daemon in the background, started by a program that needs one.
//!
//! `hooksd --background` starts itself anew and ends, so that the daemon is nobody's child but the system's. The daemon
//! finds the start lock as its standard input and its starter's ear as its standard output. It lets go of both once it
//! listens, or has said why it does not.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use hooksd_client::start::LISTENING;
use nix::unistd::{dup2_stderr, dup2_stdin, dup2_stdout, setsid};

use crate::base::private_file::append_to;

/// The option of the program that starts the daemon and ends.
const STARTER: &str = "--background";

/// The option of the daemon itself.
const DAEMON: &str = "--in-background";

/// The log below the config dir.
const LOG: &str = ".state/hooksd/hooksd.log";

/// A log as large as this is put aside (`hooksd.log.1`) when a daemon starts. Bytes. At the usual level a start, a stop
/// and what went wrong between them are a few hundred.
const LOG_MOST: u64 = 1024 * 1024;

/// Starts this program again as the daemon, with everything else of the command line.
///
/// # Errors
/// When the system cannot start it.
pub fn start() -> io::Result<()> {
    let own = std::env::current_exe()?;
    let arguments = std::env::args_os().skip(1);
    let arguments = arguments.map(|word| if word == STARTER { OsString::from(DAEMON) } else { word });
    #[expect(clippy::disallowed_methods, reason = "starts the daemon itself, no handler")]
    let mut daemon = std::process::Command::new(own);
    // Nobody waits for it: it outlives this process by design.
    daemon.args(arguments).spawn().map(drop)
}

/// What the daemon still holds of its starter.
#[derive(Debug)]
pub struct Starter {
    ear: File,
    _lock: OwnedFd,
}

impl Starter {
    /// Leaves the starter's session, closes what it has left open, and puts its standard streams aside.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn leave() -> io::Result<Starter> {
        // Fails for a process that leads a session already, which is as good.
        let _ = setsid();
        hooksd_system::close_inherited_descriptors()?;
        let lock = io::stdin().as_fd().try_clone_to_owned()?;
        let ear = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
        dup2_stdin(&null)?;
        dup2_stdout(&null)?;
        dup2_stderr(&null)?;
        std::env::set_current_dir("/")?;
        Ok(Starter { ear, _lock: lock })
    }

    /// Tells the starter that the daemon listens, and lets go of it.
    pub fn listening(self) {
        self.say(LISTENING);
    }

    /// Tells the starter why the daemon does not listen.
    pub fn failed(self, reason: &str) {
        self.say(reason);
    }

    fn say(mut self, words: &str) {
        if let Err(error) = self.ear.write_all(words.as_bytes()) {
            tracing::debug!(%error, "the program that has started the daemon does not wait any more");
        }
    }
}

/// Has standard error written to a file below the config dir, readable for the user alone. Without it, nothing is
/// logged: that is no reason not to run hooks.
///
/// # Errors
/// When the file cannot be opened.
pub fn log_to_file(config_dir: &Path) -> io::Result<()> {
    let path = config_dir.join(LOG);
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    if fs::symlink_metadata(&path).is_ok_and(|log| log.len() > LOG_MOST) {
        fs::rename(&path, path.with_extension("log.1"))?;
    }
    dup2_stderr(append_to(&path)?)?;
    Ok(())
}
