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

use model::{Answer, Model, Rule, Verb, Verdict};
use random::Random;
use slidegate::{__tool, BuildError, Counter, Decision, FixedWindow, Gate, Nanos, Quota};
use std::{collections::VecDeque, time::Duration};

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;
const YEAR: u64 = 31_557_600 * SECOND;

/// Decisions of an ordinary run, and its first seed; the second is random.
const ORDINARY: u64 = 300_000;
const SEED: u64 = 1;

/// A gate as the comparison sees it.
trait Limiter: Sized {
    const NAME: &'static str;

    fn build(quota: Quota) -> Result<Self, BuildError>;

    fn ask(&self, verb: Verb, at: u64, cost: u64) -> Answer;

    /// `false` where the algorithm cannot.
    fn forget(&self) -> bool;

    /// How the model weighs, and how far behind and ahead of the newest record a reading may be.
    fn grain(quota: Quota) -> Grain;
}

struct Grain {
    rule: Rule,
    ahead: u64,
    behind: u64,
}

macro_rules! ask {
    () => {
        fn ask(&self, verb: Verb, at: u64, cost: u64) -> Answer {
            let request = self.at(Nanos::from_nanos(at)).cost(cost);
            Answer::from(match verb {
                Verb::Check => request.check(),
                Verb::Peek => request.peek(),
            })
        }
    };
}

impl Limiter for Gate<Counter> {
    const NAME: &'static str = "counter";

    fn build(quota: Quota) -> Result<Self, BuildError> {
        Gate::try_counter(quota)
    }

    ask!();

    fn forget(&self) -> bool {
        Gate::forget(self);
        true
    }

    fn grain(quota: Quota) -> Grain {
        of_a_word(Rule::Counter, quota)
    }
}

impl Limiter for Gate<FixedWindow> {
    const NAME: &'static str = "fixed window";

    fn build(quota: Quota) -> Result<Self, BuildError> {
        Gate::try_fixed_window(quota)
    }

    ask!();

    fn forget(&self) -> bool {
        Gate::forget(self);
        true
    }

    fn grain(quota: Quota) -> Grain {
        of_a_word(Rule::Fixed, quota)
    }
}

impl Limiter for Gate<__tool::Log> {
    const NAME: &'static str = "log";

    fn build(quota: Quota) -> Result<Self, BuildError> {
        __tool::log_gate(quota)
    }

    ask!();

    fn forget(&self) -> bool {
        false
    }

    /// Found from outside: by how much the wait depends on where in a tick a request falls, and at which distance a
    /// reading turns from one that lies ahead into one that lies behind.
    fn grain(quota: Quota) -> Grain {
        let spent_at = |at| {
            let gate = Self::build(quota).expect("it was built before");
            gate.ask(Verb::Check, at, quota.limit());
            gate
        };
        let refused = |gate: &Self, at| match gate.ask(Verb::Peek, at, 1).verdict {
            Verdict::Refused { wait, .. } => Some(wait),
            _ => None,
        };
        let (start, last) = (0, (1 << 48) - 1);
        let (Some(longest), Some(shortest)) = (refused(&spent_at(start), start), refused(&spent_at(last), last)) else {
            // With a limit of 0 nothing is ever recorded.
            return Grain { rule: Rule::Log { tick: 1 }, ahead: u64::MAX, behind: u64::MAX };
        };
        let tick = longest - shortest + 1;
        let window = nanos(quota.window());
        let told = spent_at(start).algorithm().tick();
        assert_eq!(u128::from(tick), told.as_nanos(), "{quota}: the tick that it shows and the one that it tells");
        assert!(tick.is_power_of_two() && (tick == 1 || tick <= window >> 20), "{quota}: a tick of {tick} ns");

        let gate = spent_at(start);
        let mut half = (window.div_ceil(tick) * tick + tick).next_power_of_two();
        while half < 1 << 63 && refused(&gate, half).is_none() {
            half *= 2;
        }
        assert!(half / 2 > window, "{quota}: stamps span {half} * 2 ns");
        Grain { rule: Rule::Log { tick }, ahead: half / 2, behind: half - tick }
    }
}

/// What a word's horizon promises: a century, or eight windows where that is more.
fn of_a_word(rule: Rule, quota: Quota) -> Grain {
    let horizon = (100 * YEAR).max(8 * nanos(quota.window()).min(u64::MAX / 8));
    Grain { rule, ahead: horizon / 4, behind: horizon / 2 - nanos(quota.window()) }
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
    mismatches: u64,
}

