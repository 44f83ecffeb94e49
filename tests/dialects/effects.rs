//! What the agents did with exactly the answers that are given: an answer that was recorded must have had the effect
//! that is wanted.

use hooksd_dialects::{Answer, Dialect, Failing, Given, answer};
use hooksd_json::RawJson;
use hooksd_protocol::decision::{Body, Decision};
use hooksd_protocol::event::EventName::{self, *};
use serde_json::{Value, json};

use crate::answers::{CONTEXT, INPUT, REASON, decisions, occasion, own_event};
use crate::{RECORDED, recorded};

/// What an agent makes of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Its answer was recorded: the id of the recording.
    Recorded(String),
    /// Its answer is as documented.
    Documented,
    /// Another wish was fulfilled instead, or a part was left out: the note says what.
    Lesser(String),
    /// It cannot.
    Nothing,
}

/// A row of the table: the event, the decision's name, what people call it, and what a recording's verdict has to say.
pub(crate) struct Wanted {
    pub(crate) event: EventName,
    pub(crate) decision: &'static str,
    pub(crate) title: &'static str,
    verdict: &'static str,
}

pub(crate) const WANTED: [Wanted; 18] = [
    wanted(PreToolUse, "deny", "deny a tool", "tool did not run"),
    wanted(PreToolUse, "ask", "ask before a tool", "tool did not run"),
    wanted(PreToolUse, "allow", "allow a tool without asking", "tool ran"),
    wanted(PreToolUse, "rewrite", "rewrite a tool's input", "with other input"),
    wanted(PreToolUse, "context", "context before a tool", "context reached the model"),
    wanted(PreToolUse, "stop", "stop the agent before a tool", "did not run"),
    wanted(PermissionRequest, "deny", "deny a request for permission", "tool did not run"),
    wanted(PermissionRequest, "allow", "grant a request for permission", "tool ran"),
    wanted(PostToolUse, "feedback", "feedback after a tool", "reached the model"),
    wanted(PostToolUse, "context", "context after a tool", "context reached the model"),
    wanted(PostToolUseFailure, "feedback", "feedback after a failed tool", "reached the model"),
    wanted(UserPromptSubmit, "stop", "block a prompt", "prompt never reached the model"),
    wanted(UserPromptSubmit, "context", "context to a prompt", "context reached the model"),
    wanted(Stop, "go on", "go on instead of stopping", "more model turn"),
    wanted(SubagentStop, "go on", "a subagent goes on", "reached the model"),
    wanted(SessionStart, "context", "context at the start", "context reached the model"),
    wanted(SubagentStart, "context", "context to a subagent", "reached the model"),
    wanted(PreCompact, "stop", "block compaction", ""),
];

const fn wanted(
    event: EventName,
    decision: &'static str,
    title: &'static str,
    verdict: &'static str,
) -> Wanted {
    Wanted { event, decision, title, verdict }
}

pub(crate) fn decision(wanted: &Wanted) -> Decision {
    let found = decisions(wanted.event).into_iter().find(|(name, _)| *name == wanted.decision);
    let mut decision = found.map(|(_, decision)| decision).unwrap();
    if let ("allow" | "rewrite", Body::PreTool { permission, .. }) = (wanted.decision, &mut decision.body) {
        // As in the recordings.
        permission.reason = Some(if wanted.decision == "allow" { REASON } else { "ok" }.to_owned());
    }
    if wanted.decision == "rewrite" {
        decision.accepted.insert("updated_input".to_owned(), RawJson::new(INPUT.to_owned()).unwrap());
    }
    // The daemon keeps what the session does not accept out of the decision.
    decision
}

/// Whether a recorded output is this answer.
fn is_same(output: &Value, said: &Answer) -> bool {
    let without_ok = |value: &mut Value| {
        let specific = value.get_mut("hookSpecificOutput").and_then(Value::as_object_mut);
        if let Some(specific) = specific
            && specific.get("permissionDecisionReason") == Some(&json!("ok"))
        {
            specific.remove("permissionDecisionReason");
        }
    };
    let mut stdout = match &output["stdout"] {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        Value::Null => json!(""),
        other => other.clone(),
    };
    let mut ours = serde_json::from_str(&said.stdout).unwrap_or_else(|_| json!(said.stdout));
    without_ok(&mut stdout);
    without_ok(&mut ours);
    let exit = output["exit"].as_u64().unwrap_or(0);
    let stderr = output["stderr"].as_str().unwrap_or_default();
    // What stands on stderr beside exit status 0 does nothing; that was recorded too.
    ours == stdout && exit == u64::from(said.status) && (exit == 0 || stderr == said.stderr)
}

/// What the agent makes of it. A recording that says otherwise fails the test.
pub(crate) fn effect(dialect: &Dialect, wanted: &Wanted) -> Effect {
    let decision = decision(wanted);
    let occasion = occasion(dialect, wanted.event, false);
    let said = answer(dialect, &occasion, Given::Decision(&decision), Failing::Open);
    let neutral = answer(dialect, &occasion, Given::Nothing, Failing::Open);
    if (said.status, &said.stdout) == (neutral.status, &neutral.stdout) {
        return Effect::Nothing;
    }
    // Its own words for the wish, whatever else it was told of.
    if let Some(note) = said.notes.first() {
        return Effect::Lesser(note.clone());
    }
    if !RECORDED.contains(&dialect.name) {
        return Effect::Documented;
    }
    let own = own_event(dialect, wanted.event);
    let lines = recorded(&format!("{}.effects.jsonl", dialect.name));
    let mut same = lines.iter().filter(|line| line["event"] == own && is_same(&line["output"], &said));
    let Some(line) = same.next() else { return Effect::Documented };
    let (id, verdict) = (line["id"].as_str().unwrap(), line["verdict"].as_str().unwrap());
    if verdict.contains("never run") {
        return Effect::Documented;
    }
    assert!(
        verdict.contains(wanted.verdict),
        "{} {id}: wanted {:?}: {verdict}",
        dialect.name,
        wanted.verdict
    );
    Effect::Recorded(id.to_owned())
}

/// The answers that matter most were recorded from every agent that was recorded at all.
#[test]
fn denies_and_blocks_are_answers_that_were_recorded() {
    for name in RECORDED {
        for wanted in WANTED.iter().filter(|wanted| {
            matches!(
                (wanted.event, wanted.decision),
                (PreToolUse, "deny") | (UserPromptSubmit, "stop" | "context") | (Stop, "go on")
            )
        }) {
            let effect = effect(crate::dialect(name), wanted);
            assert!(matches!(effect, Effect::Recorded(_)), "{name}, {}: {effect:?}", wanted.title);
        }
    }
}

/// What an ask becomes where it is not enforced is a deny that was recorded to be one.
#[test]
fn an_ask_that_is_not_enforced_is_a_deny() {
    for name in ["codex", "gemini-cli", "deepagents"] {
        let dialect = crate::dialect(name);
        let occasion = occasion(dialect, PreToolUse, false);
        let of = |decision: &Decision| answer(dialect, &occasion, Given::Decision(decision), Failing::Open);
        let [ask, deny] = ["ask", "deny"].map(|name| {
            let found = decisions(PreToolUse).into_iter().find(|(found, _)| *found == name);
            of(&found.map(|(_, decision)| decision).unwrap())
        });
        assert_eq!((&ask.stdout, ask.status), (&deny.stdout, deny.status), "{name}");
        assert_eq!(ask.notes.len(), 1);
        assert!(deny.stdout.contains(REASON) && !deny.stdout.contains(CONTEXT));
    }
}
