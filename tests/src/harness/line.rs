//! A client that sees the protocol as it is: lines of bytes, in the order they come.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

/// How long an answer may take. No handler of a test runs that long.
const ANSWER_PATIENCE: Duration = Duration::from_secs(60);

/// One connection.
pub struct Line {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    next_id: u64,
    /// Messages that came while another was awaited.
    kept: Vec<Value>,
}

impl Line {
    /// Connects.
    pub async fn connect(socket: &Path) -> Line {
        let stream =
            UnixStream::connect(socket).await.unwrap_or_else(|error| panic!("{}: {error}", socket.display()));
        let (reader, writer) = stream.into_split();
        Line { reader: BufReader::new(reader), writer, next_id: 1, kept: Vec::new() }
    }

    /// Writes bytes as they are.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).await.unwrap();
    }

    /// Writes a text and a line end.
    pub async fn send_line(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes()).await;
    }

    /// Sends a request; its id.
    pub async fn request(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send_line(&request.to_string()).await;
        id
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: &Value) {
        let notification = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send_line(&notification.to_string()).await;
    }

    /// The next line as it came; `None` at the end of the stream.
    pub async fn next_line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read =
            timeout(ANSWER_PATIENCE, self.reader.read_line(&mut line)).await.expect("an answer in time");
        // A daemon that was killed leaves a reset connection.
        (read.unwrap_or(0) > 0).then(|| line.trim_end_matches('\n').to_owned())
    }

    /// The next message that was not looked at yet.
    pub async fn message(&mut self) -> Value {
        if !self.kept.is_empty() {
            return self.kept.remove(0);
        }
        self.fresh_message().await
    }

    async fn fresh_message(&mut self) -> Value {
        let line = self.next_line().await.expect("the daemon closed the connection");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// The answer to a request; other messages are kept. An error is the error object.
    pub async fn answer(&mut self, id: u64) -> Result<Value, Value> {
        let is_it = |message: &Value| message.get("method").is_none() && message["id"] == id;
        let mut message = match self.kept.iter().position(is_it) {
            Some(at) => self.kept.remove(at),
            None => loop {
                let message = self.fresh_message().await;
                if is_it(&message) {
                    break message;
                }
                self.kept.push(message);
            },
        };
        match (message.get("result").is_some(), message.get("error").is_some()) {
            (true, false) => Ok(message["result"].take()),
            (false, true) => Err(message["error"].take()),
            _ => panic!("neither a result nor an error: {message}"),
        }
    }

    /// Sends a request and waits for its answer.
    pub async fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.request(method, &params).await;
        self.answer(id).await
    }

    /// Sends a request that must be refused; the error's code and data.
    pub async fn refusal(&mut self, method: &str, params: Value) -> (i64, Value) {
        error_of(self.call(method, params.clone()).await, &format!("{method} {params}"))
    }

    /// Asks to cancel a request.
    pub async fn cancel(&mut self, id: u64) {
        self.notify("$/cancelRequest", &json!({ "id": id })).await;
    }

    /// Says that nothing more will be sent, and goes on reading.
    pub async fn half_close(&mut self) {
        self.writer.shutdown().await.unwrap();
    }
}

/// Code and data of an answer that must be an error with a message for people.
///
/// # Panics
/// When it is no error, or has no message.
#[must_use]
pub fn error_of(answer: Result<Value, Value>, what: &str) -> (i64, Value) {
    let error = match answer {
        Ok(result) => panic!("not refused: {what}: {result}"),
        Err(error) => error,
    };
    assert!(
        error["message"].as_str().is_some_and(|message| !message.is_empty()),
        "{what}: no message: {error}"
    );
    (error["code"].as_i64().unwrap(), error["data"].clone())
}
