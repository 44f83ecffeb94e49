//! `hooksctl show [DIR]`

use std::process::ExitCode;

use hooksd_protocol::methods::{ConfigShow, ConfigShown};

use super::connect;
use crate::arguments::{Arguments, Show};
use crate::failure::Failure;
use crate::input::absolute;
use crate::print::{Printer, diagnostic, safe};

pub(crate) fn run(arguments: &Arguments, show: &Show, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let cwd = absolute(show.folder.as_deref())?.display().to_string();
    let shown: ConfigShown = connect(arguments)?.call("config/show", &ConfigShow { cwd })?;
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
            let matcher =
                handler.matcher.as_deref().map(|text| format!(" matcher {}", safe(text))).unwrap_or_default();
            lines.push(String::new());
            lines.push(format!("{}{matcher}", handler.id));
            let command = match &handler.argv {
                Some(argv) => argv.join(" "),
                None => handler.command.clone(),
            };
            lines.push(format!("    {}", safe(&command)));
            let timeout = handler.timeout.map(|seconds| format!("{seconds} s, ")).unwrap_or_default();
            let lifecycle = match (handler.lifecycle.as_str(), handler.workers) {
                ("per_event", _) => String::new(),
                (lifecycle, 1) => format!("{}, ", safe(lifecycle)),
                (lifecycle, workers) => format!("{} with {workers} workers, ", safe(lifecycle)),
            };
            lines.push(format!(
                "    {timeout}{lifecycle}on failure {}, from {}",
                handler.on_failure,
                safe(&handler.source)
            ));
        }
        if !shown.snapshot.diagnostics.is_empty() {
            lines.push(String::new());
            lines.extend(shown.snapshot.diagnostics.iter().map(diagnostic));
        }
    })
}