/// The requests of one client.
struct Traffic {
    random: Random,
    limit: u64,
    window: u64,
    grain: Grain,
    /// The clock, as far as it has come.
    time: u64,
    /// Whether the client keeps coming, so that a log never empties.
    steady: bool,
}

impl Traffic {
    /// A quota that the algorithm can hold, and where its client's clock starts.
    fn new<G: Limiter>(mut random: Random) -> (G, Traffic) {
        let (gate, quota) = loop {
            let limit = match random.below(8) {
                0 => random.pick(&[0, 1, 2]),
                1..=4 => random.pick(&[1, 2, 3, 5, 8, 100]),
                5 => random.pick(&[1_000, 65_535, 100_000]),
                6 => random.between(0, 300),
                _ => random.next() >> random.between(30, 63),
            };
            let window = match random.below(8) {
                0 => random.between(1, 8),
                1 => random.between(9, 100_000),
                2..=4 => random.pick(&[1_000_000, SECOND, 30 * SECOND, 60 * SECOND, 3_600 * SECOND, DAY]),
                5 => random.pick(&[30 * DAY, YEAR, 100 * YEAR]),
                _ => (random.next() >> random.between(3, 62)).max(1),
            };
            let quota = Quota::new(limit, Duration::from_nanos(window));
            match G::build(quota) {
                Ok(gate) => break (gate, quota),
                Err(BuildError::DoesNotFit { largest_limit: Some(limit), .. }) => {
                    let quota = Quota::new(limit, quota.window());
                    break (G::build(quota).expect("the error said so"), quota);
                }
                Err(_) => {}
            }
        };
        let window = nanos(quota.window());
        let time = match random.below(4) {
            0 => 0,
            1 => random.below(4 * window.min(u64::MAX / 4)),
            2 => u64::MAX - random.below(4 * window.min(u64::MAX / 4)),
            _ => random.next(),
        };
        let steady = random.one_in(3);
        (gate, Traffic { random, limit: quota.limit(), window, grain: G::grain(quota), time, steady })
    }

    fn cost(&mut self, last: &Answer) -> u64 {
        match self.random.below(16) {
            0 => 0,
            1..=9 => 1,
            10 | 11 => self.random.between(0, self.limit),
            12 => self.random.between(0, self.limit.min(5)),
            13 => last.remaining,
            14 => last.remaining + 1,
            _ => self.random.pick(&[self.limit, self.limit, self.limit + 1, u64::MAX]),
        }
    }

    /// A reading of the clock, which mostly goes on and sometimes stands still, or runs, or is set back.
    fn reading(&mut self, model: &Model, last: &Answer) -> u64 {
        let now = model.effective_now(self.time);
        let window = self.window;
        let jitter = |at: u64, random: &mut Random| at.saturating_add(random.below(3)).saturating_sub(1);
        let gap = window / self.limit.max(1);
        let choice = self.random.below(if self.steady { 12 } else { 18 });
        let late = match choice {
            9 => self.random.between(0, window),
            10 => self.random.between(1, 3),
            16 => self.random.between(0, self.grain.behind),
            _ => 0,
        };
        if late > 0 {
            // A late thread; the clock itself goes on.
            return self.within_reach(model, self.time.saturating_sub(late));
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
            11 if model.entries() > 0 => {
                let entry = self.random.below(model.entries() as u64);
                let stamp = model.instant(usize::try_from(entry).expect("an index"));
                jitter(stamp.saturating_add(window), &mut self.random).max(self.time)
            }
            12 | 13 => {
                let number = (now / window).saturating_add(self.random.between(1, 3));
                jitter(number.saturating_mul(window), &mut self.random)
            }
            14 => self.time.saturating_add(self.random.between(0, window.saturating_mul(5))),
            15 => self.time.saturating_add(self.random.between(0, self.grain.ahead)),
            17 if self.random.one_in(8) => {
                self.time.saturating_sub(self.random.below(window.saturating_mul(10)).min(self.grain.behind))
            }
            _ => self.time.saturating_add(self.random.between(0, window)),
        };
        self.time = self.within_reach(model, next);
        self.time
    }

    /// A gate is not asked further from its newest record than it is valid.
    fn within_reach(&self, model: &Model, reading: u64) -> u64 {
        if model.is_new() {
            return reading;
        }
        let newest = model.effective_now(0);
        reading.clamp(newest.saturating_sub(self.grain.behind), newest.saturating_add(self.grain.ahead))
    }
}

