//! Points in time as Python's `datetime.isoformat()` spells them in UTC, which is how the store has them.

use std::time::{SystemTime, UNIX_EPOCH};

/// `2026-01-31T23:59:59.123456+00:00`; without the fraction when that is zero.
pub(super) fn isoformat(time: SystemTime) -> String {
    // A clock before 1970 is wrong anyway.
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, micros) = (since.as_secs(), since.subsec_micros());
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let fraction = if micros == 0 { String::new() } else { format!(".{micros:06}") };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}+00:00")
}

/// Year, month and day of a day since 1970-01-01 (Howard Hinnant's `civil_from_days`).
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

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
