//! Looks into the documents as they are now: finds where the snapshot's handlers stand, and which handlers are not
//! part of it.

use std::collections::HashMap;

use hooksd_config::Snapshot;
use hooksd_config::contents::fingerprint;
use hooksd_config::document::{ListForm, parse_bytes};
use hooksd_config::model::{Parsed, Source};
use hooksd_config::now::{DocumentNow, Standing};
use hooksd_config::places::{self, Place, Written, WrittenGroup};
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::{ExplainedHandler, Rule};

use super::{Asked, command, groups_of, near};

/// Where the handlers of an event stand in the documents, by the numbers of their group and handler in the snapshot.
pub(crate) struct Places(HashMap<(usize, usize), String>);

impl Places {
    pub(crate) fn new(snapshot: &Snapshot, documents: &[DocumentNow], event: EventName) -> Places {
        let mut found = HashMap::new();
        let merged = groups_of(snapshot, event);
        // The documents of one plugin follow each other: the groups of the next one begin where those of the last
        // have ended.
        let mut ends: Vec<(&Source, usize)> = Vec::new();
        for document in documents.iter().filter(|document| is_served(snapshot, document)) {
            let Some(text) = places::text(&document.bytes) else { continue };
            let parsed = parse(document);
            let ended =
                ends.iter().rev().find(|(source, _)| **source == document.source).map(|(_, end)| *end);
            let first = || merged.iter().position(|group| *group.source == document.source);
            let Some(begin) = ended.or_else(first) else { continue };
            let groups = places::groups(text);
            let of_event = groups.iter().filter(|group| group.event == Some(event));
            let left: Vec<Vec<&Written<'_>>> =
                of_event.filter_map(|group| left_of(group, document, &parsed)).collect();
            ends.push((&document.source, begin + left.len()));
            for (number, handlers) in left.iter().enumerate() {
                for (index, written) in handlers.iter().enumerate() {
                    found.insert((begin + number, index), place(text, document, written.value.raw()));
                }
            }
        }
        Places(found)
    }

    pub(crate) fn of(&self, group: usize, index: usize) -> Option<String> {
        self.0.get(&(group, index)).cloned()
    }
}

/// The handlers of a group that are not dropped; `None` when the group itself is dropped.
fn left_of<'a, 'b>(
    group: &'b WrittenGroup<'a>,
    document: &DocumentNow,
    parsed: &Parsed,
) -> Option<Vec<&'b Written<'a>>> {
    if reason(&group.paths, document, parsed).is_some() {
        return None;
    }
    let kept =
        |written: &&Written<'_>| reason(std::slice::from_ref(&written.path), document, parsed).is_none();
    let left: Vec<&Written<'_>> = group.handlers.iter().filter(kept).collect();
    (!left.is_empty() || group.handlers.is_empty()).then_some(left)
}

/// Why one of the items at these paths is dropped; `None` when none is.
fn reason(paths: &[String], document: &DocumentNow, parsed: &Parsed) -> Option<String> {
    paths.iter().find_map(|path| {
        let field = format!("{}:{path}", document.location);
        let found = parsed.diagnostics.iter().find(|diagnostic| diagnostic.field.as_ref() == Some(&field))?;
        let message = found.message.strip_prefix(&field).unwrap_or(&found.message);
        Some(message.trim_start_matches([':', ' ']).to_owned())
    })
}

fn place(text: &str, document: &DocumentNow, part: &str) -> String {
    match Place::of(text, part) {
        Some(place) => format!("{}:{place}", document.location),
        None => document.location.clone(),
    }
}

fn parse(document: &DocumentNow) -> Parsed {
    let list_form = if document.source.plugin().is_some() { ListForm::Refused } else { ListForm::Allowed };
    parse_bytes(&document.bytes, &document.location, list_form)
}

/// Whether the snapshot was made of exactly these bytes.
fn is_served(snapshot: &Snapshot, document: &DocumentNow) -> bool {
    let bytes = Some(fingerprint(&document.bytes));
    document.standing == Standing::Counts
        && snapshot
            .sources
            .iter()
            .any(|state| state.source == document.source && state.loaded && state.fingerprint == bytes)
}

