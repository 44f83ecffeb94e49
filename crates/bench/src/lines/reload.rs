//! k: how soon an edit of a large document counts, and what events notice of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{USUAL, payload};
use crate::Size;
use crate::daemon::{Connection, Server, invoke};
use crate::sample::Samples;
use crate::table::{Row, times};

/// Handlers of the document. Handlers.
const HANDLERS: usize = 1_000;

/// How many handlers share a matcher. Handlers.
const GROUP: usize = 10;

/// One round more warms up.
const WARM_UP: usize = 1;

pub(crate) fn edits(size: &Size, _own: &Path) -> Result<Vec<Row>> {
    let count = size.handlers.min(HANDLERS);
    let daemon = Server::hooksd(&version(count, 0))?;
    let mut editor = Editor::new(&daemon, count)?;
    let line = invoke(1, &editor.session, &payload("no_such_tool", USUAL));
    let mut agent = daemon.connect()?;
    agent.check(&line, 0)?;
    editor.prepare(1);
    editor.edit()?;
    let (mut quiet, mut busy, mut live) = (Samples::default(), Samples::default(), Samples::default());
    let edits = size.reloads.div_ceil(size.rounds);
    for round in 0..size.rounds + WARM_UP {
        // Written down beforehand: what an editor does for it is not what the daemon costs.
        editor.prepare(edits);
        let still = (0..size.trips).map(|_| agent.trip(&line)).collect::<Result<Vec<_>>>()?;
        let ended = AtomicBool::new(false);
        let (took, moved) = std::thread::scope(|scope| -> Result<_> {
            let editing = scope.spawn(|| {
                let took = (0..edits).map(|_| editor.edit()).collect::<Result<Vec<_>>>();
                ended.store(true, Ordering::Release);
                took
            });
            let mut moved = Vec::new();
            while !ended.load(Ordering::Acquire) {
                moved.push(agent.trip(&line)?);
            }
            let Ok(took) = editing.join() else { bail!("the editor has panicked") };
            Ok((took?, moved))
        })?;
        if round >= WARM_UP {
            quiet.push(still);
            busy.push(moved);
            live.push(took);
        }
    }
    let tail = |samples: &Samples| samples.percentile(99).as_secs_f64();
    let all = size.rounds * edits;
    let what = format!("{count} handlers edited {all} times: written to live");
    let beside =
        Row::beside("k", "  an event meanwhile; floor: when nothing is edited", &busy, &quiet, "<= 2");
    let figure = times(tail(&busy) / tail(&quiet));
    Ok(vec![
        // 20 ms of it are what the daemon waits for the rest of an editor's save.
        Row::alone("k", &what, &live, "<= 70 ms"),
        beside,
        Row::figure("k", "  p99 of it beside p99 of the floor", figure, "<= 2"),
    ])
}

/// Writes new versions and hears of them, as the agent whose session follows.
struct Editor {
    connection: Connection,
    session: String,
    document: PathBuf,
    beside: PathBuf,
    handlers: usize,
    version: usize,
    /// The texts of the next versions, the last one first.
    next: Vec<String>,
}

impl Editor {
    fn new(daemon: &Server, handlers: usize) -> Result<Editor> {
        let mut connection = daemon.connect()?;
        let open = json!({ "thread_id": "k", "cwd": daemon.project(), "mode": "headless", "follow": true });
        let opened = connection.call("session/open", &open)?;
        let session = opened.get("session").and_then(Value::as_str).context("no session")?.to_owned();
        let document = daemon.document();
        let beside = document.with_extension("new");
        Ok(Editor { connection, session, document, beside, handlers, version: 0, next: Vec::new() })
    }

    /// Writes down the texts of so many new versions.
    fn prepare(&mut self, edits: usize) {
        let versions = (self.version + 1..=self.version + edits).rev();
        self.next = versions.map(|number| version(self.handlers, number).to_string()).collect();
        self.version += edits;
    }

    /// Saves a new version as editors do; how long after that the session is told that it counts.
    fn edit(&mut self) -> Result<Duration> {
        let text = self.next.pop().context("no version is prepared")?;
        fs::write(&self.beside, text).context("cannot write")?;
        fs::rename(&self.beside, &self.document).context("cannot rename")?;
        let written = Instant::now();
        loop {
            let told: Value = serde_json::from_slice(self.connection.receive()?).context("not JSON")?;
            if told.get("method").and_then(Value::as_str) != Some("snapshot/changed") {
                continue;
            }
            if told.pointer("/params/applied") == Some(&Value::Bool(true)) {
                return Ok(written.elapsed());
            }
        }
    }
}

/// A document of so many handlers on tools of many names.
fn version(handlers: usize, version: usize) -> Value {
    let groups = (0..handlers.div_ceil(GROUP)).map(|group| {
        let members = (0..GROUP.min(handlers - group * GROUP)).map(|number| {
            json!({ "type": "command", "command": format!("./check {group} {number} --version {version}") })
        });
        json!({ "matcher": format!("^(Tool{group}|mcp__server{group}__.*)$"), "hooks": members.collect::<Vec<_>>() })
    });
    json!({ "hooks": { "PreToolUse": groups.collect::<Vec<_>>() } })
}
