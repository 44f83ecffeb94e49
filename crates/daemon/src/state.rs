//! What all connections share: handles to the daemon's parts, and nothing that any of them does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::Instant;

use hooksd_runner::warm::Warm;
use hooksd_runner::{Bounds, Runner};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::base::background::BackgroundPlaces;
use crate::base::budget::MemoryBudget;
use crate::base::gate::Gate;
use crate::base::partial_lines::PartialLineBudget;
use crate::base::running::RunningEvents;
use crate::base::settings::Settings;
use crate::base::stop::StopSignals;
use crate::documents::Documents;
use crate::documents::watch::WatchMode;
use crate::journal::writer::Journal;
use crate::observe::feed::Feed;
use crate::observe::stats::Stats;
use crate::sessions::continuations::Continuations;
use crate::sessions::delivery::DeliveryCache;
use crate::sessions::inline::OpeningCache;
use crate::sessions::registry::Sessions;
use crate::sessions::told::ToldOnce;

/// The daemon's parts.
pub(crate) struct Daemon {
    /// What the daemon was told when it started.
    pub(crate) settings: Arc<Settings>,
    /// Starts handlers, within the limits of this process.
    pub(crate) runner: Runner,
    /// Places for commands that nobody waits for (D32).
    pub(crate) background: BackgroundPlaces,
    /// The processes that wait for events, or stay between them (D9).
    pub(crate) warm: Warm,
    /// The open sessions.
    pub(crate) sessions: Sessions,
    /// What was read of the sessions that came with requests last.
    pub(crate) openings: OpeningCache,
    /// The documents in use, and what was compiled of them.
    pub(crate) documents: Arc<Documents>,
    /// How changes of documents are noticed.
    pub(crate) watch_mode: WatchMode,
    /// What subscribers hear.
    pub(crate) feed: Arc<Feed>,
    /// How often, how long, and how events and handlers ended.
    pub(crate) stats: Stats,
    /// Where records of events go.
    pub(crate) journal: Journal,
    /// The answers to events that bring their session with them, for repetitions.
    pub(crate) deliveries: Arc<DeliveryCache>,
    /// How often hooks made agents go on, where events do not say (D33).
    pub(crate) continuations: Continuations,
    /// What conversations behind a bridge were told of their documents.
    pub(crate) told: ToldOnce,
    /// The running events by invocation id.
    pub(crate) running: Arc<RunningEvents>,
    /// The running events as tasks. They outlive the connection they came by, if they must (D11).
    pub(crate) events: TaskTracker,
    /// The steps of the daemon's end.
    pub(crate) stop: StopSignals,
    /// When the daemon started.
    pub(crate) started: Instant,
    /// Open connections.
    pub(crate) connections: AtomicUsize,
    /// How many connections there may be.
    pub(crate) gate: Gate,
    /// The memory that the requests of all connections may hold.
    pub(crate) request_memory: MemoryBudget,
    /// The memory that unfinished lines may hold.
    pub(crate) partial_lines: Arc<PartialLineBudget>,
    /// Connections since the start; each takes its number from here.
    pub(crate) connections_begun: AtomicU64,
    /// Events answered since the start.
    pub(crate) answered: AtomicU64,
}

impl Daemon {
    /// All parts, made for these settings; the tokens stop the daemon, and cut what runs then.
    pub(crate) fn new(settings: Settings, stopping: CancellationToken, killing: CancellationToken) -> Daemon {
        let feed = Arc::new(Feed::new(settings.journal.enabled));
        let journal = Journal::start(&settings.config_dir, &settings.journal, feed.clone());
        let bounds = Bounds::of_this_process().at_most(settings.max_handlers.unwrap_or(usize::MAX));
        let runner = Runner::with_bounds(bounds);
        Daemon {
            warm: Warm::new(settings.warm.clone()),
            background: BackgroundPlaces::beside(runner.places()),
            runner,
            gate: Gate::of_this_process(settings.max_connections),
            stop: StopSignals::new(stopping, killing, settings.drain),
            settings: Arc::new(settings),
            sessions: Sessions::new(feed.clone()),
            openings: OpeningCache::default(),
            feed,
            stats: Stats::default(),
            journal,
            documents: Arc::default(),
            watch_mode: WatchMode::default(),
            deliveries: Arc::default(),
            continuations: Continuations::default(),
            told: ToldOnce::default(),
            running: Arc::default(),
            events: TaskTracker::new(),
            started: Instant::now(),
            connections: AtomicUsize::new(0),
            request_memory: MemoryBudget::of_all_requests(),
            partial_lines: Arc::default(),
            connections_begun: AtomicU64::new(0),
            answered: AtomicU64::new(0),
        }
    }
}
