//! [`Log`]: the exact log, one stamp per tick and a running count, in a ring.
//!
//! ```text
//!         63      ..     ..    ..    .. 0
//!   top [ frozen | stamp | cum | index | class ]      the newest tick, and where the next cell goes; 0 = never used
//!  cell          [ stamp | cum ]                      a finished tick: when, and the units allowed through it
//! ```
//!
//! A request that is allowed in the newest tick adds to `cum`; in a new tick it first settles the newest tick in the
//! cell at `index`, then moves `top` on. The newest expired cell is the base: what was allowed since is
//! `top.cum - base.cum`. The ring remembers where the base was when its last tick was recorded; a reader bisects from
//! there on. That is all the pruning there is: expired cells are overwritten in turn.
//!
//! Bisecting is safe from a recorded base, and only from there. Cells older than it may be so old that their stamps have
//! wrapped. The base itself had expired when a tick was recorded, within a quarter of the horizon; the tick after it was
//! live then, and was recorded within a quarter of the horizon of it. So it is at most half a horizon and two windows
//! old, which is less than the whole, and every cell from it on has a true age. (A scan of the newest cells first, as long
//! as they are live, needs no such argument, and takes a step for each live tick.)
//!
//! `cum`, the stamps and `index` wrap. `cum` has one bit more than the limit; a stamp spans more than four windows.
//! The ring starts with the second tick (`class` 0 has none, its base is 0) and doubles (`class` + 1) up to a cell for
//! each tick that can be live, and one for the base.
//!
//! # Orderings
//!
//! * `top`, Release in every exchange, Acquire in the loads and in the failures: carries the settled cells.
//! * a cell, Release in its exchange, Acquire in its loads: carries what its writer knew of `top`. Whoever overwrites a
//!   cell that we may read has seen a newer `top`; having read his cell, we see it too, and our answer is not confirmed.
//! * the confirming reload of `top` may therefore be Relaxed: it comes after the last cell was read.
//! * where the base was, Relaxed: it is written before the exchange of `top` that recorded the tick, and travels with it.

use crate::{
    decision::{Allowed, Decision, Full, Never, Refused, Standing},
    error::BuildError,
    horizon,
    nanos::Nanos,
    quota::Quota,
    ring::{NoMemory, Ring, Rings},
    sync::{
        AtomicWord,
        Ordering::{Acquire, Relaxed, Release},
    },
    word::FROZEN,
};
use core::time::Duration;

/// The cells of the first ring: with its header they fill about a cache line.
const FIRST_CAPACITY: usize = 4;

/// A tick is at most this part of the window, where it is longer than a nanosecond.
const COARSEST: u64 = 1 << 20;

/// The exact log: no closed interval of length `W` ever holds more than `L` units, and nothing that fits is refused.
///
/// One word per client and, from its second tick on, a ring of 8-byte cells, one for each distinct tick of the last
/// window. A unit exactly `W` old still counts; so a client that spends all of `L` at once and comes back after exactly
/// `W` is refused: it must wait one tick longer. A tick is a nanosecond or, where the word has no room for that, the
/// smallest power of two of them that lets a stamp span four windows; the window is rounded up to ticks.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    limit: u64,
    /// Ticks.
    window: u64,
    /// A tick is `1 << tick_shift` nanoseconds.
    tick_shift: u32,
    stamp_bits: u32,
    cum_bits: u32,
    index_bits: u32,
    class_bits: u32,
}

/// One client's log.
#[derive(Debug)]
pub struct Stamps {
    top: AtomicWord,
    rings: Rings,
}

/// The newest tick of a client.
#[derive(Clone, Copy, Debug)]
struct Top {
    stamp: u64,
    cum: u64,
    index: u64,
    class: u64,
}

/// What a request finds.
#[derive(Clone, Copy, Debug)]
struct View {
    /// The effective now, in nanoseconds and as a stamp.
    now: u64,
    stamp: u64,
    /// The units of the closed window that ends now.
    used: u64,
    /// The ticks that hold them: as many cells back from `top.index` is the base.
    live: u64,
    /// The ages of the newest and the oldest of them, and of the one that must leave before the request fits.
    newest: u64,
    oldest: u64,
    leaving: u64,
}

