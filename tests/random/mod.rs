//! Random numbers from a seed (splitmix64), so that a run can be repeated.

use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number in `0..bound`, where `bound` is not 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A number in `low..=high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        match (high - low).checked_add(1) {
            Some(bound) => low + self.below(bound),
            None => self.next(),
        }
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        let index = self.below(choices.len() as u64);
        choices[usize::try_from(index).expect("an index of a slice")]
    }
}

/// A number from the environment; `None` where the variable is not set.
pub(crate) fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a whole number, not `{text}`")))
}

/// The seed that the environment gives, or one from the clock.
pub(crate) fn seed() -> u64 {
    number_from("SLIDEGATE_SEED").unwrap_or_else(|| {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
        Random::new(u64::try_from(since_1970.as_nanos() & u128::from(u64::MAX)).expect("masked")).next()
    })
}
