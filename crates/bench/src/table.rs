//! The one table.

use std::fmt;
use std::time::Duration;

use crate::sample::{Samples, ratio};

/// One row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    id: String,
    what: String,
    /// p50, p90, p99, or one figure.
    figures: [String; 3],
    floor: String,
    ratio: String,
    target: String,
}

impl Row {
    /// A row of durations beside those of the floor.
    pub(crate) fn beside(id: &str, what: &str, ours: &Samples, floor: &Samples, target: &str) -> Row {
        Row {
            floor: time(floor.percentile(50)),
            ratio: times(ratio(ours, floor)),
            ..Row::alone(id, what, ours, target)
        }
    }

    /// A row of durations without a floor.
    pub(crate) fn alone(id: &str, what: &str, ours: &Samples, target: &str) -> Row {
        Row {
            id: id.to_owned(),
            what: what.to_owned(),
            figures: [50, 90, 99].map(|percent| time(ours.percentile(percent))),
            target: target.to_owned(),
            ..Row::default()
        }
    }

    /// A row of one figure.
    pub(crate) fn figure(id: &str, what: &str, figure: String, target: &str) -> Row {
        Row {
            id: id.to_owned(),
            what: what.to_owned(),
            figures: [figure, String::new(), String::new()],
            target: target.to_owned(),
            ..Row::default()
        }
    }

    /// The same with a floor and a ratio.
    pub(crate) fn with(self, floor: String, ratio: String) -> Row {
        Row { floor, ratio, ..self }
    }

    fn cells(&self) -> [&str; 8] {
        let [p50, p90, p99] = &self.figures;
        [&self.id, &self.what, p50, p90, p99, &self.floor, &self.ratio, &self.target]
    }
}

/// A duration with three digits.
pub(crate) fn time(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    match micros {
        micros if micros < 1.0 => format!("{:.0} ns", micros * 1e3),
        micros if micros < 100.0 => format!("{micros:.1} us"),
        micros if micros < 1e4 => format!("{micros:.0} us"),
        micros => format!("{:.1} ms", micros / 1e3),
    }
}

/// A ratio.
pub(crate) fn times(ratio: f64) -> String {
    if ratio < 0.1 { format!("{ratio:.4}") } else { format!("{ratio:.2}") }
}

/// All rows, and where they were measured.
#[derive(Debug)]
pub(crate) struct Table {
    machine: String,
    rows: Vec<Row>,
}

impl Table {
    pub(crate) fn new(machine: String) -> Table {
        Table { machine, rows: Vec::new() }
    }

    pub(crate) fn extend(&mut self, rows: Vec<Row>) {
        self.rows.extend(rows);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["", "what", "p50", "p90", "p99", "floor p50", "ratio", "target"];
        let lines: Vec<[&str; 8]> = std::iter::once(head).chain(self.rows.iter().map(Row::cells)).collect();
        let widths: [usize; 8] = std::array::from_fn(|column| {
            let cells = lines.iter().filter_map(|cells| cells.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        });
        for cells in &lines {
            let mut line = String::new();
            for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
                let pad = width - cell.chars().count();
                let (left, right) = if (2..=6).contains(&column) { (pad, 0) } else { (0, pad) };
                line.extend(std::iter::repeat_n(' ', left));
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', right + 2));
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        write!(f, "\n{}", self.machine)
    }
}
