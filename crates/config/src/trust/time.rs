//! Points in time as Python's `datetime.isoformat()` spells them in UTC, which is how the store has them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::civil::DateTime;

/// The beginning of 1970 in UTC.
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// Spells a point in time like `2026-01-31T23:59:59.123456+00:00`, without the fraction when that is zero. Before 1970 it
/// is the beginning of 1970, and after year 9999 the end of that year.
pub(super) fn isoformat(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let micros = since.subsec_micros();
    let since = Duration::from_secs(since.as_secs()) + Duration::from_micros(micros.into());
    let time = EPOCH.saturating_add(since);
    if micros == 0 { format!("{time}+00:00") } else { format!("{time:.6}+00:00") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spelled_as_python_does() {
        let table = [
            (0, 0, "1970-01-01T00:00:00+00:00"),
            (951_782_399, 1, "2000-02-28T23:59:59.000001+00:00"),
            (951_782_400, 0, "2000-02-29T00:00:00+00:00"),
            (1_767_225_599, 999_999, "2025-12-31T23:59:59.999999+00:00"),
            (4_107_542_400, 0, "2100-03-01T00:00:00+00:00"),
        ];
        for (seconds, micros, expected) in table {
            let time = UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_micros(micros);
            assert_eq!(isoformat(time), expected);
        }
    }
}
