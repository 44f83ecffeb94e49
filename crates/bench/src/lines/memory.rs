//! g: memory of the daemon, idle and with sessions.

use std::path::Path;

use anyhow::Result;

use super::{USUAL, document, payload, shell};
use crate::Size;
use crate::daemon::Server;
use crate::machine::resident;
use crate::table::Row;

pub(crate) fn sessions(size: &Size, _own: &Path) -> Result<Vec<Row>> {
    let daemon = Server::hooksd(&document(&[shell("true")]))?;
    let (mut connection, line) = daemon.session(&payload("no_such_tool", USUAL))?;
    connection.check(&line, 0)?;
    let idle = resident(daemon.pid());
    let mut rows = vec![Row::figure("g", "memory after the first event", megabytes(idle), "<= 12 MB")];
    let mut open = 1;
    for count in [size.sessions / 10, size.sessions] {
        while open < count {
            connection.open(&daemon.project())?;
            open += 1;
        }
        let now = resident(daemon.pid());
        let each = now.saturating_sub(idle) as f64 / open as f64 / 1024.0;
        let what = format!("  with {count} sessions, and for each");
        rows.push(
            Row::figure("g", &what, megabytes(now), "<= 6 KB").with(String::new(), format!("{each:.1} KB")),
        );
    }
    Ok(rows)
}

fn megabytes(bytes: usize) -> String {
    format!("{:.1} MB", bytes as f64 / 1024.0 / 1024.0)
}
