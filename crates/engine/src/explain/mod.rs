//! Says why a handler runs on an event, or why it does not. [`crate::plan`] answers the same question for the
//! handlers that run; this answers it for every handler, with the rule and a sentence. It runs and reads nothing: the
//! daemon and `hooksctl explain` hand in what they have read.
//!
//! * [`mod@near`]: what people write in a matcher when they mean something else.
//! * [`documents`]: the handlers that stand in the documents and are not part of the snapshot.

pub mod documents;
pub mod near;

use hooksd_config::bridge;
use hooksd_config::matcher::{Matched, Matcher};
use hooksd_config::model::{Group, GroupDeclaration, HandlerDeclaration};
use hooksd_config::now::DocumentNow;
use hooksd_config::snapshot::is_own_bridge;
use hooksd_config::{OnFailure, Snapshot};
use hooksd_protocol::diagnostic::{Diagnostic, Severity, code};
use hooksd_protocol::event::EventName;
use hooksd_protocol::invocation::Event;
use hooksd_protocol::methods::{ConfigExplained, ExplainedHandler, Rule};

use crate::plan::Input;
use crate::projection::subject;
use documents::Places;

/// What decides whether a handler runs, beside the documents and the event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// The root of the project, for the command that trusts it.
    pub root: String,
    /// Whether the agent reports events of the older form itself (D17).
    pub reports_legacy: bool,
    /// Whether hooks run so deep already that none runs any more (D12).
    pub too_deep: bool,
    /// Whether nobody is there, so that trust which was granted for good does not count.
    pub headless: bool,
    /// Whether the snapshot is pinned by a session, which `session/reload` would move.
    pub pinned: bool,
}

/// Explains for every handler whether it runs on an event. `diagnostics` is what is to be said about the documents.
#[must_use]
pub fn explain(
    snapshot: &Snapshot,
    documents: &[DocumentNow],
    input: &Input,
    circumstances: &Circumstances,
    diagnostics: Vec<Diagnostic>,
) -> ConfigExplained {
    let mut explained = ConfigExplained {
        event: input.event_name().into_owned(),
        subject: None,
        native: None,
        snapshot_id: snapshot.id.clone(),
        handlers: Vec::new(),
        diagnostics,
    };
    let Some(event) = input.event() else {
        let name = input.event_name();
        let nearest = near::event(&name).map(|event| format!("; did you mean {event}?")).unwrap_or_default();
        let message = format!("{name} is no event of hooksd: nothing can be configured for it{nearest}");
        let diagnostic = Diagnostic::warning(code::UNKNOWN_EVENT, message).severity(Severity::Error);
        explained.diagnostics.push(diagnostic.field("event"));
        return explained;
    };
    let compared = match input {
        Input::Payload(payload) => Ok(payload.subject.clone()),
        Input::Invocation(invocation) => subject(&invocation.event).map_err(|error| error.to_string()),
    };
    let asked = Asked {
        event,
        subject: compared.as_ref().ok().cloned().flatten(),
        problem: compared.err(),
        native: native(input),
        circumstances,
    };
    explained.subject = asked.subject.clone();
    explained.native = asked.native.clone().filter(|native| Some(native) != asked.subject.as_ref());
    let places = Places::new(snapshot, documents, event);
    for (group_index, group) in groups_of(snapshot, event).iter().enumerate() {
        for (index, handler) in group.declaration.handlers.iter().enumerate() {
            let (rule, why, fix) = asked.judge(&group.declaration, handler);
            explained.handlers.push(ExplainedHandler {
                id: Some(format!("{event}:{group_index}:{index}")),
                scope: group.source.scope().to_owned(),
                source: group.source.label(),
                place: places.of(group_index, index),
                matcher: group.declaration.matcher.clone(),
                command: command(handler),
                runs: rule == Rule::Runs,
                rule,
                why,
                fix,
            });
        }
    }
    explained.handlers.extend(documents::outside(snapshot, documents, &asked));
    explained
}

fn groups_of(snapshot: &Snapshot, event: EventName) -> &[Group] {
    snapshot.groups.iter().find(|(name, _)| *name == event).map_or(&[], |(_, groups)| groups.as_slice())
}

fn command(handler: &HandlerDeclaration) -> String {
    handler.argv.as_ref().map_or_else(|| handler.command.clone(), |argv| argv.join(" "))
}

/// The agent's own name for the tool; `None` when the event is not about a tool, or does not have that name.
fn native(input: &Input) -> Option<String> {
    let Input::Invocation(invocation) = input else { return None };
    let call = match &invocation.event {
        Event::PermissionRequest(event) => &event.call,
        Event::PreToolUse(event) => &event.call,
        Event::PostToolUse(event) => &event.call,
        Event::PostToolUseFailure(event) => &event.call,
        _ => return None,
    };
    Some(call.name.decoded().into_owned())
}

