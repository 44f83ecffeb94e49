//! a: an event that no handler is for, over the socket and back.

use std::path::Path;

use anyhow::Result;

use super::{USUAL, document, payload, shell};
use crate::Size;
use crate::daemon::Server;
use crate::sample::by_turns;
use crate::table::Row;

pub(crate) fn no_match(size: &Size, own: &Path) -> Result<Vec<Row>> {
    let (daemon, echo) = (Server::hooksd(&document(&[shell("true")]))?, Server::echo(own)?);
    let (mut ours, line) = daemon.session(&payload("no_such_tool", USUAL))?;
    ours.check(&line, 0)?;
    let mut floor = echo.connect()?;
    let trips = by_turns(size.rounds, size.trips, [&mut || ours.trip(&line), &mut || floor.trip(&line)])?;
    let [ours, floor] = &trips;
    Ok(vec![Row::beside("a", "no matching handler; floor: echo of the line", ours, floor, "<= 2.0")])
}
