//! `hooksctl check [PATH...]`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::AnsiColor;
use hooksd_config::project;
use hooksd_protocol::diagnostic::Severity;
use serde::Serialize;

use crate::arguments::{Check, FormatArgument};
use crate::failure::Failure;
use crate::input::absolute;
use crate::lint::{self, Checked, Finding, sarif};
use crate::print::{Printer, many, one_line, paint, safe};

/// Exit status when something would not be used, or not as it is meant.
const FOUND_SOMETHING: u8 = 1;

/// Exit status when nothing of a document would be used.
const UNUSABLE: u8 = 2;

/// What is printed for programs.
#[derive(Serialize)]
struct Printed<'a> {
    /// Whether all of the documents would be used, at least in part.
    usable: bool,
    /// Handlers that would be used, of all of them.
    handlers: usize,
    documents: &'a [Checked],
}

pub(crate) fn run(wanted: &Check, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let config_dir = wanted.config_dir.path();
    let here = absolute(None)?;
    let root = project::root(&here).unwrap_or(here);
    let given: Result<Vec<PathBuf>, Failure> = wanted.files.iter().map(|file| absolute(Some(file))).collect();
    let mut files = given?;
    if files.is_empty() {
        let defaults = [
            config_dir.as_ref().map(|dir| dir.join(project::HOOKS_FILE)).ok(),
            Some(project::document(&root)),
        ];
        files.extend(defaults.into_iter().flatten().filter(|path| path.symlink_metadata().is_ok()));
        files.dedup();
        if files.is_empty() {
            let yours = config_dir?.join(project::HOOKS_FILE);
            let message = format!(
                "there is neither {} nor {}: `hooksctl init` writes one",
                yours.display(),
                project::document(&root).display()
            );
            return Err(Failure::Input(message));
        }
    }
    let config_dir = config_dir.unwrap_or_default();
    let journal = hooksd_journal::path(&config_dir);
    let own = config_dir.join(project::HOOKS_FILE);
    let own_choice = !wanted.files.is_empty();
    let check = |file: &PathBuf| {
        let folder = file.parent().filter(|folder| folder.ends_with(project::PROJECT_FOLDER));
        let its_root = folder.and_then(Path::parent).unwrap_or(&root);
        let mut checked = lint::file(file, Some(its_root).filter(|_| *file != own), &journal);
        // Who names a file asks about its text, perhaps where nothing is ever trusted.
        if *file != own && !own_choice {
            checked.findings.extend(lint::untrusted(file, its_root, &config_dir));
        }
        checked
    };
    let checked: Vec<Checked> = files.iter().map(check).collect();
    match wanted.format {
        FormatArgument::Sarif => {
            printer.json(&sarif::log(&checked))?;
        }
        FormatArgument::Json => {
            printer.json(&printed(&checked))?;
        }
        FormatArgument::Human => {
            printer
                .result(&printed(&checked), |lines| checked.iter().for_each(|one| describe(one, lines)))?;
        }
    }
    let matters = |finding: &Finding| finding.severity > Severity::Debug;
    Ok(if checked.iter().any(|one| !one.usable) {
        ExitCode::from(UNUSABLE)
    } else if checked.iter().flat_map(|one| &one.findings).any(matters) {
        ExitCode::from(FOUND_SOMETHING)
    } else {
        ExitCode::SUCCESS
    })
}

fn printed(checked: &[Checked]) -> Printed<'_> {
    Printed {
        usable: checked.iter().all(|one| one.usable),
        handlers: checked.iter().map(|one| one.handlers).sum(),
        documents: checked,
    }
}

fn describe(checked: &Checked, lines: &mut Vec<String>) {
    for finding in &checked.findings {
        let label = match finding.severity {
            Severity::Debug => paint(AnsiColor::BrightBlack, "note"),
            Severity::Warning => paint(AnsiColor::Yellow, "warning"),
            Severity::Error => paint(AnsiColor::Red, "error"),
        };
        let place = match (finding.line, finding.column) {
            (Some(line), Some(column)) => format!(":{line}:{column}"),
            _ => String::new(),
        };
        lines.push(format!(
            "{}{place}: {label}[{}]: {}",
            safe(&finding.path),
            finding.code,
            safe(&finding.message)
        ));
        if let (Some(text), Some(column)) = (&finding.text, finding.column) {
            let before: String = text.chars().take(column.saturating_sub(1)).collect();
            // What is escaped is longer than it was: the caret stands below what is shown.
            let indent = one_line(&format!("{before}|")).chars().count().saturating_sub(1);
            lines.push(format!("    {}", one_line(text)));
            lines.push(format!("    {}^", " ".repeat(indent)));
        }
        lines.push(format!("    fix: {}", safe(&finding.fix)));
    }
    let summary = match (checked.usable, checked.handlers) {
        (false, _) => "nothing of it would be used".to_owned(),
        (true, count) => format!("{} would be used", many(count, "handler")),
    };
    lines.push(format!("{}: {summary}", safe(&checked.path)));
}
