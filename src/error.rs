//! [`BuildError`]: a configuration that cannot work, and the way out.

use crate::quota::{Quota, Window};
use core::{fmt, time::Duration};

/// Why a limiter cannot be built; the message names the value and what to change.
///
/// ```
/// use slidegate::{Gate, Quota};
/// use std::time::Duration;
///
/// let error = Gate::try_counter(Quota::new(5, Duration::ZERO)).unwrap_err();
/// assert_eq!(error.to_string(), "`5/0s`: the window is zero; give it a length, as in `5/1s`");
///
/// let error = Gate::try_counter(Quota::per_second(1_000_000_000)).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`1000000000/1s` does not fit the 64-bit word of the counter: use a limit of at most 536870911 at this window"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The window has no length.
    ZeroWindow {
        /// What was asked for.
        quota: Quota,
    },
    /// The window is longer than any that slidegate keeps.
    WindowTooLong {
        /// What was asked for.
        quota: Quota,
        /// The longest window that works.
        longest: Duration,
    },
    /// Counts and time do not fit the algorithm's word together.
    DoesNotFit {
        /// What was asked for.
        quota: Quota,
        /// The algorithm whose word is too small.
        algorithm: &'static str,
        /// The largest limit that fits at this window.
        largest_limit: u64,
    },
    /// The limiter is to hold no client at all.
    NoClients,
    /// The table for so many clients takes more bytes than it may.
    TooManyClients {
        /// The clients that were asked for.
        asked: usize,
        /// The most that fit; 0 where not even the smallest table does.
        max_clients: usize,
        /// The bytes that the table would take when full; `None` beyond the address space.
        bytes: Option<usize>,
        /// Whether most of it is the cells of logs.
        cells: bool,
    },
}

impl BuildError {
    /// The message without its values, for a panic in a constant.
    pub(crate) const fn summary(&self) -> &'static str {
        match self {
            BuildError::ZeroWindow { .. } => "the window of this quota is zero: give it a length",
            BuildError::NoClients => "`max_clients` is zero: ask for one client at least",
            BuildError::TooManyClients { .. } => "the table for so many clients is too large: ask for fewer",
            BuildError::WindowTooLong { .. } => "the window of this quota is longer than 100 years: use a shorter one",
            BuildError::DoesNotFit { .. } => {
                "this limit does not fit the 64-bit word at this window: use a smaller limit"
            }
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            BuildError::ZeroWindow { quota } => {
                write!(f, "`{quota}`: the window is zero; give it a length, as in `{}/1s`", quota.limit())
            }
            BuildError::WindowTooLong { quota, longest } => {
                write!(f, "`{quota}`: the window is longer than {}; use a shorter one", Window(longest))
            }
            BuildError::NoClients => f.write_str(self.summary()),
            BuildError::TooManyClients { asked, max_clients, bytes, cells } => {
                write!(f, "a table for {asked} clients takes ")?;
                match bytes {
                    Some(bytes) => write!(f, "{bytes} bytes when full: ")?,
                    None => f.write_str("more than the address space when full: ")?,
                }
                if max_clients > 0 {
                    write!(f, "ask for at most {max_clients} clients, or ")?;
                }
                f.write_str("raise `max_bytes`")?;
                if cells { f.write_str(", or use the counter") } else { Ok(()) }
            }
            BuildError::DoesNotFit { quota, algorithm, largest_limit } => write!(
                f,
                "`{quota}` does not fit the 64-bit word of the {algorithm}: \
                 use a limit of at most {largest_limit} at this window"
            ),
        }
    }
}

impl std::error::Error for BuildError {}

/// A limit above the ceiling that a limiter was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AboveCeiling {
    /// What was asked for.
    pub limit: u64,
    /// The largest that works; [`Builder::ceiling`](crate::Builder::ceiling) raises it.
    pub ceiling: u64,
}

impl fmt::Display for AboveCeiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a limit of {} is above the ceiling of {}", self.limit, self.ceiling)
    }
}

impl std::error::Error for AboveCeiling {}
