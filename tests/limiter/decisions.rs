//! Random traffic of many clients, decided by a limiter of one segment and by a map of exact models.

use super::*;
use model::{Model, Verdict};
use random::Random;
use std::collections::{HashMap, VecDeque};

const ORDINARY: u64 = 400_000;
const SEED: u64 = 1;
const CENTURY: u128 = 100 * 31_557_600 * S as u128;

/// What one segment is to do: the clients as lists of what they were allowed, and the births of its arrays.
struct Segment {
    rule: Rule,
    limit: u64,
    window: u64,
    when_full: WhenFull,
    /// The age at which an array is replaced before it is read.
    life: u64,
    array: Option<Array>,
    moves: u64,
    /// Answers from the count that clients share.
    asked_shared: u64,
}

#[derive(Clone)]
struct Array {
    birth: u64,
    slots: usize,
    /// Those that have a slot, live or not.
    clients: HashMap<u64, Model>,
    shared: Option<Model>,
    /// A move was begun and found no room: nothing more is recorded here.
    frozen: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Ask(u64, Verb, u64, u64),
    Forget(u64, u64),
    ForgetAll(u64),
    Sweep(u64),
}

/// Whether a request needs a place to be recorded in.
fn takes(answer: &Answer, cost: u64) -> bool {
    cost > 0 && matches!(answer.verdict, Verdict::Allowed { .. })
}

fn full_at(slots: usize) -> usize {
    slots - slots.div_ceil(8)
}

impl Segment {
    fn new(rule: Rule, limit: u64, window: u64, when_full: WhenFull) -> Segment {
        let bits = 64 - (limit | 1).leading_zeros();
        let epoch = 63 - bits * if rule == Rule::Counter { 2 } else { 1 };
        let horizon = u128::from(window) << epoch;
        let life = if horizon >= CENTURY { u64::MAX } else { u64::try_from(horizon / 4).unwrap() };
        Segment { rule, limit, window, when_full, life, array: None, moves: 0, asked_shared: 0 }
    }

    /// The instant from which on nothing of a client counts.
    fn until(&self, model: &Model) -> u64 {
        let windows = if self.rule == Rule::Counter { 2 } else { 1 };
        model.effective_now(0).saturating_add(windows * self.window)
    }

    fn fresh(&self) -> Model {
        Model::new(self.rule, self.limit, self.window)
    }

    fn live(&self, now: u64) -> usize {
        let Some(array) = &self.array else { return 0 };
        array.clients.values().filter(|model| self.until(model) > now.max(array.birth)).count()
    }

    /// The answer, and whether it is that of a record.
    fn ask(&mut self, key: u64, verb: Verb, reading: u64, cost: u64) -> (Answer, bool) {
        let Some(mut array) = self.array.take() else { return self.decide_by_a_move(None, key, verb, reading, cost) };
        let now = reading.max(array.birth);
        if now - array.birth >= self.life {
            return self.decide_by_a_move(Some(array), key, verb, reading, cost);
        }
        let known = array.clients.get(&key).cloned();
        let has_slot = known.is_some() || array.clients.len() < full_at(array.slots);
        let mut model = known.unwrap_or_else(|| self.fresh());
        let answer = model.ask(verb, self.bounded(&model, reading, array.birth), cost);
        let takes = takes(&answer, cost);
        let has_room = array.slots < 1_024 || array.clients.values().any(|model| self.until(model) <= now);
        if !takes || verb == Verb::Peek && (has_slot || has_room) {
            self.array = Some(array);
            return (answer, true);
        }
        if has_slot && !array.frozen {
            array.clients.insert(key, model);
            self.array = Some(array);
            return (answer, true);
        }
        if has_slot || has_room {
            return self.decide_by_a_move(Some(array), key, verb, reading, cost);
        }
        if self.when_full != WhenFull::Share {
            self.array = Some(array);
            return self.turned_away();
        }
        let mut shared = array.shared.clone().unwrap_or_else(|| self.fresh());
        let answer = shared.ask(verb, self.bounded(&shared, reading, array.birth), cost);
        self.asked_shared += 1;
        if verb == Verb::Check && self::takes(&answer, cost) {
            if array.frozen {
                return self.decide_by_a_move(Some(array), key, verb, reading, cost);
            }
            array.shared = Some(shared);
        }
        self.array = Some(array);
        (answer, true)
    }

