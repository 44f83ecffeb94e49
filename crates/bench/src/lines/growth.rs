//! What more of everything costs: handlers, sessions, bytes.

use std::path::Path;

use anyhow::Result;

use super::{TOOL, USUAL, document, payload, python, shell};
use crate::Size;
use crate::cores::Cores;
use crate::daemon::{Server, invoke};
use crate::sample::by_turns;
use crate::table::Row;

/// Bytes of the smallest payload.
const SMALLEST: usize = 1024;

/// The longest request line that the daemon reads. Bytes.
const LONGEST: usize = 16 * 1024 * 1024;

pub(crate) fn all(size: &Size, own: &Path) -> Result<Vec<Row>> {
    let mut rows = handlers(size)?;
    rows.extend(sessions(size, own)?);
    rows.extend(payloads(size, own)?);
    Ok(rows)
}

fn handlers(size: &Size) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for count in [1, 10, 50, 200].into_iter().filter(|count| *count <= size.handlers) {
        let daemon = Server::hooksd(&document(&vec![shell("true"); count]))?;
        let (mut ours, line) = daemon.session(&payload(TOOL, USUAL))?;
        ours.check(&line, count)?;
        let events = size.spawns.div_ceil(count);
        let [ours] = &by_turns(size.rounds.min(5), events, [&mut || ours.trip(&line)])?;
        rows.push(Row::alone("", &format!("{count} handlers that do nothing"), ours, ""));
    }
    Ok(rows)
}

fn sessions(size: &Size, own: &Path) -> Result<Vec<Row>> {
    let (daemon, echo) = (Server::hooksd(&document(&[shell("true")]))?, Server::echo(own)?);
    let cores = Cores::one()?;
    let _bound = cores.bind(&[daemon.pid(), echo.pid()])?;
    let (mut ours, mut floor) = (daemon.connect()?, echo.connect()?);
    let mut rows = Vec::new();
    let mut open = 0;
    for count in [1, size.sessions / 10, size.sessions] {
        let mut session = String::new();
        while open < count {
            session = ours.open(&daemon.project())?;
            open += 1;
        }
        let line = invoke(1, &session, &payload("no_such_tool", USUAL));
        ours.check(&line, 0)?;
        let sides =
            by_turns(size.rounds.min(5), size.trips, [&mut || ours.trip(&line), &mut || floor.trip(&line)])?;
        let [ours, floor] = &sides;
        rows.push(Row::beside(
            "",
            &format!("no match, {count} sessions, {}; floor: echo", cores.name),
            ours,
            floor,
            "",
        ));
    }
    Ok(rows)
}

fn payloads(size: &Size, own: &Path) -> Result<Vec<Row>> {
    let echo = Server::echo(own)?;
    let plain = Server::hooksd(&document(&[shell("true")]))?;
    let script = python::script()?;
    let persistent = match &script {
        Some(script) => {
            let name = script.path().display().to_string();
            Some(Server::hooksd(&document(&[python::handler(&name, "persistent", 1)]))?)
        }
        None => None,
    };
    let cores = Cores::one()?;
    let mut rows = Vec::new();
    for bytes in [SMALLEST, 64 * 1024, 1024 * 1024, size.payload] {
        let bytes = bytes.min(size.payload).min(LONGEST - SMALLEST);
        let (rounds, trips) = (size.rounds.min(5), size.trips.min(size.trips * 16 * 1024 / bytes + 1));
        let [ours, floor] = &{
            let _bound = cores.bind(&[plain.pid(), echo.pid()])?;
            let (mut ours, line) = plain.session(&payload("no_such_tool", bytes))?;
            let mut floor = echo.connect()?;
            by_turns(rounds, trips, [&mut || ours.trip(&line), &mut || floor.trip(&line)])?
        };
        let kilobytes = bytes / 1024;
        let what = format!("no match, {kilobytes} KB, {}; floor: echo", cores.name);
        rows.push(Row::beside("", &what, ours, floor, ""));
        let (Some(daemon), Some(script)) = (&persistent, &script) else { continue };
        let there = payload(TOOL, bytes);
        let mut pipe = python::bare_loop(script.path())?;
        let _bound = cores.bind(&[daemon.pid(), pipe.pid()])?;
        let (mut ours, line) = daemon.session(&there)?;
        ours.check(&line, 1)?;
        let there = format!("{there}\n");
        let sides = by_turns(rounds, trips, [&mut || ours.trip(&line), &mut || pipe.trip(there.as_bytes())])?;
        let [ours, pipe] = &sides;
        let what = format!("  persistent guard, {kilobytes} KB; floor: pipe");
        rows.push(Row::beside("", &what, ours, pipe, ""));
    }
    Ok(rows)
}
