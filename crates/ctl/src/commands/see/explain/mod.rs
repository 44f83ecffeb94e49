//! `hooksctl explain`: why a handler runs on an event, or why not.
//!
//! Without a daemon it reads what a daemon would read and asks the same function (`hooksd_engine::explain`).

mod event;
mod steps;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::AnsiColor;
use hooksd_config::trust::{Policy, Store};
use hooksd_config::{layers, now, plugins, project};
use hooksd_engine::explain::{Circumstances, explain};
use hooksd_engine::plan::{Input, PayloadInput};
use hooksd_json::{Dialect, Value};
use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::methods::{
    ConfigExplain, ConfigExplained, ExplainedHandler, JournalRecord, Rule, SessionRef,
};
use serde::Serialize;

use crate::arguments::{Arguments, Explain, ModeArgument, PluginsArgument};
use crate::connect::connect_or_start;
use crate::failure::Failure;
use crate::input::{EventInput, absolute};
use crate::print::{Printer, diagnostic, one_line, paint, safe};

/// At this depth no handlers run (D12). Levels.
const MAX_DEPTH: u32 = 3;

/// What is printed: the explanation, and what goes with it.
#[derive(Serialize)]
struct Printed {
    #[serde(flatten)]
    explained: ConfigExplained,
    /// The event as the journal has it, when it was asked for by its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    journaled: Option<JournalRecord>,
    /// With --run: what the handlers did, and how the decision came about.
    #[serde(skip_serializing_if = "Option::is_none")]
    ran: Option<steps::RunReport>,
}

pub(crate) fn run(
    arguments: &Arguments,
    wanted: &Explain,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let config_dir = wanted.config_dir.path()?;
    let folder = absolute(wanted.cwd.as_deref())?;
    let (event, journaled) = event::read(wanted, &config_dir, &folder)?;
    let cwd = match (&wanted.cwd, &event.cwd) {
        (None, Some(cwd)) => PathBuf::from(cwd),
        _ => folder,
    };
    let explained = match &wanted.session {
        Some(id) => {
            let asked = ConfigExplain {
                session: SessionRef::Id(id.clone()),
                invocation: event.invocation.clone(),
                payload: event.payload.clone(),
            };
            connect_or_start(arguments, printer)?.call("config/explain", &asked)?
        }
        None => {
            let explained = alone(wanted, wanted.mode, &config_dir, &cwd, &event)?;
            match &journaled {
                // The journal does not say whether a person was there; the snapshot may.
                Some(record) if record.snapshot_id != explained.snapshot_id => {
                    Some(alone(wanted, ModeArgument::Headless, &config_dir, &cwd, &event)?)
                        .filter(|headless| headless.snapshot_id == record.snapshot_id)
                        .unwrap_or(explained)
                }
                _ => explained,
            }
        }
    };
    let ran = match wanted.run {
        true => Some(steps::run(arguments, wanted, event, &cwd, &config_dir, printer)?),
        false => None,
    };
    let printed = Printed { explained, journaled, ran };
    printer.result(&printed, |lines| describe(&printed, lines))
}

