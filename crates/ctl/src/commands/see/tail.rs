//! `hooksctl tail`

use std::process::ExitCode;
use std::time::Duration;

use anstyle::AnsiColor;
use hooksd_client::blocking::Client;
use hooksd_client::{ClientError, Notification};
use hooksd_protocol::diagnostic::{Diagnostic, Severity};
use hooksd_protocol::methods::{
    ClientInfo, EventsDropped, EventsGap, EventsItem, EventsSubscribe, EventsSubscribed, Initialize,
    Initialized, ItemBody, ItemHandler, ItemKind,
};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::arguments::{Arguments, KindArgument, SeverityArgument, Tail};
use crate::connect::connect;
use crate::failure::Failure;
use crate::print::{Printer, diagnostic, one_line, outcome, paint, safe, word};

/// How long a wait for the next item lasts before the next wait. Seconds.
const WAIT_SECONDS: u64 = 3600;

pub(crate) fn run(arguments: &Arguments, wanted: &Tail, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let mut client = connect(arguments)?;
    let observer = ClientInfo {
        name: "hooksctl".to_owned(),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        observer: true,
    };
    let _: Initialized =
        client.call("initialize", &Initialize { client: Some(observer), protocol_version: None })?;
    let _: EventsSubscribed = client.call("events/subscribe", &subscription(wanted))?;
    loop {
        let notification = match next(&mut client)? {
            Some(notification) => notification,
            None => continue,
        };
        let Notification { method, params } = &notification;
        match method.as_str() {
            "events/item" => {
                let value: serde_json::Value = read(params)?;
                let item: EventsItem = read(params)?;
                printer.one(&value, |lines| lines.push(line(&item)))?;
            }
            "events/gap" => {
                let EventsGap { lost, .. } = read(params)?;
                printer.one(&json!({ "kind": "gap", "lost": lost }), |lines| {
                    let lost = lost.map_or("an unknown number of".to_owned(), |lost| lost.to_string());
                    lines.push(paint(AnsiColor::Yellow, &format!("-- {lost} items are missing here --")));
                })?;
            }
            "events/dropped" => {
                let EventsDropped { reason, lost, .. } = read(params)?;
                printer.one(&json!({ "kind": "dropped", "reason": reason, "lost": lost }), |_| ())?;
                let message =
                    format!("the daemon has ended the subscription after {lost} lost items: {reason}");
                return Err(Failure::Client(ClientError::BadAnswer(message)));
            }
            _ => {}
        }
    }
}

fn next(client: &mut Client) -> Result<Option<Notification>, Failure> {
    match client.wait_for_notification(Duration::from_secs(WAIT_SECONDS)) {
        Ok(notification) => Ok(Some(notification)),
        Err(ClientError::TimedOut(_)) => Ok(None),
        Err(ClientError::Closed | ClientError::Connection(_)) => Err(Failure::Ended),
        Err(error) => Err(error.into()),
    }
}

fn read<T: DeserializeOwned>(params: &str) -> Result<T, Failure> {
    serde_json::from_str(params)
        .map_err(|error| Failure::Client(ClientError::BadAnswer(format!("an item cannot be read: {error}"))))
}

fn subscription(wanted: &Tail) -> EventsSubscribe {
    let all_but_steps =
        [ItemKind::Decision, ItemKind::Diagnostic, ItemKind::Snapshot, ItemKind::Session, ItemKind::Trust];
    let kinds = match wanted.kinds.as_slice() {
        [] => all_but_steps.to_vec(),
        kinds => kinds.iter().copied().map(kind).collect(),
    };
    let some = |names: &Vec<String>| Some(names.clone()).filter(|names| !names.is_empty());
    EventsSubscribe {
        kinds: Some(kinds),
        sessions: some(&wanted.sessions),
        events: some(&wanted.events),
        min_severity: wanted.severity.map(|severity| match severity {
            SeverityArgument::Debug => Severity::Debug,
            SeverityArgument::Warning => Severity::Warning,
            SeverityArgument::Error => Severity::Error,
        }),
        since: wanted.since,
    }
}

fn kind(argument: KindArgument) -> ItemKind {
    match argument {
        KindArgument::Received => ItemKind::Received,
        KindArgument::Handler => ItemKind::Handler,
        KindArgument::Decision => ItemKind::Decision,
        KindArgument::Diagnostic => ItemKind::Diagnostic,
        KindArgument::Snapshot => ItemKind::Snapshot,
        KindArgument::Session => ItemKind::Session,
        KindArgument::Trust => ItemKind::Trust,
    }
}

fn line(item: &EventsItem) -> String {
    // 2026-01-31T23:59:59.123456Z: the time of day, to the millisecond.
    let time = item.time.get(11..).unwrap_or_default();
    let time = time.get(..12).unwrap_or(time).trim_end_matches('Z');
    let session = item.session.as_deref().map(|id| format!(" {}", safe(id.get(..8).unwrap_or(id))));
    let event = item.event.as_deref().map(|event| format!(" {}", safe(event)));
    format!("{time}{}{} {}", session.unwrap_or_default(), event.unwrap_or_default(), what(&item.body))
}

fn what(body: &ItemBody) -> String {
    let text = |text: &Option<String>| {
        text.as_deref().map(|text| format!(": {}", one_line(text))).unwrap_or_default()
    };
    match body {
        ItemBody::Received { tool } => format!("received{}", text(tool)),
        ItemBody::Handler { handler_id, active: true, message, .. } => {
            format!("{} begins{}", safe(handler_id), text(message))
        }
        ItemBody::Handler { handler_id, ended, exit_code, signal, duration_ms, .. } => {
            let status = exit_code.or(*signal).map(|number| format!(" {number}")).unwrap_or_default();
            let ended = ended.as_deref().unwrap_or("ended");
            format!("{} {}{status}, {duration_ms} ms", safe(handler_id), safe(ended))
        }
        ItemBody::Decision { outcome: word, reason, handlers, handler_count, duration_ms, .. } => {
            let more = handler_count.saturating_sub(handlers.len());
            let mut inline: Vec<String> = handlers.iter().map(handler).collect();
            if more > 0 {
                inline.push(format!("{more} more"));
            }
            let inline = if inline.is_empty() { "no handler".to_owned() } else { inline.join(", ") };
            format!("{}{} [{inline}] {duration_ms} ms", outcome(word.as_str()), text(reason))
        }
        ItemBody::Diagnostic { code, severity, message, handler_id, field } => {
            let message = one_line(message.as_deref().unwrap_or_default());
            let (severity, field) = (*severity, field.clone());
            diagnostic(&Diagnostic {
                code: code.clone(),
                severity,
                message,
                handler_id: handler_id.clone(),
                field,
            })
        }
        ItemBody::Snapshot { new_id, applied, .. } => {
            let id = safe(new_id.get(..8).unwrap_or(new_id));
            match applied {
                true => format!("documents have changed: now on snapshot {id}"),
                false => format!("documents have changed: session/reload moves to snapshot {id}"),
            }
        }
        ItemBody::Session { change, cwd, .. } => format!("session {}{}", safe(change), text(cwd)),
        ItemBody::Trust { trusted, root } => {
            format!("project {}{}", if *trusted { "trusted" } else { "no longer trusted" }, text(root))
        }
    }
}

fn handler(handler: &ItemHandler) -> String {
    format!("{} {} {} ms", safe(&handler.id), word(&handler.status), handler.duration_ms)
}
