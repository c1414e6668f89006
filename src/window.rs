//! [`Windows`]: the windows `[kW, (k+1)W)` of a clock, numbered as a word keeps them.

use crate::horizon::CENTURY;

/// The windows of one length, counted from the clock's origin, their numbers kept in a few bits of a word: the epoch.
///
/// An epoch wraps. The distance between a reading's window and a word's is therefore read as a signed number: in the
/// lower half it is the age of the word, in the upper half the reading is behind and the word's window is taken. That
/// is right as long as no word is read that is older than a quarter of the horizon, `length * 2^bits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    length: u64,
    /// As many ones as the epoch has bits.
    mask: u64,
}

/// Where a reading stands to a recorded window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The effective now: the reading, or the start of the recorded window where the reading is behind it.
    pub(crate) now: u64,
    /// The epoch of the effective now.
    pub(crate) epoch: u64,
    /// Nanoseconds from the effective now to the end of its window, at least 1.
    pub(crate) left: u64,
    /// Windows from the recorded one to that of the effective now.
    pub(crate) age: u64,
}

impl Windows {
    pub(crate) const fn new(length: u64, epoch_bits: u32) -> Windows {
        Windows { length, mask: (1 << epoch_bits) - 1 }
    }

    pub(crate) const fn length(self) -> u64 {
        self.length
    }

    /// The start of the window of `epoch`, read from an instant less than half a horizon away from it.
    pub(crate) const fn start(self, epoch: u64, reference: u64) -> u64 {
        let place = self.after(epoch, reference);
        let into = self.length - place.left;
        // What is recorded was recorded after the origin.
        (place.now - into).saturating_sub(place.age.saturating_mul(self.length))
    }

    /// A quarter of the horizon; for ever where the horizon is more than a century.
    pub(crate) const fn longest_life(self) -> u64 {
        let horizon = self.length as u128 * (self.mask as u128 + 1);
        #[expect(clippy::cast_possible_truncation, reason = "a quarter of less than a century")]
        let quarter = (horizon / 4) as u64;
        if horizon >= CENTURY as u128 { u64::MAX } else { quarter }
    }

    /// The place of a reading where nothing is recorded.
    pub(crate) const fn first(self, now: u64) -> Place {
        let epoch = (now / self.length) & self.mask;
        Place { now, epoch, left: self.length - now % self.length, age: 0 }
    }

    /// The place of a reading after the window of `epoch` was recorded.
    pub(crate) const fn after(self, epoch: u64, now: u64) -> Place {
        let here = self.first(now);
        let age = here.epoch.wrapping_sub(epoch) & self.mask;
        if age <= self.mask >> 1 {
            return Place { age, ..here };
        }
        // Saturating, since only a word that no clock of ours wrote can lie beyond the last instant.
        let windows_behind = self.mask - age;
        let start = now.saturating_add(here.left).saturating_add(windows_behind.saturating_mul(self.length));
        Place { now: start, epoch, left: self.length, age: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

        /// The place of a reading, against windows whose numbers are not cut.
        #[test]
        fn epochs_are_numbers_of_windows(
            length in prop_oneof![1_u64..10, 1_u64..=1 << 58],
            bits in 3_u32..=62,
            recorded: u64,
            distance in any::<i64>(),
        ) {
            let windows = Windows::new(length, bits);
            let (length, wide) = (u128::from(length), u128::from);
            // No window that lies beyond the last instant was ever recorded.
            let recorded = wide(recorded) % (wide(u64::MAX) / length + 1);
            let epoch = u64::try_from(recorded % (1 << bits)).unwrap();
            // From half a horizon behind to just under half of one after, as far as instants go.
            let half = (length << (bits - 1)).min(1 << 63);
            let behind = wide(distance.unsigned_abs()) % half;
            let middle = recorded * length + length / 2;
            let now = if distance < 0 { middle.saturating_sub(behind) } else { middle + behind };
            let now = now.min(wide(u64::MAX));
            prop_assume!((now / length).abs_diff(recorded) < 1 << (bits - 1));

            let place = windows.after(epoch, u64::try_from(now).unwrap());
            let effective = now.max(recorded * length);
            prop_assert_eq!(wide(place.now), effective);
            prop_assert_eq!(wide(place.epoch), effective / length % (1 << bits));
            prop_assert_eq!(wide(place.left), length - effective % length);
            prop_assert_eq!(wide(place.age), effective / length - recorded);
        }
    }
}
