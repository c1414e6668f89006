//! A few clients of a limiter that many ask for, while others come, expire and are forgotten, and the segment that they
//! share is moved all the time.
//!
//! The clock goes on between batches of requests, while all threads wait, so that the birth of an array is known where it
//! matters. In a batch to race in, every reading is that of the clock: no birth lies after it, and the first requests are
//! the ones to move the segment where it has grown too old. In a settled one the segment was moved at that reading
//! before, and requests come with late ones, too: no birth in it is another.

use super::*;
use clients::{Clients, Counters, Logs, Way, Windows, largest_limit, quota};
use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    thread,
};

#[derive(Clone, Copy, Debug)]
enum Op {
    Ask { verb: Verb, reading: u64, birth: u64, cost: u64 },
    Forget,
}

type Recorded = Event<Op, Option<Answer>>;

/// A client that many ask for, by the list of what it was allowed.
#[derive(Clone, Debug)]
struct Hot {
    rule: Rule,
    limit: u64,
    window: u64,
    /// The age from which on nothing of a record counts.
    span: u64,
    life: u64,
}

impl Hot {
    fn new<L: Clients>(limit: u64, window: u64) -> Hot {
        let rule = L::rule(limit, window);
        let segment = Segment::new(rule, limit, window, WhenFull::Refuse, segment::LARGEST);
        Hot { rule, limit, window, span: segment.span(), life: segment.life }
    }

    fn is_short(&self) -> bool {
        self.life < 40 * self.window
    }
}

impl Spec for Hot {
    type State = Model;
    type Op = Op;
    type Answer = Option<Answer>;

    fn initial(&self) -> Model {
        Model::new(self.rule, self.limit, self.window)
    }

    fn apply(&self, state: &Model, op: &Op) -> (Model, Option<Answer>) {
        let mut state = state.clone();
        let answer = match *op {
            Op::Forget => {
                state.forget();
                None
            }
            Op::Ask { verb, reading, birth, cost } => {
                // The record of a client bounds it, and the birth one that has none or that was left out.
                let is_known = state.entries() > 0 && state.effective_now(0) + self.span > birth;
                let bounded = !is_known || self.life < u64::MAX;
                Some(state.ask(verb, if bounded { reading.max(birth) } else { reading }, cost))
            }
        };
        state.trim();
        (state, answer)
    }
}

/// Requests of a thread between two steps of the clock.
const BATCH: u64 = 24;

/// What was answered, by client, and the moves that there were at least.
struct Run {
    histories: Vec<Vec<Recorded>>,
    moves: usize,
}