    /// The reading of a client: its own record bounds it, or the birth where it has none, or where epochs are short.
    fn bounded(&self, model: &Model, reading: u64, birth: u64) -> u64 {
        if model.is_new() || self.life < u64::MAX { reading.max(birth) } else { reading }
    }

    fn turned_away(&self) -> (Answer, bool) {
        let verdict = match self.when_full {
            WhenFull::AllowUntracked => Verdict::Allowed { next_unit: None, full_reset: 0 },
            _ => Verdict::Full,
        };
        (Answer { verdict, limit: self.limit, remaining: 0 }, self.when_full != WhenFull::AllowUntracked)
    }

    /// What a move keeps of an array, born at `birth`.
    fn copy(&self, old: Option<&Array>, birth: u64) -> Array {
        let lives = |model: &Model| self.until(model) > birth;
        let clients = old.into_iter().flat_map(|old| &old.clients).filter(|(_, model)| lives(model));
        let clients = clients.map(|(&key, model)| (key, model.clone())).collect();
        let shared = old.and_then(|old| old.shared.clone()).filter(lives);
        Array { birth, slots: 0, clients, shared, frozen: false }
    }

    fn publish(&mut self, array: Array) {
        let slots = (array.clients.len() * 4).div_ceil(3).next_power_of_two().clamp(4, 1_024);
        self.array = Some(Array { slots, ..array });
        self.moves += 1;
    }

    fn decide_by_a_move(
        &mut self,
        old: Option<Array>,
        key: u64,
        verb: Verb,
        reading: u64,
        cost: u64,
    ) -> (Answer, bool) {
        let now = reading.max(old.as_ref().map_or(0, |old| old.birth));
        let mut array = self.copy(old.as_ref(), now);
        let has_room = array.clients.contains_key(&key) || array.clients.len() < SEGMENT;
        let shares = !has_room && self.when_full == WhenFull::Share;
        let model = if shares { array.shared.as_ref() } else { array.clients.get(&key) };
        let mut model = model.cloned().unwrap_or_else(|| self.fresh());
        let answer = model.ask(verb, self.bounded(&model, reading, now), cost);
        if takes(&answer, cost) && !has_room && !shares {
            // Whether a peek moves the segment here makes no difference to any answer but those of late readings.
            if verb == Verb::Check {
                self.array = old.map(|old| Array { frozen: true, ..old });
            } else {
                self.publish(array);
            }
            return self.turned_away();
        }
        if verb == Verb::Check && takes(&answer, cost) {
            if shares {
                array.shared = Some(model);
            } else {
                array.clients.insert(key, model);
            }
        }
        self.publish(array);
        (answer, true)
    }

    fn forget(&mut self, key: u64, reading: u64) {
        let Some(array) = &self.array else { return };
        let Some(model) = array.clients.get(&key) else { return };
        let birth = reading.max(array.birth).max(model.effective_now(0));
        let mut copy = self.copy(Some(array), birth);
        copy.clients.remove(&key);
        self.publish(copy);
    }

    fn forget_all(&mut self, reading: u64) {
        let Some(array) = &self.array else { return };
        let newest = array.clients.values().chain(&array.shared).map(|model| model.effective_now(0)).max();
        let birth = reading.max(array.birth).max(newest.unwrap_or(0));
        let empty = Array { birth, slots: 0, clients: HashMap::new(), shared: None, frozen: false };
        self.publish(empty);
    }

    fn sweep(&mut self, reading: u64) {
        let Some(array) = &self.array else { return };
        let now = reading.max(array.birth);
        if self.live(now) < array.clients.len() {
            self.publish(self.copy(Some(array), now));
        }
    }

    fn trim(&mut self, key: u64) {
        let Some(array) = &mut self.array else { return };
        for model in array.clients.get_mut(&key).into_iter().chain(&mut array.shared) {
            if model.entries() > 8 {
                model.trim();
            }
        }
    }
}

