//! An agent with one session: a connection, the session's id, and the context of its events.

use serde_json::{Value, json};

use super::answer::Answer;
use super::line::Line;

/// One agent.
pub struct Agent {
    /// Its connection.
    pub line: Line,
    /// What `session/open` has answered.
    pub info: Value,
    /// The `context` of its events.
    pub context: Value,
}

impl Agent {
    pub(super) async fn open(mut line: Line, params: Value) -> Agent {
        let context =
            json!({ "thread_id": params["thread_id"], "cwd": params["cwd"], "approval_mode": "manual" });
        let info = line.call("session/open", params).await.expect("the session opens");
        Agent { line, info, context }
    }

    /// The session's id.
    #[must_use]
    pub fn session(&self) -> &str {
        self.info["session"].as_str().unwrap()
    }

    /// The id of the snapshot the session was opened with or last reloaded to.
    #[must_use]
    pub fn snapshot(&self) -> &str {
        self.info["snapshot"]["id"].as_str().unwrap()
    }

    /// The snapshot's diagnostics as `code field`, fields without the path of the document.
    #[must_use]
    pub fn load_diagnostics(&self) -> Vec<String> {
        let diagnostics = self.info["snapshot"]["diagnostics"].as_array().unwrap();
        diagnostics
            .iter()
            .map(|diagnostic| {
                let field = diagnostic["field"].as_str().unwrap_or_default();
                let field = field.rsplit_once("hooks.json:").map_or(field, |(_, field)| field);
                let field = if field.ends_with("hooks.json") { "hooks.json" } else { field };
                format!("{} {field}", diagnostic["code"].as_str().unwrap()).trim_end().to_owned()
            })
            .collect()
    }

    /// The params of `hook/invoke` for an event.
    #[must_use]
    pub fn params(&self, event: &Value) -> Value {
        json!({ "session": self.session(), "invocation": { "context": self.context, "event": event } })
    }

    /// The same with more of them.
    #[must_use]
    pub fn params_with(&self, event: &Value, more: Value) -> Value {
        let mut params = self.params(event);
        for (key, value) in more.as_object().expect("params") {
            params[key] = value.clone();
        }
        params
    }

    /// Sends an event; the request's id.
    pub async fn start(&mut self, event: &Value) -> u64 {
        let params = self.params(event);
        self.line.request("hook/invoke", &params).await
    }

    /// The answer to a request that [`Agent::start`] has sent.
    pub async fn answer(&mut self, id: u64) -> Answer {
        Answer(self.line.answer(id).await.unwrap_or_else(|error| panic!("request {id} was refused: {error}")))
    }

    /// Sends an event and waits for its answer.
    pub async fn invoke(&mut self, event: &Value) -> Answer {
        let id = self.start(event).await;
        self.answer(id).await
    }

    /// Sends an event with more params; an error is the error object.
    pub async fn invoke_with(&mut self, event: &Value, more: Value) -> Result<Answer, Value> {
        let params = self.params_with(event, more);
        self.line.call("hook/invoke", params).await.map(Answer)
    }

    /// Moves the session to the documents as they are now.
    pub async fn reload(&mut self) {
        self.reload_with(json!({})).await;
    }

    /// The same with more params.
    pub async fn reload_with(&mut self, more: Value) {
        let mut params = json!({ "session": self.session() });
        for (key, value) in more.as_object().expect("params") {
            params[key] = value.clone();
        }
        self.info = self.line.call("session/reload", params).await.expect("the session reloads");
    }
}
