//! h and i: a daemon from exec to its first answer, and a whole one-shot client.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hooksd_tests::harness::program;
use serde_json::json;

use super::{document, shell};
use crate::Size;
use crate::cores::Cores;
use crate::daemon::{Server, command};
use crate::sample::{by_turns, timed};
use crate::table::Row;

pub(crate) fn daemon(size: &Size, own: &Path) -> Result<Vec<Row>> {
    let document = document(&[shell("true")]);
    // Built before it is timed.
    let _built = program::path("hooksd");
    // What is dropped ends after the time is taken: the servers are kept until then.
    let mut ours = || {
        let mut kept = None;
        timed(|| {
            let server = Server::hooksd(&document)?;
            server.connect()?.call("initialize", &json!({ "protocol_version": 1 }))?;
            kept = Some(server);
            Ok(())
        })
    };
    let mut floor = || {
        let mut kept = None;
        timed(|| {
            let server = Server::echo(own)?;
            server.connect()?.trip(b"{}\n")?;
            kept = Some(server);
            Ok(())
        })
    };
    let [ours, floor] = &by_turns(size.rounds, size.starts, [&mut ours, &mut floor])?;
    Ok(vec![Row::beside("h", "exec to first answer; floor: the echo", ours, floor, "<= 30 ms")])
}

/// What an agent hands to its hook, for which there is no handler.
const PAYLOAD: &str = r#"{"session_id":"s","transcript_path":"/tmp/s.jsonl","cwd":"/","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/etc/hosts"},"tool_use_id":"toolu_1"}"#;

pub(crate) fn client(size: &Size, _own: &Path) -> Result<Vec<Row>> {
    Cores::each_way()?.into_iter().map(|cores| client_on(cores, size)).collect()
}

fn client_on(cores: Cores, size: &Size) -> Result<Row> {
    let daemon = Server::hooksd(&matching_nothing())?;
    let _bound = cores.bind(&[daemon.pid()])?;
    let payload = daemon.file("payload.json", PAYLOAD)?;
    let hooksctl = program::path("hooksctl");
    let status = |program: &Path, arguments: &[&str]| -> Result<()> {
        let mut command = command(program);
        command.args(arguments).env("HOOKSD_SOCKET", daemon.socket());
        command.stdin(File::open(&payload).context("cannot open the payload")?);
        let status = command.status().with_context(|| format!("cannot run {program:?}"))?;
        ensure!(status.success(), "{program:?} ended with {status}");
        Ok(())
    };
    let bridge = ["hook", "--agent", "claude-code", "--fail", "closed"];
    let mut ours = || timed(|| status(&hooksctl, &bridge));
    let mut floor = || timed(|| status(Path::new("/bin/true"), &[]));
    let [ours, floor] = &by_turns(size.rounds, size.spawns, [&mut ours, &mut floor])?;
    Ok(Row::beside("i", &format!("hooksctl hook, {}; floor: /bin/true", cores.name), ours, floor, "<= 1.6"))
}

/// A document whose one handler is for another tool.
fn matching_nothing() -> serde_json::Value {
    json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [shell("true")] }] } })
}
