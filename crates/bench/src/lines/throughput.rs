//! e: 64 connections, each with a row of events under way.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};

use super::{TOOL, USUAL, document, payload, python, shell};
use crate::Size;
use crate::daemon::{Connection, Server, invoke};
use crate::sample::median;
use crate::table::{Row, times};

/// Connections.
const CONNECTIONS: usize = 64;

/// Events of one connection under way at once.
const DEEP: usize = 16;

/// Threads of the client.
const CLIENTS: usize = 2;

/// A connection and the lines it sends.
struct Pipeline {
    connection: Connection,
    lines: Vec<u8>,
}

pub(crate) fn pipelined(size: &Size, own: &Path) -> Result<Vec<Row>> {
    let nothing = payload("no_such_tool", USUAL);
    let daemon = Server::hooksd(&document(&[shell("true")]))?;
    let echo = Server::echo(own)?;
    let mut ours = pipelines(&daemon, &nothing, true)?;
    let mut bare = pipelines(&echo, &nothing, false)?;
    let mut rows = Vec::new();
    let mut rates = [Vec::new(), Vec::new()];
    for round in 0..=size.rounds {
        let now = [rate(&mut ours, size.events)?, rate(&mut bare, size.events)?];
        if round > 0 {
            rates.iter_mut().zip(now).for_each(|(rates, rate)| rates.push(rate));
        }
    }
    let [no_match, floor] = &rates;
    let per_second = |rates: &[f64]| format!("{:.0}/s", median(rates.to_vec()));
    let ratios = no_match.iter().zip(floor).map(|(ours, floor)| ours / floor).collect();
    rows.push(
        Row::figure("e", "64 connections x 16 events, no match; floor: echo", per_second(no_match), ">= 0.4")
            .with(per_second(floor), times(median(ratios))),
    );
    let Some(script) = python::script()? else { return Ok(rows) };
    let name = script.path().display().to_string();
    let handler = python::handler(&name, "persistent", CLIENTS);
    let daemon = Server::hooksd(&document(&[handler]))?;
    let payload = payload(TOOL, USUAL);
    let mut ours = pipelines(&daemon, &payload, true)?;
    let mut pipe = python::bare_loop(script.path())?;
    let there = format!("{payload}\n");
    let (mut through, mut bare) = (Vec::new(), Vec::new());
    let events = size.events / 4;
    for round in 0..=size.rounds.min(5) {
        let rate = rate(&mut ours, events)?;
        let start = Instant::now();
        for _ in 0..events {
            pipe.trip(there.as_bytes())?;
        }
        if round > 0 {
            through.push(rate);
            bare.push(events as f64 / start.elapsed().as_secs_f64());
        }
    }
    let ratios = through.iter().zip(&bare).map(|(ours, floor)| ours / floor).collect();
    rows.push(
        Row::figure("e", "  persistent guard, 2 workers; floor: 1 pipe", per_second(&through), "")
            .with(per_second(&bare), times(median(ratios))),
    );
    Ok(rows)
}

fn pipelines(server: &Server, payload: &str, sessions: bool) -> Result<Vec<Pipeline>> {
    let one = |_| {
        let mut connection = server.connect()?;
        let session = if sessions { connection.open(&server.project())? } else { "x".repeat(32) };
        let lines = (1..=DEEP).flat_map(|id| invoke(id, &session, payload)).collect();
        Ok(Pipeline { connection, lines })
    };
    (0..CONNECTIONS).map(one).collect()
}

/// Events a second.
fn rate(pipelines: &mut [Pipeline], events: usize) -> Result<f64> {
    let rows = events.div_ceil(CONNECTIONS * DEEP);
    let start = Instant::now();
    std::thread::scope(|scope| {
        let parts = pipelines.chunks_mut(CONNECTIONS / CLIENTS);
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || drive(part, rows))).collect();
        for thread in threads {
            thread.join().ok().context("a thread was lost")??;
        }
        anyhow::Ok(())
    })?;
    Ok((rows * CONNECTIONS * DEEP) as f64 / start.elapsed().as_secs_f64())
}

fn drive(pipelines: &mut [Pipeline], rows: usize) -> Result<()> {
    for _ in 0..rows {
        for pipeline in pipelines.iter_mut() {
            pipeline.connection.send(&pipeline.lines)?;
        }
        for pipeline in pipelines.iter_mut() {
            for _ in 0..DEEP {
                pipeline.connection.receive()?;
            }
        }
    }
    Ok(())
}