/// What the traffic was like, to see that it asked for everything.
#[derive(Debug, Default)]
struct Tally {
    decisions: u64,
    allowed: u64,
    refused: u64,
    never: u64,
    full: u64,
    untracked: u64,
    shared: u64,
    behind: u64,
    forgotten: u64,
    moves: u64,
    short: u64,
}

/// One limiter and its traffic, up to the first answer that differs.
fn run<L: Clients>(nth: usize, seed: u64, length: u64, tally: &mut Tally) -> Result<(), String> {
    let mut random = Random::new(seed);
    // The largest limit leaves an epoch of five bits: a horizon of 32 windows.
    let largest = if L::RULE == Rule::Counter { (1 << 29) - 1 } else { (1 << 58) - 1 };
    let limit = match random.below(8) {
        0 => random.below(3),
        1..=4 => random.between(1, 9),
        5 => largest >> random.below(3),
        6 => largest,
        _ => random.pick(&[100, 65_535]),
    };
    let window = match random.below(4) {
        0 => random.between(1, 9),
        1 => 1_000,
        _ => random.pick(&[1_000_000, S, 60 * S, 3_600 * S]),
    };
    let when_full = [WhenFull::Refuse, WhenFull::AllowUntracked, WhenFull::Share][nth % 3];
    let limiter = L::build(quota(limit, window), 1, when_full);
    let mut segment = Segment::new(L::RULE, limit, window, when_full);
    let short = segment.life <= 40 * window;
    let keys = if length > 1_000 {
        random.pick(&[30, 1_200, 100_000, 100_000, 100_000])
    } else {
        random.pick(&[2, 5, 30, 600])
    };
    // Many keys in a time that hardly moves fill the table.
    let still = keys > 1_000;
    let mut time = random.below(100) * window + random.below(window);
    let mut last = Answer { verdict: Verdict::Never, limit, remaining: 0 };
    let mut trace = VecDeque::new();
    let (capacity, _, most) = limiter.sizes();
    assert_eq!(capacity, SEGMENT);
    for nth in 0..length {
        let far = if short { 40 * window } else { 5 * window };
        let calm = still && !random.one_in(1_500);
        time = match random.below(if calm { 8 } else { 16 }) {
            0..=5 => time,
            6 | 7 => time + random.below(if calm { window.div_ceil(1_000) } else { window }),
            8..=10 => time + random.below(window),
            11 | 12 => (time / window + random.between(1, 3)) * window - random.below(2),
            13 => time + random.below(far),
            14 => time + window * random.pick(&[7, 8, 15, 16, 17, 24, 31, 32, 33, 64]),
            // The clock is set back.
            _ => time.saturating_sub(random.below(3 * window)),
        };
        let reading = match random.below(16) {
            0 => time.saturating_sub(random.below(2 * window)),
            1 => time.saturating_sub(random.below(80 * window)),
            _ => time,
        };
        let key = if random.one_in(4) { random.below(keys.min(3)) } else { random.below(keys) };
        let event = match random.below(if still { 2_000 } else { 100 }) {
            0 | 1 => Event::Forget(key, reading),
            2 => Event::ForgetAll(reading),
            3 => Event::Sweep(reading),
            _ => {
                let cost = match random.below(16) {
                    0 => 0,
                    1..=8 => 1,
                    9 | 10 => random.between(0, limit),
                    11 => last.remaining,
                    12 => last.remaining + 1,
                    13 | 14 => limit,
                    _ => random.pick(&[limit + 1, u64::MAX]),
                };
                let verb = if random.one_in(6) { Verb::Peek } else { Verb::Check };
                Event::Ask(key, verb, reading, cost)
            }
        };
        if trace.len() == 12 {
            trace.pop_front();
        }
        trace.push_back(format!("{event:?}"));
        let birth = segment.array.as_ref().map_or(0, |array| array.birth);
        let before = segment.moves;
        let mut fault = None;
        match event {
            Event::Ask(key, verb, reading, cost) => {
                let live = segment.live(reading);
                let (expected, tracked) = segment.ask(key, verb, reading, cost);
                let decision = limiter.decide(key, verb, reading, cost);
                let answer = Answer::from(decision);
                if answer != expected {
                    fault = Some(format!("answer {answer:?}\n  should be {expected:?}"));
                }
                if let Decision::Allowed(allowed) = decision {
                    if allowed.is_tracked() != tracked {
                        fault = Some(format!("tracked {}, should be {tracked}", allowed.is_tracked()));
                    }
                    tally.untracked += u64::from(!tracked);
                }
                if is_full(&decision) && live < capacity {
                    fault = Some(format!("full with {live} live clients of {capacity}"));
                }
                tally.decisions += 1;
                tally.behind += u64::from(reading < birth);
                match answer.verdict {
                    Verdict::Allowed { .. } => tally.allowed += 1,
                    Verdict::Refused { .. } => tally.refused += 1,
                    Verdict::Never => tally.never += 1,
                    Verdict::Full => tally.full += 1,
                }
                last = answer;
                segment.trim(key);
            }
            Event::Forget(key, at) => {
                segment.forget(key, at);
                limiter.forget(key, at);
                tally.forgotten += 1;
            }
            Event::ForgetAll(at) => {
                segment.forget_all(at);
                limiter.forget_all_at(at);
                tally.forgotten += 1;
            }
            Event::Sweep(at) => {
                segment.sweep(at);
                limiter.sweep_at(at);
            }
        }
        if before != segment.moves || random.one_in(64) {
            let (_, bytes, _) = limiter.sizes();
            let slots = segment.array.as_ref().map_or(0, |array| array.slots);
            if !(16 * slots..=16 * slots + 160).contains(&bytes) || bytes > most {
                fault = fault.or(Some(format!("{bytes} bytes for {slots} slots, at most {most}")));
            }
            let (tracked, live) = (limiter.tracked_at(reading), segment.live(reading));
            if tracked != live {
                fault = fault.or(Some(format!("{tracked} tracked of {live}")));
            }
        }
        tally.short += u64::from(short);
        if let Some(fault) = fault {
            let trace: Vec<_> = trace.into();
            return Err(format!(
                "{:?}: limit {limit}, window {window} ns, {when_full:?}, event {nth} of run {seed}, birth {birth}\n  {}\n  {fault}",
                L::RULE,
                trace.join("\n  ")
            ));
        }
    }
    tally.moves += segment.moves;
    tally.shared += segment.asked_shared;
    Ok(())
}

