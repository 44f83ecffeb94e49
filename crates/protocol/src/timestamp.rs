//! A point in time in a request: RFC 3339 with an offset, or seconds since 1970 as a number (D23).

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The last second of year 9999, after which RFC 3339 has no spelling. Seconds since 1970.
const LAST_SECOND: i64 = 253_402_300_799;

/// A point in time, to the nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    /// Seconds since 1970, negative before.
    seconds: i64,
    /// Nanoseconds after that, 0 to 999,999,999.
    nanos: u32,
}

impl Deadline {
    /// Reads RFC 3339: `2030-01-02T03:04:05Z`, with optional fraction, and `Z` or `+hh:mm`. `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Deadline> {
        let bytes = text.as_bytes();
        let number = |range: std::ops::Range<usize>| -> Option<i64> {
            let digits = text.get(range)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
        };
        let is = |at: usize, allowed: &[u8]| bytes.get(at).is_some_and(|byte| allowed.contains(byte));
        if !(is(4, b"-") && is(7, b"-") && is(10, b"Tt") && is(13, b":") && is(16, b":")) {
            return None;
        }
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
        let mut at = 19;
        let mut nanos = 0;
        if is(at, b".") {
            let digits = bytes.get(20..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let kept = text.get(20..20 + digits.min(9))?;
            nanos = format!("{kept:0<9}").parse().ok()?;
            at = 20 + digits;
            if digits == 0 {
                return None;
            }
        }
        let offset = match (text.get(at..)?, bytes.get(at)?) {
            ("Z" | "z", _) => 0,
            (zone, sign @ (b'+' | b'-')) if zone.len() == 6 && is(at + 3, b":") => {
                let (hours, minutes) = (number(at + 1..at + 3)?, number(at + 4..at + 6)?);
                if hours > 23 || minutes > 59 {
                    return None;
                }
                (hours * 60 + minutes) * 60 * if *sign == b'-' { -1 } else { 1 }
            }
            _ => return None,
        };
        if year < 1 || !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
            return None;
        }
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let seconds =
            days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
        Some(Deadline { seconds, nanos })
    }

    /// Seconds since 1970, from 0 to the end of year 9999. `None` outside: a number in milliseconds lands there.
    #[must_use]
    pub fn from_epoch(seconds: f64) -> Option<Deadline> {
        if !(0.0..=LAST_SECOND as f64).contains(&seconds) {
            return None;
        }
        let whole = seconds.trunc();
        Some(Deadline { seconds: whole as i64, nanos: ((seconds - whole) * 1e9) as u32 })
    }

    /// The point in time that the system's clock has shown, to the microsecond. Before 1970 is 1970.
    #[must_use]
    pub fn of(time: SystemTime) -> Deadline {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(since.as_secs()).unwrap_or(LAST_SECOND).min(LAST_SECOND);
        Deadline { seconds, nanos: since.subsec_micros() * 1000 }
    }

    /// Microseconds since 1970, negative before.
    #[must_use]
    pub fn micros(&self) -> i64 {
        self.seconds.saturating_mul(1_000_000).saturating_add(i64::from(self.nanos / 1000))
    }

    /// The same from microseconds since 1970.
    #[must_use]
    pub fn from_micros(micros: i64) -> Deadline {
        let nanos = u32::try_from(micros.rem_euclid(1_000_000)).unwrap_or(0) * 1000;
        Deadline { seconds: micros.div_euclid(1_000_000), nanos }
    }

    /// How long from `now` until then. `None` when it is past.
    #[must_use]
    pub fn remaining(&self, now: SystemTime) -> Option<Duration> {
        let since_epoch = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let until = Duration::new(u64::try_from(self.seconds).ok()?, self.nanos);
        until.checked_sub(since_epoch).filter(|left| !left.is_zero())
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days of the proleptic Gregorian calendar, counted in years that begin in March so that leap days come last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era_days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    era_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, rest) = (self.seconds.div_euclid(86_400), self.seconds.rem_euclid(86_400));
        // Year by estimate, then corrected: exact for every year RFC 3339 can spell.
        let mut year = 1970 + days.div_euclid(365);
        while days_since_1970(year, 1, 1) > days {
            year -= 1;
        }
        while days_since_1970(year + 1, 1, 1) <= days {
            year += 1;
        }
        let mut month = 1;
        while month < 12 && days_since_1970(year, month + 1, 1) <= days {
            month += 1;
        }
        let day = days - days_since_1970(year, month, 1) + 1;
        let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if self.nanos > 0 {
            let (mut digits, mut width) = (self.nanos, 9);
            while digits % 10 == 0 {
                (digits, width) = (digits / 10, width - 1);
            }
            write!(f, ".{digits:0width$}")?;
        }
        f.write_str("Z")
    }
}

