//! [`Contender`]: a limiter that takes part; [`Batch`]: what it is asked.

use hdrhistogram::Histogram;
use std::time::Instant;

/// A limiter under test. Whatever checks a key is one: `|key: &K| limiter.check(key).is_allowed()`.
///
/// A call is dynamic once for a batch; what [`Batch::each`] is given is compiled into the loop. A limiter with something
/// to set up for a batch, as a handle of the thread, implements this itself.
pub trait Contender<K>: Send + Sync {
    /// Checks all keys of the batch; how many were allowed.
    fn serve(&self, batch: Batch<'_, K>) -> usize;
}

impl<K, F: Fn(&K) -> bool + Send + Sync> Contender<K> for F {
    fn serve(&self, batch: Batch<'_, K>) -> usize {
        batch.each(self)
    }
}

/// How the checks of a batch follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// The processor may begin a check before the last one has ended.
    BackToBack,
    /// A check begins when the one before has ended, as where a request lies between them.
    OneAtATime,
    /// The clock is read before and after each.
    Stamped,
}

/// Keys to check, and how.
pub struct Batch<'a, K> {
    pub keys: &'a [K],
    pub pace: Pace,
    /// Nanoseconds between the two stamps of a check, in the stamped pace.
    pub latency: &'a mut Histogram<u64>,
}

impl<K> Batch<'_, K> {
    /// Gives all keys to `check`, in order; how many it allowed.
    #[inline(always)]
    pub fn each(self, check: impl Fn(&K) -> bool) -> usize {
        let keys = self.keys.iter();
        match self.pace {
            Pace::BackToBack => keys.filter(|key| check(key)).count(),
            Pace::OneAtATime => keys
                .filter(|key| {
                    let allowed = check(key);
                    wait();
                    allowed
                })
                .count(),
            Pace::Stamped => keys
                .filter(|key| {
                    // Not the bare counter: the processor may read that before the check has ended.
                    let before = Instant::now();
                    let allowed = check(key);
                    let nanos = before.elapsed().as_nanos() as u64;
                    self.latency.saturating_record(nanos);
                    allowed
                })
                .count(),
        }
    }
}

/// Lets nothing that follows begin until all that was before has ended.
#[inline(always)]
fn wait() {
    // A fence of the language would order what others see; the next key would be looked up early all the same.
    #[cfg(target_arch = "x86_64")]
    x86::fence::lfence();
    #[cfg(not(target_arch = "x86_64"))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}
