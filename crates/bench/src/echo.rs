//! The floor of a round trip: a program that sends each line back, a thread a connection.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use anyhow::{Context, Result};

/// Serves until it is killed.
///
/// # Errors
/// When it cannot listen.
pub fn serve(socket: &Path) -> Result<()> {
    let listener = UnixListener::bind(socket).context("cannot listen")?;
    for stream in listener.incoming() {
        let stream = stream.context("cannot accept")?;
        std::thread::spawn(move || {
            // A client that goes ends its thread.
            let _ = lines(&stream);
        });
    }
    Ok(())
}

fn lines(stream: &UnixStream) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(64 * 1024, stream);
    let (mut writer, mut line) = (stream, Vec::new());
    while reader.read_until(b'\n', &mut line)? > 0 {
        writer.write_all(&line)?;
        line.clear();
    }
    Ok(())
}
