//! Stamps: text to nanoseconds since the zero of the input, the Unix epoch for dates.

use crate::escape::Shown;
use jiff::{Timestamp, civil::DateTime, fmt::temporal::DateTimeParser, tz::Offset};

/// The unit of a column of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Unit {
    Ns,
    Us,
    Ms,
    S,
}

impl Unit {
    /// The unit that a column's name ends on, as in `t_ms`.
    pub(super) fn of_column(name: &str) -> Option<Unit> {
        match name.rsplit_once('_')?.1 {
            "ns" => Some(Unit::Ns),
            "us" => Some(Unit::Us),
            "ms" => Some(Unit::Ms),
            "s" => Some(Unit::S),
            _ => None,
        }
    }

    const fn nanos(self) -> i64 {
        match self {
            Unit::Ns => 1,
            Unit::Us => 1_000,
            Unit::Ms => 1_000_000,
            Unit::S => 1_000_000_000,
        }
    }
}

/// Whether the text has the form of a number, `-12.5`.
pub(super) fn is_number(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let whole = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let fraction = match &text[whole..] {
        [] => return whole > 0,
        [b'.', fraction @ ..] => fraction,
        _ => return false,
    };
    whole > 0 && !fraction.is_empty() && fraction.iter().all(u8::is_ascii_digit)
}

/// A number in `unit`; digits finer than a nanosecond are dropped.
pub(super) fn number(text: &[u8], unit: Unit) -> Result<i64, String> {
    if !is_number(text) {
        return Err(format!("the time is no number: `{}`", Shown(text)));
    }
    unsigned(text.strip_prefix(b"-").unwrap_or(text), unit)
        .map(|nanos| if text[0] == b'-' { -nanos } else { nanos })
        .ok_or_else(|| format!("the time is more than 292 years from zero: `{}`", Shown(text)))
}

/// `None` if it does not fit.
fn unsigned(text: &[u8], unit: Unit) -> Option<i64> {
    let mut digits = text.iter();
    let mut nanos: i64 = 0;
    for digit in digits.by_ref().take_while(|byte| **byte != b'.') {
        nanos = nanos.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
    }
    let mut worth = unit.nanos();
    nanos = nanos.checked_mul(worth)?;
    for digit in digits {
        worth /= 10;
        nanos = nanos.checked_add(i64::from(digit - b'0') * worth)?;
    }
    Some(nanos)
}

/// A date of RFC 3339, `2000-10-10T13:55:36.25-07:00`; a leap second counts as the second before it.
pub(super) fn rfc3339(text: &[u8]) -> Result<i64, String> {
    static PARSER: DateTimeParser = DateTimeParser::new();
    match PARSER.parse_timestamp(text) {
        Ok(stamp) => nanos(stamp),
        Err(_) => Err(format!("the time is no RFC 3339 date with an offset: `{}`", Shown(text))),
    }
}

/// The date of an access log, `10/Oct/2000:13:55:36 -0700`; a leap second counts as the second before it.
pub(super) fn access_log(text: &[u8; 26]) -> Result<i64, String> {
    match access_log_date(text) {
        Some(stamp) => nanos(stamp),
        None => Err(format!("no such date: `{}`", Shown(text))),
    }
}

