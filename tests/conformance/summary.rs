//! What ran in each area and what failed, in the form that `cargo test` prints.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::task::JoinError;

use crate::vector::{Checked, Held};

/// The results so far.
#[derive(Debug)]
pub(crate) struct Summary {
    started: Instant,
    areas: BTreeMap<String, Area>,
    failures: Vec<(String, String)>,
    /// Vectors that were not asked for.
    pub(crate) filtered: usize,
    /// Vectors that measure time and were tried again on their own.
    pub(crate) repeated: usize,
    /// Processes left by handlers that were killed at the end.
    pub(crate) killed: usize,
    last_panic: Arc<Mutex<String>>,
}

#[derive(Debug, Default)]
struct Area {
    ran: usize,
    failed: usize,
    skipped: usize,
    headings: BTreeMap<String, usize>,
}

impl Summary {
    pub(crate) fn new() -> Summary {
        Summary {
            started: Instant::now(),
            areas: BTreeMap::new(),
            failures: Vec::new(),
            filtered: 0,
            repeated: 0,
            killed: 0,
            last_panic: Arc::default(),
        }
    }

    /// A panic is a failed vector, told with the others instead of at once.
    pub(crate) fn quiet_panics(&self) {
        let last = self.last_panic.clone();
        std::panic::set_hook(Box::new(move |panic| {
            *last.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = panic.to_string();
        }));
    }

    /// Why a task ended without a result.
    pub(crate) fn panic_message(&self, error: JoinError) -> String {
        let place = self.last_panic.lock().map(|text| text.clone()).unwrap_or_default();
        format!("{error}; the last panic was: {place}")
    }

    pub(crate) fn add(&mut self, id: &str, checked: Checked) {
        let area = id.split('/').next().unwrap_or_default();
        let area = self.areas.entry(area.to_owned()).or_default();
        let checked = match checked {
            Ok(Held::Skipped(reason)) if reason.trim().is_empty() => {
                Err("skipped without a reason".to_owned())
            }
            other => other,
        };
        match checked {
            Ok(held) => {
                if matches!(held, Held::Skipped(_)) {
                    area.skipped += 1
                } else {
                    area.ran += 1
                }
                *area.headings.entry(held.heading()).or_default() += 1;
            }
            Err(difference) => {
                area.ran += 1;
                area.failed += 1;
                self.failures.push((id.to_owned(), difference));
            }
        }
    }

    /// How many have failed so far.
    pub(crate) fn failed(&self) -> usize {
        self.failures.len()
    }

    pub(crate) fn print(self) -> ExitCode {
        for (id, difference) in &self.failures {
            println!("\n---- {id} ----\n{difference}");
        }
        println!();
        let (mut passed, mut skipped) = (0, 0);
        for (name, area) in &self.areas {
            let headings: Vec<String> =
                area.headings.iter().map(|(heading, count)| format!("{count} {heading}")).collect();
            println!("{name:11} {:5} ran, {:3} failed: {}", area.ran, area.failed, headings.join(", "));
            passed += area.ran - area.failed;
            skipped += area.skipped;
        }
        if self.repeated > 0 {
            println!("{} that measure time were tried again with nothing beside them", self.repeated);
        }
        if self.killed > 0 {
            println!("{} processes that handlers had left were killed", self.killed);
        }
        let failed = self.failed();
        let word = if failed == 0 { "ok" } else { "FAILED" };
        println!(
            "\ntest result: {word}. {passed} passed; {failed} failed; {skipped} ignored; 0 measured; {} filtered out; \
             finished in {:.2}s\n",
            self.filtered,
            self.started.elapsed().as_secs_f64()
        );
        if failed == 0 && passed + self.filtered > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
