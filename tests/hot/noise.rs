//! What others write in the folders on the way to a document is not even heard of.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;

use hooksd_tests::harness::{alone, until};

use crate::{follower, is_watching, serves, version};

/// Writes into each of two files that are no documents. By turns: the kernel makes one of two like ones.
const WRITES: usize = 2500;

/// What the daemon may hear meanwhile, of the edit at the end and what others do in the folder of temporary files.
/// Bytes. Were it told of every write, it were 32 for each.
const HEARD_MOST: u64 = 32 * 1024;

/// What the threads that hear of changes have read so far. Bytes.
fn heard(pid: u32) -> u64 {
    let mut all = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten() {
        let name = fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        let counts = fs::read_to_string(thread.path().join("io")).unwrap_or_default();
        let line = counts.lines().find_map(|line| line.strip_prefix("rchar:"));
        if name.starts_with("notify") {
            all += line.map_or(0, |count| count.trim().parse::<u64>().unwrap());
        }
    }
    all
}

#[test]
fn a_file_that_grows_beside_the_way_wakes_nobody() {
    alone(async |world| {
        world.user(&version("v1"));
        let mut agent = follower(world).await;
        is_watching(&mut agent).await;
        serves(&mut agent, &["v1"]).await;
        until("an edit is heard of", || {
            world.user(&version("v2"));
            heard(world.pid()) > 0
        })
        .await;
        serves(&mut agent, &["v2"]).await;
        let before = heard(world.pid());
        let mut files = ["one", "other"].map(|name| fs::File::create(world.at(name)).unwrap());
        for _ in 0..WRITES {
            files.iter_mut().for_each(|file| file.write_all(b"x\n").unwrap());
        }
        // Once this edit counts, the writes before it were heard of, if they are.
        world.user(&version("v3"));
        serves(&mut agent, &["v3"]).await;
        let heard = heard(world.pid()) - before;
        assert!(heard < HEARD_MOST, "{heard} bytes were heard of {WRITES} writes beside the document");
    });
}