/// A tick as a request sees it.
#[derive(Clone, Copy, Debug)]
struct Tick {
    /// Ticks from it to the effective now.
    age: u64,
    /// The units allowed after it.
    newer: u64,
}

impl Log {
    pub(crate) const fn new(quota: Quota) -> Result<Log, BuildError> {
        let window = match horizon::window(quota) {
            Ok(window) => window,
            Err(error) => return Err(error),
        };
        match Log::fit(quota.limit(), window) {
            Some(log) => Ok(log),
            None => {
                let largest_limit = Some(Log::largest_limit(window));
                Err(BuildError::DoesNotFit { quota, algorithm: "log", largest_limit, shortest_window: None })
            }
        }
    }

    /// The finest ticks that leave a stamp more than four windows.
    const fn fit(limit: u64, window: u64) -> Option<Log> {
        let mut tick_shift = 0;
        while tick_shift == 0 || 1 << tick_shift <= window / COARSEST {
            let ticks = window.div_ceil(1 << tick_shift);
            if let Some(log) = Log::with_ticks(limit, ticks, tick_shift) {
                return Some(log);
            }
            tick_shift += 1;
        }
        None
    }

    const fn with_ticks(limit: u64, window: u64, tick_shift: u32) -> Option<Log> {
        let cum_bits = horizon::bits(limit) + 1;
        // One cell for each tick that can be live, and one for the base.
        let ticks = if limit < window + 1 { limit } else { window + 1 };
        let index_bits = horizon::bits(if ticks == 0 { 1 } else { ticks });
        // Class 0, and one for each doubling from the first ring to the largest.
        let class_bits = horizon::bits(index_bits as u64 - 1);
        let Some(stamp_bits) = 63u32.checked_sub(cum_bits + index_bits + class_bits) else { return None };
        if stamp_bits < 4 || window >= 1 << (stamp_bits - 2) {
            return None;
        }
        Some(Log { limit, window, tick_shift, stamp_bits, cum_bits, index_bits, class_bits })
    }

    /// What the stamps tell apart: a nanosecond, or a power of two of them.
    pub const fn tick(&self) -> Duration {
        Duration::from_nanos(1 << self.tick_shift)
    }

    /// The largest limit that fits at a window; every smaller one fits too.
    const fn largest_limit(window: u64) -> u64 {
        let (mut fits, mut too_large) = (0, u64::MAX);
        while fits + 1 < too_large {
            let middle = fits + (too_large - fits) / 2;
            if Log::fit(middle, window).is_some() {
                fits = middle;
            } else {
                too_large = middle;
            }
        }
        fits
    }

    const_fn! {
        pub(crate) const fn stamps() -> Stamps {
            Stamps { top: AtomicWord::new(0), rings: Rings::new() }
        }
    }

    #[inline]
    pub(crate) fn check(&self, stamps: &Stamps, now: Nanos, cost: u64) -> Decision {
        self.answer(stamps, now, cost, cost > 0)
    }

    pub(crate) fn peek(&self, stamps: &Stamps, now: Nanos, cost: u64) -> Decision {
        self.answer(stamps, now, cost, false)
    }

    #[inline]
    fn answer(&self, stamps: &Stamps, now: Nanos, cost: u64, recording: bool) -> Decision {
        loop {
            let seen = stamps.top.load(Acquire);
            let view = self.view(stamps, seen, now.as_nanos(), cost);
            let decision = self.decide(&view, cost);
            // What fails below fails because somebody moved `top` on: a request of his was allowed or his ring doubled.
            if recording && decision.is_allowed() {
                match self.record(stamps, seen, &view, cost) {
                    Ok(true) => return decision,
                    Ok(false) => {}
                    Err(NoMemory) => return Decision::Full(Full::new(self.limit)),
                }
            } else if stamps.top.load(Relaxed) == seen {
                return decision;
            }
        }
    }

