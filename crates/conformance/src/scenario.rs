//! A scenario: what is on the disk, what happens, and what has to come of it. Written as one line of JSON; the fields
//! are a contract (docs/conformance.md), so an unknown one is an error.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The version of the fields.
pub(crate) const SCHEMA: u32 = 1;

/// The most bytes that one specification stands for. Bytes. Above what any engine has to keep of a handler's output.
const MAX_BYTES: usize = 16 << 20;

/// One scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// [`SCHEMA`].
    pub(crate) schema: u32,
    /// `AREA/NAME...`, unique.
    pub(crate) id: String,
    /// What it shows.
    pub(crate) about: String,
    /// The user's hooks.json.
    pub(crate) user: Option<Bytes>,
    /// The project's hooks.json.
    pub(crate) project: Option<Bytes>,
    /// More files.
    #[serde(default)]
    pub(crate) files: Vec<FileSpec>,
    /// Programs that write down that they ran, and what with.
    #[serde(default)]
    pub(crate) handlers: BTreeMap<String, Handler>,
    /// The agent's session.
    #[serde(default)]
    pub(crate) session: Session,
    /// The event.
    pub(crate) invocation: Box<RawValue>,
    /// The session's transcript.
    pub(crate) transcript_path: Option<String>,
    /// The subagent's.
    pub(crate) agent_transcript_path: Option<String>,
    /// What has to come of it.
    pub(crate) expect: Expect,
}

/// A file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileSpec {
    /// Begins with a placeholder.
    pub(crate) path: String,
    /// Its content.
    pub(crate) bytes: Option<Bytes>,
    /// Its permissions.
    pub(crate) mode: Option<u32>,
    /// Where it leads, when it is a symbolic link.
    pub(crate) symlink: Option<String>,
    /// Whether it is a folder.
    #[serde(default)]
    pub(crate) dir: bool,
}

/// Content.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Bytes {
    /// A text with placeholders.
    Text(String),
    /// Hexadecimal digits.
    Hex {
        /// Two for each byte.
        hex: String,
    },
    /// A text again and again.
    Repeat {
        /// The text.
        repeat: String,
        /// How often.
        times: usize,
    },
    /// One after the other.
    Parts(Vec<Bytes>),
}

/// What a handler does: it reads its standard input, sleeps, prints, and ends.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Handler {
    /// What it prints.
    pub(crate) stdout: Option<Bytes>,
    /// What it complains.
    pub(crate) stderr: Option<Bytes>,
    /// Its exit status.
    pub(crate) exit: u8,
    /// How long it sleeps first. Seconds.
    pub(crate) delay: f64,
    /// The signal that it sends itself instead of exiting.
    pub(crate) signal: u8,
}

/// The agent's session.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Session {
    /// `"headless"`: nobody is there, so that persisted trust does not count.
    pub(crate) mode: Option<String>,
    /// `"explicit"`: the project is trusted for this session.
    pub(crate) trust: Option<String>,
    /// The folder; default `<CWD>`.
    pub(crate) cwd: Option<String>,
    /// More variables.
    pub(crate) env: BTreeMap<String, String>,
    /// `"discover"`, or a list of `{"id", "root"}`.
    pub(crate) plugins: Option<serde_json::Value>,
}

/// What has to come of a scenario. What is absent is not looked at.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Expect {
    /// The decision; members that are absent are as if no hook had spoken.
    pub(crate) decision: Option<serde_json::Value>,
    /// Its diagnostics.
    pub(crate) diagnostics: Option<Vec<serde_json::Value>>,
    /// What was remarked when the documents were read.
    pub(crate) load_diagnostics: Option<Vec<serde_json::Value>>,
    /// The handlers that ran, sorted, each as often as it ran.
    pub(crate) ran: Option<Vec<String>>,
    /// What a handler read, as JSON.
    pub(crate) stdin: BTreeMap<String, String>,
    /// Variables of a handler; null for those that it must not have.
    pub(crate) env: BTreeMap<String, BTreeMap<String, Option<String>>>,
    /// Files that are there afterwards.
    pub(crate) files: BTreeMap<String, String>,
    /// The least and the longest time. Seconds.
    pub(crate) seconds: Option<(f64, f64)>,
}

