//! Sliding-window rate limiting in the process that serves the request: lock-free, and exact where you ask for it.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// A `const fn`, but for loom, whose atomics cannot be made in constants.
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visibility:vis const fn $($rest:tt)*) => {
        #[cfg(not(slidegate_loom))]
        $(#[$attribute])* $visibility const fn $($rest)*
        #[cfg(slidegate_loom)]
        $(#[$attribute])* $visibility fn $($rest)*
    };
}

mod clock;
mod counter;
mod decision;
mod error;
mod fixed_window;
mod gate;
mod horizon;
mod log;
#[cfg(test)]
#[path = "../tests/model/mod.rs"]
mod model;
mod nanos;
mod quota;
mod ring;
mod sync;
mod window;
mod word;

pub use clock::{Clock, FastClock, ManualClock, SystemClock};
pub use counter::Counter;
pub use decision::{Allowed, Decision, Full, Never, Refused};
pub use error::BuildError;
pub use fixed_window::FixedWindow;
pub use gate::{Algorithm, Gate, Request};
pub use nanos::Nanos;
pub use quota::{ParseQuotaError, Quota};

/// For the tool of this repository, until the log is public: no promise holds here.
#[doc(hidden)]
pub mod __tool {
    pub use crate::log::Log;
    use crate::{BuildError, Gate, Quota};

    /// A gate with the exact log, to be dropped once its `full_reset` has passed.
    pub fn log_gate(quota: Quota) -> Result<Gate<Log>, BuildError> {
        Gate::log(quota)
    }
}

/// For the models in loom-tests/: what they need and no user can reach.
#[cfg(slidegate_loom)]
#[doc(hidden)]
pub mod __loom {
    pub use crate::sync::ending::{after_steps, spurious};
    use crate::{BuildError, Counter, FixedWindow, Gate, Quota, horizon};

    /// A gate whose counts have `bits` bits, and whose epoch has the `63 - 2 * bits` that are left.
    pub fn narrow_counter(quota: Quota, bits: u32) -> Result<Gate<Counter>, BuildError> {
        Ok(Gate::of_word(Counter::with_bits(horizon::window(quota)?, quota.limit(), bits)))
    }

    /// A gate whose count has `bits` bits, and whose epoch has the `63 - bits` that are left.
    pub fn narrow_fixed_window(quota: Quota, bits: u32) -> Result<Gate<FixedWindow>, BuildError> {
        Ok(Gate::of_word(FixedWindow::with_bits(horizon::window(quota)?, quota.limit(), bits)))
    }
}
