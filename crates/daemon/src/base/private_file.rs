//! Files for the eyes of their owner only: what the daemon appends to is a file of its user's alone, whatever somebody has
//! planted in its place.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use nix::fcntl::OFlag;

/// Opens a file to append to it, and makes it if there is none. Never follows a link, and never waits.
///
/// # Errors
/// When it cannot be opened, is no regular file, belongs to somebody else, or has another name as well.
pub(crate) fn append_to(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits())
        .open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.uid() != nix::unistd::geteuid().as_raw() || found.nlink() != 1 {
        return Err(io::Error::other("it is not a file of ours alone"));
    }
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hooksd_config::read::{Found, bounded};
    use std::fs;
    use std::io::Write;

    #[test]
    fn what_is_not_ours_alone_is_not_appended_to() {
        let top = tempfile::tempdir().unwrap();
        let (file, victim) = (top.path().join("file"), top.path().join("victim"));
        append_to(&file).unwrap().write_all(b"1").unwrap();
        append_to(&file).unwrap().write_all(b"2").unwrap();
        let Found::File(written) = bounded(&file, 2) else { panic!("no file") };
        assert_eq!(*written.bytes, *b"12");
        fs::write(&victim, "").unwrap();
        fs::set_permissions(&victim, Permissions::from_mode(0o644)).unwrap();
        let plant: [&dyn Fn(); 3] = [
            &|| std::os::unix::fs::symlink(&victim, &file).unwrap(),
            &|| fs::hard_link(&victim, &file).unwrap(),
            &|| nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap(),
        ];
        for plant in plant {
            fs::remove_file(&file).unwrap();
            plant();
            append_to(&file).unwrap_err();
            let found = fs::metadata(&victim).unwrap();
            assert_eq!((found.len(), found.permissions().mode() & 0o777), (0, 0o644));
        }
    }
}
