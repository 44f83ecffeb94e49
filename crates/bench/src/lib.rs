//! What hooksd costs, each line beside its floor: the least that the kernel lets anybody do the same with, measured in
//! the same run, by turns, with the same bytes.
//!
//! Guarantee: a ratio is the median of the ratios of rounds that took turns, so that a machine that is busy in between
//! slows both sides; the percentiles are those of all samples.
#![forbid(unsafe_code)]

mod cores;
mod daemon;
pub mod echo;
mod floor;
mod lines;
mod machine;
mod sample;
pub mod serve;
mod table;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

/// How much is measured.
#[derive(Debug, Clone)]
pub struct Size {
    /// Rounds by turns.
    pub rounds: usize,
    /// Round trips of microseconds in each round.
    pub trips: usize,
    /// Processes of a millisecond in each round.
    pub spawns: usize,
    /// Starts of an interpreter, of a daemon or of a client in each round.
    pub starts: usize,
    /// Events of each throughput measurement, in each round.
    pub events: usize,
    /// Sessions of the larger memory measurement.
    pub sessions: usize,
    /// Handlers of the largest matching measurement.
    pub handlers: usize,
    /// Edits of the reload measurement, in all rounds.
    pub reloads: usize,
    /// The largest payload. Bytes.
    pub payload: usize,
}

impl Size {
    /// For docs/performance.md: about two minutes.
    #[must_use]
    pub fn full() -> Size {
        Size {
            rounds: 11,
            trips: 1_000,
            spawns: 40,
            starts: 5,
            events: 6_400,
            sessions: 10_000,
            handlers: 10_000,
            reloads: 100,
            payload: 8 * 1024 * 1024,
        }
    }

    /// For a look: seconds.
    #[must_use]
    pub fn quick() -> Size {
        Size { rounds: 3, trips: 200, spawns: 5, starts: 2, events: 1_280, sessions: 1_000, ..Size::full() }
    }

    /// For a test that it still works at all.
    #[must_use]
    pub fn tiny() -> Size {
        Size {
            rounds: 1,
            trips: 3,
            spawns: 1,
            starts: 1,
            events: 128,
            sessions: 20,
            handlers: 100,
            reloads: 2,
            payload: 64 * 1024,
        }
    }
}

/// How long anything may take before the measurement is given up. A table with a hole helps nobody.
const PATIENCE: Duration = Duration::from_secs(60);

/// Measures the lines whose id begins with one of `wanted`, or all, and draws the table. `own` is the `bench` program.
///
/// # Errors
/// When a program cannot be started, or says something else than it should.
pub fn compare(size: &Size, own: &Path, wanted: &[&str]) -> Result<String> {
    let mut table = table::Table::new(machine::line());
    let all: [(&str, lines::Line); 12] = [
        ("a", lines::trip::no_match),
        ("b", lines::spawn::one),
        ("c", lines::spawn::twenty),
        ("d", lines::python::guard),
        ("e", lines::throughput::pipelined),
        ("f", lines::matching::handlers),
        ("g", lines::memory::sessions),
        ("h", lines::start::daemon),
        ("i", lines::start::client),
        ("j", lines::journal::looked_on),
        ("k", lines::reload::edits),
        ("growth", lines::growth::all),
    ];
    for (id, measure) in all {
        if wanted.is_empty() || wanted.contains(&id) {
            table.extend(measure(size, own)?);
        }
    }
    Ok(table.to_string())
}
