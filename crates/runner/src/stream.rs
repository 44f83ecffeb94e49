//! The daemon's ends of a handler's pipes.
//!
//! Guarantees: a handler that does not read its stdin, or closes it early, is no error; of each output stream
//! the first bytes are kept and the rest is counted and thrown away in constant memory; every future here can
//! be dropped at any time without losing a byte.

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use hooksd_protocol::outcome::Captured;
use hooksd_system::watch;
use nix::errno::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::coop::consume_budget;

use crate::limits::{LAST_LOOK, READ_CHUNK};

thread_local! {
    /// Where a thread reads to. Nothing waits while it is borrowed.
    pub(crate) static CHUNK: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_CHUNK]);
}

/// Writes the payload to a handler's stdin.
#[derive(Debug)]
pub(crate) struct Feed {
    /// None once everything is written or nobody reads: stdin is closed.
    pipe: Option<AsyncFd<OwnedFd>>,
    payload: Arc<[u8]>,
    written: usize,
}

impl Feed {
    /// Writes what the pipe takes at once, which is all of most payloads: then stdin is closed before the
    /// handler even starts, and nothing is left to wait for.
    pub(crate) fn new(pipe: OwnedFd, payload: Arc<[u8]>) -> io::Result<Feed> {
        let mut written = 0;
        while let Some(rest) = payload.get(written..).filter(|rest| !rest.is_empty()) {
            match nix::unistd::write(&pipe, rest) {
                Ok(count) => written += count,
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => {
                    let pipe = watch(pipe, Interest::WRITABLE)?;
                    return Ok(Feed { pipe: Some(pipe), payload, written });
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Feed { pipe: None, payload, written })
    }

    /// Keeps stdin open and writes nothing yet: for a process that is started ahead of its payload.
    pub(crate) fn held(pipe: OwnedFd, _payload: Arc<[u8]>) -> io::Result<Feed> {
        let pipe = watch(pipe, Interest::WRITABLE)?;
        Ok(Feed { pipe: Some(pipe), payload: Arc::from([]), written: 0 })
    }

    /// Nothing to write, and nowhere to.
    pub(crate) fn closed() -> Feed {
        Feed { pipe: None, payload: Arc::from([]), written: 0 }
    }

    /// The pipe, for somebody else to write to; `None` when it is closed.
    pub(crate) fn into_pipe(self) -> Option<AsyncFd<OwnedFd>> {
        self.pipe
    }

    /// Whether there is still something to write.
    pub(crate) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Stops writing and closes stdin.
    pub(crate) fn close(&mut self) {
        self.pipe = None;
    }

    /// Writes the rest and closes stdin.
    pub(crate) async fn finish(&mut self) {
        while let Some(pipe) = &self.pipe {
            let Some(rest) = self.payload.get(self.written..).filter(|rest| !rest.is_empty()) else {
                return self.close();
            };
            consume_budget().await;
            let Ok(mut ready) = pipe.writable().await else { return self.close() };
            match ready.try_io(|pipe| nix::unistd::write(pipe, rest).map_err(io::Error::from)) {
                Ok(Ok(count)) => self.written += count,
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                // EPIPE above all: the handler has all it wants.
                Ok(Err(_)) => return self.close(),
                Err(_would_block) => {}
            }
        }
    }
}

/// Reads one output stream of a handler.
#[derive(Debug)]
pub(crate) struct Drain {
    /// None once the stream has ended.
    pipe: Option<AsyncFd<OwnedFd>>,
    kept: Captured,
    cap: usize,
}

impl Drain {
    /// Keeps the first `cap` bytes of the stream.
    pub(crate) fn new(pipe: OwnedFd, cap: usize) -> io::Result<Drain> {
        let pipe = watch(pipe, Interest::READABLE)?;
        Ok(Drain { pipe: Some(pipe), kept: Captured::default(), cap })
    }

    /// Whether the stream has not ended yet.
    pub(crate) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Reads to the end of the stream.
    pub(crate) async fn finish(&mut self) {
        while let Some(pipe) = &self.pipe {
            consume_budget().await;
            let Ok(mut ready) = pipe.readable().await else { return self.pipe = None };
            let kept = &mut self.kept;
            match ready.try_io(|pipe| read_chunk(pipe.get_ref(), kept, self.cap).map_err(io::Error::from)) {
                Ok(Ok(0)) => self.pipe = None,
                Ok(Ok(_)) => {}
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(_)) => self.pipe = None,
                Err(_would_block) => {}
            }
        }
    }

    /// Reads what is in the pipe right now, without waiting: a handler's last words count even if the daemon
    /// was too busy to hear them in time.
    pub(crate) fn last_look(&mut self) {
        let mut read = 0;
        while let Some(pipe) = self.pipe.as_ref().filter(|_| read < LAST_LOOK) {
            match read_chunk(pipe.get_ref(), &mut self.kept, self.cap) {
                Ok(0) => self.pipe = None,
                Ok(count) => read += count,
                Err(Errno::EINTR) => {}
                Err(_) => return,
            }
        }
    }

    /// The pipe, for somebody else to read; `None` at the end of the stream.
    pub(crate) fn into_pipe(self) -> Option<AsyncFd<OwnedFd>> {
        self.pipe
    }

    /// What was kept.
    pub(crate) fn into_captured(self) -> Captured {
        self.kept
    }
}

/// One read; what fits under the cap is kept, all of it is counted.
fn read_chunk(pipe: &OwnedFd, kept: &mut Captured, cap: usize) -> Result<usize, Errno> {
    CHUNK.with_borrow_mut(|chunk| {
        let count = nix::unistd::read(pipe, &mut *chunk)?;
        let room = cap.saturating_sub(kept.bytes.len());
        kept.bytes.extend_from_slice(chunk.get(..count.min(room)).unwrap_or_default());
        kept.total = kept.total.saturating_add(count as u64);
        Ok(count)
    })
}
