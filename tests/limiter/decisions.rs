//! Random traffic of many clients, decided by a limiter of one segment and by a map of exact models.

use super::*;
use model::Verdict;
use random::Random;
use std::collections::VecDeque;

const ORDINARY: u64 = 200_000;
const SEED: u64 = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    Ask(Way, u64, Verb, u64, u64),
    /// One unit of each, at one reading.
    Many(Way, Vec<u64>, u64),
    Forget(u64, u64),
    ForgetAll(u64),
    Sweep(u64),
}

/// The bytes of what a segment is made of, found from outside.
struct Parts {
    directory: usize,
    head: usize,
    slot: usize,
    ring: usize,
}

impl Parts {
    fn of<L: Clients>() -> Parts {
        let limiter = L::build(quota(8, 1_000), 1, WhenFull::Refuse);
        let bytes = || limiter.sizes().1;
        let check = |key, at| {
            assert!(limiter.check(key, at, 1).is_allowed());
            bytes()
        };
        let directory = bytes();
        let four = check(1, 0);
        assert_eq!([check(2, 0), check(3, 0)], [four; 2]);
        let eight = check(4, 0);
        let slot = (eight - four) / 4;
        let with_a_ring = check(1, 1);
        let ring = (with_a_ring - eight).saturating_sub(4 * 8);
        let parts = Parts { directory, head: four - directory - 4 * slot, slot, ring };
        assert_eq!((slot, ring > 0), if L::NAME == "log" { (32, true) } else { (16, false) });
        assert!(directory == size_of::<usize>() && parts.head <= 160 && ring <= 64, "{four}, {eight}, {with_a_ring}");
        parts
    }

    /// Whether a limiter takes as many bytes as its segment.
    fn agree(&self, bytes: usize, segment: &mut Segment) -> bool {
        let (rings, cells) = segment.rings();
        let rest = bytes.checked_sub(self.directory + rings * self.ring + cells * 8);
        let slots = rest.and_then(|rest| match rest.checked_sub(self.head) {
            Some(slots) => slots.is_multiple_of(self.slot).then_some(slots / self.slot),
            None => (rest == 0).then_some(0),
        });
        slots.is_some_and(|slots| segment.has_slots(slots))
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
    coarse: u64,
    handled: u64,
    at_once: u64,
    largest_ring: usize,
    most_ring_bytes: usize,
}

/// How one limiter is asked.
struct Traffic {
    random: Random,
    limit: u64,
    window: u64,
    keys: u64,
    /// Many keys in a time that hardly moves fill the table.
    still: bool,
    /// A few keys whose requests are spread over the window grow rings, while others come and are forgotten.
    dense: bool,
    time: u64,
}

impl Traffic {
    fn new<L: Clients>(nth: usize, seed: u64, length: u64) -> (L, Segment, Traffic) {
        let mut random = Random::new(seed);
        // The largest limit leaves a horizon of a few windows; in a long one, stamps of coarse ticks.
        let short = nth % 5 == 4;
        let window = match random.below(4) {
            0 if !short => random.between(1, 9),
            // Not a megabyte for each client.
            _ if L::PREALLOCATES => 1_000,
            1 if !short => 1_000,
            _ => random.pick(&[1_000_000, S, 60 * S, 3_600 * S]),
        };
        let largest = largest_limit::<L>(window);
        let limit = match random.below(8) {
            _ if short => largest,
            0 => random.below(3),
            1..=4 => random.between(1, 9),
            5 | 6 => largest >> random.below(3),
            _ => random.pick(&[100, 65_535]).min(largest),
        };
        let dense = length <= 1_000 && random.one_in(5);
        let limit = if dense && !short && random.one_in(2) { random.between(20, 150) } else { limit };
        let keys = if dense {
            300
        } else if length > 1_000 {
            random.pick(&[30, 1_200, 100_000, 100_000, 100_000])
        } else {
            random.pick(&[2, 5, 30, 600])
        };
        let time = random.below(100) * window + random.below(window);
        let when_full = [WhenFull::Refuse, WhenFull::AllowUntracked, WhenFull::Share][nth % 3];
        let limiter = L::build(quota(limit, window), 1, when_full);
        let segment = Segment::new(L::rule(limit, window), limit, window, when_full, LARGEST);
        let segment = if L::PREALLOCATES { segment.preallocated() } else { segment };
        (limiter, segment, Traffic { random, limit, window, keys, still: keys > 1_000, dense, time })
    }

