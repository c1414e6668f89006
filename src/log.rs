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
//! wrapped. The base itself has not: cells are read only where the newest tick is at most a window old; that tick came at
//! most a window after the first live one; and that one at most a quarter of the horizon and a window after the base,
//! since nothing is recorded in an array that is older than such a quarter, and none takes over a client that is more than
//! a window silent. A window is less than a quarter, so all of it is less than the whole. (A scan of the newest cells first, as
//! long as they are live, needs no such argument, and takes a step for each live tick.)
//!
//! `cum`, the stamps and `index` wrap. `cum` has one bit more than the limit; a stamp spans more than four windows.
//! The ring starts with the second tick (`class` 0 has none, its base is 0) and doubles (`class` + 1) up to a cell for
//! each tick that can be live, and one for the base.
//!
//! # Orderings
//!
//! * `top`, Release in every exchange, Acquire in the loads: carries the settled cells.
//! * a cell, Release in its exchange, Acquire in its loads: carries what its writer knew of `top`. Whoever overwrites a
//!   cell that we may read has seen a newer `top`; having read his cell, we see it too, and our answer is not confirmed.
//! * the confirming reload of `top` may therefore be Relaxed: it comes after the last cell was read.
//! * where the base was, Relaxed: it is written before the exchange of `top` that recorded the tick, and travels with it.