    /// What a request finds under a `top`; true if `top` is still the present one after this.
    fn view(&self, stamps: &Stamps, seen: u64, now: u64, cost: u64) -> View {
        let top = self.unpack(seen);
        let mut view = self.place(seen, now);
        if view.live == 0 {
            return view;
        }
        view.used = top.cum;
        let Some(ring) = stamps.rings.get(self.capacity(top.class)) else { return view };
        let tick = |back: u64| self.tick_at(top, ring, view.stamp, back);
        view.live = self.find_base(top, ring, |back| tick(back).age > self.window);
        view.used = tick(view.live).newer;
        view.oldest = tick(view.live - 1).age;
        if view.used > self.limit.saturating_sub(cost) {
            // The newest ticks hold no more than this; the tick before them must leave.
            let room = self.limit.saturating_sub(cost);
            view.leaving = tick(first(0, view.live, |back| tick(back).newer > room) - 1).age;
        }
        view
    }

    /// How many cells back from `top` the newest expired one is.
    fn find_base(&self, top: Top, ring: Ring<'_>, expired: impl Fn(u64) -> bool) -> u64 {
        let readable = ring.capacity() as u64 - 1;
        let recorded = top.index.wrapping_sub(ring.base().load(Relaxed)) & ones(self.index_bits);
        let mut base = recorded.clamp(1, readable);
        // Only where a thread moved the base for a later instant than ours and has not recorded it. Beyond the last cell
        // `top` has moved on anyway.
        while base < readable && !expired(base) {
            base += 1;
        }
        first(0, base, expired)
    }

    /// The tick in the cell so many places back from the newest, which is `top` itself at 0.
    fn tick_at(&self, top: Top, ring: Ring<'_>, now: u64, back: u64) -> Tick {
        let (stamp, cum) = if back == 0 {
            (top.stamp, top.cum)
        } else {
            // Acquire: pairs with the Release in `settle`; carries what the writer of a later lap knew of `top`.
            // Model: log_ring_of_four_wraps.
            self.unpack_cell(ring.cell(top.index.wrapping_sub(back)).load(Acquire))
        };
        Tick {
            age: now.wrapping_sub(stamp) & ones(self.stamp_bits),
            newer: top.cum.wrapping_sub(cum) & ones(self.cum_bits),
        }
    }

    /// The effective now of a reading, with the newest tick alone in view if it is live.
    const fn place(&self, seen: u64, now: u64) -> View {
        let tick = now >> self.tick_shift;
        let top = self.unpack(seen);
        let age = tick.wrapping_sub(top.stamp) & ones(self.stamp_bits);
        let stamp = tick & ones(self.stamp_bits);
        let nothing = View { now, stamp, used: 0, live: 0, newest: 0, oldest: 0, leaving: 0 };
        if seen == 0 {
            nothing
        } else if age > ones(self.stamp_bits) >> 1 {
            // The reading is behind the newest tick. Saturating, as in `Windows::after`.
            let behind = ones(self.stamp_bits) - age + 1;
            let start = tick.saturating_add(behind).saturating_mul(1 << self.tick_shift);
            View { now: start, stamp: top.stamp, live: 1, ..nothing }
        } else if age > self.window {
            nothing
        } else {
            View { live: 1, newest: age, oldest: age, leaving: age, ..nothing }
        }
    }

    const fn decide(&self, view: &View, cost: u64) -> Decision {
        let remaining = self.limit.saturating_sub(view.used);
        if cost > self.limit {
            return Decision::Never(Never::new(self.limit, remaining));
        }
        if view.used + cost > self.limit {
            let wait = self.until_expired(view, view.leaving);
            return Decision::Refused(Refused::new(self.limit, remaining, wait, Nanos::from_nanos(view.now)));
        }
        let (newest, oldest) = match (view.used, cost) {
            (0, 0) => (None, None),
            (0, _) => (Some(0), Some(0)),
            (_, 0) => (Some(view.newest), Some(view.oldest)),
            _ => (Some(0), Some(view.oldest)),
        };
        let standing = Standing::Known {
            remaining: remaining - cost,
            next_unit: match oldest {
                Some(age) => Some(self.until_expired(view, age)),
                None => None,
            },
            full_reset: match newest {
                Some(age) => self.until_expired(view, age),
                None => 0,
            },
        };
        Decision::Allowed(Allowed::new(self.limit, standing))
    }

