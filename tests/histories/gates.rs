//! One gate, shared by threads.

use super::*;
use slidegate::{Algorithm, BuildError, Counter, FixedWindow, Gate, Log, ManualClock, Nanos, Quota};
use std::{
    sync::atomic::{
        AtomicU64, AtomicUsize,
        Ordering::{Relaxed, SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Ask { verb: Verb, reading: u64, cost: u64 },
    Forget,
}

pub(crate) type Recorded = Event<Op, Option<Answer>>;

const CLIENT: u64 = 1;

/// What a gate is to do: a segment of one slot.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub(crate) segment: Segment,
    pub(crate) limit: u64,
    pub(crate) window: u64,
}

impl Spot {
    pub(crate) fn new(rule: Rule, limit: u64, window: u64) -> Spot {
        Spot { segment: Segment::new(rule, limit, window, WhenFull::Refuse, 1), limit, window }
    }

    fn is_short(&self) -> bool {
        self.segment.life < 40 * self.window
    }
}

impl Spec for Spot {
    type State = Option<segment::Array>;
    type Op = Op;
    type Answer = Option<Answer>;

    fn initial(&self) -> Self::State {
        None
    }

    fn apply(&self, state: &Self::State, op: &Op) -> (Self::State, Option<Answer>) {
        let mut segment = self.segment.clone();
        segment.array.clone_from(state);
        let answer = segment_answers(&mut segment, op);
        segment.trim();
        (segment.array, answer)
    }

    /// A check that found room where another has begun to move the array moves it, too, whatever it then is answered.
    /// Unless a gate is renewed within a few windows that makes no difference: a word has no birth, and that of a log is not
    /// after its newest record.
    fn outcomes(&self, state: &Self::State, op: &Op) -> Vec<(Self::State, Self::Answer)> {
        let mut outcomes = vec![self.apply(state, op)];
        if let (Op::Ask { verb: Verb::Check, reading, cost: 1.. }, true) = (*op, self.is_short()) {
            let mut moved = self.segment.clone();
            moved.array.clone_from(state);
            moved.renew(reading);
            let (after, answer) = self.apply(&moved.array, op);
            if after != outcomes[0].0 {
                outcomes.push((after, answer));
            }
        }
        outcomes
    }
}

fn segment_answers(segment: &mut Segment, op: &Op) -> Option<Answer> {
    match *op {
        Op::Ask { verb, reading, cost } => Some(segment.ask(CLIENT, verb, reading, cost).0),
        Op::Forget => {
            // The clock that it reads stands at the origin.
            segment.forget(CLIENT, 0);
            None
        }
    }
}

/// A limiter that threads share.
pub(crate) trait Shared: Sync {
    fn ask(&self, verb: Verb, reading: u64, cost: u64) -> Answer;

    /// `false` where it cannot.
    fn forget(&self) -> bool;
}

impl<A: Algorithm + Sync> Shared for Gate<A, ManualClock> {
    fn ask(&self, verb: Verb, reading: u64, cost: u64) -> Answer {
        let request = self.at(Nanos::from_nanos(reading)).cost(cost);
        Answer::from(match verb {
            Verb::Check => request.check(),
            Verb::Peek => request.peek(),
        })
    }

    fn forget(&self) -> bool {
        Gate::forget(self);
        true
    }
}

/// How a history knows what came before what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    /// By tickets that all threads draw, before and after each operation; a coarse clock that they move.
    Tickets,
    /// By each thread's own reading of the system's clock, so that nothing but the gate synchronises them.
    Instants,
}

/// By how much a span of instants is widened: a processor may read its time a little out of order.
const MARGIN: u64 = 50;

