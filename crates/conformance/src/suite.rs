//! Where scenarios come from: the program itself, or a folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hooksd_config::read::{Found, bounded};

use crate::failure::Failure;
use crate::scenario::Scenario;

/// The largest file of scenarios. Bytes.
const MAX_FILE: u64 = 64 << 20;

/// The files that came with this program.
const OURS: [(&str, &str); 11] = [
    ("README.md", include_str!("../suite/README.md")),
    ("cases.jsonl", include_str!("../suite/cases.jsonl")),
    ("config.jsonl", include_str!("../suite/config.jsonl")),
    ("env.jsonl", include_str!("../suite/env.jsonl")),
    ("legacy.jsonl", include_str!("../suite/legacy.jsonl")),
    ("matcher.jsonl", include_str!("../suite/matcher.jsonl")),
    ("plugins.jsonl", include_str!("../suite/plugins.jsonl")),
    ("projection.jsonl", include_str!("../suite/projection.jsonl")),
    ("reduce.jsonl", include_str!("../suite/reduce.jsonl")),
    ("terminal.jsonl", include_str!("../suite/terminal.jsonl")),
    ("trust.jsonl", include_str!("../suite/trust.jsonl")),
];

/// Scenarios.
pub(crate) struct Suite {
    pub(crate) scenarios: Vec<Scenario>,
}

impl Suite {
    /// Those that came with this program.
    pub(crate) fn ours() -> Result<Suite, Failure> {
        read(OURS.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())))
    }

    /// Those of every `*.jsonl` in a folder, by name.
    pub(crate) fn of(folder: &Path) -> Result<Suite, Failure> {
        let unreadable = |error| Failure::Input(format!("{} cannot be read: {error}", folder.display()));
        let entries = fs::read_dir(folder).map_err(unreadable)?;
        let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        let mut texts = Vec::new();
        for file in files {
            let name = file.display().to_string();
            match bounded(&file, MAX_FILE) {
                Found::File(contents) => {
                    let text = String::from_utf8(contents.bytes.to_vec())
                        .map_err(|_| Failure::Input(format!("{name} is not UTF-8")))?;
                    texts.push((name, text));
                }
                Found::Unreadable { reason, .. } => return Err(Failure::Input(format!("{name} {reason}"))),
                Found::Absent => {}
            }
        }
        read(texts.into_iter())
    }

    /// Only those of these areas, and with this text in the id.
    pub(crate) fn only(&mut self, areas: &[String], part: Option<&str>) -> Result<(), Failure> {
        let known: BTreeSet<String> = self.scenarios.iter().map(|one| one.area().to_owned()).collect();
        if let Some(area) = areas.iter().find(|area| !known.contains(*area)) {
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            return Err(Failure::Input(format!("there is no area {area:?}; there are {known}")));
        }
        self.scenarios.retain(|one| areas.is_empty() || areas.iter().any(|area| area == one.area()));
        self.scenarios.retain(|one| part.is_none_or(|part| one.id.contains(part)));
        if self.scenarios.is_empty() {
            return Err(Failure::Input("no scenario is named so".to_owned()));
        }
        Ok(())
    }
}

fn read(files: impl Iterator<Item = (String, String)>) -> Result<Suite, Failure> {
    let mut scenarios = Vec::new();
    let mut ids = BTreeSet::new();
    for (name, text) in files.filter(|(name, _)| name.ends_with(".jsonl")) {
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |error| Failure::Input(format!("{name}:{}: {error}", number + 1));
            let scenario = Scenario::read(line).map_err(wrong)?;
            if !ids.insert(scenario.id.clone()) {
                return Err(wrong(format!("there are two scenarios {:?}", scenario.id)));
            }
            scenarios.push(scenario);
        }
    }
    if scenarios.is_empty() {
        return Err(Failure::Input("there is no *.jsonl with a scenario".to_owned()));
    }
    Ok(Suite { scenarios })
}

/// Writes the files that came with this program into a folder that has none of them; which ones.
pub(crate) fn export(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unwritable =
        |path: &Path, error| Failure::Input(format!("{} cannot be written: {error}", path.display()));
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, error))?;
    let mut written = Vec::new();
    for (name, text) in OURS {
        let path = folder.join(name);
        fs::File::create_new(&path)
            .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()))
            .map_err(|error| unwritable(&path, error))?;
        written.push(path);
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exported_is_what_is_inside() {
        let folder = tempfile::tempdir().unwrap();
        let files = export(folder.path()).unwrap();
        assert_eq!(files.len(), OURS.len());
        let ids = |suite: Suite| suite.scenarios.into_iter().map(|one| one.id).collect::<Vec<_>>();
        assert_eq!(ids(Suite::of(folder.path()).unwrap()), ids(Suite::ours().unwrap()));
        // What is there is never overwritten.
        assert!(export(folder.path()).is_err());
    }
}
