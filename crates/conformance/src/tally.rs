//! What came of a run, counted by area.

use std::collections::BTreeMap;

use anstyle::AnsiColor;
use hooksd_terminal::{one_line, paint};
use serde::Serialize;

use crate::judge::Outcome;
use crate::scenario::{SCHEMA, Scenario};

/// How many scenarios that failed are named when nobody asks why. Scenarios.
const NAMED: usize = 20;

/// The counts of an area, or of all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    scenarios: usize,
    passed: usize,
    failed: usize,
    unsupported: usize,
    /// Of those that passed: diagnostics were expected, and the engine tells none.
    without_diagnostics: usize,
}

/// What came of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Tally<'a> {
    schema: u32,
    engine: String,
    areas: BTreeMap<&'a str, Counts>,
    total: Counts,
    failed: Vec<Failed<'a>>,
    unsupported: Vec<Unsupported<'a>>,
}

#[derive(Debug, Serialize)]
struct Failed<'a> {
    id: &'a str,
    about: &'a str,
    differences: &'a [String],
}

#[derive(Debug, Serialize)]
struct Unsupported<'a> {
    id: &'a str,
    reason: &'a str,
}

impl<'a> Tally<'a> {
    pub(crate) fn new(engine: String, scenarios: &'a [Scenario], outcomes: &'a [Outcome]) -> Tally<'a> {
        let mut tally = Tally {
            schema: SCHEMA,
            engine,
            areas: BTreeMap::new(),
            total: Counts::default(),
            failed: Vec::new(),
            unsupported: Vec::new(),
        };
        for (scenario, outcome) in scenarios.iter().zip(outcomes) {
            let id = scenario.id.as_str();
            for counts in [tally.areas.entry(scenario.area()).or_default(), &mut tally.total] {
                counts.add(outcome);
            }
            match outcome {
                Outcome::Passed { .. } => {}
                Outcome::Failed(differences) => {
                    tally.failed.push(Failed { id, about: &scenario.about, differences });
                }
                Outcome::Unsupported(reason) => tally.unsupported.push(Unsupported { id, reason }),
            }
        }
        tally
    }

    /// Whether everything that the engine supports is as it has to be.
    pub(crate) fn is_clean(&self) -> bool {
        self.failed.is_empty()
    }
}

impl Counts {
    fn add(&mut self, outcome: &Outcome) {
        self.scenarios += 1;
        match outcome {
            Outcome::Passed { is_without_diagnostics } => {
                self.passed += 1;
                self.without_diagnostics += usize::from(*is_without_diagnostics);
            }
            Outcome::Failed(_) => self.failed += 1,
            Outcome::Unsupported(_) => self.unsupported += 1,
        }
    }

    /// Percent of all that passed, never 100 before all have. In tenths, rounded down.
    fn percent(&self) -> String {
        let tenths = (self.passed * 1000).checked_div(self.scenarios).unwrap_or_default();
        format!("{}.{}%", tenths / 10, tenths % 10)
    }

    fn row(&self, name: &str) -> String {
        let Counts { scenarios, passed, failed, unsupported, .. } = self;
        format!("{name:<12} {scenarios:>9} {passed:>8} {failed:>8} {unsupported:>12} {:>8}", self.percent())
    }
}

/// The table, and what failed.
pub(crate) fn describe(tally: &Tally<'_>, is_verbose: bool, lines: &mut Vec<String>) {
    let named = if is_verbose { usize::MAX } else { NAMED };
    for failed in tally.failed.iter().take(named) {
        let label = paint(AnsiColor::Red, "failed");
        lines.push(format!("{label} {}: {}", one_line(failed.id), one_line(failed.about)));
        if is_verbose {
            lines.extend(failed.differences.iter().map(|difference| format!("    {}", one_line(difference))));
        }
    }
    if tally.failed.len() > named {
        lines.push(format!("... and {} more", tally.failed.len() - named));
    }
    if is_verbose {
        let told = tally.unsupported.iter();
        lines.extend(told.map(|one| format!("unsupported {}: {}", one_line(one.id), one_line(one.reason))));
    } else if !tally.failed.is_empty() {
        lines.push("--verbose tells what was expected and what came".to_owned());
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    let head = ["area", "scenarios", "passed", "failed", "unsupported", "passed"];
    let [area, scenarios, passed, failed, unsupported, percent] = head;
    lines.push(format!("{area:<12} {scenarios:>9} {passed:>8} {failed:>8} {unsupported:>12} {percent:>8}"));
    lines.extend(tally.areas.iter().map(|(area, counts)| counts.row(&one_line(area))));
    lines.push(tally.total.row("all"));
    if tally.total.without_diagnostics > 0 {
        let count = tally.total.without_diagnostics;
        lines.push(format!(
            "{count} passed without the diagnostics that are expected: this engine tells none"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_only_said_of_all() {
        let percent = |passed, scenarios| Counts { scenarios, passed, ..Counts::default() }.percent();
        assert_eq!([percent(1999, 2000), percent(2, 2), percent(0, 0)], ["99.9%", "100.0%", "0.0%"]);
    }
}
