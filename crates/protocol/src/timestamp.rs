//! A point in time: RFC 3339 with an offset, or seconds since 1970 as a number (D23).
//!
//! Requests have one as their deadline, and the journal has one for every event. jiff knows the calendar. What it
//! would also take (a leap second, a space or a comma, an offset without a colon, an offset of a whole day) is
//! refused before: requests are made by code, and a typo must fail loudly.

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::fmt::temporal::Pieces;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The last second of year 9999, after which RFC 3339 has no spelling. Seconds since 1970.
const LAST_SECOND: i64 = 253_402_300_799;

/// The beginning of 1970 in UTC.
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// How long a date with its time is in RFC 3339, without a fraction of the second. Bytes.
const WHOLE_SECONDS: usize = 19;

/// How many digits of a fraction count. Digits. The rest is below a nanosecond.
const FRACTION_DIGITS: usize = 9;

/// The first offset that is refused. Seconds. RFC 3339 has hours up to 23.
const DAY: i32 = 24 * 60 * 60;

/// A point in time, to the nanosecond.
///
/// ```
/// use hooksd_protocol::timestamp::Timestamp;
///
/// let time = Timestamp::parse("2030-01-02T03:04:05.50+02:00").expect("RFC 3339");
/// assert_eq!(time.to_string(), "2030-01-02T01:04:05.5Z");
/// assert_eq!(Timestamp::from_epoch(1_893_546_245.5), Some(time));
/// assert_eq!(Timestamp::parse("2030-01-02T03:04:05"), None, "it has no offset");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// How long after the beginning of 1970 it is; negative before.
    since: SignedDuration,
}

impl Timestamp {
    /// Reads RFC 3339: `2030-01-02T03:04:05Z`, with an optional fraction of the second, and with `Z` or `+hh:mm`.
    /// Returns `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Timestamp> {
        let bytes = text.as_bytes();
        let is = |at: usize, allowed: &[u8]| bytes.get(at).is_some_and(|byte| allowed.contains(byte));
        if !(is(4, b"-") && is(7, b"-") && is(10, b"Tt") && is(13, b":") && is(16, b":")) {
            return None;
        }
        let mut end = WHOLE_SECONDS;
        if is(end, b".") {
            end += 1;
            end += bytes.get(end..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        }
        let zone = text.get(end..)?;
        let is_numeric = zone.len() == "+hh:mm".len() && is(end, b"+-") && is(end + 3, b":");
        if !(is_numeric || matches!(zone, "Z" | "z")) || text.get(17..WHOLE_SECONDS)? == "60" {
            return None;
        }
        let local = text.get(..end.min(WHOLE_SECONDS + 1 + FRACTION_DIGITS))?;
        let spelled = format!("{local}{zone}");
        let pieces = Pieces::parse(&spelled).ok()?;
        let (local, offset) = (pieces.date().to_datetime(pieces.time()?), pieces.to_numeric_offset()?);
        if local.year() < 1 || offset.seconds().abs() >= DAY {
            return None;
        }
        let since =
            local.duration_since(EPOCH).checked_sub(SignedDuration::from_secs(offset.seconds().into()))?;
        Some(Timestamp { since })
    }

    /// The point in time that is this many seconds after the beginning of 1970. Returns `None` outside of the years
    /// 1970 to 9999, which is where a number of milliseconds lands.
    #[must_use]
    pub fn from_epoch(seconds: f64) -> Option<Timestamp> {
        if !(0.0..=LAST_SECOND as f64).contains(&seconds) {
            return None;
        }
        let whole = seconds.trunc();
        Some(Timestamp { since: SignedDuration::new(whole as i64, ((seconds - whole) * 1e9) as i32) })
    }

    /// The point in time that the system's clock has shown, to the microsecond. Before 1970 it is the beginning of
    /// 1970.
    #[must_use]
    pub fn of(time: SystemTime) -> Timestamp {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(since.as_secs()).unwrap_or(LAST_SECOND).min(LAST_SECOND);
        Timestamp {
            since: SignedDuration::new(seconds, 0)
                + SignedDuration::from_micros(since.subsec_micros().into()),
        }
    }

    /// Microseconds since the beginning of 1970, negative before.
    #[must_use]
    pub fn micros(&self) -> i64 {
        let micros = self.since.as_nanos().div_euclid(1000);
        i64::try_from(micros).unwrap_or(if micros < 0 { i64::MIN } else { i64::MAX })
    }

