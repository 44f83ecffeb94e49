//! The vectors: one JSON object a line, in every `*.jsonl` of a folder.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::json::Json;

/// One recorded case.
#[derive(Debug, Clone)]
pub(crate) struct Vector {
    pub(crate) id: String,
    json: Json<'static>,
}

/// How a vector was found to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Held {
    /// Exactly as recorded.
    AsRecorded,
    /// As our deliberate difference of this name says (DECISIONS).
    AsDecided(String),
    /// Recorded as re-encoded, passed on untouched by us, and the same under D4's equivalence.
    Untouched,
    /// A matcher that the reference reads and we refuse with a reason (D7).
    Refused,
    /// Not run, and why.
    Skipped(String),
}

impl Held {
    /// A heading for the summary.
    pub(crate) fn heading(&self) -> String {
        match self {
            Held::AsRecorded => "as recorded".to_owned(),
            Held::AsDecided(decision) => format!("by {decision}"),
            Held::Untouched => "same under D4's equivalence only".to_owned(),
            Held::Refused => "refused with a reason (D7)".to_owned(),
            Held::Skipped(reason) => format!("skipped: {reason}"),
        }
    }
}

/// How it held, or the difference.
pub(crate) type Checked = Result<Held, String>;

impl Vector {
    /// Reads one line.
    pub(crate) fn read(line: &'static str) -> Result<Vector, String> {
        let json = Json::parse(line)?;
        json.need("expect")?;
        json.need("input")?;
        Ok(Vector { id: json.need("id")?.str()?.to_owned(), json })
    }

    pub(crate) fn area(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// The part of the id after the area.
    pub(crate) fn slug(&self) -> &str {
        self.id.split('/').nth(1).unwrap_or_default()
    }

    pub(crate) fn input(&self) -> &Json<'static> {
        self.json.get("input").unwrap()
    }

    pub(crate) fn expect(&self) -> &Json<'static> {
        self.json.get("expect").unwrap()
    }

    /// The deliberate difference that applies.
    pub(crate) fn decision(&self) -> Option<&str> {
        self.json.get("decision").and_then(Json::text)
    }

    /// What that difference says here.
    pub(crate) fn ours(&self) -> &str {
        self.json.get("ours").and_then(Json::text).unwrap_or_default()
    }

    /// The vector holds by its decision.
    pub(crate) fn decided(&self) -> Checked {
        Ok(Held::AsDecided(self.decision().unwrap_or("no decision").to_owned()))
    }

    /// A decision that the area has no rule for.
    pub(crate) fn no_rule(&self) -> Checked {
        Err(format!("no rule for decision {:?} here; ours: {:?}", self.decision(), self.ours()))
    }
}

/// The folder that `HOOKSD_VECTORS` names, else the copy beside this file.
pub(crate) fn folder() -> PathBuf {
    match std::env::var_os("HOOKSD_VECTORS") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance"),
    }
}

/// All vectors of a folder, by file name and line. The texts live as long as the process.
pub(crate) fn load(folder: &Path) -> Result<Vec<Vector>, String> {
    let listing = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = listing.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let mut vectors = Vec::new();
    for file in files {
        let mut text = String::new();
        let read = File::open(&file).and_then(|mut opened| opened.read_to_string(&mut text));
        read.map_err(|error| format!("{}: {error}", file.display()))?;
        let text: &'static str = text.leak();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let vector =
                Vector::read(line).map_err(|error| format!("{}:{}: {error}", file.display(), number + 1))?;
            vectors.push(vector);
        }
    }
    if vectors.is_empty() {
        return Err(format!("no vectors in {}", folder.display()));
    }
    Ok(vectors)
}
