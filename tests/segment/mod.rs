//! One segment of a table as it is to be: its clients as lists of what they were allowed, and the births and the sizes of
//! its arrays, all of it exact for requests that come one by one. A gate is a segment of one slot.

#![allow(dead_code, reason = "each of the tests that share it uses a part")]

use super::model::{Answer, Model, Rule, Verb, Verdict};
use slidegate::WhenFull;
use std::collections::BTreeMap;

const CENTURY: u128 = 100 * 31_557_600 * 1_000_000_000;

/// Slots of the largest array of a limiter.
pub(crate) const LARGEST: usize = 1_024;

/// The clients that an array has slots for: seven eighths of them, and the only one of a gate.
pub(crate) fn full_at(slots: usize) -> usize {
    if slots == 1 { 1 } else { slots - slots.div_ceil(8) }
}

/// The word of a log as its documentation lays it out.
#[derive(Clone, Copy, Debug)]
struct Layout {
    tick_shift: u32,
    stamp_bits: u32,
    index_bits: u32,
}

impl Layout {
    /// The finest ticks that leave a stamp more than four windows.
    fn of(limit: u64, window: u64) -> Layout {
        let bits = |largest: u64| 64 - (largest | 1).leading_zeros();
        let with = |tick_shift: u32| {
            let ticks = window.div_ceil(1 << tick_shift);
            let index_bits = bits(limit.min(ticks + 1));
            let class_bits = bits(u64::from(index_bits) - 1);
            let stamp_bits = 63_u32.checked_sub(bits(limit) + 1 + index_bits + class_bits)?;
            let fits = stamp_bits >= 4 && ticks < 1 << (stamp_bits - 2);
            fits.then_some(Layout { tick_shift, stamp_bits, index_bits })
        };
        (0..64).find_map(with).expect("a log that was built")
    }
}

/// The rule of the exact log of a quota that fits.
pub(crate) fn log_rule(limit: u64, window: u64) -> Rule {
    Rule::Log { tick: 1 << Layout::of(limit, window).tick_shift }
}

#[derive(Clone, Debug)]
pub(crate) struct Segment {
    rule: Rule,
    limit: u64,
    window: u64,
    when_full: WhenFull,
    /// Slots of the largest array.
    largest: usize,
    /// The age at which an array is replaced before it is read.
    pub(crate) life: u64,
    /// The cells that a ring starts with.
    first_cells: usize,
    /// Whether it starts with the first tick, not with the second.
    preallocates: bool,
    pub(crate) array: Option<Array>,
    pub(crate) moves: u64,
    /// Answers from the count that clients share.
    pub(crate) asked_shared: u64,
}

/// The array of the segment at present.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Array {
    birth: u64,
    slots: usize,
    /// As many slots as it may have: a move that forgets sizes its array by the time before, in the order of the slots.
    slots_at_most: usize,
    /// Those that have a slot, live or not.
    clients: BTreeMap<u64, Client>,
    shared: Option<Client>,
    /// A move was begun and found no room: nothing more is recorded here.
    frozen: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Client {
    model: Model,
    /// The cells of its largest ring; 0 before the first.
    cells: usize,
}

/// Whether a request needs a place to be recorded in.
fn takes(answer: &Answer, cost: u64) -> bool {
    cost > 0 && matches!(answer.verdict, Verdict::Allowed { .. })
}

impl Segment {
    pub(crate) fn new(rule: Rule, limit: u64, window: u64, when_full: WhenFull, largest: usize) -> Segment {
        let bits = 64 - (limit | 1).leading_zeros();
        let of_a_word = |counts: u32| {
            let horizon = u128::from(window) << (63 - bits * counts);
            if horizon >= CENTURY { u64::MAX } else { u64::try_from(horizon / 4).expect("less than a century") }
        };
        let (life, most_cells) = match rule {
            Rule::Counter => (of_a_word(2), 0),
            Rule::Fixed => (of_a_word(1), 0),
            Rule::Log { tick } => {
                let Layout { tick_shift, stamp_bits, index_bits } = Layout::of(limit, window);
                assert_eq!(tick, 1 << tick_shift, "the tick of {limit} units in {window} ns");
                (1 << (stamp_bits - 2 + tick_shift), 1 << index_bits)
            }
        };
        let (first_cells, array) = (most_cells.min(4), None);
        Segment {
            rule,
            limit,
            window,
            when_full,
            largest,
            life,
            first_cells,
            preallocates: false,
            array,
            moves: 0,
            asked_shared: 0,
        }
    }

    /// The same of logs that allocate all of a client's cells with its first tick.
    pub(crate) fn preallocated(self) -> Segment {
        let index_bits = Layout::of(self.limit, self.window).index_bits;
        Segment { first_cells: 1 << index_bits, preallocates: true, ..self }
    }

    /// A gate of one word: it is never renewed, and forgets in place.
    pub(crate) fn is_a_word(&self) -> bool {
        self.largest == 1 && self.life == u64::MAX
    }