    /// The point in time that is this many microseconds after the beginning of 1970.
    #[must_use]
    pub fn from_micros(micros: i64) -> Timestamp {
        Timestamp { since: SignedDuration::from_micros(micros) }
    }

    /// How long it is from `now` until then. `None` when it is past.
    #[must_use]
    pub fn remaining(&self, now: SystemTime) -> Option<Duration> {
        let since_epoch = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let until = self.since.try_into().ok().filter(|_| !self.since.is_negative());
        until.and_then(|until: Duration| until.checked_sub(since_epoch)).filter(|left| !left.is_zero())
    }
}

/// Spells it in UTC, with no more digits of a fraction than it needs.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}Z", EPOCH.saturating_add(self.since))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

struct TimestampVisitor;

const EXPECTED: &str =
    "an RFC 3339 time with an offset (2030-01-02T03:04:05Z), or seconds since 1970 as a number";

impl de::Visitor<'_> for TimestampVisitor {
    type Value = Timestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
        Timestamp::parse(text).ok_or_else(|| E::custom(format_args!("expected {EXPECTED}")))
    }

    fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Timestamp, E> {
        Timestamp::from_epoch(seconds)
            .ok_or_else(|| E::custom(format_args!("expected {EXPECTED}, not before 1970")))
    }

    fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Timestamp, E> {
        self.visit_f64(seconds as f64)
    }

    fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Timestamp, E> {
        self.visit_f64(seconds as f64)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        deserializer.deserialize_any(TimestampVisitor)
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
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
            ("1969-12-31T23:59:59.25z", "1969-12-31T23:59:59.25Z"),
            ("2030-01-02t03:04:05.500000-00:00", "2030-01-02T03:04:05.5Z"),
        ];
        for (text, expected) in table {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), expected);
        }
        assert_eq!(Timestamp::from_epoch(1_893_553_445.0), Timestamp::parse("2030-01-02T03:04:05Z"));
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
            "2030-01-02T03:04:05+02",
            "2030-01-02T03:04:05-24:00",
            "2030-01-02T03:04:05+02:60",
            "2030-01-02T03:04:05+0a:00",
            "2030-01-02T03:04:05+02:00[Europe/Berlin]",
            "2030-01-02T03:04:05.123456789123[UTC]",
            "2030-01-02T24:00:00Z",
            "2030-13-02T03:04:05Z",
            "2023-02-29T00:00:00Z",
            "2030-01-0aT03:04:05Z",
            "+203-01-02T03:04:05Z",
            "-203-01-02T03:04:05Z",
            "2030-01-02T03:04:05,5Z",
            " 2030-01-02T03:04:05Z",
            "0000-01-01T00:00:00Z",
            "10000-01-01T00:00:00Z",
            "2030-01-02T03:04:05.Z",
            "２030-01-02T03:04:05Z",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
        assert_eq!(Timestamp::from_epoch(1_893_553_445_000.0), None, "milliseconds");
        assert_eq!(Timestamp::from_epoch(-5.0), None);
        assert_eq!(Timestamp::from_epoch(f64::NAN), None);
    }

    #[test]
    fn microseconds_and_the_clock_are_the_same_points() {
        for micros in [0, 1, -1, -1_000_001, 1_893_553_445_500_000, 253_402_300_799_999_999] {
            assert_eq!(Timestamp::from_micros(micros).micros(), micros);
        }
        let time = UNIX_EPOCH + Duration::new(1_893_553_445, 1_999);
        assert_eq!(Timestamp::of(time), Timestamp::from_micros(1_893_553_445_000_001));
        assert_eq!(Timestamp::of(UNIX_EPOCH - Duration::from_secs(5)).to_string(), "1970-01-01T00:00:00Z");
        let half = Timestamp::from_epoch(1_893_553_445.5).unwrap();
        assert_eq!(
            half.remaining(UNIX_EPOCH + Duration::from_secs(1_893_553_445)),
            Some(Duration::from_millis(500))
        );
        assert_eq!(half.remaining(UNIX_EPOCH + Duration::from_secs(1_893_553_446)), None);
        assert_eq!(Timestamp::from_micros(-1).remaining(UNIX_EPOCH), None);
    }

    /// The last hours of year 9999 in the west are in year 10000, which has no spelling.
    #[test]
    fn what_has_no_spelling_is_spelled_as_the_end_of_year_9999() {
        let beyond = Timestamp::parse("9999-12-31T23:59:59-23:59").unwrap();
        assert_eq!(beyond.to_string(), "9999-12-31T23:59:59.999999999Z");
    }
}
