//! The daemon's own transcripts: one JSONL file a conversation and one a subagent, without secrets, for the eyes of
//! their owner only. A file has whole records or none of an append, and nothing here can hold up a decision for long.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooksd_config::safe_name::safe_name;
use tokio::sync::watch;

use crate::base::lock::lock;
use crate::base::private_file::append_to;

/// How large a transcript may be. Bytes. A conversation of weeks stays below; one that writes more has a loop.
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// How long an event waits for records that were sent before it. Seconds. A disk that takes longer must not hold up a
/// decision.
const WAIT_SECONDS: u64 = 2;

/// Lets one writer write at a time, so that the records of one request stay together.
static WRITER: Mutex<()> = Mutex::new(());

/// The folder of the transcripts.
fn folder(config_dir: &Path) -> PathBuf {
    config_dir.join(".state").join("hooksd").join("transcripts")
}

/// The file of a conversation, or of a subagent in it.
pub(crate) fn path(config_dir: &Path, thread_id: &str, agent_id: Option<&str>) -> PathBuf {
    let thread = safe_name(thread_id, "thread");
    let name = match agent_id {
        None => format!("{thread}.jsonl"),
        Some(agent_id) => format!("{thread}.{}.jsonl", safe_name(agent_id, "agent")),
    };
    folder(config_dir).join(name)
}

/// Appends whole lines. After an error the file is as it was before.
pub(crate) fn append(path: &Path, lines: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    let _one = lock(&WRITER);
    let mut file = append_to(path)?;
    let before = file.metadata()?.len();
    if before.saturating_add(lines.len() as u64) > MAX_FILE {
        return Err(io::Error::other(format!("it would be larger than {MAX_FILE} bytes")));
    }
    file.write_all(lines.as_bytes()).inspect_err(|_| undo(&file, before))
}

/// Cuts off what was written of a record: half a record would spoil the file for every reader.
fn undo(file: &File, length: u64) {
    if let Err(error) = file.set_len(length) {
        tracing::warn!(%error, "a transcript may end in half a record");
    }
}

/// The appends of one session: each in the order it came, and each before the events that came after it.
#[derive(Debug)]
pub(crate) struct Order {
    taken: AtomicU64,
    done: watch::Sender<u64>,
}

impl Default for Order {
    fn default() -> Order {
        Order { taken: AtomicU64::new(0), done: watch::Sender::new(0) }
    }
}

/// An append's place in that order; given up when it is dropped.
pub(crate) struct Ticket {
    order: Arc<Order>,
    number: u64,
}

impl Order {
    /// Takes the next place. Called as requests are read, so that the order is theirs.
    pub(crate) fn ticket(self: &Arc<Order>) -> Ticket {
        Ticket { order: self.clone(), number: self.taken.fetch_add(1, Ordering::AcqRel) + 1 }
    }

    /// Appends that have begun so far.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Acquire)
    }

    /// Waits until that many are done, or long enough.
    pub(crate) async fn wait_for(&self, number: u64) {
        if *self.done.borrow() >= number {
            return;
        }
        let mut done = self.done.subscribe();
        let waited =
            tokio::time::timeout(Duration::from_secs(WAIT_SECONDS), done.wait_for(|done| *done >= number))
                .await;
        if waited.is_err() {
            tracing::warn!("a transcript takes longer than {WAIT_SECONDS} s to be written; going on without");
        }
    }
}

impl Ticket {
    /// Waits for the appends before this one.
    pub(crate) async fn turn(&self) {
        self.order.wait_for(self.number - 1).await;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.order.done.send_modify(|done| *done = (*done).max(self.number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_append_is_whole_or_not_there() {
        let top = tempfile::tempdir().unwrap();
        let file = path(top.path(), "../../t", None);
        assert!(file.starts_with(folder(top.path())));
        append(&file, "1\n").unwrap();
        append(&file, "2\n").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        assert_eq!(File::open(&file).and_then(io::read_to_string).unwrap(), "1\n2\n");
        File::options().write(true).open(&file).unwrap().set_len(MAX_FILE).unwrap();
        assert!(append(&file, "3\n").unwrap_err().to_string().contains("larger"));
        assert_eq!(fs::metadata(&file).unwrap().len(), MAX_FILE);
    }

    #[tokio::test]
    async fn appends_keep_their_order_and_a_lost_one_holds_up_nobody() {
        let order = Arc::new(Order::default());
        let (first, second) = (order.ticket(), order.ticket());
        assert_eq!(order.taken(), 2);
        let waiting = tokio::spawn(async move { second.turn().await });
        drop(first);
        waiting.await.unwrap();
        order.wait_for(2).await;
    }
}
