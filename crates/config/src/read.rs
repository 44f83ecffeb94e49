//! Reading a file that may be anything: a FIFO, a device, a folder, a link loop, or far too large (B35).
//! Never blocks and never holds more than the limit.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;

use crate::contents::Contents;

/// The largest document that is read. Bytes. Real ones are a few kilobytes.
pub const MAX_DOCUMENT: u64 = 4 * 1024 * 1024;

/// What was found at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// No file: nothing there, a dangling or looping link, or something that is not a regular file.
    Absent,
    /// A file that could not be read; why, for people.
    Unreadable {
        /// The real path, as far as it could be resolved.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
        /// Whether the system was short of something: nothing is known of the file then, and another try may read it.
        passing: bool,
    },
    /// A file.
    File(Contents),
}

impl Found {
    /// The real path of what stands there.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Found::Absent => None,
            Found::Unreadable { path, .. } => Some(path),
            Found::File(contents) => Some(&contents.path),
        }
    }

    /// Why nothing is known of the file, when the system was short of something.
    #[must_use]
    pub fn shortage(&self) -> Option<String> {
        match self {
            Found::Unreadable { path, reason, passing: true } => Some(format!("{} {reason}", path.display())),
            _ => None,
        }
    }
}

/// How often a file is looked for whose path leads elsewhere each time. Looks. Somebody puts a link to another folder
/// into the place of one that he then removes: the file has been there all the time.
const MOVES: usize = 16;

/// How many looks in a row must find nothing. Looks. The system itself may have read a link whose folder is removed before
/// it gets there.
const ABSENT_LOOKS: usize = 4;

/// Why nothing can be seen at `path`, if that is so at every look.
fn always_fails(path: &Path) -> Option<std::io::Error> {
    let mut failure = None;
    for _ in 0..ABSENT_LOOKS {
        match fs::metadata(path) {
            Ok(_) => return None,
            Err(error) if is_absence(&error) => failure = Some(error),
            Err(error) => return Some(error),
        }
    }
    failure
}

/// Reads the regular file at `path`, at most `limit` bytes.
#[must_use]
pub fn bounded(path: &Path, limit: u64) -> Found {
    for _ in 0..MOVES {
        // Most files that are looked for are not there: a few looks tell, links on the way included.
        if let Some(error) = always_fails(path) {
            return missing(path, &error);
        }
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if is_absence(&error) => continue,
            Err(error) => return unreadable(path, "read", &error),
        };
        match at_real_path(real, limit) {
            // It was there a moment ago, by its name.
            None => {}
            Some(found) => return found,
        }
    }
    let reason = "is replaced all the time".to_owned();
    Found::Unreadable { path: path.to_owned(), reason, passing: true }
}

/// Reads what stands at a path that leads over no link. `None` when nothing does.
fn at_real_path(real: PathBuf, limit: u64) -> Option<Found> {
    // Opening a device can have effects, so the kind is looked at first; and again on what was opened.
    match fs::metadata(&real) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Some(Found::Absent),
        Err(error) if is_absence(&error) => return None,
        Err(error) => return Some(unreadable(&real, "read", &error)),
    }
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
    let file = match open(&real, flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        Err(error) if is_absence(&error.into()) => return None,
        Err(error) => return Some(unreadable(&real, "opened", &error.into())),
    };
    let too_long = |reason: String| Found::Unreadable { path: real.clone(), reason, passing: false };
    match file.metadata() {
        Ok(metadata) if !metadata.is_file() => return Some(Found::Absent),
        Ok(metadata) if metadata.len() > limit => {
            return Some(too_long(format!("is {} bytes long; the limit is {limit} bytes", metadata.len())));
        }
        Ok(_) => {}
        Err(error) => return Some(unreadable(&real, "read", &error)),
    }
    let mut bytes = Vec::new();
    // One byte more than allowed: the file may grow between the look and the read.
    Some(match file.take(limit + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > limit => too_long(format!("is longer than the limit of {limit} bytes")),
        Ok(_) => Found::File(Contents::new(real, bytes)),
        Err(error) => unreadable(&real, "read", &error),
    })
}

/// What the failure of a look says. Only where nothing can be, nothing is: somebody may forbid looking, or the system
/// may be short of something, and a guard be hidden there.
fn missing(path: &Path, error: &std::io::Error) -> Found {
    if is_absence(error) { Found::Absent } else { unreadable(path, "read", error) }
}

