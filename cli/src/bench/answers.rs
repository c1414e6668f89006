//! [`Answers`]: how often which answer was given.

use slidegate::Decision;
use std::ops::AddAssign;

/// How often which answer was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answers {
    /// The request may go ahead.
    pub(super) allowed: u64,
    /// It must wait, or costs more than the limit.
    pub(super) refused: u64,
    /// There was no room to remember it.
    pub(super) full: u64,
}

impl Answers {
    /// Counts one more.
    #[inline]
    pub(super) fn count(&mut self, decision: Decision) {
        match decision {
            Decision::Allowed(_) => self.allowed += 1,
            Decision::Refused(_) | Decision::Never(_) => self.refused += 1,
            Decision::Full(_) => self.full += 1,
        }
    }

    /// All of them.
    pub(super) fn checks(&self) -> u64 {
        self.allowed + self.refused + self.full
    }
}

impl AddAssign for Answers {
    fn add_assign(&mut self, more: Answers) {
        self.allowed += more.allowed;
        self.refused += more.refused;
        self.full += more.full;
    }
}
