//! Matchers that are dropped, or are for nothing that is known.

use hooksd_config::matcher::{Matched, Matcher};
use hooksd_config::places;
use hooksd_engine::explain::near;
use hooksd_engine::tools;
use hooksd_protocol::diagnostic::{Severity, code};
use hooksd_protocol::event::EventName;

use super::{Document, Finding};

pub(super) fn findings(document: &Document<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for group in places::groups(document.text) {
        let (Some(event), Some(value)) = (group.event, group.value.get("matcher")) else { continue };
        let Some(text) = value.as_str() else { continue };
        let at = |code, message, fix: String| document.at(value.raw(), code, message, fix);
        match Matcher::compile(event, Some(&text)) {
            Err(diagnostic) if diagnostic.code == code::UNSUPPORTED_MATCHER => {
                found.push(at(
                    code::UNSUPPORTED_MATCHER,
                    diagnostic.message,
                    "remove the matcher".to_owned(),
                ));
            }
            Err(diagnostic) => {
                let fix = near::invalid(&text).unwrap_or_default();
                found.push(at(code::INVALID_MATCHER, diagnostic.message, fix));
            }
            Ok(matcher) => {
                if let Some((sure, message, fix)) = for_nothing(event, &matcher, &text) {
                    let severity = if sure { Severity::Warning } else { Severity::Debug };
                    found.push(Finding { severity, ..at("matcher_without_match", message, fix) });
                }
            }
        }
    }
    found
}

/// Why a matcher, or one of its names, is for nothing that is known; and whether that is sure to be a mistake.
fn for_nothing(event: EventName, matcher: &Matcher, text: &str) -> Option<(bool, String, String)> {
    if let Some(name) = near::permission_syntax(text) {
        let message = format!("{text:?} is permission syntax, and matchers see the tool's name alone");
        return Some((true, message, format!("write {name:?} and let the handler look at tool_input")));
    }
    let known = near::subjects(event);
    if known.is_empty() {
        return None;
    }
    match matcher {
        Matcher::All => None,
        Matcher::Exact(names) if names.is_empty() => {
            let message = format!("{text:?} names nothing, so it is for no event");
            Some((true, message, "remove the matcher, or write \"*\"".to_owned()))
        }
        Matcher::Exact(names) => names
            .iter()
            .find(|name| !known.contains(&name.as_str()))
            .and_then(|name| unknown(event, name, &known)),
        Matcher::Expression(_) => {
            let is_for = |name: &&str| matcher.matches(Some(name)) != Matched::No;
            if known.iter().any(is_for) || text.contains("mcp__") {
                return None;
            }
            let near = known.iter().find_map(|name| near::miss(matcher, text, name, None));
            let message = format!("{text:?} matches no name that is known for {event}");
            match near {
                Some(miss) => Some((true, format!("{message}: {}", miss.why), miss.fix)),
                None => Some((false, message, "compare it with what the agent calls it".to_owned())),
            }
        }
    }
}

fn unknown(event: EventName, name: &str, known: &[&str]) -> Option<(bool, String, String)> {
    if event.is_tool_event() {
        if let Some((_, handlers)) = tools::names().find(|(native, _)| *native == name) {
            let message = format!("{name:?} is an agent's own name; handlers know the tool as {handlers:?}");
            return Some((true, message, format!("write {handlers:?}")));
        }
        if let Some(rest) = name.strip_prefix("mcp__") {
            if rest.trim_end_matches('_').contains("__") {
                return None;
            }
            let message = format!("{name:?} is compared as a whole, so it is for none of the server's tools");
            return Some((
                true,
                message,
                format!("write {:?}", format!("{}__.*", name.trim_end_matches('_'))),
            ));
        }
    }
    if let Some(meant) = near::nearest(name, known.iter().copied()) {
        let message = format!("{name:?} is no name that is known for {event}");
        return Some((true, message, format!("write {meant:?}")));
    }
    let message = format!("{name:?} is no name that is known for {event}");
    Some((false, message, "compare it with what the agent calls it".to_owned()))
}
