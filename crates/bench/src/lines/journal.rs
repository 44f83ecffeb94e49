//! j: an event with the journal, a subscriber and the log, beside the same event with all of that off.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;

use super::{TOOL, USUAL, document, payload, shell};
use crate::Size;
use crate::daemon::Server;
use crate::sample::by_turns;
use crate::table::Row;

pub(crate) fn looked_on(size: &Size, own: &Path) -> Result<Vec<Row>> {
    let document = document(&[shell("true")]);
    let (on, off) = (Server::told(own, &document, true)?, Server::told(own, &document, false)?);
    subscribe(&on)?;
    let mut rows = Vec::new();
    for (tool, handlers, count, what, target) in [
        (TOOL, 1, size.spawns, "one handler; journal, subscriber, log: on / off", "<= 1.05"),
        ("no_such_tool", 0, size.trips, "  the same without a handler", ""),
    ] {
        let ((mut on, on_line), (mut off, off_line)) =
            (on.session(&payload(tool, USUAL))?, off.session(&payload(tool, USUAL))?);
        on.check(&on_line, handlers)?;
        off.check(&off_line, handlers)?;
        let sides = by_turns(size.rounds, count, [&mut || on.trip(&on_line), &mut || off.trip(&off_line)])?;
        let [on, off] = &sides;
        rows.push(Row::beside("j", what, on, off, target));
    }
    Ok(rows)
}

/// Subscribes to everything, and reads it for as long as the daemon lives.
fn subscribe(server: &Server) -> Result<()> {
    let mut connection = server.connect()?;
    connection.call("initialize", &json!({ "client": { "name": "bench", "observer": true } }))?;
    connection.call("events/subscribe", &json!({}))?;
    let mut stream: UnixStream = connection.into_stream();
    stream.set_read_timeout(None).context("cannot wait for items")?;
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        // Ends with the daemon.
        while stream.read(&mut buffer).is_ok_and(|read| read > 0) {}
    });
    Ok(())
}
