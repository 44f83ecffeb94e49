//! The journal's way out of the daemon: events that have ended go to one thread that takes secrets out of them and
//! writes them in batches.
//!
//! Guarantees: nobody waits for it; what waits is bounded in number, bytes and age, and what does not fit is counted as
//! lost, also in the journal itself ([`Gap`]); what an event has said is on its way to the disk within [`BATCH_MS`]; a
//! disk that is full or gone costs records and no decision.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hooksd_journal::{Log, Writer};
use hooksd_protocol::diagnostic::{Diagnostic, Severity, code};
use hooksd_protocol::methods::JournalState;

use crate::base::lock::lock;
use crate::base::settings::JournalSettings;
use crate::journal::finished::Finished;
use crate::journal::record::{Gap, forget_outputs, record};
use crate::observe::feed::Feed;
use crate::observe::items::About;
use crate::observe::items::diagnostic_item;

/// How long records are gathered before they are written. Milliseconds. Commits are cheap beside
/// events, and what is not committed is lost with the process: 200 ms of it at most, also on a busy machine.
pub(crate) const BATCH_MS: u64 = 25;

/// Events that wait to be written. Events. One more is lost.
const QUEUE: usize = 8192;

/// How much the waiting events may hold. Bytes, about. An event that would go beyond is lost.
const QUEUE_BYTES: usize = 32 * 1024 * 1024;

/// A backlog is long from here on. Events. Agents that run their tools do not get there while a disk stalls for a second.
const LONG: usize = 512;

/// A long backlog whose oldest event waits for more than this takes no more: it is a flood that outruns the journal, and
/// what it took now would be written too late to outlive a kill. Milliseconds.
const OLDEST_MS: u64 = 100;

/// Records written in one transaction. Records. Few, so that a flood is on its way while the rest of it is looked through.
const AT_ONCE: usize = 64;

/// How long after a failure the next attempt comes. Seconds. What comes in between is lost.
const RETRY_SECONDS: u64 = 2;

/// How often what is too old is looked for, also when nothing happens. Seconds. What is too much goes as it comes.
const PRUNE_SECONDS: u64 = 60;

/// How long a reader waits for what is on its way. Seconds.
const FLUSH_SECONDS: u64 = 2;

#[derive(Default)]
struct Queue {
    waiting: Vec<Finished>,
    bytes: usize,
    /// Records taken out of the queue whose writing has not ended.
    under_way: usize,
    /// When the oldest event of the records that are being written had ended.
    under_way_since: Option<Instant>,
    /// What was lost since the last record was written.
    gap: Option<Gap>,
    /// Whether the thread sleeps until somebody wakes it.
    idle: bool,
    /// Whether a reader waits until what is in the queue is written.
    hurry: bool,
    stop: bool,
}

impl Queue {
    fn is_full(&self, bytes: usize) -> bool {
        if self.waiting.len() >= QUEUE || self.bytes + bytes > QUEUE_BYTES {
            return true;
        }
        let oldest = self.under_way_since.or_else(|| self.waiting.first().map(Finished::ended));
        let old = Duration::from_millis(OLDEST_MS);
        self.waiting.len() >= LONG && oldest.is_some_and(|oldest| oldest.elapsed() > old)
    }
}

struct Shared {
    path: PathBuf,
    settings: JournalSettings,
    feed: Arc<Feed>,
    queue: Mutex<Queue>,
    wake: Condvar,
    written_out: Condvar,
    ready: AtomicBool,
    /// Whether a thread writes the log back into the database now.
    writing_back: AtomicBool,
    written: AtomicU64,
    lost: AtomicU64,
    problem: Mutex<Option<String>>,
}

