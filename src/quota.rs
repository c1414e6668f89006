//! [`Quota`]: a limit of units per window, and its text form.

use core::{fmt, str::FromStr, time::Duration};

/// A limit of `limit` units in any window of length `window`, written `100/1m`.
///
/// The constructors are `const` and accept every value; what an algorithm cannot hold is an error when the limiter is
/// built, with a message that names the value and the way out. `per_second(20)` is 20 units in one second: a larger
/// number always allows more.
///
/// ```
/// use slidegate::Quota;
/// use std::time::Duration;
///
/// const API: Quota = Quota::per_minute(100);
/// assert_eq!(API.to_string(), "100/1m");
/// assert_eq!("100/60s".parse(), Ok(API));
/// assert_eq!("10/250ms".parse(), Ok(Quota::new(10, Duration::from_millis(250))));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    limit: u64,
    window: Duration,
}

impl Quota {
    /// `limit` units per `window`.
    #[must_use]
    pub const fn new(limit: u64, window: Duration) -> Quota {
        Quota { limit, window }
    }

    /// `limit` units per second.
    #[must_use]
    pub const fn per_second(limit: u64) -> Quota {
        Quota::new(limit, Duration::from_secs(1))
    }

    /// `limit` units per minute.
    #[must_use]
    pub const fn per_minute(limit: u64) -> Quota {
        Quota::new(limit, Duration::from_secs(60))
    }

    /// `limit` units per hour.
    #[must_use]
    pub const fn per_hour(limit: u64) -> Quota {
        Quota::new(limit, Duration::from_secs(60 * 60))
    }

    /// `limit` units per day of 24 hours.
    #[must_use]
    pub const fn per_day(limit: u64) -> Quota {
        Quota::new(limit, Duration::from_secs(24 * 60 * 60))
    }

    /// The units that one window allows.
    #[must_use]
    pub const fn limit(self) -> u64 {
        self.limit
    }

    /// The length of the window.
    #[must_use]
    pub const fn window(self) -> Duration {
        self.window
    }
}

/// The units of the text form and their nanoseconds, longest first.
const UNITS: [(&str, u128); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// The text form: the limit, a slash and the window as a whole number of the longest unit that divides it.
impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.limit, Window(self.window))
    }
}

/// A duration in the text form of a quota's window.
pub(crate) struct Window(pub(crate) Duration);

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        if nanos == 0 {
            return f.write_str("0s");
        }
        let (unit, length) = UNITS.into_iter().find(|(_, length)| nanos.is_multiple_of(*length)).unwrap_or(("ns", 1));
        write!(f, "{}{unit}", nanos / length)
    }
}

/// Reads `LIMIT/WINDOW`, as in `100/1m`, `5/30s` or `10/250ms`; the units are `ns`, `us`, `ms`, `s`, `m`, `h` and `d`.
impl FromStr for Quota {
    type Err = ParseQuotaError;

    fn from_str(text: &str) -> Result<Quota, ParseQuotaError> {
        let error = |fault| ParseQuotaError { text: shortened(text), fault };
        let (limit, window) = text.split_once('/').ok_or_else(|| error(Fault::NoSlash))?;
        let limit = number(limit.trim()).ok_or_else(|| error(Fault::Limit))?;
        let window = window.trim();
        let digits = window.bytes().take_while(u8::is_ascii_digit).count();
        let (count, unit) = window.split_at(digits);
        let (_, length) = UNITS.into_iter().find(|(name, _)| *name == unit.trim()).ok_or_else(|| error(Fault::Unit))?;
        let count: u128 = number(count).ok_or_else(|| error(Fault::Window))?;
        let window = count.checked_mul(length).and_then(duration).ok_or_else(|| error(Fault::Window))?;
        Ok(Quota { limit, window })
    }
}

/// Digits only: the standard parsers also take a sign.
fn number<T: FromStr>(digits: &str) -> Option<T> {
    let only_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    only_digits.then(|| digits.parse().ok())?
}

fn duration(nanos: u128) -> Option<Duration> {
    let seconds = u64::try_from(nanos / 1_000_000_000).ok()?;
    let rest = u32::try_from(nanos % 1_000_000_000).ok()?;
    Some(Duration::new(seconds, rest))
}

/// Enough of a text to recognise it in a message, without its control characters.
fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    short
}

/// Why a text is not a [`Quota`]; the message says what to write instead.
///
/// ```
/// let error = "100 per minute".parse::<slidegate::Quota>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`100 per minute` is no quota: put a slash between the limit and the window, as in `100/1m`"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseQuotaError {
    text: String,
    fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    NoSlash,
    Limit,
    Window,
    Unit,
}

impl fmt::Display for ParseQuotaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let advice = match self.fault {
            Fault::NoSlash => "put a slash between the limit and the window, as in `100/1m`",
            Fault::Limit => "the limit before the slash must be a whole number below 2^64, as in `100/1m`",
            Fault::Window => "the window after the slash must be a whole number and a unit, as in `100/1m`",
            Fault::Unit => "give the window one of the units ns, us, ms, s, m, h or d, as in `100/1m`",
        };
        write!(f, "`{}` is no quota: {advice}", self.text)
    }
}

impl std::error::Error for ParseQuotaError {}