    /// Nanoseconds until a tick of this age is more than a window old.
    const fn until_expired(&self, view: &View, age: u64) -> u64 {
        let into_tick = view.now & ones(self.tick_shift);
        // Saturating, since a view that `top` has overtaken may hold any age; its answer is not given.
        ((self.window + 1).saturating_sub(age) << self.tick_shift).saturating_sub(into_tick)
    }

    /// Records an allowed request; `false` where `top` is no longer `seen`, or its ring had to double first.
    fn record(&self, stamps: &Stamps, seen: u64, view: &View, cost: u64) -> Result<bool, NoMemory> {
        let top = self.unpack(seen);
        let cum = (top.cum + cost) & ones(self.cum_bits);
        let next = if view.live > 0 && view.stamp == top.stamp {
            Top { cum, ..top }
        } else if top.class == 0 && view.live == 0 {
            Top { stamp: view.stamp, cum: cost, ..top }
        } else {
            let ring = match stamps.rings.get(self.capacity(top.class)) {
                // Of the cells that the next reader may read, one must be the base.
                Some(ring) if view.live + 1 < ring.capacity() as u64 => ring,
                _ => return self.grow(stamps, seen, view.live).map(|()| false),
            };
            let base = top.index.wrapping_sub(view.live) & ones(self.index_bits);
            if !stamps.settle(ring.base(), base, seen) || !stamps.settle(ring.cell(top.index), self.cell_of(seen), seen)
            {
                return Ok(false);
            }
            Top { stamp: view.stamp, cum, index: (top.index + 1) & ones(self.index_bits), class: top.class }
        };
        // Release: pairs with the Acquire loads of `top`; carries the cell just settled. Model: log_ring_starts.
        Ok(stamps.top.compare_exchange_weak(seen, self.pack(next), Release, Relaxed).is_ok())
    }

    /// Starts the ring, or doubles it: the cells in use are settled in the new ring, then `top` moves on to its class.
    #[cold]
    fn grow(&self, stamps: &Stamps, seen: u64, live: u64) -> Result<(), NoMemory> {
        let top = self.unpack(seen);
        let next = Top { class: top.class + 1, ..top };
        // Whoever is overtaken has no reason to grow, and may have no class to grow to.
        if stamps.top.load(Relaxed) != seen {
            return Ok(());
        }
        let larger = stamps.rings.with_capacity(self.capacity(next.class))?;
        let ring = stamps.rings.get(self.capacity(top.class));
        // The live ticks and the base. A log without a ring has one tick, and its base is expired and allowed nothing.
        for back in 1..=live {
            let position = top.index.wrapping_sub(back);
            let cell = match ring {
                // Relaxed: a cell of a later lap means that `top` is no longer `seen`, so nobody will read the copy.
                Some(ring) => ring.cell(position).load(Relaxed),
                None => (top.stamp.wrapping_sub(self.window + 1) & ones(self.stamp_bits)) << self.cum_bits,
            };
            if !stamps.settle(larger.cell(position), cell, seen) {
                return Ok(());
            }
        }
        if !stamps.settle(larger.base(), top.index.wrapping_sub(live) & ones(self.index_bits), seen) {
            return Ok(());
        }
        // Release: carries the settled cells and the ring. A failure means that `top` moved on; whoever needs the ring
        // settles it anew.
        let _ = stamps.top.compare_exchange_weak(seen, self.pack(next), Release, Relaxed);
        Ok(())
    }

    /// The cells of the ring of a class; none for class 0.
    const fn capacity(&self, class: u64) -> usize {
        let largest: usize = 1 << self.index_bits;
        let first = if FIRST_CAPACITY < largest { FIRST_CAPACITY } else { largest };
        if class == 0 { 0 } else { first << (class - 1) }
    }

