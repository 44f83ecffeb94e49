//! The compiled, immutable union of all documents that apply to a session.

use std::sync::Arc;

use hooksd_protocol::diagnostic::{Diagnostic, code};
use hooksd_protocol::event::{EventName, Owner};
use hooksd_protocol::methods::LegacyCommand;

use crate::bridge;
use crate::canonical;
use crate::contents::fingerprint;
use crate::index::Index;
use crate::matcher::Matcher;
use crate::model::{Group, Handler, HandlerDeclaration, Source};

/// What became of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceState {
    /// Which document.
    pub source: Source,
    /// SHA-256 of its bytes; `None` when it could not be read.
    pub fingerprint: Option<String>,
    /// Whether its handlers take part.
    pub loaded: bool,
}

/// The compiled configuration.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// SHA-256 of the canonical form, lowercase hexadecimal.
    pub id: String,
    /// The canonical form.
    pub canonical: String,
    /// The documents, by precedence.
    pub sources: Vec<SourceState>,
    /// What was dropped while loading, then while compiling.
    pub diagnostics: Vec<Diagnostic>,
    /// How many of the diagnostics are from loading.
    pub load_diagnostics: usize,
    /// The merged groups as declared, in merge order.
    pub groups: Vec<(EventName, Vec<Group>)>,
    /// The commands of list-shaped documents, which also run on events that agents report in the older form.
    pub legacy: Vec<LegacyCommand>,
    handlers: Vec<Handler>,
    index: Index,
}

impl Snapshot {
    /// Compiles merged groups.
    #[must_use]
    pub fn compile(
        groups: Vec<(EventName, Vec<Group>)>,
        sources: Vec<SourceState>,
        mut diagnostics: Vec<Diagnostic>,
    ) -> Snapshot {
        let load_diagnostics = diagnostics.len();
        let mut handlers = Vec::new();
        for (event, event_groups) in &groups {
            for (group_index, group) in event_groups.iter().enumerate() {
                let matcher = match Matcher::compile(*event, group.declaration.matcher.as_deref()) {
                    Ok(matcher) => Arc::new(matcher),
                    Err(diagnostic) => {
                        diagnostics.push(diagnostic);
                        continue;
                    }
                };
                for (index, declaration) in group.declaration.handlers.iter().enumerate() {
                    let id = format!("{event}:{group_index}:{index}");
                    if is_own_bridge(declaration) {
                        let message = format!(
                            "{id} of {} calls hooksd itself and is dropped: the daemon serves this file already",
                            group.source.label()
                        );
                        diagnostics.push(Diagnostic::warning(code::SELF_REFERENCE, message).field("command"));
                        continue;
                    }
                    handlers.push(handler(id, *event, group, declaration, &matcher));
                }
            }
        }
        let canonical = canonical::text(&groups);
        let id = fingerprint(canonical.as_bytes());
        let index = Index::new(&handlers);
        Snapshot {
            id,
            canonical,
            sources,
            diagnostics,
            load_diagnostics,
            groups,
            legacy: Vec::new(),
            handlers,
            index,
        }
    }

    /// The same with the commands of list-shaped documents; they are part of what the id stands for.
    #[must_use]
    pub fn with_legacy(mut self, legacy: Vec<LegacyCommand>) -> Snapshot {
        if !legacy.is_empty() {
            self.canonical = canonical::with_legacy(&self.canonical, &legacy);
            self.id = fingerprint(self.canonical.as_bytes());
            self.legacy = legacy;
        }
        self
    }

    /// All handlers, in configuration order within each event.
    #[must_use]
    pub fn handlers(&self) -> &[Handler] {
        &self.handlers
    }

    /// The handlers of one event, in configuration order.
    pub fn handlers_of(&self, event: EventName) -> impl Iterator<Item = &Handler> {
        self.handlers.iter().filter(move |handler| handler.event == event)
    }

    /// The handlers whose matchers have to be asked about an event of this name; all others are not for it. By their place
    /// in [`handlers`](Snapshot::handlers), in configuration order.
    pub fn candidates(
        &self,
        event: EventName,
        subject: Option<&str>,
    ) -> impl Iterator<Item = (usize, &Handler)> {
        let candidates = self.index.candidates(event, subject).into_iter();
        candidates.filter_map(|number| Some((number, self.handlers.get(number)?)))
    }

    /// Events that have handlers, sorted by name.
    #[must_use]
    pub fn events(&self) -> Vec<EventName> {
        let mut events: Vec<EventName> = self.handlers.iter().map(|handler| handler.event).collect();
        events.sort_by_key(|event| event.as_str());
        events.dedup();
        events
    }

    /// Those of them that the agent's server side originates.
    #[must_use]
    pub fn server_events(&self) -> Vec<EventName> {
        self.events().into_iter().filter(|event| event.owner() == Owner::Server).collect()
    }
}

fn handler(
    id: String,
    event: EventName,
    group: &Group,
    declaration: &HandlerDeclaration,
    matcher: &Arc<Matcher>,
) -> Handler {
    let substituted = |argument: &String| substitute(argument, &group.env);
    Handler {
        id,
        event,
        matcher: matcher.clone(),
        matcher_text: group.declaration.matcher.clone(),
        command: declaration.command.clone(),
        argv: declaration.argv.as_ref().map(|argv| argv.iter().map(substituted).collect()),
        timeout: declaration.timeout,
        status_message: declaration.status_message.clone(),
        on_failure: declaration.on_failure,
        lifecycle: declaration.lifecycle,
        workers: declaration.workers,
        legacy: declaration.legacy,
        env: group.env.clone(),
        source: group.source.clone(),
    }
}

/// Replaces `${NAME}` of the overlay's names, in one pass: a value is never expanded again (D16).
fn substitute(argument: &str, env: &[(String, String)]) -> String {
    let mut out = String::with_capacity(argument.len());
    let mut rest = argument;
    while let Some(at) = rest.find("${") {
        let (before, reference) = rest.split_at(at);
        out.push_str(before);
        let known = env.iter().find_map(|(name, value)| {
            let after = reference.strip_prefix("${")?.strip_prefix(name.as_str())?.strip_prefix('}')?;
            Some((value, after))
        });
        match known {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push_str("${");
                rest = reference.get(2..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

/// Whether a handler is `hooksctl hook ...`, the bridge that agents call (D15).
#[must_use]
pub fn is_own_bridge(handler: &HandlerDeclaration) -> bool {
    let bridge = match &handler.argv {
        Some(argv) => bridge::of_words(argv),
        None => bridge::of_command(&handler.command),
    };
    bridge.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d16_a_substituted_value_is_never_expanded_again() {
        let env = vec![("A".to_owned(), "[${B}]".to_owned()), ("B".to_owned(), "(${A})".to_owned())];
        assert_eq!(substitute("${A}", &env), "[${B}]");
        assert_eq!(substitute("x${B}y${C}${", &env), "x(${A})y${C}${");
        assert_eq!(substitute("$${A}", &env), "$[${B}]");
    }
}
