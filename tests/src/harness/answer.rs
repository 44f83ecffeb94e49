//! Answers of `hook/invoke`, in a form that can be compared as a whole.

use serde_json::{Value, json};

/// The result of one `hook/invoke`.
#[derive(Debug, Clone)]
pub struct Answer(pub Value);

impl Answer {
    /// The decision, each diagnostic as one line: code, handler, field, and its severity unless that is `warning`.
    #[must_use]
    pub fn decision(&self) -> Value {
        let mut decision = self.0["decision"].clone();
        let lines: Vec<String> = self.diagnostics().iter().map(line).collect();
        decision["diagnostics"] = json!(lines);
        decision
    }

    /// The decision's diagnostics as they came.
    #[must_use]
    pub fn diagnostics(&self) -> &[Value] {
        self.0["decision"]["diagnostics"].as_array().expect("a decision has diagnostics")
    }

    /// The message of the only diagnostic with this code.
    #[must_use]
    pub fn message(&self, code: &str) -> String {
        let with_code: Vec<&Value> =
            self.diagnostics().iter().filter(|diagnostic| diagnostic["code"] == code).collect();
        assert_eq!(with_code.len(), 1, "{code} in {:?}", self.diagnostics());
        with_code[0]["message"].as_str().unwrap().to_owned()
    }

    /// Each handler as `id status`, and how it ended: `exit N`, `signal N` or `-`.
    #[must_use]
    pub fn handlers(&self) -> Vec<String> {
        let handlers = self.0["handlers"].as_array().expect("an answer has handlers");
        handlers
            .iter()
            .map(|handler| {
                let ended = match (handler["exit_code"].as_i64(), handler["signal"].as_i64()) {
                    (Some(code), None) => format!("exit {code}"),
                    (None, Some(signal)) => format!("signal {signal}"),
                    (None, None) => "-".to_owned(),
                    (Some(_), Some(_)) => panic!("two ends: {handler}"),
                };
                format!("{} {} {ended}", handler["id"].as_str().unwrap(), handler["status"].as_str().unwrap())
            })
            .collect()
    }

    /// The decision's context.
    #[must_use]
    pub fn context(&self) -> Vec<String> {
        let context = self.0["decision"]["context"].as_array().expect("this event has context");
        context.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }

    /// The permission's behavior.
    #[must_use]
    pub fn behavior(&self) -> &str {
        self.0["decision"]["permission"]["behavior"].as_str().expect("this event has a permission")
    }

    /// The permission's reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.0["decision"]["permission"]["reason"].as_str().expect("the permission has a reason")
    }
}

fn line(diagnostic: &Value) -> String {
    let mut line = diagnostic["code"].as_str().unwrap().to_owned();
    for part in ["handler_id", "field"] {
        if let Some(text) = diagnostic[part].as_str() {
            line.push(' ');
            line.push_str(text);
        }
    }
    match diagnostic["severity"].as_str().unwrap() {
        "warning" => {}
        severity => line.push_str(&format!(" ({severity})")),
    }
    assert!(diagnostic["message"].as_str().is_some_and(|message| !message.is_empty()), "{diagnostic}");
    line
}

/// The whole decision on an event: what nobody has said, with these fields instead. Diagnostics as in
/// [`Answer::decision`].
#[must_use]
pub fn decision(event: &str, instead: Value) -> Value {
    let mut decision = json!({
        "event": event,
        "continue_processing": true,
        "stop_reason": null,
        "user_notices": [],
        "terminal_sequences": [],
        "diagnostics": [],
    });
    let by_event = match event {
        "SessionStart" | "SubagentStart" | "SubagentStop" => json!({ "context": [] }),
        "UserPromptSubmit" => json!({ "context": [], "suppress_original_prompt": false }),
        "PermissionRequest" => json!({ "permission": no_opinion() }),
        "PreToolUse" => json!({ "permission": no_opinion(), "context": [] }),
        "PostToolUse" | "PostToolUseFailure" => json!({ "feedback": [], "context": [] }),
        "Stop" => json!({ "continue_loop": false, "feedback": [] }),
        _ => json!({}),
    };
    for part in [by_event, instead] {
        for (key, value) in part.as_object().expect("fields of a decision") {
            decision[key] = value.clone();
        }
    }
    decision
}

fn permission(behavior: &str, reason: Option<&str>) -> Value {
    json!({ "behavior": behavior, "reason": reason, "interrupt": false })
}

/// No handler has an opinion.
#[must_use]
pub fn no_opinion() -> Value {
    permission("none", None)
}

/// A handler denies.
#[must_use]
pub fn deny(reason: &str) -> Value {
    permission("deny", Some(reason))
}

/// A handler allows.
#[must_use]
pub fn allow(reason: Option<&str>) -> Value {
    permission("allow", reason)
}

/// A handler wants the person to be asked.
#[must_use]
pub fn ask(reason: Option<&str>) -> Value {
    permission("ask", reason)
}