impl Serialize for Deadline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

struct DeadlineVisitor;

const EXPECTED: &str =
    "an RFC 3339 time with an offset (2030-01-02T03:04:05Z), or seconds since 1970 as a number";

impl de::Visitor<'_> for DeadlineVisitor {
    type Value = Deadline;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Deadline, E> {
        Deadline::parse(text).ok_or_else(|| E::custom(format_args!("expected {EXPECTED}")))
    }

    fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Deadline, E> {
        Deadline::from_epoch(seconds)
            .ok_or_else(|| E::custom(format_args!("expected {EXPECTED}, not before 1970")))
    }

    fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Deadline, E> {
        self.visit_f64(seconds as f64)
    }

    fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Deadline, E> {
        self.visit_f64(seconds as f64)
    }
}

impl<'de> Deserialize<'de> for Deadline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Deadline, D::Error> {
        deserializer.deserialize_any(DeadlineVisitor)
    }
}

impl JsonSchema for Deadline {
    fn schema_name() -> Cow<'static, str> {
        "Deadline".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "RFC 3339 with an offset, or seconds since 1970.",
            "anyOf": [{ "type": "string", "format": "date-time" }, { "type": "number", "minimum": 0 }]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rfc_3339_and_writes_it_back_in_utc() {
        let table = [
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
            ("2030-01-02T03:04:05+02:00", "2030-01-02T01:04:05Z"),
            ("2030-01-02T03:04:05.5Z", "2030-01-02T03:04:05.5Z"),
            ("2030-01-02T03:04:05.123456789123Z", "2030-01-02T03:04:05.123456789Z"),
            ("2024-02-29T23:59:59-23:59", "2024-03-01T23:58:59Z"),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ];
        for (text, expected) in table {
            assert_eq!(Deadline::parse(text).unwrap().to_string(), expected);
        }
        assert_eq!(Deadline::from_epoch(1_893_553_445.0), Deadline::parse("2030-01-02T03:04:05Z"));
    }

    #[test]
    fn refuses_what_has_no_offset_or_no_such_day() {
        for text in [
            "",
            "2030-01-02",
            "2030-01-02T03:04:05",
            "2030-01-02 03:04:05Z",
            "2030-01-02T03:04Z",
            "2030-02-30T00:00:00Z",
            "2030-12-31T23:59:60Z",
            "2030-01-02T03:04:05+24:00",
            "2030-01-02T03:04:05+0200",
            "2030-01-02T03:04:05,5Z",
            " 2030-01-02T03:04:05Z",
            "0000-01-01T00:00:00Z",
            "10000-01-01T00:00:00Z",
            "2030-01-02T03:04:05.Z",
            "２030-01-02T03:04:05Z",
        ] {
            assert_eq!(Deadline::parse(text), None, "{text}");
        }
        assert_eq!(Deadline::from_epoch(1_893_553_445_000.0), None, "milliseconds");
        assert_eq!(Deadline::from_epoch(-5.0), None);
        assert_eq!(Deadline::from_epoch(f64::NAN), None);
    }
}
