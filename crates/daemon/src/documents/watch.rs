//! Hears of changes. Folders are watched, never files: editors replace files, and a watch on a file dies with it.
//! A change is only a reason to look; where watching is not possible, looking every second takes its place.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant, SystemTime};

use notify::{Config, Event, EventKind, EventKindMask, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::Documents;
use crate::base::lock::{lock, read, write};

/// How long to wait after a change for the rest of it. Milliseconds. An editor's save is several steps.
const DEBOUNCE_MS: u64 = 20;

/// How long to gather new documents before they are watched. Milliseconds. Until then each use of one looks at it.
const GATHER_MS: u64 = 100;

/// How often to look when the system does not let us watch. Milliseconds.
const POLL_MS: u64 = 1000;

/// How often to try again to watch. Seconds.
const RETRY_SECONDS: u64 = 60;

/// How changes are noticed, for status.
#[derive(Debug, Clone, Default)]
pub(crate) struct WatchMode {
    /// Why looking every second takes the place of watching, if it does.
    trouble: Arc<Mutex<Option<String>>>,
}

impl WatchMode {
    fn set(&self, trouble: Option<String>) {
        let mut known = lock(&self.trouble);
        match (&trouble, known.is_some()) {
            (Some(cause), false) => {
                tracing::warn!(%cause, "cannot watch for changes; looking every second instead")
            }
            (None, true) => tracing::info!("watching for changes again"),
            _ => {}
        }
        *known = trouble;
    }

    /// For people: `watching`, or `polling` and why.
    pub(crate) fn describe(&self) -> String {
        match &*lock(&self.trouble) {
            None => "watching".to_owned(),
            Some(cause) => format!("polling every second: {cause}"),
        }
    }
}

/// The folders and names that matter, shared with the watcher's thread.
type Interest = Arc<RwLock<HashSet<PathBuf>>>;

/// How much a thread that compiles documents gives way to those that run events (nice(2)): on two cores the events of
/// that moment are then not the slowest of all. It still gets a tenth of a core that is busy.
#[cfg(target_os = "linux")]
const GIVE_WAY: i32 = 10;

/// Does work that no request waits for, on a thread of its own that gives way to events; false when it has panicked.
async fn aside(work: impl Fn() + Send + Clone + 'static) -> bool {
    let (ended, end) = tokio::sync::oneshot::channel();
    // Processes that are retired are waited for by tasks.
    let (working, runtime) = (work.clone(), tokio::runtime::Handle::current());
    let started = std::thread::Builder::new().name("documents".to_owned()).spawn(move || {
        // Nice is of a thread on Linux, and can be raised by everybody. Elsewhere it is of the process.
        #[cfg(target_os = "linux")]
        let _ = hooksd_system::lower_priority(GIVE_WAY);
        let _entered = runtime.enter();
        working();
        let _ = ended.send(());
    });
    match started {
        Ok(_) => end.await.is_ok(),
        // Threads run short: one that is there already does it.
        Err(_) => tokio::task::spawn_blocking(work).await.is_ok(),
    }
}

/// Watches the documents until `stop`, calling `changed` on a blocking thread whenever something has changed.
pub(crate) async fn run(
    documents: Arc<Documents>,
    mode: WatchMode,
    poll: bool,
    stop: CancellationToken,
    changed: impl Fn() + Send + Sync + Clone + 'static,
) {
    let heard = Arc::new(Notify::new());
    let mut folders = Folders::new(heard.clone());
    loop {
        mode.set(if poll {
            Some("as asked for".to_owned())
        } else {
            folders.watch(wanted(&documents.paths()))
        });
        let polling = (poll || folders.trouble()).then(|| Instant::now() + Duration::from_millis(POLL_MS));
        let next = [documents.look_again(), polling, folders.retry()].into_iter().flatten().min();
        let timer = async {
            match next {
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = heard.notified() => tokio::time::sleep(Duration::from_millis(DEBOUNCE_MS)).await,
            () = documents.found.notified() => {}
            () = documents.added.notified() => {
                // Many sessions may open at once: one round for all of them.
                tokio::time::sleep(Duration::from_millis(GATHER_MS)).await;
                continue;
            }
            () = timer => {}
        }
        let (documents, changed) = (documents.clone(), changed.clone());
        let look = move || {
            if documents.refresh() {
                changed();
            }
        };
        if !aside(look).await {
            tracing::error!("looking at documents was lost");
        }
    }
}

/// What to watch and what to hear of.
#[derive(Debug, Default)]
struct Wanted {
    /// The folders, and whether a document stands in it: such a one must be watched.
    folders: HashMap<PathBuf, bool>,
    /// The names in them that lead to a document.
    names: HashSet<PathBuf>,
}

/// The most links that lead from a name to a file. Links (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// Whatever the way to a document leads over: each folder and each link, as one of them may be replaced.
fn wanted(paths: &[PathBuf]) -> Wanted {
    let mut wanted = Wanted::default();
    for path in paths {
        let names = way(path);
        for name in &names {
            if let Some(folder) = name.parent() {
                wanted.folders.entry(folder.to_owned()).or_default();
            }
        }
        let ends = [Some(path.as_path()), names.last().map(PathBuf::as_path)].into_iter().flatten();
        for folder in ends.filter_map(Path::parent) {
            wanted.folders.insert(folder.to_owned(), true);
        }
        wanted.names.extend(names);
    }
    wanted
}

/// Every name that the system looks up on the way to `path`, links followed, as far as it gets.
fn way(path: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    let mut at = PathBuf::from("/");
    let mut left: VecDeque<OsString> = path.components().map(|part| part.as_os_str().to_owned()).collect();
    let mut links = 0;
    while let Some(part) = left.pop_front() {
        match Path::new(&part).components().next() {
            Some(Component::RootDir) => at = PathBuf::from("/"),
            Some(Component::ParentDir) => {
                at.pop();
            }
            Some(Component::Normal(_)) => {
                let name = at.join(&part);
                names.push(name.clone());
                match fs::read_link(&name) {
                    Ok(target) if links < MAX_LINKS => {
                        links += 1;
                        for part in target.components().rev() {
                            left.push_front(part.as_os_str().to_owned());
                        }
                    }
                    _ => at = name,
                }
            }
            _ => {}
        }
    }
    names
}

/// The watched folders. A folder that was replaced by another of the same name is watched anew.
struct Folders {
    heard: Arc<Notify>,
    interest: Interest,
    watchers: Option<Watchers>,
    /// Each with whether a document stands in it.
    watched: HashMap<PathBuf, (Identity, bool)>,
    trouble: Option<(String, Instant)>,
}

/// Two, because the kernel is told what to say of a folder: somebody who writes into a file of a folder that is only
/// passed through, as a home or /tmp, must not wake the daemon at every write.
struct Watchers {
    /// Hears of names only.
    ways: RecommendedWatcher,
    /// Hears of what is written as well.
    documents: RecommendedWatcher,
}

impl Watchers {
    fn new(heard: &Arc<Notify>, interest: &Interest) -> notify::Result<Watchers> {
        let names = EventKindMask::CREATE
            | EventKindMask::REMOVE
            | EventKindMask::MODIFY_NAME
            | EventKindMask::MODIFY_META;
        Ok(Watchers {
            ways: new_watcher(names, heard.clone(), interest.clone())?,
            documents: new_watcher(names | EventKindMask::MODIFY_DATA, heard.clone(), interest.clone())?,
        })
    }

    fn of(&mut self, document: bool) -> &mut RecommendedWatcher {
        if document { &mut self.documents } else { &mut self.ways }
    }
}

impl Folders {
    fn new(heard: Arc<Notify>) -> Folders {
        Folders {
            heard,
            interest: Interest::default(),
            watchers: None,
            watched: HashMap::new(),
            trouble: None,
        }
    }

    fn trouble(&self) -> bool {
        self.trouble.is_some()
    }

    fn retry(&self) -> Option<Instant> {
        self.trouble.as_ref().map(|(_, since)| *since + Duration::from_secs(RETRY_SECONDS))
    }

    /// Watches exactly these folders. Says why if that is not possible.
    fn watch(&mut self, wanted: Wanted) -> Option<String> {
        if let Some((cause, since)) = &self.trouble
            && since.elapsed() < Duration::from_secs(RETRY_SECONDS)
        {
            return Some(cause.clone());
        }
        *write(&self.interest) = wanted.names;
        self.trouble = self.try_watch(&wanted.folders).err().map(|error| (explain(&error), Instant::now()));
        if self.trouble.is_some() {
            self.watchers = None;
            self.watched.clear();
        }
        self.trouble.as_ref().map(|(cause, _)| cause.clone())
    }

    fn try_watch(&mut self, wanted: &HashMap<PathBuf, bool>) -> notify::Result<()> {
        #[cfg(feature = "failpoints")]
        fail::fail_point!("watch", |_| Err(notify::Error::generic("failpoint")));
        let watchers = match &mut self.watchers {
            Some(watchers) => watchers,
            none => none.insert(Watchers::new(&self.heard, &self.interest)?),
        };
        let gone: Vec<(PathBuf, bool)> = self
            .watched
            .iter()
            .filter(|(folder, (identity, needed))| {
                wanted.get(*folder) != Some(needed) || identity_of(folder) != Some(*identity)
            })
            .map(|(folder, (_, needed))| (folder.clone(), *needed))
            .collect();
        for (folder, needed) in gone {
            self.watched.remove(&folder);
            // Fails when the folder is gone already, which is as good.
            let _ = watchers.of(needed).unwatch(&folder);
        }
        for (folder, needed) in wanted {
            if self.watched.contains_key(folder) {
                continue;
            }
            let Some(identity) = identity_of(folder) else { continue };
            match watchers.of(*needed).watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(folder.clone(), (identity, *needed));
                    // Something may have happened before the watch was there.
                    self.heard.notify_one();
                }
                // Gone between the look and the watch: the folder above will tell.
                Err(error) if matches!(error.kind, notify::ErrorKind::PathNotFound) => {}
                // A folder further up that may be passed through but not read, as /home often is.
                Err(error) if !needed && is_forbidden(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// A folder and not another of the same name. The inode's number alone does not tell: it is given again at once.
type Identity = (u64, u64, Option<SystemTime>);

fn identity_of(folder: &Path) -> Option<Identity> {
    fs::metadata(folder).ok().map(|data| (data.dev(), data.ino(), data.created().ok()))
}

fn new_watcher(
    kinds: EventKindMask,
    heard: Arc<Notify>,
    interest: Interest,
) -> notify::Result<RecommendedWatcher> {
    let hear = move |event: notify::Result<Event>| {
        let matters = match &event {
            // Our own reads are no changes.
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => false,
            Ok(event) => {
                let interest = read(&interest);
                event.paths.is_empty() || event.paths.iter().any(|path| interest.contains(path))
            }
            // Events were lost: look.
            Err(_) => true,
        };
        if matters {
            heard.notify_one();
        }
    };
    RecommendedWatcher::new(hear, Config::default().with_event_kinds(kinds))
}

fn is_forbidden(error: &notify::Error) -> bool {
    matches!(&error.kind, notify::ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::PermissionDenied)
}

/// The real cause, not "no space left on device" (B63).
fn explain(error: &notify::Error) -> String {
    const ENOSPC: i32 = 28;
    const EMFILE: i32 = 24;
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "the system's limit of watches is reached (fs.inotify.max_user_watches)".to_owned()
        }
        notify::ErrorKind::Io(io) if io.raw_os_error() == Some(ENOSPC) => {
            "the system's limit of watches is reached (fs.inotify.max_user_watches)".to_owned()
        }
        notify::ErrorKind::Io(io) if io.raw_os_error() == Some(EMFILE) => {
            "the system's limit of watchers is reached (fs.inotify.max_user_instances), or of open files"
                .to_owned()
        }
        _ => error.to_string(),
    }
}