/// What a new session in `cwd` would do, found out without a daemon.
fn alone(
    wanted: &Explain,
    mode: ModeArgument,
    config_dir: &Path,
    cwd: &Path,
    event: &EventInput,
) -> Result<ConfigExplained, Failure> {
    let input = match (&event.invocation, &event.payload) {
        (Some(invocation), _) => Input::Invocation(Box::new(invocation.clone())),
        (None, Some(payload)) => {
            let wrong =
                |error: &dyn std::fmt::Display| Failure::Input(format!("the event cannot be read: {error}"));
            let value = Value::parse(payload.get(), Dialect::Strict).map_err(|error| wrong(&error))?;
            Input::Payload(PayloadInput::read(&value).map_err(|error| wrong(&error))?)
        }
        (None, None) => return Err(Failure::Input("there is no event".to_owned())),
    };
    let resolved = project::root(cwd);
    let root = resolved.clone().unwrap_or_else(|| cwd.to_owned());
    let policy = match mode {
        ModeArgument::Interactive => Policy::with_store(Store::read(config_dir)),
        ModeArgument::Headless => Policy::explicit_only(),
    };
    let trusted = |fingerprint: &str| policy.trusts(&root, fingerprint);
    let user = config_dir.join(project::HOOKS_FILE);
    let document = resolved.as_deref().map(project::document);
    let (plugins, remarks) = match wanted.plugins {
        PluginsArgument::Discover => {
            let found = plugins::discover(config_dir);
            let (documents, more) = plugins::collect(&found.plugins, Some(&root));
            let told = found.diagnostics().into_iter().chain(found.broken_diagnostics());
            (documents, told.chain(more).collect())
        }
        PluginsArgument::None => (Vec::new(), Vec::new()),
    };
    let loaded = layers::load(&user, document.as_deref(), &trusted, &plugins);
    let mut diagnostics = loaded.snapshot.diagnostics.clone();
    diagnostics.extend(remarks);
    if let Store::Unreadable(reason) | Store::Unknown(reason) = policy.store() {
        let message = format!("the trust store {reason}; no project is trusted");
        diagnostics.push(Diagnostic::warning(code::TRUST_STORE_UNREADABLE, message));
    }
    let documents = now::documents(config_dir, &user, document.as_deref(), &trusted, &plugins);
    let depth = std::env::var("HOOKSD_DEPTH").unwrap_or_default();
    let circumstances = Circumstances {
        root: root.display().to_string(),
        reports_legacy: false,
        too_deep: !depth.is_empty() && depth.trim().parse().unwrap_or(MAX_DEPTH) >= MAX_DEPTH,
        headless: mode == ModeArgument::Headless,
        pinned: false,
    };
    Ok(explain(&loaded.snapshot, &documents, &input, &circumstances, diagnostics))
}

fn describe(printed: &Printed, lines: &mut Vec<String>) {
    let explained = &printed.explained;
    let compared = match (&explained.subject, &explained.native) {
        (Some(subject), Some(native)) => {
            format!(
                ", matchers are compared with {} (the agent calls it {})",
                quoted(subject),
                quoted(native)
            )
        }
        (Some(subject), None) => format!(", matchers are compared with {}", quoted(subject)),
        (None, _) => String::new(),
    };
    lines.push(format!("{}{compared}", safe(&explained.event)));
    if let Some(record) = &printed.journaled {
        let same = if record.snapshot_id == explained.snapshot_id {
            "the configuration is the same now"
        } else {
            "the configuration is another one now, which is what is explained here"
        };
        lines.push(format!("journaled {}: {}; {same}", record.time, record.outcome));
    }
    for handler in &explained.handlers {
        lines.push(String::new());
        lines.extend(handler_lines(handler));
    }
    lines.push(String::new());
    if !explained.diagnostics.is_empty() {
        lines.extend(explained.diagnostics.iter().map(diagnostic));
        lines.push(String::new());
    }
    let running = explained.handlers.iter().filter(|handler| handler.runs).count();
    lines.push(match explained.handlers.len() {
        0 => format!("no handler of {} is in any document", safe(&explained.event)),
        1 if running == 1 => "the one handler would run".to_owned(),
        1 => "the one handler would not run".to_owned(),
        all => format!("{running} of {all} handlers would run"),
    });
    if let Some(ran) = &printed.ran {
        lines.push(String::new());
        ran.describe(lines);
    }
}

fn quoted(text: &str) -> String {
    safe(&format!("{text:?}"))
}

fn handler_lines(handler: &ExplainedHandler) -> Vec<String> {
    let word = match handler.rule {
        Rule::Runs => paint(AnsiColor::Green, "would run"),
        _ => paint(AnsiColor::Red, "would not run"),
    };
    let id = handler.id.as_deref().map(|id| format!(" {}", safe(id))).unwrap_or_default();
    let place = handler.place.as_deref().unwrap_or(&handler.source);
    let mut lines =
        vec![format!("{word}{id} at {}", safe(place)), format!("    {}", one_line(&handler.command))];
    lines.push(format!("    {}: {}", rule(handler.rule), safe(&handler.why)));
    lines.extend(handler.fix.as_deref().map(|fix| format!("    fix: {}", safe(fix))));
    lines
}

/// A rule by its name on the wire.
fn rule(rule: Rule) -> String {
    serde_json::to_value(rule).ok().and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default()
}
