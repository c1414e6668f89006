//! [`Key`]: what a client is found by; [`Draw`]: which clients come, and in which order.

use rand::{RngExt, SeedableRng, rngs::SmallRng};
use rand_distr::Zipf;
use std::{hash::Hash, net::Ipv4Addr, ops::Range};

/// The key of a client. Neighbours among the clients have nothing in common in their keys.
pub trait Key: Hash + Eq + Clone + Send + Sync + 'static {
    /// The key of the client of this number.
    fn of(client: u64) -> Self;

    /// For limiters that take nothing but text.
    fn with_text<T>(&self, take: impl FnOnce(&str) -> T) -> T;
}

impl Key for u64 {
    fn of(client: u64) -> u64 {
        // The finalizer of splitmix64: one to one.
        let mixed = (client ^ (client >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn with_text<T>(&self, take: impl FnOnce(&str) -> T) -> T {
        take(itoa::Buffer::new().format(*self))
    }
}

/// An IPv4 address as text.
impl Key for String {
    fn of(client: u64) -> String {
        // The finalizer of MurmurHash3 for 32 bits: one to one.
        let client = client as u32;
        let mixed = (client ^ (client >> 16)).wrapping_mul(0x85eb_ca6b);
        let mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
        Ipv4Addr::from(mixed ^ (mixed >> 16)).to_string()
    }

    fn with_text<T>(&self, take: impl FnOnce(&str) -> T) -> T {
        take(self)
    }
}

/// Which clients come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Draw {
    /// Any of them, each time.
    Uniform,
    /// Any of them, each time, and few of them most of the time: the n-th as often as 1 / n^0.99.
    Zipf,
    /// Each of them once.
    EachOnce,
}

impl Draw {
    /// `count` keys of these clients, or one of each; the same for the same seed.
    pub fn stream<K: Key>(self, clients: Range<u64>, count: usize, seed: u64) -> Vec<K> {
        let mut random = SmallRng::seed_from_u64(seed);
        match self {
            Draw::Uniform => (0..count).map(|_| K::of(random.random_range(clients.clone()))).collect(),
            Draw::Zipf => {
                let ranks =
                    Zipf::new((clients.end - clients.start) as f64, 0.99).expect("clients, and a positive exponent");
                random.sample_iter(ranks).take(count).map(|rank| K::of(clients.start + rank as u64 - 1)).collect()
            }
            Draw::EachOnce => clients.map(K::of).collect(),
        }
    }
}