use crate::{
    algorithm::{Rule, Visit},
    array::{Cells, Slot},
    block::NoMemory,
    decision::{Allowed, Decision, Full, Never, Refused, Standing, Waiting},
    error::BuildError,
    horizon,
    nanos::Nanos,
    quota::Quota,
    ring::{Largest, Ring, Rings},
    sync::{
        AtomicWord,
        Ordering::{Acquire, Relaxed, Release},
    },
    word::{Ask, FROZEN, Span},
};
use core::{cell::Cell, time::Duration};

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
    /// The largest limit.
    ceiling: u64,
    /// Ticks.
    window: u64,
    /// A tick is `1 << tick_shift` nanoseconds.
    tick_shift: u32,
    stamp_bits: u32,
    cum_bits: u32,
    index_bits: u32,
    class_bits: u32,
    /// The cells that the ring starts with.
    first_capacity: usize,
    preallocates: bool,
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
            None => Err(BuildError::DoesNotFit { quota, algorithm: "log", largest_limit: Log::largest_limit(window) }),
        }
    }

    /// A log whose ring starts as large as it can get, with the first tick.
    pub(crate) const fn preallocated(quota: Quota) -> Result<Log, BuildError> {
        match Log::new(quota) {
            Ok(log) => Ok(Log { first_capacity: 1 << log.index_bits, preallocates: true, ..log }),
            Err(error) => Err(error),
        }
    }

    /// For the models: with a short horizon.
    #[cfg(slidegate_loom)]
    pub(crate) fn with_stamp_bits(self, most: u32) -> Log {
        Log { stamp_bits: self.stamp_bits.min(most), ..self }
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
        let largest = 1 << index_bits;
        let first_capacity = if FIRST_CAPACITY < largest { FIRST_CAPACITY } else { largest };
        let preallocates = false;
        Some(Log {
            ceiling: limit,
            window,
            tick_shift,
            stamp_bits,
            cum_bits,
            index_bits,
            class_bits,
            first_capacity,
            preallocates,
        })
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

    /// A quarter of the horizon: the age from which on nothing is recorded in an array.
    pub(crate) const fn longest_life(&self) -> u64 {
        1 << (self.stamp_bits - 2 + self.tick_shift)
    }

    /// Answers a request that finds this `top`, and records it.
    fn answer(&self, here: &Here<'_>, seen: u64, ask: Ask) -> Result<Decision, Miss> {
        let view = self.view(here, seen, ask)?;
        let decision = self.judge(&view, ask);
        if !ask.records(&decision) {
            // The confirming look comes after the last cell was read.
            return here.confirm(seen).map(|()| decision);
        }
        if seen & FROZEN != 0 {
            return Err(Miss::Elsewhere);
        }
        self.record(here, seen, &view, ask.cost).map(|()| decision)
    }

    /// What a request finds under a `top`; right if `top` is still the present one after this.
    fn view(&self, here: &Here<'_>, seen: u64, Ask { now, cost, limit, .. }: Ask) -> Result<View, Miss> {
        let top = self.unpack(seen);
        let mut view = self.place(seen & !FROZEN, now);
        if view.live == 0 {
            return Ok(view);
        }
        view.used = top.cum;
        if top.class == 0 {
            return Ok(view);
        }
        let Some(ring) = here.rings()?.find(self.capacity(top.class)) else { return Err(Miss::Again) };
        let tick = |back: u64| self.tick_at(top, ring, view.stamp, back);
        view.live = self.find_base(top, ring, |back| tick(back).age > self.window);
        view.used = tick(view.live).newer;
        view.oldest = tick(view.live - 1).age;
        if view.used > limit.saturating_sub(cost) {
            // The newest ticks hold no more than this; the tick before them must leave.
            let room = limit.saturating_sub(cost);
            view.leaving = tick(first(0, view.live, |back| tick(back).newer > room) - 1).age;
        }
        Ok(view)
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
            // Acquire: pairs with the Release in `settle`; carries what the writer of a later lap knew of `top`, and of
            // the array that it is in.
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

    const fn judge(&self, view: &View, Ask { cost, limit, .. }: Ask) -> Decision {
        let remaining = limit.saturating_sub(view.used);
        if cost > limit {
            return Decision::Never(Never::new(limit, remaining));
        }
        if view.used + cost > limit {
            let wait = self.until_expired(view, view.leaving);
            let waiting = Waiting::Known { remaining, wait };
            return Decision::Refused(Refused::new(limit, waiting, Nanos::from_nanos(view.now)));
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
        Decision::Allowed(Allowed::new(limit, standing))
    }

    /// Nanoseconds until a tick of this age is more than a window old.
    const fn until_expired(&self, view: &View, age: u64) -> u64 {
        let into_tick = view.now & ones(self.tick_shift);
        // Saturating, since a view that `top` has overtaken may hold any age; its answer is not given.
        ((self.window + 1).saturating_sub(age) << self.tick_shift).saturating_sub(into_tick)
    }

    /// Records an allowed request.
    fn record(&self, here: &Here<'_>, seen: u64, view: &View, cost: u64) -> Result<(), Miss> {
        let top = self.unpack(seen);
        let cum = (top.cum + cost) & ones(self.cum_bits);
        let next = if view.live > 0 && view.stamp == top.stamp {
            Top { cum, ..top }
        } else if top.class == 0 && view.live == 0 {
            Top { stamp: view.stamp, cum: cost, ..top }
        } else {
            let ring = match here.rings()?.find(self.capacity(top.class)) {
                // Of the cells that the next reader may read, one must be the base.
                Some(ring) if view.live + 1 < ring.capacity() as u64 => ring,
                ring => return self.grow(here, seen, view.live, ring),
            };
            let base = top.index.wrapping_sub(view.live) & ones(self.index_bits);
            here.settle(ring.base(), base, seen)?;
            here.settle(ring.cell(top.index), self.cell_of(seen), seen)?;
            Top { stamp: view.stamp, cum, index: (top.index + 1) & ones(self.index_bits), class: top.class }
        };
        here.move_on(seen, self.pack(next))?;
        if self.preallocates && next.class == 0 {
            // Whether it works or not, the request is recorded.
            let _ = self.grow(here, self.pack(next), 1, None);
        }
        Ok(())
    }

    /// Starts the ring, or doubles it: the cells in use are settled in the new ring, then `top` moves on to its class.
    #[cold]
    fn grow(&self, here: &Here<'_>, seen: u64, live: u64, ring: Option<Ring<'_>>) -> Result<(), Miss> {
        let top = self.unpack(seen);
        // Whoever is overtaken has no reason to grow, and may have no class to grow to.
        here.confirm(seen)?;
        let next = Top { class: top.class + 1, ..top };
        let larger = here.enlarge(self.capacity(next.class))?;
        // The live ticks and the base. A log without a ring has one tick, and its base is expired and allowed nothing.
        for back in 1..=live {
            let position = top.index.wrapping_sub(back);
            let cell = match ring {
                // Relaxed: a cell of a later lap means that `top` is no longer `seen`, so nobody will read the copy.
                Some(ring) => ring.cell(position).load(Relaxed),
                None => (top.stamp.wrapping_sub(self.window + 1) & ones(self.stamp_bits)) << self.cum_bits,
            };
            here.settle(larger.cell(position), cell, seen)?;
        }
        here.settle(larger.base(), top.index.wrapping_sub(live) & ones(self.index_bits), seen)?;
        // A failure means that `top` moved on; whoever needs the ring settles it anew.
        here.move_on(seen, self.pack(next))?;
        Err(Miss::Again)
    }

    /// The cells of the ring of a class; none for class 0.
    const fn capacity(&self, class: u64) -> usize {
        if class == 0 { 0 } else { self.first_capacity << (class - 1) }
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

impl Rule for Log {
    type Cells = Rings;

    fn ceiling(&self) -> u64 {
        self.ceiling
    }

    fn longest_life(&self) -> u64 {
        Log::longest_life(self)
    }

    fn most_cells(&self) -> usize {
        let capacities = (1..).map(|class| self.capacity(class)).take_while(|&cells| cells <= 1 << self.index_bits);
        capacities.map(Ring::bytes).sum()
    }

    fn span(&self, word: u64, reference: u64) -> Span {
        let (reference, stamp) = (reference >> self.tick_shift, self.unpack(word).stamp);
        let age = reference.wrapping_sub(stamp) & ones(self.stamp_bits);
        let newest = if age > ones(self.stamp_bits) >> 1 {
            reference.saturating_add(ones(self.stamp_bits) - age + 1)
        } else {
            // What is recorded was recorded after the origin.
            reference.saturating_sub(age)
        };
        let instant = |tick: u64| tick.saturating_mul(1 << self.tick_shift);
        Span { newest: instant(newest), until: instant(newest.saturating_add(self.window + 1)) }
    }

    fn first(&self, ask: Ask) -> Decision {
        self.judge(&self.place(0, ask.now), ask)
    }

    #[inline]
    fn decide(&self, slot: &Slot<Rings>, visit: Visit<'_>) -> Option<Decision> {
        let (here, ask) = (Here { slot, visit, rings: Cell::new(None) }, visit.for_new());
        loop {
            match self.answer(&here, slot.word.load(Acquire), ask) {
                Ok(decision) => return Some(decision),
                // Somebody moved `top` on: a request of his was allowed, or his ring grew.
                Err(Miss::Again) => {}
                Err(Miss::Elsewhere) => return None,
                Err(Miss::NoMemory) => return Some(Decision::Full(Full::new(ask.limit))),
            }
        }
    }
}

/// Why a request is not decided in one go.
#[derive(Clone, Copy, Debug)]
enum Miss {
    /// `top` has moved on, or is about to.
    Again,
    /// The slot is not the place any more.
    Elsewhere,
    NoMemory,
}

impl From<NoMemory> for Miss {
    fn from(_: NoMemory) -> Miss {
        Miss::NoMemory
    }
}

/// The slot of a client as one request finds it.
struct Here<'a> {
    slot: &'a Slot<Rings>,
    visit: Visit<'a>,
    /// The rings, once they are protected.
    rings: Cell<Option<Largest<'a>>>,
}

impl<'a> Here<'a> {
    /// Whether `top` is still `seen`, and the array the present one.
    fn confirm(&self, seen: u64) -> Result<(), Miss> {
        if !self.visit.held.is_present() {
            Err(Miss::Elsewhere)
        } else if self.slot.word.load(Relaxed) != seen {
            Err(Miss::Again)
        } else {
            Ok(())
        }
    }

    fn move_on(&self, seen: u64, next: u64) -> Result<(), Miss> {
        // Release: pairs with the Acquire loads of `top`; carries the cells just settled, and the tag to who freezes.
        // Models: log_ring_starts.
        let moved = self.slot.word.compare_exchange_weak(seen, next, Release, Relaxed);
        moved.map_or(Err(Miss::Again), |_| Ok(()))
    }

    /// The rings, protected. Those that this request put there itself have the protected ones behind them.
    #[inline]
    fn rings(&self) -> Result<Largest<'a>, Miss> {
        if let Some(rings) = self.rings.get().filter(|rings| rings.is(self.slot.cells.first())) {
            return Ok(rings);
        }
        let rings = self.slot.cells.protect(self.visit.held).ok_or(Miss::Elsewhere)?;
        self.rings.set(Some(rings));
        Ok(rings)
    }

    /// The ring of a capacity, put there if there is none.
    fn enlarge(&self, capacity: usize) -> Result<Ring<'a>, Miss> {
        let rings = self.rings()?;
        if let Some(ring) = rings.find(capacity) {
            return Ok(ring);
        }
        let larger = self.slot.cells.enlarge(rings, capacity, self.visit)?.ok_or(Miss::Again)?;
        self.rings.set(Some(larger));
        larger.find(capacity).ok_or(Miss::Again)
    }

    /// Makes a cell say `settled`, as every thread does that finds `top` to be `seen`.
    ///
    /// What stands in the cell is an earlier lap, or the same tick with less in it. It is replaced only as it was found
    /// while `top` was still `seen` and its array the present one, so a thread that comes late cannot undo what a later
    /// `top` has settled, here or in the array that replaced this one.
    fn settle(&self, cell: &AtomicWord, settled: u64, seen: u64) -> Result<(), Miss> {
        let mut found = cell.load(Acquire);
        while found != settled {
            // Relaxed: the Acquire of the cell shows us the `top` and the array that a later lap's writer had seen.
            // Model: log_settles_the_whole_tick.
            self.confirm(seen)?;
            // Release: pairs with the Acquire loads of cells. Models: log_ring_of_four_wraps, log_settles_the_whole_tick.
            match cell.compare_exchange_weak(found, settled, Release, Acquire) {
                Ok(_) => return Ok(()),
                Err(newer) => found = newer,
            }
        }
        Ok(())
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
        block::free_down_to,
        clock::ManualClock,
        gate::Gate,
        hazard::{Retired, with_record},
        model::{self, Answer, Model, Verb, Verdict},
        sync::{AtomicPtr, Usage},
        word::tests,
    };
    use core::ptr::null_mut;
    use proptest::prelude::*;
    use std::time::Duration;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        /// A gate whose stamps have few bits answers as the list does over many wraps: a client of which nothing is
        /// remembered reads the birth of its array, and so does one with stamps.
        #[test]
        fn narrow_stamps(
            limit in 0_u64..12,
            ticks in prop_oneof![1_u64..6, 1_u64..200],
            tick_shift in prop_oneof![Just(0_u32), 1_u32..12],
            spare_bits in 0_u32..3,
            preallocates: bool,
            start in 0_u64..1_000_000,
            requests in tests::requests(),
        ) {
            let stamp_bits = (horizon::bits(ticks) + 2).max(4) + spare_bits;
            let log = Log { stamp_bits, preallocates, ..Log::with_ticks(limit, ticks, tick_shift).unwrap() };
            let (tick, life) = (1 << tick_shift, log.longest_life());
            let (window, horizon) = (ticks * tick, tick << stamp_bits);
            prop_assert!(life > window && life == horizon / 4);
            let gate = Gate::of(log, limit, life).with_clock(ManualClock::new());
            let fresh = Model::new(model::Rule::Log { tick }, limit, window);
            let (mut model, mut birth, mut last) = (fresh.clone(), None, start);
            for raw in requests {
                let verb = raw.verb.unwrap_or(Verb::Check);
                let newest = if model.is_new() { last } else { model.effective_now(0) };
                let (reading, cost) = (raw.reading(last, newest, window, 2 * horizon, horizon), raw.cost(limit));
                let request = gate.at(Nanos::from_nanos(reading)).cost(cost);
                let decision = match verb {
                    Verb::Check => request.check(),
                    Verb::Peek => request.peek(),
                };
                let now = reading.max(birth.unwrap_or(0));
                let due = birth.is_none_or(|birth| now - birth >= life);
                let expired = model.effective_now(0) + window + tick <= now;
                let mut after = if due && expired { fresh.clone() } else { model.clone() };
                let expected = after.ask(verb, now, cost);
                // What records nothing renews nothing.
                if verb == Verb::Check && cost > 0 && matches!(expected.verdict, Verdict::Allowed { .. }) {
                    birth = if due { Some(now) } else { birth };
                    model = after;
                }
                prop_assert_eq!(Answer::from(decision), expected, "{:?} at {}", raw, reading);
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
                    let largest = largest_limit;
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

    /// A client in a slot of no array, so that nothing is ever renewed.
    struct Alone {
        log: Log,
        slot: Slot<Rings>,
        array: AtomicPtr<Retired>,
    }

    impl Alone {
        fn new(log: Log) -> Alone {
            Alone { log, slot: Slot::new(), array: AtomicPtr::new(null_mut()) }
        }

        fn visit<T>(&self, ask: Ask, body: impl FnOnce(Visit<'_>) -> T) -> T {
            let usage = &Usage::uncounted();
            with_record(|record| body(Visit { ask, birth: &0, lasts: false, held: record.protect(&self.array), usage }))
                .expect("memory for a record")
        }

        fn here<T>(&self, body: impl FnOnce(&Here<'_>) -> T) -> T {
            let ask = Ask { now: 0, cost: 1, limit: self.log.ceiling, recording: true };
            self.visit(ask, |visit| body(&Here { slot: &self.slot, visit, rings: Cell::new(None) }))
        }

        fn ask(&self, now: u64, cost: u64, recording: bool) -> Decision {
            let decide = |visit: Visit<'_>| self.log.decide(&self.slot, visit);
            self.visit(Ask { now, cost, limit: self.log.ceiling, recording }, decide)
                .expect("its array is never replaced")
        }

        fn check(&self, now: u64) -> Decision {
            self.ask(now, 1, true)
        }

        fn top(&self) -> u64 {
            self.slot.word.load(Relaxed)
        }

        /// The capacity of the ring in use, its base and its cells.
        fn ring(&self) -> (usize, Vec<u64>) {
            self.here(|here| {
                let ring = here.rings().unwrap().find(self.log.capacity(self.log.unpack(self.top()).class)).unwrap();
                let cells = (0..ring.capacity() as u64).map(|position| ring.cell(position).load(Relaxed));
                (ring.capacity(), [ring.base().load(Relaxed)].into_iter().chain(cells).collect())
            })
        }
    }

    impl Drop for Alone {
        fn drop(&mut self) {
            // SAFETY: the slot is ours, and nothing reads it any more.
            unsafe { free_down_to(self.slot.cells.first(), null_mut()) };
        }
    }

    /// As many ticks as the limit, all of them live all the time: the ring doubles to its largest and is wrapped.
    #[test]
    fn the_largest_ring_is_filled_and_wrapped() {
        for limit in [1, 2, 3, 4, 5, 7, 8, 9, 100, 1_023, 1_024] {
            let alone = Alone::new(Log::fit(limit, 10 * limit - 1).unwrap());
            for nth in 1..=4 * limit {
                let check = || Answer::from(alone.check(10 * nth));
                assert!(matches!(check(), Answer { verdict: Verdict::Allowed { .. }, .. }), "{nth} of {limit}");
                if nth >= limit {
                    assert_eq!(check().verdict, Verdict::Refused { wait: 10, at: 10 * nth + 10 }, "{nth} of {limit}");
                }
            }
            let log = alone.log;
            let capacity = log.capacity(log.unpack(alone.top()).class);
            assert_eq!(capacity, if limit == 1 { 0 } else { 1 << log.index_bits }, "{limit}");
        }
    }

    /// With the first tick comes the largest ring, and no other.
    #[test]
    fn a_preallocated_ring_never_grows() {
        for limit in [2, 3, 100, 1_024] {
            let log = Log::preallocated(Quota::new(limit, Duration::from_nanos(10 * limit - 1))).unwrap();
            let alone = Alone::new(log);
            for nth in 1..=4 * limit {
                assert!(alone.check(10 * nth).is_allowed());
                let top = log.unpack(alone.top());
                assert_eq!((top.class, log.capacity(top.class)), (1, 1 << log.index_bits), "{nth} of {limit}");
            }
            assert_eq!(log.most_cells(), Ring::bytes(1 << log.index_bits));
        }
    }

    /// A client that comes as seldom as an array lets it, for many horizons, and then often: the base is found wherever
    /// the stamps have wrapped to, in the ring it had and in those that it grows.
    #[test]
    fn a_sparse_client_turns_dense() {
        for (limit, window) in [(12, 20), (12, 31)] {
            let log = Log { stamp_bits: 7, ..Log::with_ticks(limit, window, 0).unwrap() };
            let longest = log.longest_life() + window;
            // The ring has 4 cells when it starts, and 16 where all of the limit was live.
            for (first, gap) in
                [2, limit].into_iter().flat_map(|first| (window + 1..=longest).map(move |gap| (first, gap)))
            {
                for sparse in 1..100 {
                    let (alone, mut now) = (Alone::new(log), 0);
                    let mut remaining_after = |step: u64| {
                        now += step;
                        let decision = alone.check(now);
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
    }

    /// The oldest base there can be: as old as an array lets it when the tick after it was recorded, a window before the
    /// newest, and that as old again.
    #[test]
    fn a_base_is_read_before_its_stamp_wraps() {
        for (limit, window) in [(12, 20), (12, 31)] {
            let log = Log { stamp_bits: 7, ..Log::with_ticks(limit, window, 0).unwrap() };
            let longest = log.longest_life() + window;
            for (spread, gap) in (1..=window).flat_map(|spread| (window + 1..=longest).map(move |gap| (spread, gap))) {
                let (alone, mut now) = (Alone::new(log), 0);
                let mut remaining_after = |step: u64| {
                    now += step;
                    alone.check(now).remaining()
                };
                for round in 0..20 {
                    assert_eq!(remaining_after(gap), limit - 1, "{window}: {round} times {gap} and {spread}");
                    assert_eq!(remaining_after(spread), limit - 2, "{window}: {round} times {gap} and {spread}");
                }
            }
        }
    }

    /// A peek at a later instant and a refusal leave every word as it is, so they cost nobody anything.
    #[test]
    fn only_what_is_allowed_writes() {
        let alone = Alone::new(Log::fit(100, 1_000).unwrap());
        for nth in 0..100 {
            assert!(alone.check(10 * nth).is_allowed());
        }
        let before = (alone.top(), alone.ring());
        for now in [990, 1_000, 1_985, 1_991, 100_000] {
            for cost in [0, 1, 50, 100] {
                let _ = alone.ask(now, cost, false);
            }
        }
        assert!(!alone.check(1_000).is_allowed());
        assert!(!alone.ask(1_001, 2, true).is_allowed());
        assert_eq!((alone.top(), alone.ring()), before);
    }

    /// A thread that stopped before it settled its cell, or before its exchange, and goes on laps later.
    #[test]
    fn a_late_thread_undoes_nothing() {
        for laps in [1, 2, 5] {
            let alone = Alone::new(Log::fit(3, 100).unwrap());
            let (log, mut now) = (alone.log, 0);
            let mut check = |step: u64| {
                now += step;
                assert!(alone.check(now).is_allowed());
                now
            };
            check(0);
            check(40);
            let stopped_at = check(40);
            let seen = alone.top();
            let ask = Ask { now: stopped_at + 1, cost: 1, limit: 3, recording: true };
            let view = alone.here(|here| log.view(here, seen, ask)).unwrap();
            let (capacity, _) = alone.ring();
            for _ in 0..=capacity * laps {
                check(40);
            }
            let before = (alone.top(), alone.ring());

            alone.here(|here| {
                let ring = here.rings().unwrap().find(capacity).unwrap();
                let settled = here.settle(ring.cell(log.unpack(seen).index), log.cell_of(seen), seen);
                assert!(matches!(settled, Err(Miss::Again)), "the cell holds a later lap");
                assert!(matches!(log.record(here, seen, &view, 1), Err(Miss::Again)), "others have moved on");
            });
            assert_eq!((alone.top(), alone.ring()), before);
        }
    }
}