    /// The age from which on nothing of a record counts.
    pub(crate) fn span(&self) -> u64 {
        match self.rule {
            Rule::Counter => 2 * self.window,
            Rule::Fixed => self.window,
            Rule::Log { tick } => (self.window.div_ceil(tick) + 1) * tick,
        }
    }

    fn until(&self, client: &Client) -> u64 {
        client.model.effective_now(0).saturating_add(self.span())
    }

    pub(crate) fn birth(&self) -> u64 {
        self.array.as_ref().map_or(0, |array| array.birth)
    }

    /// What a client was allowed that has a slot.
    pub(crate) fn client(&self, key: u64) -> Option<&Model> {
        self.array.as_ref().and_then(|array| array.clients.get(&key)).map(|client| &client.model)
    }

    /// The instant at which a request of a client counts.
    pub(crate) fn effective_now(&self, key: u64, reading: u64) -> u64 {
        let bounded = reading.max(self.birth());
        match self.client(key) {
            Some(model) if self.life == u64::MAX => model.effective_now(reading),
            Some(model) => model.effective_now(bounded),
            None => bounded,
        }
    }

    /// The clients of which something counts.
    pub(crate) fn live(&self, now: u64) -> usize {
        let Some(array) = &self.array else { return 0 };
        array.clients.values().filter(|client| self.until(client) > now.max(array.birth)).count()
    }

    pub(crate) fn slots(&self) -> usize {
        self.array.as_ref().map_or(0, |array| array.slots)
    }

    /// Takes over how many slots the array has; false if it may not have as many.
    pub(crate) fn has_slots(&mut self, slots: usize) -> bool {
        let Some(array) = &mut self.array else { return slots == 0 };
        let possible = (array.slots..=array.slots_at_most).contains(&slots) && slots.is_power_of_two();
        if possible {
            (array.slots, array.slots_at_most) = (slots, slots);
        }
        possible
    }

    /// The rings, and the cells in all of them.
    pub(crate) fn rings(&self) -> (usize, usize) {
        let clients = self.array.iter().flat_map(|array| array.clients.values().chain(&array.shared));
        let capacities = clients.flat_map(|client| {
            std::iter::successors(Some(self.first_cells), |cells| Some(2 * cells))
                .take_while(|&cells| cells > 0 && cells <= client.cells)
        });
        capacities.fold((0, 0), |(rings, cells), capacity| (rings + 1, cells + capacity))
    }

    /// The largest ring of a client.
    pub(crate) fn largest_ring(&self) -> usize {
        let clients = self.array.iter().flat_map(|array| array.clients.values());
        clients.map(|client| client.cells).max().unwrap_or(0)
    }

    /// The answer, and whether it is that of a record.
    pub(crate) fn ask(&mut self, key: u64, verb: Verb, reading: u64, cost: u64) -> (Answer, bool) {
        let Some(array) = &self.array else { return self.decide_by_a_move(key, verb, reading, cost) };
        let now = reading.max(array.birth);
        if now - array.birth >= self.life && !self.is_a_word() {
            return self.decide_by_a_move(key, verb, reading, cost);
        }
        let known = array.clients.get(&key);
        let has_slot = known.is_some() || array.clients.len() < full_at(array.slots);
        let (answer, after) = self.decide(known, array.birth, verb, reading, cost);
        let has_place =
            || has_slot || array.slots < self.largest || array.clients.values().any(|client| self.until(client) <= now);
        if !takes(&answer, cost) || verb == Verb::Peek && has_place() {
            return (answer, true);
        }
        let frozen = array.frozen;
        if has_slot && !frozen {
            self.array.as_mut().expect("seen above").clients.extend(after.map(|client| (key, client)));
            return (answer, true);
        }
        if has_place() {
            return self.decide_by_a_move(key, verb, reading, cost);
        }
        if self.when_full != WhenFull::Share {
            return self.turned_away();
        }
        let (answer, after) = self.decide(array.shared.as_ref(), array.birth, verb, reading, cost);
        self.asked_shared += 1;
        if after.is_some() {
            if frozen {
                return self.decide_by_a_move(key, verb, reading, cost);
            }
            self.array.as_mut().expect("seen above").shared = after;
        }
        (answer, true)
    }

    /// The answer to a client, and the client afterwards if the request was recorded. Its own record bounds the reading;
    /// the birth does where it has none, and where a record can only be read near it.
    fn decide(
        &self,
        known: Option<&Client>,
        birth: u64,
        verb: Verb,
        reading: u64,
        cost: u64,
    ) -> (Answer, Option<Client>) {
        let reading = if known.is_none() || self.life < u64::MAX { reading.max(birth) } else { reading };
        let fresh = || Client { model: Model::new(self.rule, self.limit, self.window), cells: 0 };
        let mut client = known.cloned().unwrap_or_else(fresh);
        let before = if self.first_cells > 0 { client.model.live(reading) } else { 0 };
        let answer = client.model.ask(verb, reading, cost);
        if verb == Verb::Peek || !takes(&answer, cost) {
            return (answer, None);
        }
        self.make_room(&mut client, before, reading);
        if client.model.entries() > 16 {
            client.model.trim();
        }
        (answer, Some(client))
    }

