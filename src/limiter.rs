//! [`Limiter`]: many clients, each with a limit of its own.

use crate::{
    client::Client,
    clock::{Clock, FastClock},
    counter::Counter,
    decision::Decision,
    error::BuildError,
    fixed_window::FixedWindow,
    hazard::with_record,
    key::{ClientKey, KeyHash},
    nanos::Nanos,
    quota::Quota,
    sync::Usage,
    table::{LARGEST, Table, WhenFull},
    word::Step,
};
use core::{
    fmt,
    hash::{BuildHasher, Hash},
    marker::PhantomData,
};

/// The clients for which a segment of the table is made.
const PER_SEGMENT: usize = 683;

/// A limiter for many clients, found by their keys: addresses, users, API keys.
///
/// Lock-free, by shared reference: share it by reference, as a static or in an `Arc`. Its memory is bounded by
/// [`max_clients`](Builder::max_clients), which a flood of new keys cannot exceed and cannot use to push out a client with
/// a live count. Clients of which nothing is remembered are reclaimed by the checks themselves: no thread, no timer.
///
/// The key type is fixed (`Limiter<str>`, `Limiter<IpAddr>`), so that two types never become two clients by accident.
/// Keys are not stored, only their hashes under a random seed.
///
/// ```
/// use slidegate::{Limiter, Quota};
/// use std::net::{IpAddr, Ipv4Addr};
///
/// let limiter = Limiter::<IpAddr>::counter(Quota::per_minute(2)).build()?;
/// let peer = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
/// assert!(limiter.check(&peer).is_allowed());
/// assert!(limiter.check(&peer).is_allowed());
/// assert!(!limiter.check(&peer).is_allowed());
/// # Ok::<(), slidegate::BuildError>(())
/// ```
pub struct Limiter<K: ?Sized, A = Counter, C = FastClock, S = KeyHash> {
    table: Table<A>,
    clock: C,
    hash: S,
    key: PhantomData<fn(&K)>,
}

/// What a limiter is to be, until it is built.
///
/// ```
/// use slidegate::{Limiter, ManualClock, Quota, WhenFull};
///
/// let limiter = Limiter::<str>::fixed_window(Quota::per_second(10))
///     .max_clients(50_000)
///     .when_full(WhenFull::Share)
///     .clock(ManualClock::new())
///     .build()?;
/// assert!(limiter.capacity() >= 50_000);
/// # Ok::<(), slidegate::BuildError>(())
/// ```
#[must_use = "a limiter is made by `build`"]
pub struct Builder<K: ?Sized, A, C = FastClock, S = KeyHash> {
    quota: Quota,
    algorithm: fn(Quota) -> Result<A, BuildError>,
    max_clients: usize,
    max_bytes: usize,
    when_full: WhenFull,
    clock: C,
    hash: S,
    key: PhantomData<fn(&K)>,
}

/// The algorithm is always named; what it makes is a `Limiter<K, Counter>` or a `Limiter<K, FixedWindow>`.
impl<K: ?Sized> Limiter<K> {
    /// A limiter with the sliding [`Counter`].
    pub fn counter(quota: Quota) -> Builder<K, Counter> {
        Builder::new(quota, Counter::renewed)
    }

    /// A limiter with the [`FixedWindow`].
    pub fn fixed_window(quota: Quota) -> Builder<K, FixedWindow> {
        Builder::new(quota, FixedWindow::renewed)
    }
}

impl<K: ?Sized, A> Builder<K, A> {
    fn new(quota: Quota, algorithm: fn(Quota) -> Result<A, BuildError>) -> Builder<K, A> {
        Builder {
            quota,
            algorithm,
            max_clients: 1_000_000,
            max_bytes: 4 << 30,
            when_full: WhenFull::Refuse,
            clock: FastClock,
            hash: KeyHash::new(),
            key: PhantomData,
        }
    }
}

impl<K: ?Sized, A, C, S> Builder<K, A, C, S> {
    /// The clients that the table is made for, 1,000,000 unless said; what bounds it is [`Limiter::capacity`].
    pub fn max_clients(self, max_clients: usize) -> Self {
        Builder { max_clients, ..self }
    }

    /// The bytes that the table may take when it is full, 4 GiB unless said.
    pub fn max_bytes(self, max_bytes: usize) -> Self {
        Builder { max_bytes, ..self }
    }

    /// What a new client is answered at a full table, [`WhenFull::Refuse`] unless said.
    pub fn when_full(self, when_full: WhenFull) -> Self {
        Builder { when_full, ..self }
    }

    /// The clock, the [`FastClock`] unless said.
    pub fn clock<D: Clock>(self, clock: D) -> Builder<K, A, D, S> {
        let Builder { quota, algorithm, max_clients, max_bytes, when_full, hash, key, .. } = self;
        Builder { quota, algorithm, max_clients, max_bytes, when_full, clock, hash, key }
    }

