//! a: an event that no handler is for, over the socket and back.

use std::path::Path;

use anyhow::Result;

use super::{USUAL, document, payload, shell};
use crate::Size;
use crate::cores::Cores;
use crate::daemon::Server;
use crate::sample::by_turns;
use crate::table::Row;

pub(crate) fn no_match(size: &Size, own: &Path) -> Result<Vec<Row>> {
    Cores::each_way()?.into_iter().map(|cores| on(cores, size, own)).collect()
}

fn on(cores: Cores, size: &Size, own: &Path) -> Result<Row> {
    let (daemon, echo) = (Server::hooksd(&document(&[shell("true")]))?, Server::echo(own)?);
    let _bound = cores.bind(&[daemon.pid(), echo.pid()])?;
    let (mut ours, line) = daemon.session(&payload("no_such_tool", USUAL))?;
    ours.check(&line, 0)?;
    let mut floor = echo.connect()?;
    let trips = by_turns(size.rounds, size.trips, [&mut || ours.trip(&line), &mut || floor.trip(&line)])?;
    let [ours, floor] = &trips;
    Ok(Row::beside("a", &format!("no handler, {}; floor: echo", cores.name), ours, floor, "<= 2.0"))
}
