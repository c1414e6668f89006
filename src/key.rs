//! [`ClientKey`]: a client as the table knows it, and the hash that makes one.

use core::{fmt, hash::BuildHasher, hash::Hasher};
use std::collections::hash_map;

/// A client as a limiter knows it: the 64-bit hash of its key.
///
/// Two keys with equal hashes share one count. Among a million clients that happens to one pair with odds of 1 to
/// 37 million.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientKey(u64);

impl ClientKey {
    /// A client for a number that the caller has anyway, such as a user's; mixed, so that neighbouring numbers lie apart.
    #[must_use]
    pub const fn from_u64(number: u64) -> ClientKey {
        // The finalizer of splitmix64, a bijection: no two numbers share a client but the one that would be 0.
        let mixed = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ClientKey::from_hash(mixed ^ mixed >> 31)
    }

    pub(crate) const fn from_hash(hash: u64) -> ClientKey {
        // 0 marks an empty slot.
        ClientKey(if hash == 0 { 1 } else { hash })
    }

    pub(crate) const fn tag(self) -> u64 {
        self.0
    }
}

/// Does not print the hash, which would help whoever looks for keys with equal ones.
impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientKey")
    }
}

/// The default hash of keys: fast, and under a random seed of its own for each limiter.
///
/// An attacker who writes keys freely and can measure is better met with SipHash, the standard library's
/// [`RandomState`](hash_map::RandomState), which is one call of the builder.
#[derive(Clone)]
pub struct KeyHash(ahash::RandomState);

impl KeyHash {
    /// A hash under a new random seed.
    #[must_use]
    pub fn new() -> KeyHash {
        let seed = |nth: u64| hash_map::RandomState::new().hash_one(nth);
        KeyHash(ahash::RandomState::with_seeds(seed(0), seed(1), seed(2), seed(3)))
    }
}

impl Default for KeyHash {
    fn default() -> KeyHash {
        KeyHash::new()
    }
}

/// Does not print the seed.
impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash")
    }
}

impl BuildHasher for KeyHash {
    type Hasher = KeyHasher;

    #[inline]
    fn build_hasher(&self) -> KeyHasher {
        KeyHasher(self.0.build_hasher())
    }
}

/// The state of a [`KeyHash`] on its way through a key.
#[derive(Clone)]
pub struct KeyHasher(ahash::AHasher);

impl fmt::Debug for KeyHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHasher")
    }
}

/// Forwards every method that the hash has a shorter way for.
impl Hasher for KeyHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.0.write_u8(number);
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.0.write_u16(number);
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.0.write_u32(number);
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0.write_u64(number);
    }

    #[inline]
    fn write_u128(&mut self, number: u128) {
        self.0.write_u128(number);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.0.write_usize(number);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0.finish()
    }
}