/// The journal.
pub(crate) struct Journal {
    shared: Option<Arc<Shared>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Journal {
    /// Starts the thread, unless the journal is off.
    pub(crate) fn start(config_dir: &Path, settings: &JournalSettings, feed: Arc<Feed>) -> Journal {
        if !settings.enabled {
            return Journal { shared: None, thread: Mutex::default() };
        }
        let shared = Arc::new(Shared {
            path: hooksd_journal::path(config_dir),
            settings: settings.clone(),
            feed,
            queue: Mutex::default(),
            wake: Condvar::new(),
            written_out: Condvar::new(),
            ready: AtomicBool::new(false),
            writing_back: AtomicBool::new(false),
            written: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            problem: Mutex::default(),
        });
        let writing = shared.clone();
        let started = std::thread::Builder::new().name("journal".to_owned()).spawn(move || writing.run());
        match started {
            Ok(thread) => Journal { shared: Some(shared), thread: Mutex::new(Some(thread)) },
            Err(error) => {
                shared.fail(&format!("no thread can be started for the journal: {error}"));
                lock(&shared.queue).stop = true;
                Journal { shared: Some(shared), thread: Mutex::default() }
            }
        }
    }

    /// Whether events are kept.
    pub(crate) fn is_on(&self) -> bool {
        self.shared.is_some()
    }

    /// Whether payloads and outputs are written too.
    pub(crate) fn keeps_payloads(&self) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.settings.payloads)
    }

    /// Keeps an event. Never waits.
    pub(crate) fn keep(&self, mut finished: Finished) {
        let Some(shared) = &self.shared else { return };
        if !shared.settings.payloads {
            forget_outputs(&mut finished);
        }
        let bytes = finished.bytes();
        let mut queue = lock(&shared.queue);
        if queue.stop || queue.is_full(bytes) {
            shared.lost.fetch_add(1, Ordering::Relaxed);
            Gap::of(finished.time, 1).join(&mut queue.gap);
            return;
        }
        queue.bytes += bytes;
        queue.waiting.push(finished);
        if std::mem::take(&mut queue.idle) {
            shared.wake.notify_one();
        }
    }

    /// Waits until what has ended so far is written, or long enough. Blocks.
    pub(crate) fn flush(&self) {
        let Some(shared) = &self.shared else { return };
        let mut queue = lock(&shared.queue);
        queue.hurry = true;
        shared.wake.notify_one();
        let busy = |queue: &mut Queue| !queue.stop && (!queue.waiting.is_empty() || queue.under_way > 0);
        // Late or not, what is there is read.
        let _ = shared.written_out.wait_timeout_while(queue, Duration::from_secs(FLUSH_SECONDS), busy);
    }

    /// Writes what is left and ends the thread. Blocks.
    pub(crate) fn stop(&self) {
        let Some(shared) = &self.shared else { return };
        lock(&shared.queue).stop = true;
        shared.wake.notify_one();
        if let Some(thread) = lock(&self.thread).take() {
            // A thread that has panicked has nothing more to write.
            let _ = thread.join();
        }
    }

    /// Where the database is, if there is to be one.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.shared.as_ref().map(|shared| shared.path.as_path())
    }

    /// The journal's state, as `daemon/status` shows it.
    pub(crate) fn state(&self) -> JournalState {
        let Some(shared) = &self.shared else { return JournalState::default() };
        let queue = lock(&shared.queue);
        JournalState {
            enabled: true,
            ready: shared.ready.load(Ordering::Acquire),
            path: Some(shared.path.display().to_string()),
            written: shared.written.load(Ordering::Relaxed),
            lost: shared.lost.load(Ordering::Relaxed),
            waiting: queue.waiting.len() + queue.under_way,
            problem: lock(&shared.problem).clone(),
        }
    }
}

impl Shared {
    fn run(self: &Arc<Shared>) {
        let mut database = Database { writer: None, retry: Instant::now(), prune: Instant::now() };
        self.ready(&mut database);
        self.prune(&mut database);
        while let Some(batch) = self.next(database.prune) {
            for part in chunks(batch) {
                let mut queue = lock(&self.queue);
                queue.under_way_since = part.first().map(Finished::ended);
                let gap = queue.gap.take();
                drop(queue);
                self.write(&mut database, &part, gap);
                lock(&self.queue).under_way -= part.len();
                self.written_out.notify_all();
            }
            lock(&self.queue).under_way_since = None;
            self.prune(&mut database);
            self.write_back();
        }
        self.written_out.notify_all();
    }

