//! A signal that ends the run: nothing more is begun, what runs comes to its end, and what was laid out is taken away.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::failure::Failure;

/// How long a wait lasts before it is asked whether a signal has come. Milliseconds.
pub(crate) const LOOK: Duration = Duration::from_millis(100);

/// What signals have told.
#[derive(Debug, Clone)]
pub(crate) struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// Listens to the signals that end a program, from now on and to its end.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn listen() -> std::io::Result<Stop> {
        let told = Arc::new(AtomicUsize::new(0));
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            let number = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, told.clone(), number)?;
        }
        Ok(Stop(told))
    }

    /// The signal that has come, if one has.
    pub(crate) fn signal(&self) -> Option<u8> {
        u8::try_from(self.0.load(Ordering::Relaxed)).ok().filter(|signal| *signal > 0)
    }

    /// Goes on unless a signal has come.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.signal().map_or(Ok(()), |signal| Err(Failure::Stopped(signal)))
    }
}
