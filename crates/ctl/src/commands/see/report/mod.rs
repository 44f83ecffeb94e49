//! `hooksctl report`: the journal as one page that needs no network, no script and no font.
//!
//! Guarantee: what handlers, agents and documents have said stands in the page as text; none of it can become markup.

mod charts;
mod figures;
mod page;
mod svg;

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;

use hooksd_journal::JournalError;
use hooksd_protocol::methods::JournalPage;
use serde_json::json;

use self::figures::Figures;
use crate::arguments::Report;
use crate::failure::Failure;
use crate::journal::pages;
use crate::print::{Printer, many, safe};

/// The most events in a page, the newest. Events.
const MOST_EVENTS: u32 = 50_000;

pub(crate) fn run(wanted: &Report, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let path = wanted.config_dir.journal()?;
    let found = match pages(&path, wanted.period.query()?, MOST_EVENTS) {
        Ok(found) => found,
        // No daemon has written anything yet: the page says so.
        Err(Failure::Journal(JournalError::Absent(_))) => JournalPage::default(),
        Err(failure) => return Err(failure),
    };
    let figures = Figures::of(&found.records, found.cursor.is_some());
    let html = page::page(&figures);
    match &wanted.out {
        Some(out) => {
            write(out, &html)?;
            let written = json!({ "out": out, "figures": figures });
            printer.result(&written, |lines| {
                let out = safe(&out.display().to_string());
                lines.push(format!(
                    "{out}: {}, {}",
                    many(figures.events, "event"),
                    many(figures.runs, "handler run")
                ));
            })
        }
        None => {
            // The page itself is the output for people; programs get the figures.
            if printer.is_json() {
                return printer.result(&json!({ "out": null, "figures": figures }), |_| ());
            }
            printer.plain(&html)
        }
    }
}

/// A page that was not there is its owner's alone, as the journal is.
fn write(out: &Path, html: &str) -> Result<(), Failure> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(out)
        .and_then(|mut file| file.write_all(html.as_bytes()))
        .map_err(|error| Failure::Input(format!("{} cannot be written: {error}", out.display())))
}
