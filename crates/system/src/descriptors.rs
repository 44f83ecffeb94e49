//! Descriptors: those that were inherited, what a pipe or a terminal says of itself, and reading into room that is not
//! cleared.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::io;
#[cfg(feature = "tokio")]
use std::os::fd::OwnedFd;
use std::os::fd::{AsFd, AsRawFd};

use nix::errno::Errno;

/// Sees to it that no descriptor which this process has inherited reaches a handler (D14): sets close-on-exec
/// on all but 0, 1 and 2. For the start of the daemon; what it opens later is close-on-exec by itself.
///
/// # Errors
/// If the descriptors of the process cannot be listed.
pub fn seal_descriptors() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        // The system call, not the function of the C library, which older ones do not have.
        // SAFETY: takes no pointers; close-on-exec changes nothing for this process itself.
        let sealed = unsafe {
            libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC as c_int)
        };
        if sealed == 0 {
            return Ok(());
        }
    }
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    for entry in std::fs::read_dir(folder)? {
        let Some(fd) = entry?.file_name().to_str().and_then(|name| name.parse::<c_int>().ok()) else {
            continue;
        };
        if fd > 2 {
            // SAFETY: takes no pointers; on a descriptor closed meanwhile it fails and changes nothing.
            unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

/// Closes every descriptor but 0, 1 and 2. For the very start of a daemon in the background, which keeps nothing of the
/// program that has started it: an inherited pipe that stays open has `$(...)` wait for ever.
///
/// # Errors
/// If the descriptors of the process cannot be listed.
pub fn close_inherited_descriptors() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: takes no pointers. Nothing in this process owns a descriptor yet, as the caller promises.
        if unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0) } == 0 {
            return Ok(());
        }
    }
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    let numbers = |entry: std::fs::DirEntry| entry.file_name().to_str().and_then(|name| name.parse().ok());
    // The list itself is read to its end and closed first.
    let open: Vec<c_int> = std::fs::read_dir(folder)?.flatten().filter_map(numbers).collect();
    for fd in open.into_iter().filter(|fd| *fd > 2) {
        // SAFETY: as above; closing one that is closed fails and changes nothing.
        unsafe { libc::close(fd) };
    }
    Ok(())
}

/// How many bytes of a pipe nobody has read yet (`FIONREAD`). Bytes.
///
/// # Errors
/// When it is no pipe, socket or terminal.
pub fn unread(pipe: impl AsFd) -> Result<u64, Errno> {
    let mut count: c_int = 0;
    // SAFETY: the call writes one int, to a value that outlives it; the descriptor is open as long as it is borrowed.
    let result = unsafe { libc::ioctl(pipe.as_fd().as_raw_fd(), libc::FIONREAD, &raw mut count) };
    Errno::result(result)?;
    Ok(u64::try_from(count).unwrap_or(0))
}

/// How large a terminal is. Zero where it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowSize {
    /// Characters of a line.
    pub columns: u16,
    /// Lines.
    pub rows: u16,
}

/// How large the terminal behind a descriptor is (`TIOCGWINSZ`).
///
/// # Errors
/// When it is no terminal.
pub fn window_size(terminal: impl AsFd) -> Result<WindowSize, Errno> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the call writes one winsize, to a value that outlives it; the descriptor is open as long as it is borrowed.
    let result = unsafe { libc::ioctl(terminal.as_fd().as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    Errno::result(result)?;
    Ok(WindowSize { columns: size.ws_col, rows: size.ws_row })
}

/// One read into the room that is reserved behind `bytes`, which grow by what came (read(2)): room that is not cleared
/// first costs nothing where nothing is read into it. The number of bytes; 0 at the end, or without room.
///
/// # Errors
/// Those of read(2); `bytes` are what they were.
pub fn read_into_spare(from: impl AsFd, bytes: &mut Vec<u8>) -> Result<usize, Errno> {
    let room = bytes.spare_capacity_mut();
    // SAFETY: the call writes at most as many bytes as the room has, to the room; it reads none of them.
    let read = unsafe { libc::read(from.as_fd().as_raw_fd(), room.as_mut_ptr().cast(), room.len()) };
    // Negative for an error and for nothing else.
    let count = usize::try_from(Errno::result(read)?).unwrap_or(0);
    // SAFETY: so many bytes of the room were written.
    unsafe { bytes.set_len(bytes.len() + count) };
    Ok(count)
}

/// Has the runtime watch a descriptor.
///
/// # Errors
/// When the runtime cannot: usually it is short of descriptors or memory.
#[cfg(feature = "tokio")]
pub fn watch(fd: OwnedFd, interest: tokio::io::Interest) -> io::Result<tokio::io::unix::AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor must stay the same and open while it is registered: an OwnedFd gives the same one
    // each time, AsyncFd lends it out as a shared reference only, and deregisters it before it is closed.
    Ok(unsafe { tokio::io::unix::AsyncFd::register_with_interest(fd, interest) }?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn a_pipe_says_how_much_nobody_has_read() {
        let (read, write) = nix::unistd::pipe().unwrap();
        assert_eq!(unread(&write), Ok(0));
        nix::unistd::write(&write, b"12345").unwrap();
        assert_eq!(unread(&read), Ok(5));
        assert_eq!(unread(File::open("/dev/null").unwrap()), Err(Errno::ENOTTY));
    }

    #[test]
    fn what_is_read_follows_what_was_there() {
        let (read, write) = nix::unistd::pipe().unwrap();
        nix::unistd::write(&write, b"345").unwrap();
        drop(write);
        let mut bytes = Vec::with_capacity(4);
        bytes.extend_from_slice(b"12");
        assert_eq!((read_into_spare(&read, &mut bytes), bytes.as_slice()), (Ok(2), &b"1234"[..]));
        assert_eq!(read_into_spare(&read, &mut bytes), Ok(0), "no room");
        bytes.reserve(1);
        assert_eq!(read_into_spare(&read, &mut bytes), Ok(1));
        bytes.reserve(1);
        assert_eq!((read_into_spare(&read, &mut bytes), bytes.as_slice()), (Ok(0), &b"12345"[..]));
        let (_read, write) = nix::unistd::pipe().unwrap();
        assert_eq!((read_into_spare(&write, &mut bytes), bytes.len()), (Err(Errno::EBADF), 5));
    }

    #[test]
    fn a_terminal_says_how_large_it_is() {
        let size = nix::pty::Winsize { ws_row: 7, ws_col: 31, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = nix::pty::openpty(&size, None).unwrap();
        assert_eq!(window_size(&terminal.slave), Ok(WindowSize { columns: 31, rows: 7 }));
        assert_eq!(window_size(File::open("/dev/null").unwrap()), Err(Errno::ENOTTY));
    }
}
