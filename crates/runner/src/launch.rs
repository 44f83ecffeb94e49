//! From a job to a running child: folder, program, pipes, spawn, and patience where patience helps.
//!
//! Guarantees: a shortage of descriptors, processes or memory and a program file that is just being saved
//! delay the handler within its own time (D5, B53); whatever else goes wrong is `LaunchFailed` with one line
//! that names the culprit; nothing is left behind by a launch that failed.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hooksd_protocol::outcome::End;
use nix::errno::Errno;
use nix::unistd::Pid;
use tokio_util::sync::CancellationToken;

use crate::child::Child;
use crate::clean;
use crate::environment::Mark;
use crate::exec_strings::{ExecStrings, search_path};
use crate::family::Birth;
use crate::job::Job;
use crate::limits::{
    LONGEST_TIMEOUT, SHORTAGE_FIRST, SHORTAGE_MOST, TEXT_BUSY_MOST, TEXT_BUSY_STEP, TEXT_BUSY_TRIES,
};
use crate::locate::{Found, can_enter, choose_folder, program};
use crate::obstacle::{Obstacle, explain, is_shortage};
use crate::pipes;
use crate::rlimits;
use crate::slots::Place;
use crate::spawn::{Plan, own_umask, spawn, spawn_with_umask};
use crate::stream::{Drain, Feed};

/// A child and the daemon's ends of its pipes.
#[derive(Debug)]
pub(crate) struct Launched {
    pub(crate) child: Child,
    pub(crate) stdin: Feed,
    pub(crate) stdout: Drain,
    pub(crate) stderr: Drain,
    /// The folder it runs in, if that is not the one asked for.
    pub(crate) ran_in_instead: Option<String>,
    /// Just before the spawn.
    pub(crate) started: Instant,
    /// How long the spawn took.
    pub(crate) spawn: Duration,
}

/// What becomes of the daemon's end of stdin.
pub(crate) type MakeFeed = fn(OwnedFd, Arc<[u8]>) -> io::Result<Feed>;

/// Starts processes, and counts those that are not yet reaped.
#[derive(Debug)]
pub(crate) struct Launcher {
    /// Children started and not yet reaped.
    children: Arc<AtomicUsize>,
    /// The daemon's own file mode mask, if the system says: a job that asks for it needs nothing special.
    umask: Option<u32>,
}

impl Launcher {
    /// Without children. Sees to it that their exit statuses are kept, and that what is left of them is found.
    pub(crate) fn new() -> Launcher {
        hooksd_system::keep_exit_statuses();
        clean::start();
        Launcher { children: Arc::default(), umask: own_umask() }
    }

    /// Children started and not yet reaped.
    pub(crate) fn children(&self) -> usize {
        self.children.load(Ordering::Acquire)
    }

    /// Starts the handler, trying again as long as that makes sense.
    pub(crate) async fn launch(
        &self,
        job: &Job,
        place: &Arc<Place>,
        cancel: &CancellationToken,
    ) -> Result<Launched, End> {
        self.launch_with(Feed::new, job, Some(place), cancel).await
    }

    /// The same, with stdin treated in this way. A process that waits for events has no place: those that it serves do.
    pub(crate) async fn launch_with(
        &self,
        feed: MakeFeed,
        job: &Job,
        place: Option<&Arc<Place>>,
        cancel: &CancellationToken,
    ) -> Result<Launched, End> {
        if let Some(end) = job.refusal(cancel) {
            return Err(end);
        }
        let begun = Instant::now();
        let mark = Mark::new();
        let strings = ExecStrings::new(job, &mark).map_err(|message| End::LaunchFailed { message })?;
        let end = begun + job.timeout.min(LONGEST_TIMEOUT);
        let until = job.template.deadline.map_or(end, |deadline| deadline.min(end));
        let mut patience = Patience { until, tries: 0, texts_busy: 0 };
        loop {
            let launched = attempt(feed, job, &strings, self.umask, |pid, birth| {
                Child::new(pid, birth, mark.clone(), &self.children, place.cloned())
            });
            let obstacle = match launched {
                Ok(launched) => return Ok(launched),
                Err(obstacle) => obstacle,
            };
            let Some(pause) = patience.with(&obstacle, job.template.fallback_cwds.len()) else {
                return Err(End::LaunchFailed {
                    message: explain(&obstacle, job, &strings, begun.elapsed()),
                });
            };
            tracing::debug!(?obstacle, ?pause, "handler not started yet");
            tokio::select! {
                () = cancel.cancelled() => return Err(End::Cancelled),
                () = tokio::time::sleep(pause) => {}
            }
        }
    }
}

/// How long and how often to try again.
struct Patience {
    until: Instant,
    tries: u32,
    texts_busy: u32,
}

impl Patience {
    /// The pause before the next attempt; none if there is no point in one.
    fn with(&mut self, obstacle: &Obstacle, fallbacks: usize) -> Option<Duration> {
        let pause = match obstacle {
            // Each time one folder fewer is left.
            Obstacle::FolderVanished if self.tries as usize <= fallbacks => Duration::ZERO,
            Obstacle::Spawn(Errno::ETXTBSY, _) if self.texts_busy < TEXT_BUSY_TRIES => {
                self.texts_busy += 1;
                (TEXT_BUSY_STEP * self.texts_busy).min(TEXT_BUSY_MOST)
            }
            Obstacle::Pipes(errno) | Obstacle::Spawn(errno, _) if is_shortage(*errno) => {
                (SHORTAGE_FIRST * 2_u32.saturating_pow(self.tries.min(16))).min(SHORTAGE_MOST)
            }
            _ => return None,
        };
        self.tries += 1;
        (Instant::now() + pause < self.until).then_some(pause)
    }
}

