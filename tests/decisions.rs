//! Random traffic, decided by a gate and by the list of all that was allowed: every number of every answer is compared.
//!
//! The ordinary run is small. Ten million decisions of each algorithm:
//!
//! ```text
//! SLIDEGATE_DECISIONS=10000000 cargo test --release -p slidegate --test decisions -- --nocapture
//! ```
//!
//! It prints the seed of each run; `SLIDEGATE_SEED` repeats it.

mod model;
mod random;
mod segment;

use model::{Answer, Model, Rule, Verb, Verdict};
use random::Random;
use segment::Segment;
use slidegate::{
    Algorithm, BuildError, Counter, Decision, FixedWindow, Gate, Log, ManualClock, Nanos, Quota, WhenFull,
};
use std::{collections::VecDeque, time::Duration};

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;
const YEAR: u64 = 31_557_600 * SECOND;

/// Decisions of an ordinary run, and its first seed; the second is random.
const ORDINARY: u64 = 300_000;
const SEED: u64 = 1;

/// The only client of a gate.
const CLIENT: u64 = 1;

/// An algorithm as the comparison sees it.
trait Gated: Algorithm + Sized {
    const NAME: &'static str;

    fn build(quota: Quota) -> Result<Gate<Self>, BuildError>;

    fn rule(limit: u64, window: u64) -> Rule;
}

impl Gated for Counter {
    const NAME: &'static str = "counter";

    fn build(quota: Quota) -> Result<Gate<Self>, BuildError> {
        Gate::try_counter(quota)
    }

    fn rule(_: u64, _: u64) -> Rule {
        Rule::Counter
    }
}

impl Gated for FixedWindow {
    const NAME: &'static str = "fixed window";

    fn build(quota: Quota) -> Result<Gate<Self>, BuildError> {
        Gate::try_fixed_window(quota)
    }

    fn rule(_: u64, _: u64) -> Rule {
        Rule::Fixed
    }
}

impl Gated for Log {
    const NAME: &'static str = "log";

    fn build(quota: Quota) -> Result<Gate<Self>, BuildError> {
        let gate = Gate::try_log(quota)?;
        let Rule::Log { tick } = Self::rule(quota.limit(), nanos(quota.window())) else { unreachable!("a log") };
        assert_eq!(gate.algorithm().tick(), Duration::from_nanos(tick), "{quota}");
        Ok(gate)
    }

    fn rule(limit: u64, window: u64) -> Rule {
        segment::log_rule(limit, window)
    }
}

/// A gate with the clock that it reads to forget.
struct Timed<A: Algorithm> {
    gate: Gate<A, ManualClock>,
    clock: ManualClock,
}

impl<A: Algorithm> Timed<A> {
    fn ask(&self, verb: Verb, at: u64, cost: u64) -> Answer {
        let request = self.gate.at(Nanos::from_nanos(at)).cost(cost);
        Answer::from(match verb {
            Verb::Check => request.check(),
            Verb::Peek => request.peek(),
        })
    }

    fn forget(&self, at: u64) {
        self.clock.set(Nanos::from_nanos(at));
        self.gate.forget();
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).expect("windows of this test are short")
}

/// What the traffic was like, to see that it asked for everything.
#[derive(Debug, Default)]
struct Tally {
    decisions: u64,
    allowed: u64,
    refused: u64,
    never: u64,
    behind: u64,
    forgotten: u64,
    longest: u64,
    coarse: u64,
    /// Of gates that are renewed, and how often they were.
    renewable: u64,
    moves: u64,
    /// Before the birth of an array.
    unborn: u64,
    largest_ring: usize,
    mismatches: u64,
}

/// The requests of one client.
struct Traffic {
    random: Random,
    limit: u64,
    window: u64,
    /// How far from its newest record a gate is valid that is not renewed.
    half_horizon: u64,
    /// The clock, as far as it has come.
    time: u64,
    /// Whether the client keeps coming, so that a log never empties.
    steady: bool,
    /// Whether nearly all of its requests are one unit, spread over the window, so that a ring grows.
    dense: bool,
}