    /// The hash of the keys, [`KeyHash`] unless said.
    pub fn hasher<H: BuildHasher>(self, hash: H) -> Builder<K, A, C, H> {
        let Builder { quota, algorithm, max_clients, max_bytes, when_full, clock, key, .. } = self;
        Builder { quota, algorithm, max_clients, max_bytes, when_full, clock, hash, key }
    }
}

impl<K: ?Sized, A: Step, C: Clock, S: BuildHasher> Builder<K, A, C, S> {
    /// Makes the limiter.
    ///
    /// # Errors
    ///
    /// If the window is zero or longer than 100 years, the limit too large for the word, no client asked for, or the table
    /// for so many clients larger than [`max_bytes`](Self::max_bytes).
    pub fn build(self) -> Result<Limiter<K, A, C, S>, BuildError> {
        FastClock::calibrate();
        let algorithm = (self.algorithm)(self.quota)?;
        if self.max_clients == 0 {
            return Err(BuildError::NoClients);
        }
        let segments = self.max_clients.div_ceil(PER_SEGMENT);
        let bytes = Table::<A>::bytes_when_full(segments);
        match bytes {
            Some(bytes) if bytes <= self.max_bytes => {}
            _ => {
                let max_clients = Table::<A>::segments_within(self.max_bytes) * PER_SEGMENT;
                return Err(BuildError::TooManyClients { asked: self.max_clients, max_clients, bytes });
            }
        }
        let table = Table::new(algorithm, segments, LARGEST, self.when_full, Usage::default());
        Ok(Limiter { table, clock: self.clock, hash: self.hash, key: PhantomData })
    }
}

#[cfg(slidegate_loom)]
impl<K: ?Sized, A: Step, C: Clock> Limiter<K, A, C> {
    /// For the models: one segment, and small arrays.
    pub(crate) fn of_one_segment(algorithm: A, largest: usize, when_full: WhenFull, clock: C) -> Self {
        let table = Table::new(algorithm, 1, largest, when_full, Usage::default());
        Limiter { table, clock, hash: KeyHash::new(), key: PhantomData }
    }
}

impl<K: ?Sized, A, C, S> fmt::Debug for Builder<K, A, C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("quota", &self.quota)
            .field("max_clients", &self.max_clients)
            .finish_non_exhaustive()
    }
}

impl<K: Hash + ?Sized, A: Step, C: Clock, S: BuildHasher> Limiter<K, A, C, S> {
    /// Decides on a request of cost 1 from a client, and records it if it is allowed.
    #[inline]
    pub fn check(&self, client: &K) -> Decision {
        self.client(client).check()
    }

    /// A client, hashed once; what it asks and how stands there.
    #[inline]
    pub fn client(&self, client: &K) -> Client<'_, A, C> {
        self.client_by(self.key_of(client))
    }

    /// The key of a client, for [`client_by`](Self::client_by): under this limiter's seed, so of no use to another.
    #[inline]
    pub fn key_of(&self, client: &K) -> ClientKey {
        ClientKey::from_hash(self.hash.hash_one(client))
    }
}

impl<K: ?Sized, A: Step, C: Clock, S> Limiter<K, A, C, S> {
    /// A client by a key that was made before.
    #[inline]
    pub fn client_by(&self, key: ClientKey) -> Client<'_, A, C> {
        Client::new(&self.table, &self.clock, key)
    }

    /// The limiter's clock, read once.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Forgets what all clients used; one segment of the table after the other, at the limiter's clock.
    pub fn forget_all(&self) {
        let now = self.now().as_nanos();
        // Without memory for the record of a thread nothing is forgotten.
        let _ = with_record(|record| self.table.forget_all(record, now));
    }

    /// Gives back the memory of clients of which nothing is remembered; the checks do that by themselves where they need
    /// room.
    pub fn sweep(&self) {
        let now = self.now().as_nanos();
        let _ = with_record(|record| self.table.sweep(record, now));
    }

    /// The clients of which something is remembered; looks at every slot.
    pub fn tracked(&self) -> usize {
        let now = self.now().as_nanos();
        with_record(|record| self.table.tracked(record, now)).unwrap_or(0)
    }

    /// The slots for clients, at least [`max_clients`](Builder::max_clients) and up to 1.32 times as many.
    pub fn capacity(&self) -> usize {
        self.table.capacity()
    }

    /// The bytes that the table takes now.
    pub fn bytes_in_use(&self) -> usize {
        self.table.bytes_in_use()
    }

    /// The bytes that the table takes when it is full. Each thread inside a check may hold one segment more that it reads,
    /// and one that it builds.
    pub fn max_bytes(&self) -> usize {
        self.table.max_bytes()
    }
}

/// Prints no key, tag or seed.
impl<K: ?Sized, A: fmt::Debug, C, S> fmt::Debug for Limiter<K, A, C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limiter").field("algorithm", self.table.algorithm()).finish_non_exhaustive()
    }
}