/// Runs limiters until enough was decided, for each seed.
fn compare<L: Clients>() {
    let decisions = random::number_from("SLIDEGATE_DECISIONS").unwrap_or(ORDINARY);
    let seeds = match random::number_from("SLIDEGATE_SEED") {
        Some(seed) => vec![seed],
        None => vec![SEED, random::seed()],
    };
    let mut tally = Tally::default();
    let (mut reports, mut runs) = (Vec::new(), 0);
    for (share, seed) in (1..).zip(&seeds) {
        let mut random = Random::new(*seed);
        while tally.decisions < decisions * share / seeds.len() as u64 && reports.len() < 5 {
            // The long runs fill tables, in each of the three ways.
            let length = if runs % 8 < 3 { 6_000 } else { random.between(1, 600) };
            reports.extend(run::<L>(runs, random.next(), length, &mut tally).err());
            runs += 1;
        }
        println!("{:?}: seed {seed}, {} mismatches", L::RULE, reports.len());
    }
    println!("{:?}: {tally:?}", L::RULE);
    assert!(reports.is_empty(), "{}", reports.join("\n"));

    // Traffic that does not ask proves nothing.
    let part = |count: u64| count * 1_000 / tally.decisions;
    assert!(part(tally.allowed) >= 100 && part(tally.refused) >= 100 && part(tally.never) >= 10, "{tally:?}");
    assert!(part(tally.full) >= 3 && part(tally.untracked) >= 1 && tally.shared > 0, "{tally:?}");
    assert!(part(tally.behind) >= 20 && part(tally.moves) >= 10 && part(tally.forgotten) >= 1, "{tally:?}");
    assert!(part(tally.short) >= 100, "{tally:?}");
}

#[test]
fn counters_decide_as_the_lists() {
    compare::<Counters>();
}

#[test]
fn fixed_windows_decide_as_the_lists() {
    compare::<Windows>();
}
