//! Takes a decision apart into what it wants of an agent.

use hooksd_protocol::decision::{Behavior, Body, Decision, Permission};
use hooksd_protocol::diagnostic::code;
use hooksd_protocol::event::EventName;

use crate::dialect::Wish;

/// What goes with a wish: what the agent is told or given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// A text for a person or a model.
    Text(String),
    /// JSON that is passed on.
    Json(String),
}

impl Content {
    /// The text, or the text of the JSON.
    pub(crate) fn text(&self) -> &str {
        match self {
            Content::Text(text) | Content::Json(text) => text,
        }
    }
}

/// The reason that a block gets which has none. Some agents ignore a block without a reason.
pub(crate) const BLOCKED: &str = "Blocked by hook";

/// A wish, with what goes with it.
pub(crate) type Wanted = (Wish, Content);

fn reason(reason: Option<&String>) -> Content {
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    Content::Text(reason.map_or(BLOCKED, String::as_str).to_owned())
}

/// What a decision on an event wants of an agent, the most important first.
pub(crate) fn wishes(event: EventName, decision: &Decision) -> Vec<Wanted> {
    let mut wanted: Vec<Wanted> = Vec::new();
    let stops = !decision.continue_processing;
    let stop = reason(decision.stop_reason.as_ref());
    match event {
        EventName::UserPromptSubmit if stops => wanted.push((Wish::BlockPrompt, stop.clone())),
        EventName::PreCompact if stops => wanted.push((Wish::BlockCompact, stop.clone())),
        // The agent is about to stop anyway.
        EventName::Stop => {}
        _ if stops => wanted.push((Wish::StopAgent, stop.clone())),
        _ => {}
    }
    let texts = |wanted: &mut Vec<Wanted>, wish: Wish, texts: &[String]| {
        if !texts.is_empty() {
            wanted.push((wish, Content::Text(texts.join("\n\n"))));
        }
    };
    let mut denied = false;
    match &decision.body {
        Body::Permission { permission } => denied = verdict(&mut wanted, permission, stops, &stop),
        Body::PreTool { permission, context } => {
            denied = verdict(&mut wanted, permission, stops, &stop);
            texts(&mut wanted, Wish::Context, context);
        }
        Body::PostTool { feedback, context } => {
            texts(&mut wanted, Wish::Feedback, feedback);
            texts(&mut wanted, Wish::Context, context);
        }
        Body::Context { context } => {
            // The reduction keeps the block of a subagent's stop as context. What it wants is that the subagent goes
            // on.
            let blocked = event == EventName::SubagentStop
                && decision.diagnostics.iter().any(|diagnostic| diagnostic.code == code::UNSUPPORTED_BLOCK);
            texts(&mut wanted, if blocked { Wish::GoOn } else { Wish::Context }, context);
        }
        Body::Prompt { context, suppress_original_prompt } => {
            texts(&mut wanted, Wish::Context, context);
            if *suppress_original_prompt {
                wanted.push((Wish::SuppressPrompt, Content::Json("true".to_owned())));
            }
        }
        Body::Stop { continue_loop: true, feedback } if !stops => {
            let text = feedback.join("\n\n");
            wanted.push((Wish::GoOn, reason(Some(&text))));
        }
        Body::Stop { .. } | Body::Plain {} => {}
    }
    texts(&mut wanted, Wish::Notice, &decision.user_notices);
    if !decision.terminal_sequences.is_empty() {
        wanted.push((Wish::Terminal, Content::Text(decision.terminal_sequences.concat())));
    }
    for (_, name, wish) in Wish::FIELDS {
        // A tool that is not called has no use for a rewritten input.
        if let Some(value) = decision.accepted.get(name).filter(|_| !(denied && wish == Wish::UpdatedInput)) {
            wanted.push((wish, Content::Json(value.get().to_owned())));
        }
    }
    wanted
}

/// Adds the wish that the permission is, and says whether the tool is not called.
fn verdict(wanted: &mut Vec<Wanted>, permission: &Permission, stops: bool, stop: &Content) -> bool {
    match permission.behavior {
        Behavior::Deny => {
            wanted.push((Wish::Deny, reason(permission.reason.as_ref())));
            if permission.interrupt {
                wanted.push((Wish::Interrupt, Content::Json("true".to_owned())));
            }
            return true;
        }
        // An agent that is to stop before a tool must not call it. Some agents would call it first.
        _ if stops => {
            wanted.push((Wish::Deny, stop.clone()));
            return true;
        }
        Behavior::Ask => wanted.push((Wish::Ask, reason(permission.reason.as_ref()))),
        Behavior::Allow => {
            wanted.push((Wish::Allow, Content::Text(permission.reason.clone().unwrap_or_default())));
        }
        Behavior::None => {}
    }
    false
}
