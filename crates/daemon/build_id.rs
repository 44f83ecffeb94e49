// Shared by the build scripts of hooksd and hooksctl.

use std::fs;
use std::path::{Path, PathBuf};

/// What makes the daemon, from the folder of either crate.
const SOURCES: [&str; 10] = [
    "../../Cargo.lock",
    "../json/src",
    "../pattern/src",
    "../protocol/src",
    "../config/src",
    "../engine/src",
    "../runner/src",
    "../client/src",
    "../journal/src",
    "../daemon/src",
];

/// Sets `HOOKSD_BUILD_ID` for the crate that is being built.
#[allow(clippy::disallowed_methods, clippy::print_stdout, reason = "the sources are regular files; cargo reads what is printed")]
fn announce() {
    let mut files = Vec::new();
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
        collect(Path::new(source), &mut files);
    }
    files.sort();
    // FNV-1a: to tell builds apart, not to defend against anybody.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut take = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for file in &files {
        take(file.as_os_str().as_encoded_bytes());
        take(&[0]);
        take(&fs::read(file).unwrap_or_default());
        take(&[0]);
    }
    println!("cargo:rustc-env=HOOKSD_BUILD_ID={hash:016x}");
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(path) else {
        if path.is_file() {
            files.push(path.to_owned());
        }
        return;
    };
    for entry in entries.flatten() {
        collect(&entry.path(), files);
    }
}
