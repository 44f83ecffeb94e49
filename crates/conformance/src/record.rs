//! What handlers wrote down, read back after the event.

use std::fs;
use std::path::Path;

use hooksd_config::read::{Found, bounded};

use crate::layout::World;

/// The most that is read back of what a handler wrote down. Bytes.
const MAX_RECORD: u64 = 16 << 20;

/// How often a handler ran.
pub(crate) fn times(world: &World, name: &str) -> usize {
    let path = world.at("seen").join(format!("{name}.ran"));
    fs::metadata(path).map_or(0, |found| usize::try_from(found.len()).unwrap_or(usize::MAX))
}

/// What a handler read.
pub(crate) fn stdin(world: &World, name: &str) -> Option<String> {
    read(world, &format!("{name}.stdin"))
}

/// A variable that a handler had.
pub(crate) fn variable(world: &World, handler: &str, name: &str) -> Option<String> {
    let text = read(world, &format!("{handler}.env"))?;
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(found, _)| *found == name).map(|(_, value)| value.to_owned())
}

fn read(world: &World, name: &str) -> Option<String> {
    read_file(&world.at("seen").join(name))
}

/// A file as text.
pub(crate) fn read_file(path: &Path) -> Option<String> {
    match bounded(path, MAX_RECORD) {
        Found::File(contents) => Some(String::from_utf8_lossy(&contents.bytes).into_owned()),
        _ => None,
    }
}
