//! `hooksctl show [DIR]`

use std::process::ExitCode;

use hooksd_protocol::methods::{ConfigShow, ConfigShown, DaemonSettings, NoParams};

use crate::arguments::{Arguments, Show};
use crate::connect::connect_or_start;
use crate::failure::Failure;
use crate::input::absolute;
use crate::print::{Printer, diagnostic, handler_lines, legacy_lines, safe};

pub(crate) fn run(arguments: &Arguments, show: &Show, printer: &mut Printer) -> Result<ExitCode, Failure> {
    if show.settings {
        return settings(arguments, printer);
    }
    let cwd = absolute(show.folder.as_deref())?.display().to_string();
    let shown: ConfigShown =
        connect_or_start(arguments, printer)?.call("config/show", &ConfigShow { cwd })?;
    printer.result(&shown, |lines| {
        lines.push(format!("snapshot {}", shown.snapshot.id));
        let trust = match (shown.project.hooks_present, shown.project.trusted) {
            (false, _) => "no hooks.json",
            (true, true) => "hooks.json trusted",
            (true, false) => "hooks.json NOT trusted, so not loaded",
        };
        lines.push(format!("project  {} ({trust})", safe(&shown.project.root)));
        for source in &shown.snapshot.sources {
            let loaded = if source.loaded { "loaded" } else { "not loaded" };
            lines.push(format!("{:<8} {} ({loaded})", source.scope, safe(&source.path)));
        }
        for handler in &shown.handlers {
            lines.push(String::new());
            lines.extend(handler_lines(handler));
        }
        lines.extend(shown.legacy.iter().flat_map(legacy_lines));
        if !shown.snapshot.diagnostics.is_empty() {
            lines.push(String::new());
            lines.extend(shown.snapshot.diagnostics.iter().map(diagnostic));
        }
    })
}

/// The daemon's own settings, as it was told them when it started.
fn settings(arguments: &Arguments, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let shown: DaemonSettings =
        connect_or_start(arguments, printer)?.call("daemon/settings", &NoParams {})?;
    printer.result(&shown, |lines| {
        lines.push(format!("{} (read when the daemon starts)", safe(&shown.file)));
        for setting in &shown.settings {
            let (value, origin) = (safe(&setting.value), safe(&setting.origin));
            lines.push(format!("{:<20} {value} ({origin})", safe(&setting.key)));
        }
    })
}