impl Traffic {
    /// A quota that the algorithm can hold, and where its client's clock starts.
    fn new<A: Gated>(mut random: Random) -> (Timed<A>, Segment, Traffic) {
        let (gate, quota) = loop {
            let limit = match random.below(8) {
                0 => random.pick(&[0, 1, 2]),
                1..=4 => random.pick(&[1, 2, 3, 5, 8, 100]),
                5 => random.pick(&[1_000, 65_535, 100_000]),
                6 => random.between(0, 300),
                _ => random.next() >> random.between(0, 63),
            };
            let window = match random.below(8) {
                0 => random.between(1, 8),
                1 => random.between(9, 100_000),
                2..=4 => random.pick(&[1_000_000, SECOND, 30 * SECOND, 60 * SECOND, 3_600 * SECOND, DAY]),
                5 => random.pick(&[30 * DAY, YEAR, 100 * YEAR]),
                _ => (random.next() >> random.between(3, 62)).max(1),
            };
            let quota = Quota::new(limit, Duration::from_nanos(window));
            match A::build(quota) {
                Ok(gate) => break (gate, quota),
                Err(BuildError::DoesNotFit { largest_limit: limit, .. }) => {
                    let quota = Quota::new(limit >> random.pick(&[0, 0, 1, 3]), quota.window());
                    break (A::build(quota).expect("the error said so"), quota);
                }
                Err(_) => {}
            }
        };
        let (limit, window) = (quota.limit(), nanos(quota.window()));
        let time = match random.below(4) {
            0 => 0,
            1 => random.below(4 * window.min(u64::MAX / 4)),
            2 => u64::MAX - random.below(4 * window.min(u64::MAX / 4)),
            _ => random.next(),
        };
        let (steady, dense) = (random.one_in(3), random.one_in(4));
        let segment = Segment::new(A::rule(limit, window), limit, window, WhenFull::Refuse, 1);
        // At least: what the word promises whose epoch is not renewed.
        let half_horizon = (50 * YEAR).max(16 * window.min(u64::MAX / 16));
        let clock = ManualClock::new();
        let gate = Timed { gate: gate.with_clock(clock.clone()), clock };
        (gate, segment, Traffic { random, limit, window, half_horizon, time, steady, dense })
    }

    fn cost(&mut self, last: &Answer) -> u64 {
        match self.random.below(if self.dense { 200 } else { 16 }) {
            0 => 0,
            1..=9 | 16.. => 1,
            10 | 11 => self.random.between(0, self.limit),
            12 => self.random.between(0, self.limit.min(5)),
            13 => last.remaining,
            14 => last.remaining + 1,
            _ => self.random.pick(&[self.limit, self.limit, self.limit + 1, u64::MAX]),
        }
    }

    /// A reading of the clock, which mostly goes on and sometimes stands still, or runs, or is set back.
    fn reading(&mut self, segment: &Segment, last: &Answer) -> u64 {
        let now = segment.effective_now(CLIENT, self.time);
        let (window, life) = (self.window, segment.life);
        let jitter = |at: u64, random: &mut Random| at.saturating_add(random.below(3)).saturating_sub(1);
        let gap = window / self.limit.max(1);
        let choice = match (self.dense, self.steady) {
            (true, _) if !self.random.one_in(32) => 5,
            (_, true) => self.random.below(12),
            _ => self.random.below(18),
        };
        let late = match choice {
            9 => self.random.between(0, window),
            10 => self.random.between(1, 3),
            16 => self.random.next() >> self.random.below(64),
            _ => 0,
        };
        if late > 0 {
            // A late thread; the clock itself goes on.
            return self.within_reach(segment, self.time.saturating_sub(late));
        }
        let next = match choice {
            0..=3 => self.time,
            4 => self.time.saturating_add(self.random.between(0, 3)),
            5..=7 => self.time.saturating_add(self.random.between(0, gap.saturating_mul(2))),
            8 => {
                let spans = match last.verdict {
                    Verdict::Allowed { next_unit, full_reset } => [next_unit.unwrap_or(0), full_reset],
                    Verdict::Refused { wait, .. } => [wait, wait - 1],
                    Verdict::Never | Verdict::Full => [0, window],
                };
                jitter(now.saturating_add(self.random.pick(&spans)), &mut self.random)
            }
            11 => match segment.client(CLIENT) {
                Some(model) => {
                    let entry = self.random.below(model.entries() as u64);
                    let stamp = model.instant(usize::try_from(entry).expect("an index"));
                    jitter(stamp.saturating_add(window), &mut self.random).max(self.time)
                }
                None => self.time.saturating_add(self.random.between(0, window)),
            },
            12 | 13 => {
                let number = (now / window).saturating_add(self.random.between(1, 3));
                jitter(number.saturating_mul(window), &mut self.random)
            }
            14 => self.time.saturating_add(self.random.between(0, window.saturating_mul(5))),
            // The age at which an array is replaced, a little before it, and times of it.
            15 if self.random.one_in(2) => {
                jitter(segment.birth().saturating_add(life), &mut self.random).max(self.time)
            }
            15 => {
                let lives = life.saturating_mul(self.random.pick(&[1, 2, 3, 4, 5, 8]));
                self.time.saturating_add(self.random.between(0, lives))
            }
            17 if self.random.one_in(8) => self.time.saturating_sub(self.random.next() >> self.random.below(64)),
            _ => self.time.saturating_add(self.random.between(0, window)),
        };
        self.time = self.within_reach(segment, next);
        self.time
    }

