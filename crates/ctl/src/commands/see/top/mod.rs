//! `hooksctl top`: what the daemon does right now.
//!
//! Guarantee: however it ends (q, ctrl-c, a signal, the daemon's end), the terminal is as it was.

mod screen;
mod view;

use std::collections::{HashMap, VecDeque};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use hooksd_client::blocking::Client;
use hooksd_client::{ClientError, Notification};
use hooksd_protocol::methods::{
    ClientInfo, DaemonStats, EventsDropped, EventsItem, EventsSubscribe, EventsSubscribed, Initialize,
    Initialized, ItemBody, ItemKind, NoParams, SessionList,
};
use hooksd_protocol::outcome::EventOutcome;
use hooksd_protocol::timestamp::Timestamp;

use self::screen::Screen;
use self::view::{Minute, RunningHandler, Snapshot};
use crate::arguments::{Arguments, Top};
use crate::connect::connect;
use crate::failure::Failure;
use crate::print::{Printer, width};

/// How often the screen is drawn anew. Milliseconds.
const REDRAW_MS: u64 = 1000;

/// How long a wait for the daemon lasts before keys and signals are looked at. Milliseconds.
const LOOK_MS: u64 = 100;

/// How long no item comes before all that the daemon remembers has come. Milliseconds.
const QUIET_MS: u64 = 200;

/// How long that is waited for at most. Milliseconds.
const CATCH_UP_MS: u64 = 2000;

/// What is counted for "a minute". Microseconds.
const MINUTE_US: i64 = 60_000_000;

/// Decisions that are remembered for it. Decisions. Older ones are forgotten first.
const MOST_DECISIONS: usize = 100_000;

/// Handlers that are followed at once. Handlers. More are counted by the daemon and not listed.
const MOST_RUNNING: usize = 10_000;

pub(crate) fn run(arguments: &Arguments, wanted: &Top, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let mut client = connect(arguments)?;
    let mut seen = StreamState::subscribe(&mut client)?;
    let is_live = !wanted.once && !printer.is_json() && Screen::is_possible();
    if !is_live {
        let snapshot = seen.snapshot(&mut client)?;
        return printer.result(&snapshot, |lines| lines.extend(view::lines(&snapshot, width(), usize::MAX)));
    }
    let mut screen = Screen::enter()?;
    loop {
        let snapshot = seen.snapshot(&mut client)?;
        screen.draw(&snapshot)?;
        let next = Instant::now() + Duration::from_millis(REDRAW_MS);
        while Instant::now() < next {
            if screen.is_to_end() {
                return Ok(ExitCode::SUCCESS);
            }
            seen.hear(&mut client, Duration::from_millis(LOOK_MS))?;
        }
    }
}

/// What the stream has told.
#[derive(Default)]
struct StreamState {
    /// By invocation and handler.
    running: HashMap<(String, String), RunningHandler>,
    /// When, in microseconds since 1970, and whether denied; oldest first.
    decisions: VecDeque<(i64, bool)>,
}

impl StreamState {
    /// Listens, and takes in what the daemon remembers.
    fn subscribe(client: &mut Client) -> Result<StreamState, Failure> {
        let own = ClientInfo {
            name: "hooksctl".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            observer: true,
        };
        let _: Initialized =
            client.call("initialize", &Initialize { client: Some(own), protocol_version: None })?;
        let wanted = EventsSubscribe {
            kinds: Some(vec![ItemKind::Handler, ItemKind::Decision]),
            since: Some(0),
            ..EventsSubscribe::default()
        };
        let begun: EventsSubscribed = client.call("events/subscribe", &wanted)?;
        let mut seen = StreamState::default();
        let until = Instant::now() + Duration::from_millis(CATCH_UP_MS);
        while Instant::now() < until {
            match seen.hear(client, Duration::from_millis(QUIET_MS))? {
                Some(last) if last < begun.seq => {}
                _ => break,
            }
        }
        Ok(seen)
    }

    /// Takes in the next item, if one comes in time; the number it had, 0 for what is no item.
    fn hear(&mut self, client: &mut Client, patience: Duration) -> Result<Option<u64>, Failure> {
        let Notification { method, params } = match client.wait_for_notification(patience) {
            Ok(notification) => notification,
            Err(ClientError::TimedOut(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        match method.as_str() {
            "events/item" => {
                let item: EventsItem = serde_json::from_str(&params).map_err(|error| {
                    Failure::Client(ClientError::BadAnswer(format!("an item cannot be read: {error}")))
                })?;
                let seq = item.seq;
                self.take(item);
                Ok(Some(seq))
            }
            "events/gap" => {
                // The end of a handler may be among what is missing.
                self.running.clear();
                Ok(Some(0))
            }
            "events/dropped" => {
                let reason = serde_json::from_str(&params).map_or(params, |told: EventsDropped| told.reason);
                let message = format!("the daemon has ended the subscription: {reason}");
                Err(Failure::Client(ClientError::BadAnswer(message)))
            }
            _ => Ok(Some(0)),
        }
    }

    fn take(&mut self, item: EventsItem) {
        let time = Timestamp::parse(&item.time).map_or(0, |time| time.micros());
        let invocation = item.invocation_id.map(|id| id.to_string()).unwrap_or_default();
        match item.body {
            ItemBody::Handler { active: true, .. } if self.running.len() >= MOST_RUNNING => {}
            ItemBody::Handler { handler_id, active: true, message, .. } => {
                let running = RunningHandler {
                    handler: handler_id.clone(),
                    event: item.event.unwrap_or_default(),
                    session: item.session.unwrap_or_default(),
                    since_us: time,
                    running_ms: 0,
                    message,
                };
                self.running.insert((invocation, handler_id), running);
            }
            ItemBody::Handler { handler_id, .. } => {
                self.running.remove(&(invocation, handler_id));
            }
            ItemBody::Decision { outcome, .. } => {
                // Also those whose end was not told: a handler that was cut off with its event.
                self.running.retain(|(of, _), _| *of != invocation);
                self.decisions.push_back((time, outcome == EventOutcome::Deny));
                if self.decisions.len() > MOST_DECISIONS {
                    self.decisions.pop_front();
                }
            }
            _ => {}
        }
    }

    fn snapshot(&mut self, client: &mut Client) -> Result<Snapshot, Failure> {
        let stats: DaemonStats = client.call("daemon/stats", &NoParams {})?;
        let sessions: SessionList = client.call("session/list", &NoParams {})?;
        // What came while that was asked for.
        while let Some(notification) = client.notification() {
            if notification.method == "events/item"
                && let Ok(item) = serde_json::from_str(&notification.params)
            {
                self.take(item);
            }
        }
        let now = Timestamp::of(SystemTime::now()).micros();
        while self.decisions.front().is_some_and(|(time, _)| *time < now - MINUTE_US) {
            self.decisions.pop_front();
        }
        let denied = self.decisions.iter().filter(|(_, denied)| *denied).count();
        let minute = Minute { events: self.decisions.len(), denied };
        let mut running: Vec<RunningHandler> = self.running.values().cloned().collect();
        for one in &mut running {
            one.running_ms = u64::try_from((now - one.since_us) / 1000).unwrap_or(0);
        }
        running.sort_by(|a, b| (a.since_us, &a.handler).cmp(&(b.since_us, &b.handler)));
        Ok(Snapshot::new(stats, sessions.sessions, running, minute))
    }
}
