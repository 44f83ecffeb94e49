//! b and c: handlers that do nothing, one and twenty.

use std::path::Path;

use anyhow::{Context, Result};

use super::{TOOL, USUAL, document, payload, shell};
use crate::Size;
use crate::daemon::Server;
use crate::floor;
use crate::sample::{by_turns, timed};
use crate::table::Row;

/// Handlers of c.
const MANY: usize = 20;

pub(crate) fn one(size: &Size, _own: &Path) -> Result<Vec<Row>> {
    let daemon = Server::hooksd(&document(&[shell("true")]))?;
    let payload = payload(TOOL, USUAL);
    let (mut ours, line) = daemon.session(&payload)?;
    ours.check(&line, 1)?;
    let mut bare = || floor::timed_run("/bin/sh", &["-c", "true"], &payload);
    let [ours, bare] = &by_turns(size.rounds, size.spawns, [&mut || ours.trip(&line), &mut bare])?;
    Ok(vec![Row::beside("b", "one /bin/sh -c true; floor: posix_spawn, 3 pipes", ours, bare, "<= 1.2")])
}

pub(crate) fn twenty(size: &Size, _own: &Path) -> Result<Vec<Row>> {
    let daemon = Server::hooksd(&document(&vec![shell("true"); MANY]))?;
    let payload = payload(TOOL, USUAL);
    let (mut ours, line) = daemon.session(&payload)?;
    ours.check(&line, MANY)?;
    let mut bare = || timed(|| at_once(&payload));
    let count = size.spawns.div_ceil(4);
    let [ours, bare] = &by_turns(size.rounds, count, [&mut || ours.trip(&line), &mut bare])?;
    Ok(vec![Row::beside("c", "20 of them at once; floor: 20 threads", ours, bare, "<= 1.15")])
}

fn at_once(payload: &str) -> Result<()> {
    std::thread::scope(|scope| {
        let start = |_| scope.spawn(|| floor::run("/bin/sh", &["-c", "true"], payload));
        let threads: Vec<_> = (0..MANY).map(start).collect();
        for thread in threads {
            thread.join().ok().context("a thread was lost")??;
        }
        Ok(())
    })
}