    /// The next batch, gathered for a while; an empty one when nothing has come until `at`, none at the end.
    fn next(&self, at: Instant) -> Option<Vec<Finished>> {
        let mut queue = lock(&self.queue);
        while queue.waiting.is_empty() {
            if queue.stop {
                return None;
            }
            queue.hurry = false;
            let left = at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Some(Vec::new());
            }
            queue.idle = true;
            (queue, _) = self.wake.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner);
            queue.idle = false;
        }
        // From the oldest on: what has come while the last batch was written does not wait again.
        let waits = queue.waiting.first().map_or(Duration::ZERO, |oldest| oldest.ended().elapsed());
        let gather = Duration::from_millis(BATCH_MS).saturating_sub(waits);
        let (mut queue, _) = self
            .wake
            .wait_timeout_while(queue, gather, |queue| !queue.stop && !queue.hurry)
            .unwrap_or_else(PoisonError::into_inner);
        queue.bytes = 0;
        queue.hurry = false;
        let batch = std::mem::take(&mut queue.waiting);
        queue.under_way = batch.len();
        queue.under_way_since = batch.first().map(Finished::ended);
        Some(batch)
    }

    fn write(&self, database: &mut Database, batch: &[Finished], gap: Option<Gap>) {
        if self.ready(database)
            && let Some(writer) = &mut database.writer
        {
            let kept = batch.iter().map(|finished| record(finished, &self.settings));
            let records: Vec<_> = gap.iter().map(Gap::record).chain(kept).collect();
            let written = writer.append(&records);
            match &written {
                Ok(()) => drop(self.written.fetch_add(batch.len() as u64, Ordering::Relaxed)),
                Err(_) => self.lose(batch, gap),
            }
            // What is too much goes before the next records come: a flood must not outrun the bound.
            match written.and_then(|()| writer.forget_excess(self.settings.max_bytes)) {
                Ok(_) => drop(lock(&self.problem).take()),
                Err(error) => {
                    self.fail(&error.to_string());
                    database.retry = Instant::now() + Duration::from_secs(RETRY_SECONDS);
                    database.writer = None;
                }
            }
            return;
        }
        self.lose(batch, gap);
    }

    /// Counts a batch as lost, behind the gap that could not be written either.
    fn lose(&self, batch: &[Finished], gap: Option<Gap>) {
        self.lost.fetch_add(batch.len() as u64, Ordering::Relaxed);
        let mut queue = lock(&self.queue);
        let lost = batch.first().map(|first| Gap::of(first.time, batch.len()));
        for gap in gap.into_iter().chain(lost) {
            gap.join(&mut queue.gap);
        }
    }

    /// Opens the database, unless it is open and in its place, or was not to be had a moment ago.
    fn ready(&self, database: &mut Database) -> bool {
        if database.writer.as_ref().is_some_and(Writer::is_in_place) {
            return true;
        }
        database.writer = None;
        self.ready.store(false, Ordering::Release);
        if Instant::now() < database.retry {
            return false;
        }
        match Writer::open(&self.path) {
            Ok((writer, aside)) => {
                if let Some(aside) = aside {
                    let (reason, path) = (aside.reason, aside.path.display());
                    self.say(&format!("{reason}; it was moved to {path}, and a new one was begun"));
                }
                database.writer = Some(writer);
                self.ready.store(true, Ordering::Release);
                true
            }
            Err(error) => {
                self.fail(&error.to_string());
                database.retry = Instant::now() + Duration::from_secs(RETRY_SECONDS);
                false
            }
        }
    }

    fn prune(&self, database: &mut Database) {
        let now = Instant::now();
        if now < database.prune {
            return;
        }
        database.prune = now + Duration::from_secs(PRUNE_SECONDS);
        let Some(writer) = database.writer.as_mut() else { return };
        let excess = writer.forget_excess(self.settings.max_bytes);
        match excess.and_then(|more| Ok(more | writer.forget_old(self.settings.max_age)?)) {
            // There is more to do, but whatever waits comes first.
            Ok(true) => database.prune = now,
            Ok(false) => {}
            Err(error) => self.fail(&error.to_string()),
        }
    }

    /// Writes the log back into the database, beside the thread that writes: the disk may take its time for that.
    fn write_back(self: &Arc<Shared>) {
        let flood = !lock(&self.queue).waiting.is_empty();
        let log = hooksd_journal::log(&self.path, flood);
        if log == Log::Short || self.writing_back.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = self.clone();
        let work = move || {
            if let Err(error) = hooksd_journal::write_back(&shared.path) {
                tracing::debug!("{error}");
            }
            shared.writing_back.store(false, Ordering::Release);
        };
        if log == Log::Endless {
            work();
        } else if std::thread::Builder::new().name("journal-disk".to_owned()).spawn(work).is_err() {
            // Without a thread the log grows until there is one.
            self.writing_back.store(false, Ordering::Release);
        }
    }

    /// Notes what is wrong; tells it when it is new.
    fn fail(&self, message: &str) {
        let before = lock(&self.problem).replace(message.to_owned());
        if before.as_deref() != Some(message) {
            self.say(&format!("{message}; events go on and are not kept"));
        }
    }

    fn say(&self, message: &str) {
        tracing::warn!("{message}");
        let diagnostic = Diagnostic::warning(code::JOURNAL_FAILED, message).severity(Severity::Warning);
        self.feed.publish(About::default(), || diagnostic_item(&diagnostic));
    }
}

/// The database as the thread has it.
struct Database {
    writer: Option<Writer>,
    /// When to try again.
    retry: Instant,
    /// When to look for what is too old.
    prune: Instant,
}

fn chunks(mut batch: Vec<Finished>) -> impl Iterator<Item = Vec<Finished>> {
    std::iter::from_fn(move || {
        let rest = batch.split_off(batch.len().min(AT_ONCE));
        let part = std::mem::replace(&mut batch, rest);
        (!part.is_empty()).then_some(part)
    })
}
