//! matcher: what a matcher compiles to and which targets it is for.

use hooksd_config::matcher::{Matched, Matcher};
use hooksd_engine::projection::subject;
use hooksd_protocol::diagnostic::code;
use hooksd_protocol::event::EventName;

use crate::compare::{Rules, same};
use crate::config::told_diagnostic;
use crate::invoke::with_target;
use crate::json::Json;
use crate::vector::{Checked, Held, Vector};

pub(crate) fn check(vector: &Vector) -> Checked {
    let (input, expect) = (vector.input(), vector.expect());
    let name = input.need("event")?.str()?;
    let event: EventName = name.parse().map_err(|error| format!("{name}: {error}"))?;
    let matcher = input.given("matcher").map(Json::str).transpose()?;
    let kind = expect.need("kind")?.str()?;
    if !["all", "exact", "regex", "rejected", "raises"].contains(&kind) {
        return Err(format!("unknown kind {kind:?}"));
    }
    if !matches!(vector.decision(), None | Some("D7" | "D18")) {
        return vector.no_rule();
    }
    let compiled = match Matcher::compile(event, matcher) {
        Ok(compiled) => compiled,
        Err(diagnostic) => {
            let text = matcher.unwrap_or_default();
            if diagnostic.message.replace(&format!("{text:?}"), "").len() < 30 {
                return Err(format!("no reason given: {:?}", diagnostic.message));
            }
            if kind == "rejected" {
                let told = format!("[{}]", told_diagnostic(&diagnostic));
                same(expect.need("diagnostics")?, &Json::parse(&told)?, Rules::default())?;
                return Ok(Held::AsRecorded);
            }
            let invalid =
                diagnostic.code == code::INVALID_MATCHER && diagnostic.field.as_deref() == Some("matcher");
            return match (vector.decision(), kind, invalid) {
                (Some("D7"), "raises", true) => vector.decided(),
                (Some("D7"), _, true) => Ok(Held::Refused),
                _ => Err(format!("expected {kind}, was refused: {}", diagnostic.message)),
            };
        }
    };
    let got = match &compiled {
        Matcher::All => "all",
        Matcher::Exact(_) => "exact",
        Matcher::Expression(_) => "regex",
    };
    if got != kind {
        return Err(format!("expected {kind}, got {got}"));
    }
    if let Matcher::Exact(names) = &compiled {
        let expected: Result<Vec<&str>, String> =
            expect.need("names")?.items().iter().map(Json::str).collect();
        if !names.iter().map(String::as_str).eq(expected?) {
            return Err(format!("expected the names {}, got {names:?}", expect.need("names")?.raw));
        }
    }
    if !expect.need("diagnostics")?.items().is_empty() {
        return Err(format!("expected {}, got no diagnostic", expect.need("diagnostics")?.raw));
    }
    let (targets, matched) = (input.need("targets")?.items(), expect.need("matched")?.items());
    if targets.len() != matched.len() {
        return Err("as many targets as results were expected in the vector".to_owned());
    }
    let mut thrown = false;
    for (target, expected) in targets.iter().zip(matched) {
        let got = target_matches(&compiled, name, target)?;
        match (got, expected.bool()) {
            (Some(got), Some(expected)) if got == expected => {}
            // Where the reference throws, the event itself is diagnosed and nothing matches (D18).
            (None, None) if vector.decision() == Some("D18") => thrown = true,
            _ => return Err(format!("{}: expected {}, got {got:?}", target.raw, expected.raw)),
        }
    }
    if thrown { vector.decided() } else { Ok(Held::AsRecorded) }
}

/// `None` when the event with this target cannot be put into the handlers' terms.
fn target_matches(matcher: &Matcher, event: &str, target: &Json<'_>) -> Result<Option<bool>, String> {
    let subject = match with_target(event, target) {
        Ok(invocation) => match subject(&invocation.event) {
            Ok(subject) => subject,
            Err(_) => return Ok(None),
        },
        // Not a cause or trigger that an event can have.
        Err(_) => target.text().map(str::to_owned),
    };
    match matcher.matches(subject.as_deref()) {
        Matched::Yes => Ok(Some(true)),
        Matched::No => Ok(Some(false)),
        Matched::BoundReached => Err(format!("{}: the bound was reached", target.raw)),
    }
}
