//! Whether a handler is fit to be persistent: pure bookkeeping of failures in a row.

use std::time::{Duration, Instant};

use super::limits::{BACKOFF_FIRST, FAILURES_MOST};

/// Failures in a row of one handler.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Health {
    failures: u32,
    /// Not warm before that.
    rests_until: Option<Instant>,
}

/// What a handler may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fitness {
    /// Run warm.
    Fit,
    /// Run per event for now: it has just failed again.
    Resting,
    /// Run per event.
    Unfit,
}

impl Health {
    /// What it may do at this moment.
    pub(crate) fn fitness(&self, now: Instant) -> Fitness {
        if self.failures >= FAILURES_MOST {
            Fitness::Unfit
        } else if self.rests_until.is_some_and(|until| now < until) {
            Fitness::Resting
        } else {
            Fitness::Fit
        }
    }

    /// It has failed. True when it is unfit from now on.
    pub(crate) fn failed(&mut self, now: Instant) -> bool {
        self.failures += 1;
        // One failure is an accident: the next event starts it again at once.
        let pause = match self.failures.checked_sub(2) {
            None => Duration::ZERO,
            Some(doublings) => BACKOFF_FIRST * 2_u32.saturating_pow(doublings.min(16)),
        };
        self.rests_until = Some(now + pause);
        self.failures == FAILURES_MOST
    }

    /// It has answered properly.
    pub(crate) fn succeeded(&mut self) {
        if self.failures < FAILURES_MOST {
            *self = Health::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_failures_in_a_row_end_it_and_one_success_in_between_does_not() {
        let now = Instant::now();
        let mut health = Health::default();
        for _ in 0..FAILURES_MOST - 1 {
            assert!(!health.failed(now));
        }
        health.succeeded();
        assert_eq!(health.fitness(now), Fitness::Fit);
        let fell: Vec<bool> = (0..FAILURES_MOST + 1).map(|_| health.failed(now)).collect();
        assert_eq!(fell, [false, false, false, false, true, false]);
        health.succeeded();
        assert_eq!(health.fitness(now + Duration::from_secs(1000)), Fitness::Unfit);
    }

    #[test]
    fn pauses_double_from_the_second_failure_on() {
        let now = Instant::now();
        let mut health = Health::default();
        for pause in [0, 100, 200, 400] {
            health.failed(now);
            let pause = Duration::from_millis(pause);
            assert_eq!(health.fitness(now + pause), Fitness::Fit);
            if !pause.is_zero() {
                assert_eq!(health.fitness(now + pause - Duration::from_millis(1)), Fitness::Resting);
            }
        }
    }
}