    /// The cells of a log after a request was recorded that found so many ticks live: one for each that was finished,
    /// one for the base, and one is free.
    fn make_room(&self, client: &mut Client, before: usize, reading: u64) {
        if self.first_cells == 0 {
            return;
        }
        let in_a_new_tick = client.model.live(reading) > before;
        if before > 0 && in_a_new_tick || client.cells > 0 {
            client.cells = client.cells.max(self.first_cells);
            while in_a_new_tick && client.cells <= before + 1 {
                client.cells *= 2;
            }
        }
        if self.preallocates {
            client.cells = client.cells.max(self.first_cells);
        }
    }

    fn turned_away(&self) -> (Answer, bool) {
        let untracked = self.when_full == WhenFull::AllowUntracked;
        let verdict = if untracked { Verdict::Allowed { next_unit: None, full_reset: 0 } } else { Verdict::Full };
        (Answer { verdict, limit: self.limit, remaining: 0 }, !untracked)
    }

    /// What a move keeps of the array, born at `birth`, but for one client.
    fn copy(&self, birth: u64, without: Option<u64>) -> Array {
        let lives = |client: &Client| self.until(client) > birth;
        let old = self.array.iter().flat_map(|old| &old.clients);
        let kept = old.filter(|(key, client)| without != Some(**key) && lives(client));
        let clients = kept.map(|(&key, client)| (key, client.clone())).collect();
        let shared = self.array.as_ref().and_then(|old| old.shared.clone()).filter(lives);
        Array { birth, slots: 0, slots_at_most: 0, clients, shared, frozen: false }
    }

    fn publish(&mut self, array: Array) {
        let slots = self.fitting(array.clients.len());
        self.array = Some(Array { slots, slots_at_most: slots, ..array });
        self.moves += 1;
    }

    fn fitting(&self, clients: usize) -> usize {
        (clients * 4).div_ceil(3).next_power_of_two().clamp(self.largest.min(4), self.largest)
    }

    fn decide_by_a_move(&mut self, key: u64, verb: Verb, reading: u64, cost: u64) -> (Answer, bool) {
        // A word has no array that was born.
        let birth = if self.is_a_word() { 0 } else { reading.max(self.birth()) };
        let mut array = self.copy(birth, None);
        let has_room = array.clients.len() < full_at(self.largest);
        let known = array.clients.get(&key);
        let (answer, after) = self.decide(known, birth, verb, reading, cost);
        if after.is_some() && (known.is_some() || has_room) {
            array.clients.extend(after.map(|client| (key, client)));
            self.publish(array);
            return (answer, true);
        }
        if !takes(&answer, cost) || has_room || known.is_some() {
            // What records nothing changes nothing.
            return (answer, true);
        }
        match self.when_full {
            WhenFull::Share => {
                let (answer, after) = self.decide(array.shared.as_ref(), birth, verb, reading, cost);
                if after.is_some() {
                    array.shared = after;
                    self.publish(array);
                }
                (answer, true)
            }
            when_full => {
                // Only what would be allowed begins a move, and may find that there is no room.
                let begun = when_full == WhenFull::AllowUntracked && verb == Verb::Check;
                self.array.iter_mut().for_each(|old| old.frozen |= begun);
                self.turned_away()
            }
        }
    }

    pub(crate) fn forget(&mut self, key: u64, reading: u64) {
        let Some(model) = self.client(key) else { return };
        // A word is forgotten without a look at a clock.
        let before = if self.is_a_word() { self.birth() } else { reading.max(self.birth()) };
        let birth = before.max(model.effective_now(0));
        let live = self.copy(before, Some(key)).clients.len();
        self.publish(self.copy(birth, Some(key)));
        let slots_at_most = self.fitting(live);
        self.array.iter_mut().for_each(|array| array.slots_at_most = slots_at_most);
    }

    pub(crate) fn forget_all(&mut self, reading: u64) {
        let Some(array) = &self.array else { return };
        let newest = array.clients.values().chain(&array.shared).map(|client| client.model.effective_now(0)).max();
        let birth = reading.max(array.birth).max(newest.unwrap_or(0));
        let (clients, shared) = (BTreeMap::new(), None);
        self.publish(Array { birth, slots: 0, slots_at_most: 0, clients, shared, frozen: false });
    }

    pub(crate) fn sweep(&mut self, reading: u64) {
        let Some(array) = &self.array else { return };
        let now = reading.max(array.birth);
        if self.live(now) < array.clients.len() {
            self.publish(self.copy(now, None));
        }
    }

    /// Moves the array, as whoever is to record something in one that another has begun to move.
    pub(crate) fn renew(&mut self, reading: u64) {
        if self.array.is_some() && !self.is_a_word() {
            self.publish(self.copy(reading.max(self.birth()), None));
        }
    }

    /// Writes the clients in the one form that all equal states share.
    pub(crate) fn trim(&mut self) {
        for client in self.array.iter_mut().flat_map(|array| array.clients.values_mut().chain(&mut array.shared)) {
            client.model.trim();
        }
    }
}