    const fn unpack(&self, top: u64) -> Top {
        let class = top & ones(self.class_bits);
        let index = top >> self.class_bits & ones(self.index_bits);
        let (stamp, cum) = self.unpack_cell(self.cell_of(top));
        Top { stamp, cum, index, class }
    }

    const fn pack(&self, top: Top) -> u64 {
        ((top.stamp << self.cum_bits | top.cum) << self.index_bits | top.index) << self.class_bits | top.class
    }

    /// The cell in which the tick of a `top` is settled.
    const fn cell_of(&self, top: u64) -> u64 {
        (top & !FROZEN) >> (self.index_bits + self.class_bits)
    }

    /// The stamp and the running count of a cell.
    const fn unpack_cell(&self, cell: u64) -> (u64, u64) {
        (cell >> self.cum_bits, cell & ones(self.cum_bits))
    }
}

impl Stamps {
    /// Makes a cell say `settled`, as every thread does that finds `top` to be `seen`; `false` where it no longer is.
    ///
    /// What stands in the cell is an earlier lap, or the same tick with less in it. It is replaced only as it was found
    /// while `top` was still `seen`, so a thread that comes late cannot undo what a later `top` has settled.
    fn settle(&self, cell: &AtomicWord, settled: u64, seen: u64) -> bool {
        let mut found = cell.load(Acquire);
        while found != settled {
            // Relaxed: the Acquire of the cell shows us the `top` that a later lap's writer had seen.
            // Model: log_settles_the_whole_tick.
            if self.top.load(Relaxed) != seen {
                return false;
            }
            // Release: pairs with the Acquire loads of cells. Models: log_ring_of_four_wraps, log_settles_the_whole_tick.
            match cell.compare_exchange_weak(found, settled, Release, Acquire) {
                Ok(_) => return true,
                Err(newer) => found = newer,
            }
        }
        true
    }
}

/// The first number after `no`, up to `yes`, for which a condition holds that once it holds holds on.
fn first(mut no: u64, mut yes: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while yes - no > 1 {
        let middle = no + (yes - no) / 2;
        *(if holds(middle) { &mut yes } else { &mut no }) = middle;
    }
    yes
}