/// An event, and what matchers are compared with.
pub(crate) struct Asked<'a> {
    pub(crate) event: EventName,
    pub(crate) subject: Option<String>,
    pub(crate) problem: Option<String>,
    pub(crate) native: Option<String>,
    pub(crate) circumstances: &'a Circumstances,
}

/// The rule that decides, why, and what to do about it.
type Judged = (Rule, String, Option<String>);

impl Asked<'_> {
    /// Says what becomes of a handler that is part of the snapshot.
    fn judge(&self, group: &GroupDeclaration, handler: &HandlerDeclaration) -> Judged {
        if is_own_bridge(handler) {
            let agent = match &handler.argv {
                Some(argv) => bridge::of_words(argv),
                None => bridge::of_command(&handler.command),
            };
            let agent = agent.and_then(|bridge| bridge.agent).unwrap_or_default();
            let why = format!(
                "it calls hooksd itself (hooksctl hook --agent {agent}); the daemon serves this file already"
            );
            return (Rule::SelfReference, why, Some("take it out of this file".to_owned()));
        }
        let (rule, mut why, fix) = self.matched(group.matcher.as_deref());
        if rule == Rule::MatcherBound && handler.on_failure == OnFailure::Block {
            why.push_str(", but counts as exit 2 (onFailure)");
        }
        if rule != Rule::Runs {
            return (rule, why, fix);
        }
        if self.circumstances.too_deep {
            let why = "hooks started the agent that has this hook, three deep: none runs any more";
            let fix = "let the handler start no agent, or start it with HOOKSD_DEPTH unset";
            return (Rule::RecursionLimit, why.to_owned(), Some(fix.to_owned()));
        }
        if self.circumstances.reports_legacy && handler.legacy.is_some() {
            let why = "the agent reports events of the older form itself, and the command runs on those";
            return (Rule::LegacyShadowed, why.to_owned(), None);
        }
        (rule, why, fix)
    }

    /// Says whether a matcher is for the event.
    pub(crate) fn matched(&self, matcher: Option<&str>) -> Judged {
        if let Some(problem) = &self.problem {
            return (Rule::ProjectionFailed, problem.clone(), None);
        }
        let compiled = match Matcher::compile(self.event, matcher) {
            Ok(compiled) => compiled,
            Err(diagnostic) if diagnostic.code == code::UNSUPPORTED_MATCHER => {
                let fix = "remove the matcher".to_owned();
                return (Rule::UnsupportedMatcher, diagnostic.message, Some(fix));
            }
            Err(diagnostic) => {
                let fix = matcher.and_then(near::invalid);
                return (Rule::InvalidMatcher, diagnostic.message, fix);
            }
        };
        let text = matcher.unwrap_or_default();
        let subject = self.subject.as_deref();
        match compiled.matches(subject) {
            Matched::Yes => (Rule::Runs, self.why_it_matches(&compiled, text), None),
            Matched::BoundReached => {
                let why = format!("matching {text:?} took too many steps, so it does not run");
                (Rule::MatcherBound, why, Some("write a simpler expression".to_owned()))
            }
            Matched::No => {
                let Some(subject) = subject else {
                    let why = format!("the event does not say what {text:?} would be compared with");
                    return (Rule::Matcher, why, None);
                };
                let miss = near::miss(&compiled, text, subject, self.native.as_deref());
                let how = match &compiled {
                    Matcher::Exact(_) => "is not the exact name",
                    Matcher::Expression(_) => "does not match as an expression",
                    Matcher::All => "does not match",
                };
                let because = miss.as_ref().map(|miss| format!(": {}", miss.why)).unwrap_or_default();
                let why = format!("the matcher {text:?} {how} {subject:?}{because}");
                (Rule::Matcher, why, miss.map(|miss| miss.fix))
            }
        }
    }

    fn why_it_matches(&self, compiled: &Matcher, text: &str) -> String {
        let subject = self.subject.as_deref().unwrap_or_default();
        match compiled {
            Matcher::All if text.is_empty() => {
                format!("it has no matcher, so it is for every {}", self.event)
            }
            Matcher::All => format!("the matcher {text:?} is for every {}", self.event),
            Matcher::Exact(_) => format!("the matcher {text:?} names {subject:?}"),
            Matcher::Expression(_) => format!("the matcher {text:?} matches {subject:?}"),
        }
    }
}