fn access_log_date(text: &[u8; 26]) -> Option<Timestamp> {
    const MONTHS: [&[u8; 3]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    let [
        d1,
        d2,
        b'/',
        m1,
        m2,
        m3,
        b'/',
        y1,
        y2,
        y3,
        y4,
        b':',
        h1,
        h2,
        b':',
        n1,
        n2,
        b':',
        s1,
        s2,
        b' ',
        sign,
        a1,
        a2,
        b1,
        b2,
    ] = *text
    else {
        return None;
    };
    let two = |tens: u8, ones: u8| -> Option<i8> {
        let digits = tens.is_ascii_digit() && ones.is_ascii_digit();
        digits.then(|| i8::try_from((tens - b'0') * 10 + (ones - b'0')).ok())?
    };
    let month = (1..).zip(MONTHS).find(|(_, name)| **name == [m1, m2, m3])?.0;
    let year = i16::from(two(y1, y2)?) * 100 + i16::from(two(y3, y4)?);
    let second = match two(s1, s2)? {
        60 => 59,
        second => second,
    };
    let date = DateTime::new(year, month, two(d1, d2)?, two(h1, h2)?, two(n1, n2)?, second, 0).ok()?;
    let (hours, minutes) = (i32::from(two(a1, a2)?), i32::from(two(b1, b2)?));
    let offset = match sign {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    } * (hours * 3600 + minutes * 60);
    let in_range = hours < 24 && minutes < 60;
    in_range.then(|| Offset::from_seconds(offset).ok()?.to_timestamp(date).ok())?
}

/// 64 bits of nanoseconds last from 1677 to 2262.
fn nanos(stamp: Timestamp) -> Result<i64, String> {
    i64::try_from(stamp.as_nanosecond()).map_err(|_| format!("the date is not between 1678 and 2262: {stamp}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    #[test]
    fn numbers_keep_every_digit_down_to_the_nanosecond() {
        for (text, unit, nanos) in [
            ("0", Unit::Ms, 0),
            ("12", Unit::Ns, 12),
            ("1521911720.600725", Unit::S, 1_521_911_720_600_725_000),
            ("-1.5", Unit::Us, -1_500),
            ("0.000000001", Unit::S, 1),
            ("1.23456789", Unit::Us, 1_234),
            ("007.250", Unit::Ms, 7_250_000),
        ] {
            assert_eq!(number(text.as_bytes(), unit), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_said() {
        for text in ["", "-", ".5", "5.", "1e3", "+1", "1 ", "1.2.3", "0x10", "١", "NaN"] {
            assert!(number(text.as_bytes(), Unit::Ms).unwrap_err().contains("no number"), "{text}");
        }
        for text in ["9223372036854775808", "99999999999999999999999", "-9223372036854775809"] {
            assert!(number(text.as_bytes(), Unit::Ns).unwrap_err().contains("292 years"), "{text}");
        }
        assert_eq!(number(b"9223372036854775807", Unit::Ns), Ok(i64::MAX));
        assert!(number(b"9223372036.854775808", Unit::S).is_err());
    }

    #[test]
    fn units_come_from_the_end_of_a_name() {
        assert_eq!(Unit::of_column("t_ms"), Some(Unit::Ms));
        assert_eq!(Unit::of_column("request_start_ns"), Some(Unit::Ns));
        assert_eq!(Unit::of_column("_s"), Some(Unit::S));
        assert_eq!(Unit::of_column("ms"), None);
        assert_eq!(Unit::of_column("t_min"), None);
    }

    #[test]
    fn odd_dates() {
        let seconds = |text: &[u8; 26]| access_log(text).map(|nanos| nanos / 1_000_000_000);
        assert_eq!(seconds(b"10/Oct/2000:13:55:36 -0700"), Ok(971_211_336));
        assert_eq!(seconds(b"01/Jan/1970:00:00:00 +0000"), Ok(0));
        assert_eq!(seconds(b"01/Jan/1970:05:45:00 +0545"), Ok(0));
        assert_eq!(seconds(b"29/Feb/2000:00:00:00 +0000"), Ok(951_782_400));
        assert_eq!(seconds(b"31/Dec/2016:23:59:60 +0000"), seconds(b"31/Dec/2016:23:59:59 +0000"));
        for wrong in [
            b"29/Feb/2001:00:00:00 +0000",
            b"29/Feb/1900:00:00:00 +0000",
            b"31/Apr/2024:00:00:00 +0000",
            b"00/Jan/2024:00:00:00 +0000",
            b"01/jan/2024:00:00:00 +0000",
            b"01/Jan/2024:24:00:00 +0000",
            b"01/Jan/2024:00:60:00 +0000",
            b"01/Jan/2024:00:00:61 +0000",
            b"01/Jan/2024:00:00:00 +0060",
            b"01/Jan/2024:00:00:00 +2400",
            b"01/Jan/2024:00:00:00 00000",
            b"01-Jan-2024:00:00:00 +0000",
            b" 1/Jan/2024:00:00:00 +0000",
            b"01/Jan/0001:00:00:00 +0000",
            b"01/Jan/2300:00:00:00 +0000",
        ] {
            assert!(access_log(wrong).is_err(), "{}", Shown(wrong));
        }
    }

    #[test]
    fn rfc3339_needs_an_offset() {
        assert_eq!(rfc3339(b"2000-10-10T13:55:36.25-07:00"), Ok(971_211_336_250_000_000));
        assert_eq!(rfc3339(b"1969-12-31T23:59:59.999999999Z"), Ok(-1));
        for wrong in
            ["2000-10-10T13:55:36", "2000-10-10", "2001-02-29T00:00:00Z", "1700000000", "", "2500-01-01T00:00:00Z"]
        {
            assert!(rfc3339(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn access_log_dates_agree_with_the_calendar(second in -9_223_372_036_i64..9_223_372_036, quarters in -95..=95_i32) {
            let stamp = Timestamp::from_second(second).unwrap();
            let zone = TimeZone::fixed(Offset::from_seconds(quarters * 900).unwrap());
            let text = stamp.to_zoned_datetime(zone).strftime("%d/%b/%Y:%H:%M:%S %z").to_string();
            let text = text.as_bytes().try_into().unwrap();
            prop_assert_eq!(access_log(text), Ok(second * 1_000_000_000));
        }

        #[test]
        fn any_bytes_are_a_date_or_an_error(text in any::<[u8; 26]>(), place in 0..26_usize, byte in any::<u8>()) {
            let _ = access_log(&text);
            let mut almost = *b"10/Oct/2000:13:55:36 -0700";
            almost[place] = byte;
            let _ = access_log(&almost);
            let _ = rfc3339(&text);
        }

        #[test]
        fn numbers_round_trip(nanos in any::<i64>()) {
            prop_assume!(nanos != i64::MIN);
            let (sign, size) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
            let text = format!("{sign}{}.{:09}", size / 1_000_000_000, size % 1_000_000_000);
            prop_assert_eq!(number(text.as_bytes(), Unit::S), Ok(nanos));
        }
    }
}