    /// A gate that is not renewed is not asked further from its newest record than it is valid.
    fn within_reach(&self, segment: &Segment, reading: u64) -> u64 {
        if !segment.is_a_word() || segment.array.is_none() {
            return reading;
        }
        let newest = segment.effective_now(CLIENT, 0);
        reading.clamp(
            newest.saturating_sub(self.half_horizon - self.window),
            newest.saturating_add(self.half_horizon - self.window),
        )
    }
}

/// Decides one client's traffic, up to the first answer that differs.
fn run<A: Gated>(seed: u64, length: u64, tally: &mut Tally) -> Result<(), String> {
    let (gate, mut segment, mut traffic) = Traffic::new::<A>(Random::new(seed));
    let (limit, window, rule) = (traffic.limit, traffic.window, A::rule(traffic.limit, traffic.window));
    let is_renewed = !segment.is_a_word();
    let mut last = segment.ask(CLIENT, Verb::Peek, traffic.time, 0).0;
    let mut trace = VecDeque::new();
    for nth in 0..length {
        let reading = traffic.reading(&segment, &last);
        let cost = traffic.cost(&last);
        let verb = if traffic.random.one_in(6) { Verb::Peek } else { Verb::Check };
        let now = segment.effective_now(CLIENT, reading);
        let birth = segment.birth();
        if trace.len() == 12 {
            trace.pop_front();
        }
        trace.push_back(format!("{verb:?} cost {cost} at {reading}, birth {birth}"));

        let expected = segment.ask(CLIENT, verb, reading, cost).0;
        let answer = gate.ask(verb, reading, cost);
        let mut fault = (answer != expected).then(|| format!("answer {answer:?}\n  should be {expected:?}"));
        if let (Verdict::Refused { wait, .. }, true) = (answer.verdict, traffic.random.one_in(4)) {
            // The answer once more, by asking at the two instants that it lies between. A look ahead may renew the gate,
            // which then stays there: few of those.
            let stays = now.saturating_add(wait) - segment.birth() < segment.life;
            if stays || traffic.random.one_in(16) {
                let peek = |then: u64, segment: &mut Segment| {
                    let answer = gate.ask(Verb::Peek, then, cost);
                    (answer == segment.ask(CLIENT, Verb::Peek, then, cost).0).then_some(answer.verdict)
                };
                let refused = |verdict| matches!(verdict, Some(Verdict::Refused { .. }));
                let allowed = |verdict| matches!(verdict, Some(Verdict::Allowed { .. }));
                let before = now.checked_add(wait - 1).is_none_or(|then| refused(peek(then, &mut segment)));
                let then = now.checked_add(wait).is_none_or(|then| allowed(peek(then, &mut segment)));
                if !(before && then) {
                    fault = Some(format!("a wait of {wait}: allowed then {then}, refused just before {before}"));
                }
            }
        }
        if let Some(fault) = fault {
            tally.mismatches += 1;
            let trace: Vec<_> = trace.into();
            return Err(format!(
                "{}: limit {limit}, window {window} ns, {rule:?}, life {}, request {nth} of client {seed}, {:?}\n  {}\n  {fault}",
                A::NAME,
                segment.life,
                segment.array,
                trace.join("\n  ")
            ));
        }

        tally.decisions += 1;
        tally.behind += u64::from(reading < now);
        tally.coarse += u64::from(matches!(rule, Rule::Log { tick: 2.. }));
        tally.renewable += u64::from(is_renewed);
        tally.unborn += u64::from(is_renewed && reading < birth);
        match answer.verdict {
            Verdict::Allowed { .. } => tally.allowed += 1,
            Verdict::Refused { .. } => tally.refused += 1,
            Verdict::Never => tally.never += 1,
            Verdict::Full => {}
        }
        last = answer;
        // An epoch that comes round to 0, a century after the origin, makes an empty word look like a new one.
        if (is_renewed || now < 100 * YEAR) && traffic.random.one_in(100) {
            let at = if traffic.random.one_in(2) { reading } else { traffic.random.next() >> traffic.random.below(64) };
            // Far ahead of the traffic all of it would be behind.
            let at = at.min(traffic.time.saturating_add(window));
            gate.forget(at);
            segment.forget(CLIENT, at);
            tally.forgotten += 1;
            trace.push_back(format!("forget at {at}"));
        }
        tally.longest = tally.longest.max(nth + 1);
        tally.largest_ring = tally.largest_ring.max(segment.largest_ring());
        if segment.client(CLIENT).is_some_and(|model| model.entries() > 600) {
            break;
        }
    }
    tally.moves += if is_renewed { segment.moves } else { 0 };
    Ok(())
}

