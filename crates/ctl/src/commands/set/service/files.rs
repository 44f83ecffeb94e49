//! The files of a service: what they should hold, and their ways onto the disk and off it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use hooksd_config::read::{Found, bounded};

use super::make_folder;
use crate::failure::Failure;

/// The largest unit that is compared. Bytes. Ours have a few thousand.
const MAX_UNIT: u64 = 64 * 1024;

/// A file as it should be.
pub(super) struct ServiceFile {
    pub(super) path: PathBuf,
    pub(super) content: String,
}

/// How the file is now.
pub(super) fn current(wanted: &ServiceFile) -> &'static str {
    match bounded(&wanted.path, MAX_UNIT) {
        Found::Absent => "absent",
        Found::File(file) if *file.bytes == *wanted.content.as_bytes() => "current",
        Found::File(_) | Found::Unreadable { .. } => "differs",
    }
}

/// Writes the file, as a whole: a service manager may read it at any time.
pub(super) fn write(wanted: &ServiceFile) -> Result<&'static str, Failure> {
    if current(wanted) == "current" {
        return Ok("unchanged");
    }
    make_folder(&wanted.path)?;
    let wrong = |error| Failure::Service(format!("cannot write {}: {error}", wanted.path.display()));
    let aside = wanted.path.with_extension(format!("{}.tmp", std::process::id()));
    let mut file =
        fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(&aside).map_err(wrong)?;
    let written = file.write_all(wanted.content.as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written.and_then(|()| fs::rename(&aside, &wanted.path)) {
        // It is ours, and of no use to anybody.
        let _ = fs::remove_file(&aside);
        return Err(wrong(error));
    }
    Ok("written")
}

/// Removes the file.
pub(super) fn remove(path: &Path) -> Result<&'static str, Failure> {
    fs::remove_file(path)
        .map(|()| "removed")
        .map_err(|error| Failure::Service(format!("cannot remove {}: {error}", path.display())))
}