    /// A reading of a clock that goes on, mostly.
    fn reading(&mut self, segment: &Segment) -> u64 {
        let Traffic { window, time, still, .. } = *self;
        let random = &mut self.random;
        let far = if segment.life <= 40 * window { 40 * window } else { 5 * window };
        let calm = still && !random.one_in(1_500);
        self.time = if self.dense && !random.one_in(100) {
            time + random.below(2 * window / self.limit.clamp(1, 100) + 2)
        } else {
            match random.below(if calm { 8 } else { 17 }) {
                0..=5 => time,
                6 | 7 => time + random.below(if calm { window.div_ceil(1_000) } else { window }),
                8..=10 => time + random.below(window),
                11 | 12 => (time / window + random.between(1, 3)) * window - random.below(2),
                13 => time + random.below(far),
                14 => time + window * random.pick(&[7, 8, 15, 16, 17, 24, 31, 32, 33, 64]),
                // The age at which an array is replaced.
                15 if segment.life <= 40 * window => time.max(segment.birth() + segment.life - random.below(2)),
                // The clock is set back.
                _ => time.saturating_sub(random.below(3 * window)),
            }
        };
        match random.below(16) {
            0 => self.time.saturating_sub(random.below(2 * window)),
            1 => self.time.saturating_sub(random.below(80 * window)),
            _ => self.time,
        }
    }

    fn key(&mut self) -> u64 {
        let hot = if self.dense { !self.random.one_in(8) } else { self.random.one_in(4) };
        self.random.below(if hot { self.keys.min(3) } else { self.keys })
    }

    fn cost(&mut self, last: &Answer) -> u64 {
        match self.random.below(if self.dense { 100 } else { 16 }) {
            0 => 0,
            9 | 10 => self.random.between(0, self.limit),
            11 => last.remaining,
            12 => last.remaining + 1,
            13 | 14 => self.limit,
            15 => self.random.pick(&[self.limit + 1, u64::MAX]),
            _ => 1,
        }
    }

