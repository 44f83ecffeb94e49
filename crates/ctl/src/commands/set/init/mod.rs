//! `hooksctl init`: a hooks.json and a guard to begin with.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hooksd_config::project::{self, HOOKS_FILE, PROJECT_FOLDER};
use serde::Serialize;
use serde_json::json;

use crate::arguments::{Init, config_dir};
use crate::failure::Failure;
use crate::input::absolute;
use crate::print::{Printer, safe};

/// The guard, commented: hooks.json has no comments.
const GUARD: &str = include_str!("guard.sh");

/// How long the guard may take. Seconds.
const GUARD_SECONDS: u64 = 10;

#[derive(Serialize)]
struct WrittenFiles {
    hooks: String,
    guard: String,
    /// What to do next, one command each.
    next: Vec<String>,
}

pub(crate) fn run(wanted: &Init, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let here = absolute(None)?;
    let folder = match (&wanted.folder, wanted.project) {
        (Some(folder), _) => made(&absolute(Some(folder))?)?,
        (None, true) => project::root(&here).unwrap_or(here).join(PROJECT_FOLDER),
        (None, false) => config_dir()?,
    };
    let (hooks, guard) = (folder.join(HOOKS_FILE), folder.join("hooks").join("guard.sh"));
    for path in [&hooks, &guard] {
        if path.symlink_metadata().is_ok() {
            let message = format!("{} is there already; nothing was written", path.display());
            return Err(Failure::Input(message));
        }
    }
    // In a project the file is at another place for everybody who has it.
    let command = if wanted.project {
        format!("\"$CLAUDE_PROJECT_DIR\"/{PROJECT_FOLDER}/hooks/guard.sh")
    } else {
        quoted(&guard)?
    };
    write(&guard, GUARD, 0o755)?;
    write(&hooks, &document(&command), 0o644)?;
    let trial = "--event PreToolUse --tool Bash --input '{\"command\":\"rm -rf /\"}'";
    let next = match &wanted.folder {
        // No daemon reads it there.
        Some(_) => {
            vec![
                format!("hooksctl check {}", quoted(&hooks)?),
                format!("hooksctl explain --config-dir {} {trial}", quoted(&folder)?),
            ]
        }
        None => {
            let trust = wanted.project.then(|| "hooksctl trust grant --yes".to_owned());
            let check = Some("hooksctl check".to_owned());
            [check, trust, Some(format!("hooksctl explain --run {trial}"))].into_iter().flatten().collect()
        }
    };
    let written =
        WrittenFiles { hooks: hooks.display().to_string(), guard: guard.display().to_string(), next };
    printer.result(&written, |lines| {
        lines.push(format!("wrote {}", safe(&written.guard)));
        lines.push(format!("wrote {}", safe(&written.hooks)));
        lines.push("next:".to_owned());
        lines.extend(written.next.iter().map(|command| format!("    {command}")));
    })
}

/// A folder by its real path, as it stays in the document.
fn made(folder: &Path) -> Result<PathBuf, Failure> {
    fs::create_dir_all(folder)
        .and_then(|()| fs::canonicalize(folder))
        .map_err(|error| Failure::Input(format!("{} cannot be made: {error}", folder.display())))
}

/// A path as a word of a command.
fn quoted(path: &Path) -> Result<String, Failure> {
    let path = path.display().to_string();
    shlex::try_quote(&path)
        .map(|word| word.into_owned())
        .map_err(|error| Failure::Input(format!("{path} cannot be in a command: {error}")))
}

fn document(command: &str) -> String {
    let command = json!(command);
    format!(
        r#"{{
  "hooks": {{
    "PreToolUse": [
      {{
        "matcher": "Bash",
        "hooks": [
          {{ "type": "command", "command": {command}, "timeout": {GUARD_SECONDS}, "onFailure": "block" }}
        ]
      }}
    ]
  }}
}}
"#
    )
}

fn write(path: &Path, content: &str, mode: u32) -> Result<(), Failure> {
    let wrong =
        |error: std::io::Error| Failure::Input(format!("{} cannot be written: {error}", path.display()));
    let folder: PathBuf = path.parent().unwrap_or(Path::new("/")).to_owned();
    fs::create_dir_all(&folder).map_err(wrong)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path).map_err(wrong)?;
    file.write_all(content.as_bytes()).map_err(wrong)
}
