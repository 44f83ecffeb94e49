//! Turns seconds that people have written into a `Duration`, without a panic for any number (B33).

use std::time::Duration;

/// The longest time to wait for anything that has no other bound. Seconds. It is ten years: longer than any session,
/// and short enough to be added to an instant without an overflow.
pub const LONGEST_SECONDS: f64 = 315_360_000.0;

/// The duration of this many seconds, from 0 to [`LONGEST_SECONDS`]. A number outside becomes the nearer of the two,
/// and NaN 0.
#[must_use]
pub fn to_duration(seconds: f64) -> Duration {
    let clamped = if seconds.is_nan() { 0.0 } else { seconds.clamp(0.0, LONGEST_SECONDS) };
    let whole = clamped.trunc();
    let nanos = ((clamped - whole) * 1e9) as u32;
    Duration::new(whole as u64, nanos.min(999_999_999))
}

/// A duration as messages carry it: whole milliseconds, rounded down; the largest number for what does not fit.
#[must_use]
pub fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_is_a_duration() {
        let table = [
            (0.001, Duration::from_millis(1)),
            (1.5, Duration::from_millis(1500)),
            (1e-9, Duration::from_nanos(1)),
            (-1.0, Duration::ZERO),
            (f64::NAN, Duration::ZERO),
            (1e308, Duration::from_secs(315_360_000)),
            (f64::INFINITY, Duration::from_secs(315_360_000)),
        ];
        for (seconds, expected) in table {
            assert_eq!(to_duration(seconds), expected, "{seconds}");
        }
    }
}
