//! The terminal while `top` has it: its other screen, without a cursor, keys read one by one.

use std::io::{IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::view::{Snapshot, lines};
use crate::failure::Failure;

/// To the other screen, without a cursor.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l";

/// Back.
const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";

/// To the upper left corner; to the end of the line and on, away with what is there.
const HOME: &str = "\u{1b}[H";
const REST_OF_LINE: &str = "\u{1b}[K\r\n";
const REST_OF_SCREEN: &str = "\u{1b}[J";

/// What ctrl-c and ctrl-d are when the terminal makes no signals of them.
const CONTROL_C: u8 = 3;
const CONTROL_D: u8 = 4;

/// The lines of a terminal that does not say how many it has.
const LINES: usize = 24;

/// The screen; the terminal is given back when this is dropped.
pub(super) struct Screen {
    before: Termios,
    told: Arc<AtomicBool>,
}

impl Screen {
    /// Whether there is a terminal to draw on and to read keys from.
    pub(super) fn is_possible() -> bool {
        std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
    }

    /// Takes the terminal.
    pub(super) fn enter() -> Result<Screen, Failure> {
        let told = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, told.clone())?;
        }
        let stdin = std::io::stdin();
        let before = tcgetattr(&stdin).map_err(std::io::Error::from)?;
        let mut keys = before.clone();
        // No signals of keys either: ctrl-z would leave the shell on our screen.
        keys.local_flags.remove(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG);
        for at in [SpecialCharacterIndices::VMIN, SpecialCharacterIndices::VTIME] {
            if let Some(code) = keys.control_chars.get_mut(at as usize) {
                *code = 0;
            }
        }
        tcsetattr(&stdin, SetArg::TCSANOW, &keys).map_err(std::io::Error::from)?;
        // From here on there is something to give back.
        let screen = Screen { before, told };
        print(ENTER)?;
        Ok(screen)
    }

    pub(super) fn draw(&mut self, seen: &Snapshot) -> Result<(), Failure> {
        let size = hooksd_system::window_size(std::io::stdout()).ok();
        let rows = size.map_or(0, |size| usize::from(size.rows));
        let rows = if rows == 0 { LINES } else { rows };
        let mut text = HOME.to_owned();
        // The last line of the screen stays empty: a line break there would scroll.
        for line in lines(seen, crate::print::width(), rows.saturating_sub(1)) {
            text.push_str(&line);
            text.push_str(REST_OF_LINE);
        }
        text.push_str(REST_OF_SCREEN);
        print(&text)
    }

    /// Whether q, ctrl-c or ctrl-d was typed, the terminal has gone, or a signal came. Does not wait.
    pub(super) fn is_to_end(&self) -> bool {
        if self.told.load(Ordering::Relaxed) {
            return true;
        }
        let mut stdin = std::io::stdin();
        let mut ready = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
        if !matches!(poll(&mut ready, PollTimeout::ZERO), Ok(1..)) {
            return false;
        }
        let mut typed = [0; 64];
        match stdin.read(&mut typed) {
            Ok(0) | Err(_) => true,
            Ok(count) => typed.iter().take(count).any(|key| [b'q', b'Q', CONTROL_C, CONTROL_D].contains(key)),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nothing can be done for a terminal that has gone.
        let _ = print(LEAVE);
        let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, &self.before);
    }
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