    fn event(&mut self, segment: &Segment, last: &Answer) -> Event {
        let reading = self.reading(segment);
        let way = self.random.pick(&[Way::Client, Way::Client, Way::Handle]);
        match self.random.below(if self.still { 2_000 } else { 100 }) {
            // The few that are asked all the time are forgotten seldom.
            0 | 1 if self.dense => Event::Forget(3 + self.random.below(self.keys), reading),
            0 | 1 => Event::Forget(self.key(), reading),
            2 if !self.dense || self.random.one_in(8) => Event::ForgetAll(reading),
            3 => Event::Sweep(reading),
            4..=6 => {
                let count = self.random.pick(&[0, 1, 2, 3, 16, 17, 40]);
                Event::Many(way, (0..count).map(|_| self.key()).collect(), reading)
            }
            _ => {
                let verb = if self.random.one_in(6) { Verb::Peek } else { Verb::Check };
                Event::Ask(way, self.key(), verb, reading, self.cost(last))
            }
        }
    }
}

/// One limiter and its traffic, up to the first answer that differs.
fn run<L: Clients>(nth: usize, seed: u64, length: u64, parts: &Parts, tally: &mut Tally) -> Result<(), String> {
    let (limiter, mut segment, mut traffic) = Traffic::new::<L>(nth, seed, length);
    let (limit, window, rule) = (traffic.limit, traffic.window, L::rule(traffic.limit, traffic.window));
    let (short, coarse) = (segment.life <= 40 * window, matches!(rule, Rule::Log { tick: 2.. }));
    let mut last = Answer { verdict: Verdict::Never, limit, remaining: 0 };
    let mut trace = VecDeque::new();
    let (capacity, _, most) = limiter.sizes();
    assert_eq!(capacity, SEGMENT);
    for nth in 0..length {
        let event = traffic.event(&segment, &last);
        if trace.len() == 12 {
            trace.pop_front();
        }
        trace.push_back(format!("{event:?}"));
        let (before, birth) = (segment.moves, segment.birth());
        let (mut faults, mut now) = (Vec::new(), 0);
        let mut told = |segment: &mut Segment, way, key, verb, reading, cost, decision: Decision| {
            tally.behind += u64::from(reading < segment.birth());
            let (expected, tracked) = segment.ask(key, verb, reading, cost);
            let answer = Answer::from(decision);
            if answer != expected {
                faults.push(format!("{key}: answer {answer:?}\n  should be {expected:?}"));
            }
            if let Decision::Allowed(allowed) = decision {
                if allowed.is_tracked() != tracked {
                    faults.push(format!("{key}: tracked {}, should be {tracked}", allowed.is_tracked()));
                }
                tally.untracked += u64::from(!tracked);
            }
            if is_full(&decision) && segment.live(reading) < capacity {
                faults.push(format!("{key}: full with {} live clients of {capacity}", segment.live(reading)));
            }
            tally.decisions += 1;
            tally.short += u64::from(short);
            tally.coarse += u64::from(coarse);
            tally.handled += u64::from(way == Way::Handle);
            match answer.verdict {
                Verdict::Allowed { .. } => tally.allowed += 1,
                Verdict::Refused { .. } => tally.refused += 1,
                Verdict::Never => tally.never += 1,
                Verdict::Full => tally.full += 1,
            }
            (last, now) = (answer, reading);
        };
        match event {
            Event::Ask(way, key, verb, reading, cost) => {
                let decision = limiter.decide_by(way, key, verb, reading, cost);
                told(&mut segment, way, key, verb, reading, cost, decision);
            }
            Event::Many(way, keys, reading) => {
                let decisions = limiter.check_many(way, &keys, reading);
                assert_eq!(decisions.len(), keys.len());
                for (&key, decision) in keys.iter().zip(decisions) {
                    told(&mut segment, way, key, Verb::Check, reading, 1, decision);
                }
                tally.at_once += keys.len() as u64;
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
        if before != segment.moves || traffic.random.one_in(16) {
            let (_, bytes, _) = limiter.sizes();
            if !parts.agree(bytes, &mut segment) || bytes > most {
                let (rings, cells) = segment.rings();
                faults.push(format!(
                    "{bytes} bytes, at most {most}, for {} slots and {cells} cells in {rings} rings",
                    segment.slots()
                ));
            }
            let (tracked, live) = (limiter.tracked_at(now), segment.live(now));
            if tracked != live {
                faults.push(format!("{tracked} tracked of {live}"));
            }
            let (rings, cells) = segment.rings();
            tally.most_ring_bytes = tally.most_ring_bytes.max(parts.ring * rings + 8 * cells);
            tally.largest_ring = tally.largest_ring.max(segment.largest_ring());
        }
        if !faults.is_empty() {
            let trace: Vec<_> = trace.into();
            return Err(format!(
                "{}: limit {limit}, window {window} ns, life {}, event {nth} of run {seed}, birth {birth}\n  {}\n  {}",
                L::NAME,
                segment.life,
                trace.join("\n  "),
                faults.join("\n  ")
            ));
        }
    }
    tally.moves += segment.moves;
    tally.shared += segment.asked_shared;

    // Once all has expired an array of the smallest size is left, and no cell.
    let end = traffic.time.max(segment.birth()).saturating_add(100 * window + segment.life.min(40 * window));
    segment.sweep(end);
    limiter.sweep_at(end);
    let (bytes, tracked) = (limiter.sizes().1, limiter.tracked_at(end));
    let empty = segment.live(end) == 0 && (segment.rings() == (0, 0) || segment.asked_shared > 0);
    if !empty || tracked != 0 || !parts.agree(bytes, &mut segment) {
        return Err(format!("{}: limit {limit}, window {window} ns, run {seed}: {bytes} bytes at the end", L::NAME));
    }
    Ok(())
}

/// Runs limiters until enough was decided, for each seed.
fn compare<L: Clients>(parts: Parts) -> Tally {
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
            reports.extend(run::<L>(runs, random.next(), length, &parts, &mut tally).err());
            runs += 1;
        }
        println!("{}: seed {seed}, {} mismatches", L::NAME, reports.len());
    }
    println!("{}: {tally:?}", L::NAME);
    assert!(reports.is_empty(), "{}", reports.join("\n"));

    // Traffic that does not ask proves nothing.
    let part = |count: u64| count * 1_000 / tally.decisions;
    assert!(part(tally.allowed) >= 100 && part(tally.refused) >= 100 && part(tally.never) >= 10, "{tally:?}");
    assert!(part(tally.full) >= 3 && part(tally.untracked) >= 1 && tally.shared > 0, "{tally:?}");
    assert!(part(tally.behind) >= 20 && part(tally.moves) >= 10 && part(tally.forgotten) >= 1, "{tally:?}");
    assert!(part(tally.short) >= 100 && part(tally.handled) >= 200 && part(tally.at_once) >= 20, "{tally:?}");
    tally
}

#[test]
fn counters_decide_as_the_lists() {
    compare::<Counters>(Parts::of::<Counters>());
}

#[test]
fn fixed_windows_decide_as_the_lists() {
    compare::<Windows>(Parts::of::<Windows>());
}

#[test]
fn logs_decide_as_the_lists() {
    let tally = compare::<Logs>(Parts::of::<Logs>());
    assert!(tally.coarse * 20 > tally.decisions && tally.largest_ring >= 128, "{tally:?}");
}

#[test]
fn preallocated_logs_decide_as_the_lists() {
    let tally = compare::<Preallocated>(Parts::of::<Logs>());
    assert!(tally.largest_ring >= 128, "{tally:?}");
}
