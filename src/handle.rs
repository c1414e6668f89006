//! [`Handle`]: a limiter, with a record at hand.

use crate::{
    algorithm::Algorithm,
    client::{Access, Client},
    clock::Clock,
    decision::Decision,
    hazard::{NoRecord, Record, Taken},
    key::ClientKey,
    limiter::Limiter,
};
use core::{
    cell::OnceCell,
    fmt,
    hash::{BuildHasher, Hash},
    panic::RefUnwindSafe,
};

/// A limiter for one thread that asks often: the same verbs, without the look into the thread for its record.
///
/// It can be kept as long as one likes, idle or not, and holds up nobody; it stays in its thread.
///
/// ```
/// use slidegate::{Limiter, Quota};
///
/// let limiter = Limiter::<str>::counter(Quota::per_minute(2)).build()?;
/// let handle = limiter.handle(); // once, before the loop of a thread
/// for expected in [true, true, false] {
///     assert_eq!(handle.check("acme").is_allowed(), expected);
/// }
/// assert_eq!(handle.client("acme").peek().remaining(), 0);
/// # Ok::<(), slidegate::BuildError>(())
/// ```
pub struct Handle<'a, K: ?Sized, A: Algorithm, C, S> {
    limiter: &'a Limiter<K, A, C, S>,
    /// Empty only where there was no memory for a record.
    record: OnceCell<Taken>,
}

/// A record is whole at any time, and so is a cell that is written once.
impl<K: ?Sized, A: Algorithm, C, S> RefUnwindSafe for Handle<'_, K, A, C, S> where Limiter<K, A, C, S>: RefUnwindSafe {}

/// The record of a handle.
#[derive(Clone, Copy, Debug)]
pub struct FromHandle<'a>(&'a OnceCell<Taken>);

impl Access for FromHandle<'_> {
    #[inline]
    fn with<T>(self, body: impl FnOnce(&Record) -> T) -> Result<T, NoRecord> {
        let taken = match self.0.get() {
            Some(taken) => taken,
            None => self.fill()?,
        };
        Ok(body(taken.record()))
    }
}

impl<'a> FromHandle<'a> {
    #[cold]
    fn fill(self) -> Result<&'a Taken, NoRecord> {
        let taken = Taken::take()?;
        Ok(self.0.get_or_init(|| taken))
    }
}

impl<'a, K: ?Sized, A: Algorithm, C, S> Handle<'a, K, A, C, S> {
    pub(crate) fn new(limiter: &'a Limiter<K, A, C, S>) -> Self {
        let handle = Handle { limiter, record: OnceCell::new() };
        // If it fails, the first check tries again.
        let _ = handle.record().fill();
        handle
    }

    pub(crate) fn record(&self) -> FromHandle<'_> {
        FromHandle(&self.record)
    }
}

impl<K: Hash + ?Sized, A: Algorithm, C: Clock, S: BuildHasher> Handle<'_, K, A, C, S> {
    /// As [`Limiter::check`].
    #[inline]
    pub fn check(&self, client: &K) -> Decision {
        self.client(client).check()
    }

    /// As [`Limiter::client`].
    #[inline]
    pub fn client(&self, client: &K) -> Client<'_, A, C, FromHandle<'_>> {
        self.client_by(self.limiter.key_of(client))
    }

    /// As [`Limiter::check_many`].
    pub fn check_many(&self, clients: &[&K], each: impl FnMut(usize, Decision)) {
        self.limiter.check_many_by(self.record(), clients, each);
    }
}

impl<K: ?Sized, A: Algorithm, C: Clock, S> Handle<'_, K, A, C, S> {
    /// As [`Limiter::client_by`].
    #[inline]
    pub fn client_by(&self, key: ClientKey) -> Client<'_, A, C, FromHandle<'_>> {
        self.limiter.client_through(self.record(), key)
    }
}

impl<K: ?Sized, A: Algorithm, C, S> fmt::Debug for Handle<'_, K, A, C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handle").field(self.limiter).finish()
    }
}