fn unreadable(path: &Path, what: &str, error: &std::io::Error) -> Found {
    let reason = format!("cannot be {what}: {error}");
    Found::Unreadable { path: path.to_owned(), reason, passing: is_passing(error) }
}

/// Whether a path that does not resolve leads nowhere (path_resolution(7)).
fn is_absence(error: &std::io::Error) -> bool {
    use nix::errno::Errno;
    let Some(error) = error.raw_os_error().map(Errno::from_raw) else {
        return error.kind() == std::io::ErrorKind::NotFound;
    };
    [Errno::ENOENT, Errno::ENOTDIR, Errno::ELOOP, Errno::ENAMETOOLONG].contains(&error)
}

/// Whether the system was short of descriptors or memory, or was interrupted (open(2), read(2)).
fn is_passing(error: &std::io::Error) -> bool {
    use nix::errno::Errno;
    let Some(error) = error.raw_os_error().map(Errno::from_raw) else { return false };
    [Errno::EMFILE, Errno::ENFILE, Errno::ENOMEM, Errno::EIO, Errno::EINTR, Errno::EAGAIN].contains(&error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b35_anything_but_a_regular_file_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        nix::unistd::mkfifo(&at("fifo"), Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
        fs::create_dir(at("folder")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("zero")).unwrap();
        std::os::unix::fs::symlink(at("loop"), at("loop")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
        for name in ["fifo", "folder", "zero", "loop", "dangling", "nothing"] {
            assert_eq!(bounded(&at(name), MAX_DOCUMENT), Found::Absent, "{name}");
        }
    }

    #[test]
    fn b35_a_huge_file_is_refused_by_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("huge");
        File::create(&path).unwrap().set_len(2 << 30).unwrap();
        let Found::Unreadable { reason, .. } = bounded(&path, MAX_DOCUMENT) else { panic!("read 2 GiB") };
        assert!(reason.contains("2147483648") && reason.contains("4194304"), "{reason}");
    }

    #[test]
    fn a_link_reads_its_target_and_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(folder.path()).unwrap();
        fs::write(real.join("target"), "x").unwrap();
        std::os::unix::fs::symlink(real.join("target"), real.join("link")).unwrap();
        let expected = Contents::new(real.join("target"), *b"x");
        assert_eq!(bounded(&real.join("link"), MAX_DOCUMENT), Found::File(expected));
    }

    /// The folder that a link leads to is replaced by another, and the old one removed, as fast as it goes: the file
    /// is there all the time.
    #[test]
    fn a_file_whose_folder_is_replaced_is_never_absent() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let put = |version: usize| {
            let new = at(&version.to_string());
            fs::create_dir(&new).unwrap();
            fs::write(new.join("file"), "x").unwrap();
            std::os::unix::fs::symlink(&new, at("next")).unwrap();
            fs::rename(at("next"), at("current")).unwrap();
        };
        put(0);
        let done = std::sync::atomic::AtomicBool::new(false);
        let seen = std::thread::scope(|scope| {
            scope.spawn(|| {
                for version in 1.. {
                    if done.load(std::sync::atomic::Ordering::Relaxed) {
                        return;
                    }
                    put(version);
                    fs::remove_dir_all(at(&(version - 1).to_string())).unwrap();
                }
            });
            let path = at("current").join("file");
            let look = |_| bounded(&path, MAX_DOCUMENT);
            let seen: Vec<Found> = (0..2000).map(look).filter(|found| *found == Found::Absent).collect();
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            seen
        });
        assert_eq!(seen, []);
    }

    /// Nothing is known of what stands behind a link into a folder that may not be passed through; a superuser passes
    /// through all of them.
    #[test]
    fn only_what_leads_nowhere_is_absent() {
        use nix::errno::Errno;
        use std::io::Error;
        let path = Path::new("/link");
        for error in [Errno::ENOENT, Errno::ENOTDIR, Errno::ELOOP, Errno::ENAMETOOLONG] {
            assert_eq!(missing(path, &Error::from(error)), Found::Absent, "{error}");
        }
        for (error, shortage) in
            [(Errno::EACCES, false), (Errno::ESTALE, false), (Errno::ENOMEM, true), (Errno::EIO, true)]
        {
            let found = missing(path, &Error::from(error));
            assert_eq!((found.path(), found.shortage().is_some()), (Some(path), shortage), "{error}");
        }
    }
}