/// One attempt. Does not wait; a spawn holds the thread until the child has executed its program.
fn attempt(
    feed: MakeFeed,
    job: &Job,
    strings: &ExecStrings<'_>,
    own_umask: Option<u32>,
    child: impl Fn(Pid, Birth) -> Child,
) -> Result<Launched, Obstacle> {
    #[cfg(feature = "failpoints")]
    fail::fail_point!("spawn", |_| Err(Obstacle::Spawn(Errno::EAGAIN, Path::new("failpoint").to_owned())));
    let (folder, is_fallback) = choose_folder(job).ok_or(Obstacle::NoFolder)?;
    let candidates = match program(&strings.name, search_path(job), folder) {
        Found::Here(candidates) => candidates,
        Found::Denied(file) => return Err(Obstacle::Denied(folder.join(file))),
        Found::Nowhere => return Err(Obstacle::NotFound),
    };
    let stdin = pipes::to_child().map_err(Obstacle::Pipes)?;
    let stdout = pipes::from_child().map_err(Obstacle::Pipes)?;
    let stderr = pipes::from_child().map_err(Obstacle::Pipes)?;
    let feed = feed(stdin.ours, job.stdin.clone()).map_err(pipe_error)?;
    let out = Drain::new(stdout.ours, job.template.output_cap).map_err(pipe_error)?;
    let err = Drain::new(stderr.ours, job.template.output_cap).map_err(pipe_error)?;

    let umask = job.template.umask.filter(|mask| own_umask != Some(*mask));
    let envp = strings.envp();
    let folder_text = c_path(folder).ok_or(Obstacle::NoFolder)?;
    let standard = [stdin.theirs.as_fd(), stdout.theirs.as_fd(), stderr.theirs.as_fd()];
    let started = Instant::now();
    let mut obstacle = Obstacle::NotFound;
    for candidate in &candidates {
        let Some(file) = c_path(candidate) else { continue };
        let plan = Plan { program: &file, argv: &strings.argv, envp: &envp, folder: &folder_text, standard };
        let birth = Birth::announce();
        match umask.map_or_else(|| spawn(plan), |mask| spawn_with_umask(plan, mask)) {
            Ok(pid) => {
                rlimits::set(pid, &job.template.rlimits);
                // Before anything else: from here on somebody has to answer for the process. The handler's
                // ends go first, so that a daemon short of descriptors has one for the child.
                drop((stdin.theirs, stdout.theirs, stderr.theirs));
                return Ok(Launched {
                    child: child(pid, birth),
                    stdin: feed,
                    stdout: out,
                    stderr: err,
                    ran_in_instead: is_fallback.then(|| folder.to_string_lossy().into_owned()),
                    started,
                    spawn: started.elapsed(),
                });
            }
            Err(errno) => obstacle = Obstacle::Spawn(errno, folder.join(candidate)),
        }
        // As execvp: an interpreter that is missing sends the search on, anything else ends it.
        if !matches!(obstacle, Obstacle::Spawn(Errno::ENOENT | Errno::ENOTDIR, _)) {
            break;
        }
    }
    let blames_folder =
        matches!(obstacle, Obstacle::Spawn(Errno::ENOENT | Errno::ENOTDIR | Errno::EACCES, _));
    Err(if blames_folder && !can_enter(folder) { Obstacle::FolderVanished } else { obstacle })
}

fn c_path(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}

fn pipe_error(error: io::Error) -> Obstacle {
    Obstacle::Pipes(error.raw_os_error().map(Errno::from_raw).unwrap_or(Errno::EIO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn patience(timeout: Duration) -> Patience {
        Patience { until: Instant::now() + timeout, tries: 0, texts_busy: 0 }
    }

    /// The pauses until it gives up, at most 30.
    fn pauses(mut patience: Patience, obstacle: &Obstacle) -> Vec<u64> {
        std::iter::from_fn(|| patience.with(obstacle, 1)).take(30).map(|p| p.as_millis() as u64).collect()
    }

    #[test]
    fn shortage_is_waited_for_within_the_handlers_time() {
        let shortage = Obstacle::Pipes(Errno::EMFILE);
        let long = pauses(patience(Duration::from_secs(60)), &shortage);
        assert_eq!(long[..8], [10, 20, 40, 80, 160, 250, 250, 250]);
        assert_eq!(long.len(), 30);
        assert_eq!(pauses(patience(Duration::ZERO), &shortage), [0_u64; 0]);
    }

    #[test]
    fn a_busy_program_file_is_tried_a_few_times() {
        let busy = Obstacle::Spawn(Errno::ETXTBSY, PathBuf::new());
        let pauses = pauses(patience(Duration::from_secs(60)), &busy);
        assert_eq!(pauses, [10, 20, 30, 40, 50, 50, 50, 50, 50, 50]);
    }

    #[test]
    fn what_does_not_change_is_not_tried_again() {
        for obstacle in [
            Obstacle::NoFolder,
            Obstacle::NotFound,
            Obstacle::Denied(PathBuf::new()),
            Obstacle::Spawn(Errno::ENOENT, PathBuf::new()),
            Obstacle::Spawn(Errno::E2BIG, PathBuf::new()),
        ] {
            assert_eq!(pauses(patience(Duration::from_secs(60)), &obstacle), [0_u64; 0], "{obstacle:?}");
        }
        assert_eq!(pauses(patience(Duration::from_secs(60)), &Obstacle::FolderVanished), [0, 0]);
    }
}