impl Scenario {
    /// Reads one line.
    pub(crate) fn read(line: &str) -> Result<Scenario, String> {
        let scenario: Scenario = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if scenario.schema != SCHEMA {
            return Err(format!(
                "schema {} is not {SCHEMA}, the one that this version reads",
                scenario.schema
            ));
        }
        let is_name =
            |name: &&String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if let Some(name) = scenario.handlers.keys().find(|name| !is_name(name) || name.is_empty()) {
            return Err(format!("handlers: {name:?} is not a name of letters, digits, - and _"));
        }
        Ok(scenario)
    }

    /// The part of the id before the first slash.
    pub(crate) fn area(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }
}

impl Bytes {
    /// The bytes, with each text as `real` has it.
    pub(crate) fn bytes(&self, real: &dyn Fn(&str) -> String) -> Result<Vec<u8>, String> {
        let bytes = match self {
            Bytes::Text(text) => real(text).into_bytes(),
            Bytes::Hex { hex } => unhexed(hex).ok_or("hex is not pairs of hexadecimal digits")?,
            Bytes::Repeat { repeat, times } if repeat.len().saturating_mul(*times) <= MAX_BYTES => {
                repeat.repeat(*times).into_bytes()
            }
            Bytes::Repeat { .. } => return Err(format!("it is longer than {MAX_BYTES} bytes")),
            Bytes::Parts(parts) => {
                let parts: Result<Vec<_>, _> = parts.iter().map(|part| part.bytes(real)).collect();
                parts?.concat()
            }
        };
        Ok(bytes)
    }
}

fn unhexed(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = hex.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    digits
        .chunks_exact(2)
        .map(|pair| pair.iter().try_fold(0, |sum, digit| u8::try_from(sum as u32 * 16 + digit).ok()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_what_they_stand_for() {
        let bytes =
            |json: &str| serde_json::from_str::<Bytes>(json).unwrap().bytes(&|text| text.replace('<', "["));
        assert_eq!(
            bytes(r#"["<a", {"hex": "00ff"}, {"repeat": "b", "times": 3}]"#).unwrap(),
            b"[a\x00\xffbbb"
        );
        assert!(bytes(r#"{"hex": "0"}"#).is_err());
        assert!(bytes(r#"{"repeat": "ab", "times": 99999999999}"#).is_err());
    }

    /// The fields that a type reads, as its own complaint about another one names them.
    fn fields<T: for<'a> Deserialize<'a>>() -> Vec<String> {
        let complaint = serde_json::from_str::<T>(r#"{"-": 0}"#).err().unwrap().to_string();
        let mut fields: Vec<String> = complaint.split('`').skip(3).step_by(2).map(str::to_owned).collect();
        fields.sort();
        fields
    }

    #[test]
    fn the_schema_names_the_fields_that_are_read() {
        let schema = include_str!("../schema/scenario.schema.json");
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        let named = |part: &serde_json::Value| {
            part["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(named(&schema), fields::<Scenario>());
        assert_eq!(named(&schema["$defs"]["FileSpec"]), fields::<FileSpec>());
        assert_eq!(named(&schema["$defs"]["Handler"]), fields::<Handler>());
        assert_eq!(named(&schema["$defs"]["Session"]), fields::<Session>());
        assert_eq!(named(&schema["$defs"]["Expect"]), fields::<Expect>());
        assert_eq!(schema["properties"]["schema"]["const"], SCHEMA);
    }

    #[test]
    fn another_schema_and_an_unknown_field_are_errors() {
        let read = |json: &str| Scenario::read(json).map(|scenario| scenario.id);
        let rest = r#""id": "a/b", "about": "", "invocation": {}, "expect": {}}"#;
        assert_eq!(read(&format!("{{\"schema\": 1, {rest}")), Ok("a/b".to_owned()));
        assert!(read(&format!("{{\"schema\": 2, {rest}")).unwrap_err().contains("schema 2 is not 1"));
        assert!(
            read(&format!("{{\"schema\": 1, \"handler\": {{}}, {rest}")).unwrap_err().contains("`handler`")
        );
        assert!(read(&format!("{{\"schema\": 1, \"handlers\": {{\"../a\": {{}}}}, {rest}")).is_err());
    }
}