/// Lets threads loose on a limiter and writes down what they were answered.
pub(crate) fn record(
    shared: &impl Shared,
    spot: &Spot,
    time: Time,
    threads: u64,
    each: usize,
    seed: u64,
) -> Vec<Recorded> {
    let (limit, window) = (spot.limit, spot.window);
    let (tickets, clock, arrived) = (AtomicU64::new(0), AtomicU64::new(20 * window), AtomicUsize::new(0));
    let (tickets, clock, arrived) = (&tickets, &clock, &arrived);
    let origin = Instant::now();
    let since_origin = move || u64::try_from(origin.elapsed().as_nanos()).expect("a short test");
    let runner = |thread: u64| {
        let mut random = Random::new(seed ^ thread << 48);
        let mut recorded: Vec<Recorded> = Vec::with_capacity(each);
        let mut earlier = 0;
        arrived.fetch_add(1, SeqCst);
        while arrived.load(SeqCst) < usize::try_from(threads).expect("a few") {
            thread::yield_now();
        }
        for _ in 0..each {
            if time == Time::Tickets && random.one_in(8) {
                // Where a gate is renewed within a few windows, over some of its lives.
                let jump = if spot.is_short() { spot.segment.life / TICK } else { 1 };
                let ticks = random.pick(&[1, 1, 1, 1, 1, 1, 1, 1, 2, 2, window / TICK + 1, jump, 2 * jump]);
                clock.fetch_add(TICK * ticks, Relaxed);
            }
            let dice = random.below(64);
            let cost = random.pick(&[0, 1, 1, 1, 2, limit / 3, limit / 2, limit, limit + 1]).min(limit + 1);
            let verb = if dice < 12 { Verb::Peek } else { Verb::Check };

            let start = match time {
                Time::Tickets => tickets.fetch_add(1, SeqCst),
                Time::Instants => since_origin(),
            };
            let now = match time {
                Time::Tickets => clock.load(Relaxed),
                Time::Instants => 20 * window + start / TICK * TICK,
            };
            // Some readings are as old as a thread that was stopped in between.
            let reading = match dice {
                13..=16 => earlier,
                17 => now.saturating_sub(window * random.below(4)),
                _ => now,
            };
            if dice == 18 {
                thread::yield_now();
            }
            let (op, answer) = if dice == 20 && shared.forget() {
                (Op::Forget, None)
            } else {
                (Op::Ask { verb, reading, cost }, Some(shared.ask(verb, reading, cost)))
            };
            let end = match time {
                Time::Tickets => tickets.fetch_add(1, SeqCst),
                Time::Instants => since_origin(),
            };
            let (start, end) = match time {
                Time::Tickets => (start, end),
                Time::Instants => (start.saturating_sub(MARGIN), end + MARGIN),
            };
            // Widened too, one thread's operations must not overlap.
            while time == Time::Instants && since_origin() <= end + MARGIN {}
            recorded.push(Event { start, end, op, answer });
            if random.one_in(16) {
                earlier = now;
            }
        }
        recorded
    };
    let runner = &runner;
    thread::scope(|scope| {
        let runners: Vec<_> = (0..threads).map(|thread| scope.spawn(move || runner(thread))).collect();
        runners.into_iter().flat_map(|runner| runner.join().expect("no thread panics")).collect()
    })
}

/// A gate whose clock stands at the origin: its time is told.
pub(crate) fn gate<A: Algorithm>(gate: Result<Gate<A>, BuildError>) -> Gate<A, ManualClock> {
    gate.expect("a quota that fits").with_clock(ManualClock::new())
}

/// Records histories of gates and explains each of them.
fn all_linearizable<A: Algorithm + Sync>(
    rule: fn(u64, u64) -> Rule,
    time: Time,
    build: fn(Quota) -> Result<Gate<A>, BuildError>,
) {
    let histories = random::number_from("SLIDEGATE_HISTORIES").unwrap_or(30);
    let seed = random::seed();
    let mut random = Random::new(seed);
    let mut figures = Figures::default();
    for nth in 0..histories {
        let window = TICK * random.between(2, 6);
        // Every third is renewed within a few windows.
        let limit = match build(Quota::new(u64::MAX, Duration::from_nanos(window))) {
            Err(BuildError::DoesNotFit { largest_limit, .. }) if nth % 3 == 2 => largest_limit,
            _ => random.between(1, 8),
        };
        let spot = Spot::new(rule(limit, window), limit, window);
        let gate = gate(build(Quota::new(limit, Duration::from_nanos(window))));
        let threads = random.between(2, 4);
        let each = 2_000 / usize::try_from(threads).expect("a few");
        let history = record(&gate, &spot, time, threads, each, random.next());
        match linearize(&spot, &history) {
            Ok(order) => {
                let mut segment = spot.segment.clone();
                for index in order {
                    let _ = segment_answers(&mut segment, &history[index].op);
                }
                figures.moves += if segment.is_a_word() { 0 } else { usize::try_from(segment.moves).expect("few") };
            }
            Err(stuck) => {
                println!("seed {seed}");
                explain(&spot, &history, &stuck);
            }
        }
        figures.add(&history);
    }
    println!("{:?} by {time:?}: seed {seed}, {figures:?}", rule(1, TICK));
    figures.assert_telling();
    assert!(figures.moves * 1_000 > figures.operations, "{figures:?}");
}

#[test]
fn log_is_linearizable() {
    all_linearizable(segment::log_rule, Time::Tickets, Gate::try_log);
}

#[test]
fn counter_is_linearizable() {
    all_linearizable(|_, _| Rule::Counter, Time::Tickets, Gate::<Counter>::try_counter);
}

#[test]
fn fixed_window_is_linearizable() {
    all_linearizable(|_, _| Rule::Fixed, Time::Tickets, Gate::<FixedWindow>::try_fixed_window);
}

#[test]
fn log_is_linearizable_without_tickets() {
    all_linearizable(segment::log_rule, Time::Instants, Gate::<Log>::try_log);
}

#[test]
fn counter_is_linearizable_without_tickets() {
    all_linearizable(|_, _| Rule::Counter, Time::Instants, Gate::<Counter>::try_counter);
}

#[test]
fn fixed_window_is_linearizable_without_tickets() {
    all_linearizable(|_, _| Rule::Fixed, Time::Instants, Gate::<FixedWindow>::try_fixed_window);
}
