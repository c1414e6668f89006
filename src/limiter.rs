//! [`Limiter`]: many clients, each with a limit of its own.

use crate::{
    algorithm::Algorithm,
    client::{Access, Client, FromThread},
    clock::{Clock, FastClock},
    counter::Counter,
    decision::{Decision, Full},
    error::{AboveCeiling, BuildError},
    fixed_window::FixedWindow,
    handle::Handle,
    hazard::{BATCH, with_record},
    key::{ClientKey, KeyHash},
    log::Log,
    nanos::Nanos,
    quota::Quota,
    sync::prepare_fences,
    table::{LARGEST, Table, WhenFull},
    word::Ask,
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
pub struct Limiter<K: ?Sized, A: Algorithm = Counter, C = FastClock, S = KeyHash> {
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
pub struct Builder<K: ?Sized, A: Algorithm, C = FastClock, S = KeyHash> {
    quota: Quota,
    ceiling: u64,
    algorithm: fn(Quota) -> Result<A, BuildError>,
    max_clients: usize,
    max_bytes: usize,
    when_full: WhenFull,
    clock: C,
    hash: S,
    key: PhantomData<fn(&K)>,
}

/// The algorithm is always named; what it makes is a `Limiter<K, Counter>`, `Limiter<K, Log>` or
/// `Limiter<K, FixedWindow>`.
impl<K: ?Sized> Limiter<K> {
    /// A limiter with the exact [`Log`].
    ///
    /// Its cells take up to twice 8 bytes for each unit of the limit, per client; so [`max_bytes`](Builder::max_bytes)
    /// bounds the clients and the limit together.
    pub fn log(quota: Quota) -> Builder<K, Log> {
        Builder::new(quota, Log::new)
    }

    /// A limiter with the sliding [`Counter`].
    pub fn counter(quota: Quota) -> Builder<K, Counter> {
        Builder::new(quota, Counter::new)
    }

    /// A limiter with the [`FixedWindow`].
    pub fn fixed_window(quota: Quota) -> Builder<K, FixedWindow> {
        Builder::new(quota, FixedWindow::new)
    }
}

impl<K: ?Sized, A: Algorithm> Builder<K, A> {
    fn new(quota: Quota, algorithm: fn(Quota) -> Result<A, BuildError>) -> Builder<K, A> {
        Builder {
            quota,
            ceiling: quota.limit(),
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

impl<K: ?Sized, A: Algorithm, C, S> Builder<K, A, C, S> {
    /// The clients that the table is made for, 1,000,000 unless said; what bounds it is [`Limiter::capacity`].
    pub fn max_clients(self, max_clients: usize) -> Self {
        Builder { max_clients, ..self }
    }

    /// The bytes that the table may take when it is full, 4 GiB unless said.
    pub fn max_bytes(self, max_bytes: usize) -> Self {
        Builder { max_bytes, ..self }
    }

    /// The largest limit that [`set_limit`](Limiter::set_limit) will ever set, the quota's own unless said. The words and
    /// cells of the clients are made for it.
    pub fn ceiling(self, limit: u64) -> Self {
        Builder { ceiling: self.quota.limit().max(limit), ..self }
    }

    /// What a new client is answered at a full table, [`WhenFull::Refuse`] unless said.
    pub fn when_full(self, when_full: WhenFull) -> Self {
        Builder { when_full, ..self }
    }

    /// The clock, the [`FastClock`] unless said.
    pub fn clock<D: Clock>(self, clock: D) -> Builder<K, A, D, S> {
        let Builder { quota, ceiling, algorithm, max_clients, max_bytes, when_full, hash, key, .. } = self;
        Builder { quota, ceiling, algorithm, max_clients, max_bytes, when_full, clock, hash, key }
    }

    /// The hash of the keys, [`KeyHash`] unless said.
    pub fn hasher<H: BuildHasher>(self, hash: H) -> Builder<K, A, C, H> {
        let Builder { quota, ceiling, algorithm, max_clients, max_bytes, when_full, clock, key, .. } = self;
        Builder { quota, ceiling, algorithm, max_clients, max_bytes, when_full, clock, hash, key }
    }
}

impl<K: ?Sized, C, S> Builder<K, Log, C, S> {
    /// The cells of a client are allocated with its first request, as many as it can ever need; so no later check
    /// allocates for it.
    pub fn preallocate(self) -> Self {
        Builder { algorithm: Log::preallocated, ..self }
    }
}

impl<K: ?Sized, A: Algorithm, C: Clock, S: BuildHasher> Builder<K, A, C, S> {
    /// Makes the limiter.
    ///
    /// # Errors
    ///
    /// If the window is zero or longer than 100 years, the limit too large for the word, no client asked for, or the table
    /// for so many clients larger than [`max_bytes`](Self::max_bytes).
    pub fn build(self) -> Result<Limiter<K, A, C, S>, BuildError> {
        self.clock.prepare();
        prepare_fences();
        let algorithm = (self.algorithm)(Quota::new(self.ceiling, self.quota.window()))?;
        if self.max_clients == 0 {
            return Err(BuildError::NoClients);
        }
        let bytes = |segments: usize| Table::<A>::bytes_when_full(&algorithm, segments, LARGEST);
        let segments = self.max_clients.div_ceil(PER_SEGMENT);
        let needed = bytes(segments);
        if needed.is_none_or(|needed| needed > self.max_bytes) {
            let max_clients = bytes(1).map_or(0, |one| self.max_bytes / one * PER_SEGMENT);
            let cells = algorithm.most_cells() > 0;
            return Err(BuildError::TooManyClients { asked: self.max_clients, max_clients, bytes: needed, cells });
        }
        let table = Table::new(algorithm, segments, LARGEST, self.when_full);
        table.set_limit(self.quota.limit());
        Ok(Limiter { table, clock: self.clock, hash: self.hash, key: PhantomData })
    }
}

#[cfg(slidegate_loom)]
impl<K: ?Sized, A: Algorithm, C: Clock, S> Limiter<K, A, C, S> {
    /// For the models: one segment, and small arrays.
    pub(crate) fn of_one_segment(algorithm: A, largest: usize, when_full: WhenFull, clock: C, hash: S) -> Self {
        Limiter { table: Table::new(algorithm, 1, largest, when_full), clock, hash, key: PhantomData }
    }

    /// The blocks that the table leads to, and those that records keep.
    pub(crate) fn known_blocks(&self) -> usize {
        with_record(|record| self.table.blocks(record)).unwrap_or(0) + crate::hazard::kept_blocks()
    }
}

impl<K: ?Sized, A: Algorithm, C, S> fmt::Debug for Builder<K, A, C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("quota", &self.quota)
            .field("max_clients", &self.max_clients)
            .finish_non_exhaustive()
    }
}

impl<K: Hash + ?Sized, A: Algorithm, C: Clock, S: BuildHasher> Limiter<K, A, C, S> {
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

    /// Decides on a request of cost 1 from each of several clients, in their order and at one reading of the clock, and
    /// tells each answer with its index: cheaper than one by one, since the memory of all is fetched at once.
    ///
    /// ```
    /// use slidegate::{Limiter, Quota};
    ///
    /// let limiter = Limiter::<str>::counter(Quota::per_minute(1)).build()?;
    /// let mut served = Vec::new();
    /// limiter.check_many(&["ada", "grace", "ada"], |index, decision| {
    ///     if decision.is_allowed() {
    ///         served.push(index);
    ///     }
    /// });
    /// assert_eq!(served, [0, 1]);
    /// # Ok::<(), slidegate::BuildError>(())
    /// ```
    pub fn check_many(&self, clients: &[&K], each: impl FnMut(usize, Decision)) {
        self.check_many_by(FromThread, clients, each);
    }

    pub(crate) fn check_many_by(&self, record: impl Access, clients: &[&K], mut each: impl FnMut(usize, Decision)) {
        let ask = Ask { now: self.now().as_nanos(), cost: 1, limit: self.table.limit(), recording: true };
        for (first, batch) in (0..).step_by(BATCH).zip(clients.chunks(BATCH)) {
            // The hash is the user's code: it runs before anything is protected, and `each` after.
            let (mut keys, mut decisions) = ([0; BATCH], [Decision::Full(Full::new(ask.limit)); BATCH]);
            for (key, client) in keys.iter_mut().zip(batch) {
                *key = self.key_of(client).tag();
            }
            let (keys, decisions) = (&keys[..batch.len()], &mut decisions[..batch.len()]);
            // Without memory for the record of a thread all are turned away.
            let _ = record.with(|record| self.table.check_many(record, keys, ask, decisions));
            for (index, decision) in (first..).zip(decisions) {
                each(index, *decision);
            }
        }
    }

    /// The key of a client, for [`client_by`](Self::client_by): under this limiter's seed, so of no use to another.
    #[inline]
    pub fn key_of(&self, client: &K) -> ClientKey {
        ClientKey::from_hash(self.hash.hash_one(client))
    }
}

impl<K: ?Sized, A: Algorithm, C: Clock, S> Limiter<K, A, C, S> {
    /// A client by a key that was made before.
    #[inline]
    pub fn client_by(&self, key: ClientKey) -> Client<'_, A, C> {
        self.client_through(FromThread, key)
    }

    #[inline]
    pub(crate) fn client_through<R: Access>(&self, record: R, key: ClientKey) -> Client<'_, A, C, R> {
        Client::new(&self.table, &self.clock, record, key)
    }

    /// This limiter for one thread that asks often.
    pub fn handle(&self) -> Handle<'_, K, A, C, S> {
        Handle::new(self)
    }

    /// The algorithm with its parameters.
    pub fn algorithm(&self) -> &A {
        &self.table.algorithm
    }

    /// Changes the limit of all clients, at the same window. What they used stays: a client that has used more than the
    /// new limit has 0 remaining, and waits until enough of it has expired.
    ///
    /// ```
    /// use slidegate::{Limiter, Quota};
    ///
    /// let limiter = Limiter::<str>::fixed_window(Quota::per_day(2)).ceiling(10).build()?;
    /// assert_eq!(limiter.client("acme").cost(2).check().remaining(), 0);
    /// limiter.set_limit(3)?;
    /// assert_eq!(limiter.check("acme").remaining(), 0);
    /// assert_eq!(limiter.set_limit(11).unwrap_err().to_string(), "a limit of 11 is above the ceiling of 10");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the limit is above the [`ceiling`](Builder::ceiling).
    pub fn set_limit(&self, limit: u64) -> Result<(), AboveCeiling> {
        let ceiling = self.table.algorithm.ceiling();
        if limit > ceiling {
            return Err(AboveCeiling { limit, ceiling });
        }
        self.table.set_limit(limit);
        Ok(())
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
    /// one that it builds, and the cells of one client; and until its next move each thread keeps what the others were
    /// reading at its last one.
    pub fn max_bytes(&self) -> usize {
        self.table.max_bytes()
    }
}

/// Prints no key, tag or seed.
impl<K: ?Sized, A: Algorithm, C, S> fmt::Debug for Limiter<K, A, C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limiter").field("algorithm", &self.table.algorithm).finish_non_exhaustive()
    }
}
