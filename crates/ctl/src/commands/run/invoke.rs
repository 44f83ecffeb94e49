//! `hooksctl invoke [FILE]`

use std::process::ExitCode;
use std::time::Duration;

use anstyle::AnsiColor;
use hooksd_client::ClientError;
use hooksd_json::Text;
use hooksd_protocol::decision::{Behavior, Body, Permission};
use hooksd_protocol::methods::{
    ExplicitTrust, FingerprintTrust, HookInvoke, InvokeOptions, InvokeResult, Mode, Plugins, SessionOpen,
    SessionRef, Trust,
};
use hooksd_protocol::rpc::error_code;

use crate::arguments::{Arguments, Invoke, ModeArgument, RunOptions};
use crate::connect::connect_or_start;
use crate::failure::Failure;
use crate::input::{EventInput, absolute, read_event, read_text};
use crate::print::{Printer, diagnostic, ended, no_handler, paint, safe};

pub(crate) fn run(
    arguments: &Arguments,
    wanted: &Invoke,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let folder = absolute(wanted.how.cwd.as_deref())?;
    let event = read_event(&read_text(wanted.file.as_deref())?, &folder)?;
    let session = match &wanted.session {
        Some(id) => SessionRef::Id(id.clone()),
        None => SessionRef::Inline(Box::new(session(&wanted.how, &event, &folder.display().to_string()))),
    };
    let EventInput { invocation, payload, .. } = event;
    let invoke = HookInvoke { session, invocation, payload, options: InvokeOptions::default() };
    let mut client =
        connect_or_start(arguments, printer)?.with_timeout(Duration::from_secs(wanted.how.timeout));
    let result = client.invoke(&invoke).map_err(|error| match (error, &wanted.session) {
        (ClientError::Refused(mut refused), Some(id)) if refused.code == error_code::UNKNOWN_SESSION => {
            refused.message = format!("no session {id:?} is open: `hooksctl sessions` lists those that are");
            ClientError::Refused(refused)
        }
        (error, _) => error,
    })?;
    printer.result(&result, |lines| describe(&result, lines))
}

pub(super) fn session(wanted: &RunOptions, event: &EventInput, folder: &str) -> SessionOpen {
    let cwd = match (&wanted.cwd, &event.cwd) {
        (None, Some(cwd)) => cwd.clone(),
        _ => folder.to_owned(),
    };
    let trust = wanted.trust.as_deref().map(|trust| match trust {
        "explicit" => Trust::Explicit(ExplicitTrust::Explicit),
        fingerprint => Trust::Fingerprint(FingerprintTrust { fingerprint: fingerprint.to_owned() }),
    });
    inline(event, cwd, wanted.mode, trust, Some(wanted.plugins.wanted()))
}

/// A session for one event.
pub(crate) fn inline(
    event: &EventInput,
    cwd: String,
    mode: ModeArgument,
    trust: Option<Trust>,
    plugins: Option<Plugins>,
) -> SessionOpen {
    // Handlers run in the caller's environment, as they would under an agent started here (D14).
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    SessionOpen {
        thread_id: event.thread_id.clone().unwrap_or_else(|| Text::new("hooksctl")),
        cwd,
        mode: match mode {
            ModeArgument::Interactive => Mode::Interactive,
            ModeArgument::Headless => Mode::Headless,
        },
        trust,
        env: Some(env.collect()),
        umask: None,
        rlimits: None,
        plugins,
        accepts: Vec::new(),
        follow: false,
    }
}

pub(crate) fn describe(result: &InvokeResult, lines: &mut Vec<String>) {
    let decision = &result.decision;
    lines.push(format!("{}: {}", safe(&decision.event), verdict(&decision.body)));
    if !decision.continue_processing {
        let reason =
            decision.stop_reason.as_deref().map(|reason| format!(": {}", safe(reason))).unwrap_or_default();
        lines.push(format!("{}{reason}", paint(AnsiColor::Red, "stop the agent")));
    }
    let (context, feedback): (&[String], &[String]) = match &decision.body {
        Body::Context { context } | Body::Prompt { context, .. } | Body::PreTool { context, .. } => {
            (context, &[])
        }
        Body::PostTool { feedback, context } => (context, feedback),
        Body::Stop { feedback, .. } => (&[], feedback),
        Body::Permission { .. } | Body::Plain {} => (&[], &[]),
    };
    for (label, texts) in [("context", context), ("feedback", feedback), ("notice", &decision.user_notices)] {
        lines.extend(texts.iter().map(|text| format!("{label}: {}", safe(text))));
    }
    for handler in &result.handlers {
        lines.push(format!(
            "  {} {}, {} ms, from {}",
            safe(&handler.id),
            ended(handler.status, handler.exit_code, handler.signal),
            handler.duration_ms,
            safe(&handler.source)
        ));
    }
    if result.handlers.is_empty() {
        lines.push(format!("  {}", no_handler(&result.invocation_id.to_string())));
    }
    lines.extend(decision.diagnostics.iter().map(diagnostic));
}

fn verdict(body: &Body) -> String {
    match body {
        Body::Permission { permission } | Body::PreTool { permission, .. } => permission_verdict(permission),
        Body::Stop { continue_loop: true, .. } => paint(AnsiColor::Yellow, "go on"),
        Body::Stop { .. } => paint(AnsiColor::Green, "may stop"),
        _ => paint(AnsiColor::Green, "done"),
    }
}

fn permission_verdict(permission: &Permission) -> String {
    let word = match permission.behavior {
        Behavior::Deny => paint(AnsiColor::Red, "denied"),
        Behavior::Ask => paint(AnsiColor::Yellow, "ask the person"),
        Behavior::Allow => paint(AnsiColor::Green, "allowed"),
        Behavior::None => paint(AnsiColor::Green, "no objection"),
    };
    let reason = permission.reason.as_deref().map(|reason| format!(": {}", safe(reason))).unwrap_or_default();
    let interrupt = if permission.interrupt { " (and interrupt the agent)" } else { "" };
    format!("{word}{reason}{interrupt}")
}