/// Runs clients until enough was decided, for each seed.
fn compare<A: Gated>() -> Tally {
    let decisions = random::number_from("SLIDEGATE_DECISIONS").unwrap_or(ORDINARY);
    let seeds = match random::number_from("SLIDEGATE_SEED") {
        Some(seed) => vec![seed],
        None => vec![SEED, random::seed()],
    };
    let mut tally = Tally::default();
    let mut reports = Vec::new();
    for (share, seed) in (1..).zip(&seeds) {
        let (before, mut random) = (tally.decisions, Random::new(*seed));
        let until = decisions * share / seeds.len() as u64;
        while tally.decisions < until && reports.len() < 10 {
            let length = if random.one_in(400) { 12_000 } else { random.between(1, 300) };
            let length = length.min(until - tally.decisions);
            reports.extend(run::<A>(random.next(), length, &mut tally).err());
        }
        println!("{}: seed {seed}, {} decisions, {} mismatches", A::NAME, tally.decisions - before, tally.mismatches);
    }
    println!("{}: {tally:?}", A::NAME);
    assert!(reports.is_empty(), "{}", reports.join("\n"));

    // Traffic that does not ask proves nothing.
    let part = |count: u64| count * 100 / tally.decisions;
    assert!(part(tally.allowed) >= 10 && part(tally.refused) >= 10 && part(tally.never) >= 1, "{tally:?}");
    assert!(part(tally.behind) >= 2 && tally.longest > 10_000 && tally.forgotten > 100, "{tally:?}");
    assert!(part(tally.renewable) >= 5 && tally.unborn * 20 > tally.renewable, "{tally:?}");
    assert!(tally.moves * 200 > tally.renewable, "{tally:?}");
    tally
}

#[test]
fn counter_decides_as_the_list() {
    compare::<Counter>();
}

#[test]
fn fixed_window_decides_as_the_list() {
    compare::<FixedWindow>();
}

#[test]
fn log_decides_as_the_list() {
    let tally = compare::<Log>();
    assert!(tally.coarse * 20 > tally.decisions, "too few logs with coarse ticks: {tally:?}");
    assert!(tally.largest_ring >= 256, "no ring that has grown: {tally:?}");
}

/// The search of the model itself, against trying every instant in turn.
#[test]
fn the_list_finds_the_first_instant() {
    let mut random = Random::new(SEED);
    let mut refused = 0;
    for _ in 0..2_000 {
        let (limit, window) = (random.between(1, 6), random.between(1, 12));
        let rule = random.pick(&[Rule::Log { tick: 1 }, Rule::Counter, Rule::Fixed]);
        let mut model = Model::new(rule, limit, window);
        let mut now = 0;
        for _ in 0..20 {
            now += random.below(window);
            let cost = random.between(1, limit);
            if let Verdict::Refused { wait, .. } = model.ask(Verb::Check, now, cost).verdict {
                refused += 1;
                let first = (0..4 * window).find(|step| model.fits(u128::from(now + step), cost));
                assert_eq!(Some(wait), first, "{model:?} at {now} with a cost of {cost}");
                let again = (wait..4 * window).all(|step| model.fits(u128::from(now + step), cost));
                assert!(again, "{model:?} at {now} with a cost of {cost} does not stay allowed");
            }
        }
    }
    assert!(refused > 5_000, "{refused}");
}