/// Decides one client's traffic, up to the first answer that differs.
fn run<G: Limiter>(seed: u64, length: u64, tally: &mut Tally) -> Result<(), String> {
    let (gate, mut traffic) = Traffic::new::<G>(Random::new(seed));
    let (limit, window, rule) = (traffic.limit, traffic.window, traffic.grain.rule);
    let mut model = Model::new(rule, limit, window);
    let mut last = model.ask(Verb::Peek, traffic.time, 0);
    let mut trace = VecDeque::new();
    for nth in 0..length {
        let reading = traffic.reading(&model, &last);
        let cost = traffic.cost(&last);
        let verb = if traffic.random.one_in(6) { Verb::Peek } else { Verb::Check };
        let now = model.effective_now(reading);
        let line = format!("{verb:?} cost {cost} at {reading}");
        if trace.len() == 12 {
            trace.pop_front();
        }
        trace.push_back(line);

        let expected = model.ask(verb, reading, cost);
        let answer = gate.ask(verb, reading, cost);
        let mut fault = (answer != expected).then(|| format!("answer {answer:?}\n  should be {expected:?}"));
        if let (Verdict::Refused { wait, .. }, true) = (answer.verdict, traffic.random.one_in(4)) {
            // The answer once more, by asking at the two instants that it lies between.
            let peek = |then: u64| gate.ask(Verb::Peek, then, cost).verdict;
            let allowed = now.checked_add(wait).is_none_or(|then| matches!(peek(then), Verdict::Allowed { .. }));
            let refused = now.checked_add(wait - 1).is_none_or(|then| matches!(peek(then), Verdict::Refused { .. }));
            if !(allowed && refused) {
                fault = Some(format!("a wait of {wait}: allowed then {allowed}, refused just before {refused}"));
            }
        }
        if let Some(fault) = fault {
            tally.mismatches += 1;
            let trace: Vec<_> = trace.into();
            return Err(format!(
                "{}: limit {limit}, window {window} ns, {rule:?}, request {nth} of client {seed}, {model:?}\n  {}\n  {fault}",
                G::NAME,
                trace.join("\n  ")
            ));
        }

        tally.decisions += 1;
        tally.behind += u64::from(reading < now);
        tally.coarse += u64::from(matches!(rule, Rule::Log { tick: 2.. }));
        match answer.verdict {
            Verdict::Allowed { .. } => tally.allowed += 1,
            Verdict::Refused { .. } => tally.refused += 1,
            Verdict::Never => tally.never += 1,
            Verdict::Full => {}
        }
        last = answer;
        // An epoch that comes round to 0, a century after the origin, makes an empty word look like a new one.
        if now < 100 * YEAR && traffic.random.one_in(100) && gate.forget() {
            model.forget();
            tally.forgotten += 1;
        }
        if model.entries() > 64 {
            model.trim();
            if model.entries() > 600 {
                break;
            }
        }
        tally.longest = tally.longest.max(nth + 1);
    }
    Ok(())
}

/// Runs clients until enough was decided, for each seed.
fn compare<G: Limiter>() -> Tally {
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
            reports.extend(run::<G>(random.next(), length, &mut tally).err());
        }
        println!("{}: seed {seed}, {} decisions, {} mismatches", G::NAME, tally.decisions - before, tally.mismatches);
    }
    println!("{}: {tally:?}", G::NAME);
    assert!(reports.is_empty(), "{}", reports.join("\n"));

    // Traffic that does not ask proves nothing.
    let part = |count: u64| count * 100 / tally.decisions;
    assert!(part(tally.allowed) >= 10 && part(tally.refused) >= 10 && part(tally.never) >= 1, "{tally:?}");
    assert!(part(tally.behind) >= 2 && tally.longest > 10_000, "{tally:?}");
    tally
}

#[test]
fn counter_decides_as_the_list() {
    assert!(compare::<Gate<Counter>>().forgotten > 100);
}

#[test]
fn fixed_window_decides_as_the_list() {
    assert!(compare::<Gate<FixedWindow>>().forgotten > 100);
}

#[test]
fn log_decides_as_the_list() {
    let tally = compare::<Gate<__tool::Log>>();
    assert!(tally.coarse * 20 > tally.decisions, "too few logs with coarse ticks: {tally:?}");
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
