//! Durations, by turns, to percentiles and a ratio.

use std::time::{Duration, Instant};

use anyhow::Result;

/// Samples of one side, one list a round.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    rounds: Vec<Vec<Duration>>,
}

impl Samples {
    /// Adds a round.
    pub(crate) fn push(&mut self, round: Vec<Duration>) {
        self.rounds.push(round);
    }

    /// A percentile of all samples.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        percentile(self.rounds.iter().flatten().copied().collect(), percent)
    }

    fn medians(&self) -> impl Iterator<Item = f64> {
        self.rounds.iter().map(|round| percentile(round.clone(), 50).as_secs_f64())
    }
}

fn percentile(mut all: Vec<Duration>, percent: usize) -> Duration {
    all.sort_unstable();
    let last = all.len().saturating_sub(1);
    all.get(last * percent / 100).copied().unwrap_or_default()
}

/// The median of some numbers.
pub(crate) fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The median of the ratios of the rounds.
pub(crate) fn ratio(ours: &Samples, floor: &Samples) -> f64 {
    median(ours.medians().zip(floor.medians()).map(|(ours, floor)| ours / floor).collect())
}

/// Something to be timed. What it returns is the time, so that preparations need not count.
pub(crate) type Trip<'a> = &'a mut dyn FnMut() -> Result<Duration>;

/// Times each side `count` times a round, by turns. One round more warms up.
pub(crate) fn by_turns<const N: usize>(
    rounds: usize,
    count: usize,
    mut sides: [Trip<'_>; N],
) -> Result<[Samples; N]> {
    let mut samples: [Samples; N] = std::array::from_fn(|_| Samples::default());
    for round in 0..=rounds {
        for (side, samples) in sides.iter_mut().zip(&mut samples) {
            let count = if round == 0 { count.div_ceil(4) } else { count };
            let times = (0..count).map(|_| side()).collect::<Result<Vec<_>>>()?;
            if round > 0 {
                samples.rounds.push(times);
            }
        }
    }
    Ok(samples)
}

/// Times a piece of work.
pub(crate) fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_the_median_over_rounds_and_the_first_round_does_not_count() {
        let (mut ours, mut floor) = ([1_u64, 30, 20, 90].into_iter(), [1_u64, 10, 10, 10].into_iter());
        let next = |times: &mut dyn Iterator<Item = u64>| {
            Ok(Duration::from_millis(times.next().unwrap_or_default()))
        };
        let [ours, floor] = by_turns(3, 1, [&mut || next(&mut ours), &mut || next(&mut floor)]).unwrap();
        assert!((ratio(&ours, &floor) - 3.0).abs() < 1e-9);
        assert_eq!(ours.percentile(99), Duration::from_millis(30));
        assert_eq!(floor.percentile(50), Duration::from_millis(10));
    }
}