/// As many ones, from the lowest bit up.
const fn ones(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{Answer, Model, Rule, Verb, Verdict},
        word::tests,
    };
    use proptest::prelude::*;
    use std::time::Duration;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        /// A stamp of few bits answers as the list does over many wraps, as long as the newest is never older than a
        /// quarter of the horizon, and no reading half of it behind.
        #[test]
        fn narrow_stamps(
            limit in 0_u64..12,
            ticks in prop_oneof![1_u64..6, 1_u64..200],
            tick_shift in prop_oneof![Just(0_u32), 1_u32..12],
            spare_bits in 0_u32..3,
            start in 0_u64..1_000_000,
            requests in tests::requests(),
        ) {
            let stamp_bits = (horizon::bits(ticks) + 2).max(4) + spare_bits;
            let log = Log { stamp_bits, ..Log::with_ticks(limit, ticks, tick_shift).unwrap() };
            let (window, horizon) = (ticks << tick_shift, 1 << (stamp_bits + tick_shift));
            let (ahead, behind) = (horizon / 4, horizon / 2 - (1 << tick_shift));
            let (stamps, mut last) = (Log::stamps(), start);
            let mut model = Model::new(Rule::Log { tick: 1 << tick_shift }, limit, window);
            for raw in requests {
                let verb = raw.verb.unwrap_or(Verb::Check);
                let newest = if model.is_new() { last } else { model.effective_now(0) };
                let (reading, cost) = (raw.reading(last, newest, window, ahead, behind), raw.cost(limit));
                let now = Nanos::from_nanos(reading);
                let decision = match verb {
                    Verb::Check => log.check(&stamps, now, cost),
                    Verb::Peek => log.peek(&stamps, now, cost),
                };
                prop_assert_eq!(Answer::from(decision), model.ask(verb, reading, cost), "{:?} at {}", raw, reading);
                last = reading.max(last);
            }
        }

        /// The layout of a log that fits, and that no finer tick would.
        #[test]
        fn ticks_are_the_finest_that_fit(
            limit in prop_oneof![0_u64..10, (0_u32..64).prop_map(|bits| u64::MAX >> bits), any::<u64>()],
            window in prop_oneof![1_u64..10, 1..=horizon::CENTURY, (0_u32..61).prop_map(|bits| 1 << bits)],
        ) {
            let quota = Quota::new(limit, Duration::from_nanos(window));
            let (limit, log) = match Log::new(quota) {
                Ok(log) => (limit, log),
                Err(BuildError::DoesNotFit { largest_limit, .. }) => {
                    let largest = largest_limit.unwrap();
                    prop_assert!(largest < limit && Log::fit(largest + 1, window).is_none());
                    (largest, Log::fit(largest, window).unwrap())
                }
                Err(error) => panic!("{error}"),
            };
            let tick = 1 << log.tick_shift;
            prop_assert!(tick == 1 || tick <= window >> 20);
            prop_assert!(log.window * tick >= window && log.window * tick - window < tick);
            prop_assert!(u128::from(log.window) * 4 < 1 << log.stamp_bits);
            prop_assert_eq!(log.stamp_bits + log.cum_bits + log.index_bits + log.class_bits, 63);
            prop_assert!(u128::from(limit) * 2 < 1 << log.cum_bits);
            if log.tick_shift > 0 {
                let finer = log.tick_shift - 1;
                prop_assert!(Log::with_ticks(limit, window.div_ceil(1 << finer), finer).is_none());
            }
            // A cell for each tick that can be live and one for the base, in a class that the word can name.
            let largest = 1_u64 << log.index_bits;
            prop_assert!(largest > limit.min(log.window + 1));
            let class = (0..1 << log.class_bits).find(|&class| log.capacity(class) as u64 == largest);
            prop_assert!(class.is_some());
        }

        #[test]
        fn tops_come_back(limit in 0_u64..1 << 17, stamp: u64, cum: u64, index: u64, class: u64) {
            let log = Log::fit(limit, 1_000_000_000).unwrap();
            let top = Top {
                stamp: stamp & ones(log.stamp_bits),
                cum: cum & ones(log.cum_bits),
                index: index & ones(log.index_bits),
                class: class & ones(log.class_bits),
            };
            let word = log.pack(top);
            prop_assert_eq!(word & FROZEN, 0);
            for word in [word, word | FROZEN] {
                let back = log.unpack(word);
                prop_assert_eq!(
                    (back.stamp, back.cum, back.index, back.class),
                    (top.stamp, top.cum, top.index, top.class)
                );
                prop_assert_eq!(log.unpack_cell(log.cell_of(word)), (top.stamp, top.cum));
            }
        }
    }

    /// As many ticks as the limit, all of them live all the time: the ring doubles to its largest and is wrapped.
    #[test]
    fn the_largest_ring_is_filled_and_wrapped() {
        for limit in [1, 2, 3, 4, 5, 7, 8, 9, 100, 1_023, 1_024] {
            let log = Log::fit(limit, 10 * limit - 1).unwrap();
            let stamps = Log::stamps();
            for nth in 1..=4 * limit {
                let check = || Answer::from(log.check(&stamps, Nanos::from_nanos(10 * nth), 1));
                assert!(matches!(check(), Answer { verdict: Verdict::Allowed { .. }, .. }), "{nth} of {limit}");
                if nth >= limit {
                    assert_eq!(check().verdict, Verdict::Refused { wait: 10, at: 10 * nth + 10 }, "{nth} of {limit}");
                }
            }
            let top = log.unpack(stamps.top.load(Relaxed));
            assert_eq!(log.capacity(top.class), if limit == 1 { 0 } else { 1 << log.index_bits }, "{limit}");
        }
    }

    /// A client that comes once in more than a window, for many horizons, and then often: the base is found wherever the
    /// stamps have wrapped to, in the ring it had and in those that it grows.
    #[test]
    fn a_sparse_client_turns_dense() {
        let (limit, window) = (12, 20);
        let log = Log { stamp_bits: 7, ..Log::with_ticks(limit, window, 0).unwrap() };
        // The ring has 4 cells when it starts, and 16 where all of the limit was live.
        for (first, gap) in [2, limit].into_iter().flat_map(|first| (window + 1..=32).map(move |gap| (first, gap))) {
            for sparse in 1..100 {
                let (stamps, mut now) = (Log::stamps(), 0);
                let mut remaining_after = |step: u64| {
                    now += step;
                    let decision = log.check(&stamps, Nanos::from_nanos(now), 1);
                    assert!(decision.is_allowed(), "at {now}, {sparse} times every {gap}");
                    decision.remaining()
                };
                for used in 1..=first {
                    assert_eq!(remaining_after(1), limit - used);
                }
                for _ in 0..sparse {
                    assert_eq!(remaining_after(gap), limit - 1);
                }
                for used in 2..=limit {
                    assert_eq!(remaining_after(1), limit - used, "{used} used, {sparse} times every {gap}");
                }
            }
        }
    }

    /// A peek at a later instant and a refusal leave every word as it is, so they cost nobody anything.
    #[test]
    fn only_what_is_allowed_writes() {
        let log = Log::fit(100, 1_000).unwrap();
        let stamps = Log::stamps();
        for nth in 0..100 {
            assert!(log.check(&stamps, Nanos::from_nanos(10 * nth), 1).is_allowed());
        }
        let words = || {
            let top = stamps.top.load(Relaxed);
            let ring = stamps.rings.get(log.capacity(log.unpack(top).class)).unwrap();
            let cells = (0..ring.capacity() as u64).map(|position| ring.cell(position).load(Relaxed));
            [top, ring.base().load(Relaxed)].into_iter().chain(cells).collect::<Vec<_>>()
        };
        let before = words();
        for now in [990, 1_000, 1_985, 1_991, 100_000] {
            for cost in [0, 1, 50, 100] {
                let _ = log.peek(&stamps, Nanos::from_nanos(now), cost);
            }
        }
        assert!(!log.check(&stamps, Nanos::from_nanos(1_000), 1).is_allowed());
        assert!(!log.check(&stamps, Nanos::from_nanos(1_001), 2).is_allowed());
        assert_eq!(words(), before);
    }

    /// A thread that stopped before it settled its cell, or before its exchange, and goes on laps later.
    #[test]
    fn a_late_thread_undoes_nothing() {
        for laps in [1, 2, 5] {
            let log = Log::fit(3, 100).unwrap();
            let (stamps, mut now) = (Log::stamps(), 0);
            let mut check = |step: u64| {
                now += step;
                assert!(log.check(&stamps, Nanos::from_nanos(now), 1).is_allowed());
                now
            };
            check(0);
            check(40);
            let stopped_at = check(40);
            let seen = stamps.top.load(Relaxed);
            let view = log.view(&stamps, seen, stopped_at + 1, 1);
            let capacity = stamps.rings.get(log.capacity(log.unpack(seen).class)).unwrap().capacity();
            for _ in 0..=capacity * laps {
                check(40);
            }
            let top = stamps.top.load(Relaxed);
            let ring = stamps.rings.get(log.capacity(log.unpack(top).class)).unwrap();
            let cells = || (0..4).map(|position| ring.cell(position).load(Relaxed)).collect::<Vec<_>>();
            let before = cells();

            let cell = ring.cell(log.unpack(seen).index);
            assert!(!stamps.settle(cell, log.cell_of(seen), seen), "the cell holds a later lap");
            assert!(!log.record(&stamps, seen, &view, 1).unwrap(), "others have moved on");
            assert_eq!((stamps.top.load(Relaxed), cells()), (top, before));
        }
    }
}