fn record<L: Clients>(hot: &Hot, clients: u64, threads: u64, each: u64, seed: u64) -> Run {
    let (limit, window) = (hot.limit, hot.window);
    let limiter = L::build(quota(limit, window), 1, WhenFull::Refuse);
    let (tickets, clock) = (AtomicU64::new(0), AtomicU64::new(200 * window));
    let (arrived, moves) = (AtomicU64::new(0), AtomicUsize::new(0));
    let (limiter, tickets, clock, arrived, moves) = (&limiter, &tickets, &clock, &arrived, &moves);
    // All arrive for the n-th time before one goes on; a barrier that sleeps would part them.
    let meet = move |nth: u64| {
        arrived.fetch_add(1, SeqCst);
        while arrived.load(SeqCst) < nth * threads {
            thread::yield_now();
        }
    };
    // A client with a record is left out of a copy, and nobody else does that.
    let forget_one = move |key: u64, now: u64, at: u64| {
        if limiter.check(key, now, 1).is_allowed() {
            limiter.forget(key, at);
            moves.fetch_add(1, SeqCst);
            return true;
        }
        false
    };
    let runner =
        |thread: u64| {
            let mut random = Random::new(seed ^ thread << 48);
            let mut recorded = Vec::new();
            let mut settled = false;
            for nth in 0..each {
                let batch = nth / BATCH;
                if nth % BATCH == 0 {
                    meet(2 * batch + 1);
                    settled = batch % 2 == 1;
                    if thread == 0 {
                        let life = if hot.is_short() { hot.life / TICK } else { 1 };
                        let ticks = random.pick(&[1, 1, 1, 1, 1, 1, 2, window / TICK, life, life + 1]);
                        let now = clock.fetch_add(TICK * ticks, SeqCst) + TICK * ticks;
                        limiter.sweep_at(now);
                        if settled {
                            assert!(forget_one(1_000, now, now), "a client of its own, and room for it");
                        }
                    }
                    meet(2 * batch + 2);
                }
                let now = clock.load(SeqCst);
                let reading = |random: &mut Random| {
                    if settled && random.one_in(4) {
                        let most = random.pick(&[window / TICK, 100]);
                        now - TICK * random.below(most)
                    } else {
                        now
                    }
                };
                // Others, as many as have room.
                let stranger = 1_000 * (thread + 2) + random.below(200);
                match random.below(12) {
                    0 | 1 => _ = forget_one(stranger, now, reading(&mut random)),
                    2..=4 => _ = limiter.check(stranger, reading(&mut random), 1),
                    5 if random.one_in(4) => limiter.sweep_at(now),
                    _ => {}
                }
                let client = random.below(clients);
                let costs = [
                    0,
                    1,
                    1,
                    1,
                    2,
                    limit / 3 + 1,
                    limit / 3 + 1,
                    limit / 8 + 1,
                    limit / 8 + 1,
                    limit / 2,
                    limit,
                    limit + 1,
                ];
                let cost = random.pick(&costs).min(limit + 1);
                let verb = if random.one_in(5) { Verb::Peek } else { Verb::Check };
                let way = random.pick(&[Way::Client, Way::Handle]);
                let reading = reading(&mut random);
                let dice = random.below(40);
                let start = tickets.fetch_add(1, SeqCst);
                if random.one_in(16) {
                    // Another thread's request falls into this one's span where there is one.
                    thread::yield_now();
                }
                let mut told = Vec::new();
                match dice {
                    0 => {
                        limiter.forget(client, reading);
                        told.push((client, Op::Forget, None));
                    }
                    1 => {
                        let at_once = [client, stranger, client, (client + 1) % clients];
                        for (client, decision) in at_once.into_iter().zip(limiter.check_many(way, &at_once, now)) {
                            let op = Op::Ask { verb: Verb::Check, reading: now, birth: now, cost: 1 };
                            told.push((client, op, Some(decision)));
                        }
                    }
                    _ => {
                        let decision = limiter.decide_by(way, client, verb, reading, cost);
                        told.push((client, Op::Ask { verb, reading, birth: now, cost }, Some(decision)));
                    }
                }
                let end = tickets.fetch_add(1, SeqCst);
                recorded.extend(told.into_iter().map(|(client, op, decision)| {
                    (client, Event { start, end, op, answer: decision.map(Answer::from) })
                }));
            }
            recorded
        };
    let runner = &runner;
    let all: Vec<_> = thread::scope(|scope| {
        let runners: Vec<_> = (0..threads).map(|thread| scope.spawn(move || runner(thread))).collect();
        runners.into_iter().flat_map(|runner| runner.join().expect("no thread panics")).collect()
    });
    let of = |client: u64| all.iter().filter(|(who, _)| *who == client).map(|(_, event)| event.clone()).collect();
    Run { histories: (0..clients).map(of).collect(), moves: moves.load(SeqCst) }
}

fn all_linearizable<L: Clients>() {
    let asked = random::number_from("SLIDEGATE_HISTORIES");
    let ordinary = if asked.is_some() { 20_000 } else { 2_000 };
    let operations = random::number_from("SLIDEGATE_OPERATIONS").unwrap_or(ordinary);
    let seed = random::seed();
    let mut random = Random::new(seed);
    let mut figures = Figures::default();
    for nth in 0..asked.unwrap_or(12) {
        // Every third is renewed within a few windows. Some have many ticks in a window, for rings that grow.
        let window = TICK * random.pick(&[2, 3, 4, 5, 6, 20, 20, 40, 40]);
        let limit = if nth % 3 == 2 { largest_limit::<L>(window) } else { random.between(1, 40) };
        let hot = Hot::new::<L>(limit, window);
        let (clients, threads) = (random.between(1, 3), random.between(2, 4));
        let run = record::<L>(&hot, clients, threads, operations / threads, random.next());
        for history in &run.histories {
            if let Err(stuck) = linearize(&hot, history) {
                println!("seed {seed}");
                explain(&hot, history, &stuck);
            }
            figures.add(history);
        }
        figures.moves += run.moves;
    }
    println!("{} in a limiter: seed {seed}, {figures:?}", L::NAME);
    figures.assert_telling();
    assert!(figures.moves * 20 > figures.operations, "the segment was moved too seldom: {figures:?}");
}

#[test]
fn logs_of_a_limiter_are_linearizable() {
    all_linearizable::<Logs>();
}

#[test]
fn counters_of_a_limiter_are_linearizable() {
    all_linearizable::<Counters>();
}

#[test]
fn fixed_windows_of_a_limiter_are_linearizable() {
    all_linearizable::<Windows>();
}