/// The handlers of the event that stand in a document and are not part of the snapshot.
pub(crate) fn outside(
    snapshot: &Snapshot,
    documents: &[DocumentNow],
    asked: &Asked<'_>,
) -> Vec<ExplainedHandler> {
    documents.iter().flat_map(|document| outside_of(snapshot, document, asked)).collect()
}

fn outside_of(snapshot: &Snapshot, document: &DocumentNow, asked: &Asked<'_>) -> Vec<ExplainedHandler> {
    let Some(text) = places::text(&document.bytes) else { return Vec::new() };
    let parsed = parse(document);
    let is_served = is_served(snapshot, document);
    let mut found = Vec::new();
    for group in &places::groups(text) {
        let misspelled = group.event.is_none() && near::event(&group.event_name) == Some(asked.event);
        if group.event != Some(asked.event) && !misspelled {
            continue;
        }
        for written in &group.handlers {
            let own = std::slice::from_ref(&written.path);
            let dropped = reason(&group.paths, document, &parsed).or_else(|| reason(own, document, &parsed));
            let (rule, why, fix) = match dropped {
                _ if misspelled => {
                    let why = format!("there is no event {:?}", group.event_name);
                    (Rule::UnknownEvent, why, Some(format!("write {:?}", asked.event.as_str())))
                }
                Some(reason) => {
                    let fix = "correct it; `hooksctl check` shows the line".to_owned();
                    (Rule::InvalidConfig, format!("it is dropped: {reason}"), Some(fix))
                }
                None if is_served => continue,
                None => match not_served(snapshot, document, asked, group, written) {
                    Some(judged) => judged,
                    None => continue,
                },
            };
            found.push(ExplainedHandler {
                id: None,
                scope: document.source.scope().to_owned(),
                source: document.source.label(),
                place: Some(place(text, document, written.value.raw())),
                matcher: group.matcher(),
                command: written.command(),
                runs: false,
                rule,
                why,
                fix,
            });
        }
    }
    found
}

/// Why a valid handler is not part of the snapshot; `None` when the snapshot has the same handler from an older
/// version.
fn not_served(
    snapshot: &Snapshot,
    document: &DocumentNow,
    asked: &Asked<'_>,
    group: &WrittenGroup<'_>,
    written: &Written<'_>,
) -> Option<(Rule, String, Option<String>)> {
    let (rule, _, _) = asked.matched(group.matcher().as_deref());
    let also =
        if rule == Rule::Runs { "its matcher is for the event" } else { "nor is its matcher for the event" };
    match document.standing {
        Standing::Untrusted if asked.circumstances.headless => {
            let why = format!(
                "nobody is there, and trust that was granted for good counts with a person only ({also})"
            );
            let fix =
                "ask with --mode interactive; or have the agent itself trust it (`trust` of session/open)";
            Some((Rule::Untrusted, why, Some(fix.to_owned())))
        }
        Standing::Untrusted => {
            let root = &asked.circumstances.root;
            let fix = format!(
                "look at it with `hooksctl trust status {root}`, then `hooksctl trust grant {root} --fingerprint {}`",
                fingerprint(&document.bytes)
            );
            let why = format!("the project's hooks.json is present but not trusted ({also})");
            Some((Rule::Untrusted, why, Some(fix)))
        }
        Standing::PluginOff => {
            let why = format!("the plugin {} takes no part here ({also})", document.source.label());
            let fix = "enable the plugin in the agent; the agent has to ask for plugins as well";
            Some((Rule::PluginDisabled, why, Some(fix.to_owned())))
        }
        Standing::Counts => {
            let same = |older: &&hooksd_config::model::Group| {
                *older.source == document.source
                    && older.declaration.matcher == group.matcher()
                    && older.declaration.handlers.iter().any(|handler| command(handler) == written.command())
            };
            if groups_of(snapshot, asked.event).iter().any(|older| same(&older)) {
                return None;
            }
            let fix = if asked.circumstances.pinned {
                "session/reload moves the session to the file as it is now; a new session reads it anyway"
            } else {
                "correct the rest of the file: an older version of it serves until then"
            };
            let why = format!("the snapshot is older than the file, which was changed since ({also})");
            Some((Rule::SnapshotOlder, why, Some(fix.to_owned())))
        }
    }
}
