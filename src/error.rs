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
/// let error = Gate::try_counter(Quota::new(1_000_000, Duration::from_millis(1))).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`1000000/1ms` does not fit the 64-bit word of the counter: use a limit of at most 1023 at this window, \
///      or a window of at least 377s for this limit"
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
        /// The largest limit that fits at this window; `None` if none does.
        largest_limit: Option<u64>,
        /// The shortest window at which this limit fits; `None` if a longer window does not help.
        shortest_window: Option<Duration>,
    },
    /// The limiter is to hold no client at all.
    NoClients,
    /// The table for so many clients takes more bytes than it may.
    TooManyClients {
        /// The clients that were asked for.
        asked: usize,
        /// The most that fit.
        max_clients: usize,
        /// The bytes that the table would take when full; `None` beyond the address space.
        bytes: Option<usize>,
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
                "this limit does not fit the 64-bit word at this window: use a smaller limit or a longer window"
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
            BuildError::TooManyClients { asked, max_clients, bytes } => {
                write!(f, "a table for {asked} clients takes ")?;
                match bytes {
                    Some(bytes) => write!(f, "{bytes} bytes when full")?,
                    None => f.write_str("more than the address space when full")?,
                }
                write!(f, ": ask for at most {max_clients} clients, or raise `max_bytes`")
            }
            BuildError::DoesNotFit { quota, algorithm, largest_limit, shortest_window } => {
                write!(f, "`{quota}` does not fit the 64-bit word of the {algorithm}: ")?;
                match (largest_limit, shortest_window) {
                    (Some(limit), Some(window)) => write!(
                        f,
                        "use a limit of at most {limit} at this window, or a window of at least {} for this limit",
                        Window(window)
                    ),
                    (Some(limit), None) => write!(f, "use a limit of at most {limit} at this window"),
                    (None, Some(window)) => write!(f, "use a window of at least {} for this limit", Window(window)),
                    (None, None) => f.write_str("use a smaller limit and a longer window"),
                }
            }
        }
    }
}

impl std::error::Error for BuildError {}
