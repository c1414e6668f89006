//! [`Keys`]: who asks, one request after the other.

use rand::{SeedableRng, distr::Distribution, rngs::Xoshiro256PlusPlus};
use rand_distr::{Zipf, ZipfError};

/// Keys between two looks at the clock in a loop without stamps.
pub(super) const CHUNK: usize = 1 << 10;

/// The clients of all requests, drawn before anything is measured: a draw from Zipf's law costs more than a check. What
/// is left in the loops is a walk over 4 bytes a check. All threads walk over the same ones, from places far apart, and
/// begin anew at the end.
#[derive(Debug)]
pub(super) struct Keys {
    drawn: Vec<u32>,
}

impl Keys {
    /// Draws keys from 0 to `clients` - 1, the same ones in every run. There are at least a million, and four for each
    /// client, so that 98 of 100 come where all are alike.
    pub(super) fn draw(clients: u32, skew: f64) -> Result<Keys, ZipfError> {
        const FEWEST: usize = 1 << 20;
        const SEED: u64 = 1;

        let length = (4 * clients as usize).next_multiple_of(CHUNK).max(FEWEST);
        let zipf = Zipf::new(f64::from(clients), skew)?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        Ok(Keys { drawn: zipf.sample_iter(&mut random).take(length).map(|rank| key(rank, clients)).collect() })
    }

    /// The keys of one of several threads, for as long as it asks.
    pub(super) fn endless(&self, thread: usize, threads: usize) -> impl Iterator<Item = &[u32]> {
        let (before, after) = self.drawn.split_at(self.drawn.len() / CHUNK * thread / threads * CHUNK);
        after.chunks(CHUNK).chain(before.chunks(CHUNK)).cycle()
    }

    /// The key of a numbered request.
    pub(super) fn of_request(&self, number: u64) -> u32 {
        self.drawn[usize::try_from(number % self.drawn.len() as u64).unwrap_or(0)]
    }
}

/// The key of a rank from 1 to `clients`; rounding could have made it one more.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a whole number, and bounded here")]
fn key(rank: f64, clients: u32) -> u32 {
    rank.clamp(1.0, clients.into()) as u32 - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(clients: u32, skew: f64) -> Vec<f64> {
        let keys = Keys::draw(clients, skew).unwrap();
        let mut counts = vec![0; clients as usize];
        for &key in &keys.drawn {
            counts[key as usize] += 1;
        }
        counts.into_iter().map(|count| f64::from(count) / keys.drawn.len() as f64).collect()
    }

    #[test]
    fn shares_are_those_of_the_law() {
        for skew in [0.0, 0.5, 1.0, 1.1, 3.0] {
            let weight = |rank: usize| (rank as f64).powf(-skew);
            let all: f64 = (1..=5).map(weight).sum();
            for (share, rank) in shares(5, skew).into_iter().zip(1..) {
                // Three standard deviations of a million draws are 0.0015 at most, and the draws are always the same.
                assert!((share - weight(rank) / all).abs() < 0.0015, "rank {rank}, skew {skew}: {share}");
            }
        }
        assert_eq!(shares(1, 1.0), [1.0]);
        assert_eq!(shares(3, 100.0), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn every_thread_walks_over_all_keys() {
        let keys = Keys::draw(1_000_000, 0.0).unwrap();
        assert!(keys.drawn.len() >= 4_000_000);
        let mut sorted = keys.drawn.clone();
        sorted.sort_unstable();
        for thread in [0, 1, 2] {
            let walk: Vec<u32> = keys.endless(thread, 3).flatten().copied().take(keys.drawn.len() + 1).collect();
            assert_eq!(walk[0], walk[keys.drawn.len()]);
            assert_eq!(walk[0], keys.of_request((keys.drawn.len() / CHUNK * thread / 3 * CHUNK) as u64));
            let mut walk = walk[1..].to_vec();
            walk.sort_unstable();
            assert!(walk == sorted);
        }
        assert_eq!(keys.of_request(0), keys.of_request(keys.drawn.len() as u64));
    }
}
