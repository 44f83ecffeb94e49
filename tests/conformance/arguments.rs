//! The arguments that `cargo test` passes on, as far as they mean something here; the others are ignored.

/// What is asked for.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// Name the tests and run none.
    pub(crate) list: bool,
    exact: bool,
    filters: Vec<String>,
    skips: Vec<String>,
}

/// Options of the usual test harness that have their value in the next argument.
const WITH_VALUE: [&str; 6] = ["--color", "--format", "--logfile", "--test-threads", "--shuffle-seed", "-Z"];

impl Arguments {
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Arguments {
        let mut arguments = Arguments::default();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--list" => arguments.list = true,
                "--exact" => arguments.exact = true,
                "--skip" => arguments.skips.extend(words.next()),
                word if WITH_VALUE.contains(&word) => drop(words.next()),
                word if word.starts_with('-') => {}
                _ => arguments.filters.push(word),
            }
        }
        arguments
    }

    /// Whether a vector is asked for: any filter is part of its id, and no skip is.
    pub(crate) fn selects(&self, id: &str) -> bool {
        let hit = |filter: &String| if self.exact { id == filter } else { id.contains(filter.as_str()) };
        (self.filters.is_empty() || self.filters.iter().any(hit)) && !self.skips.iter().any(hit)
    }
}
