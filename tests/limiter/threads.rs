//! Real threads on one segment that is moved all the time.

use super::*;
use model::{Model, Verdict};
use oracle::{Event, Spec, linearize};
use random::Random;
use std::{
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    thread,
};

const TICK: u64 = 1_000;

#[derive(Clone, Copy, Debug)]
enum Op {
    /// With the latest reading that any thread had: no birth is later.
    Ask {
        verb: Verb,
        reading: u64,
        latest: u64,
        cost: u64,
        told: Answer,
    },
    Forget,
}

/// A hot client, by the list of what it was allowed.
#[derive(Clone, Copy, Debug)]
struct Hot {
    rule: Rule,
    limit: u64,
    window: u64,
}

impl Spec for Hot {
    type State = Model;
    type Op = Op;
    type Answer = bool;

    fn initial(&self) -> Model {
        Model::new(self.rule, self.limit, self.window)
    }

    /// A late reading counts at some reading of another thread, where that moved the segment; all of them lie within one
    /// window, so the answer tells which.
    fn apply(&self, state: &Model, op: &Op) -> (Model, bool) {
        let mut after = state.clone();
        match *op {
            Op::Forget => {
                after.forget();
                (after, true)
            }
            Op::Ask { verb, reading, latest, cost, told } => {
                let mut now = reading;
                while now <= latest {
                    let mut tried = state.clone();
                    if tried.ask(verb, now, cost) == told {
                        tried.trim();
                        return (tried, true);
                    }
                    now += TICK;
                }
                (after, false)
            }
        }
    }
}

/// What threads were answered for each hot client, while other clients come, expire, and are forgotten and swept.
fn record<L: Clients>(hot: Hot, clients: u64, threads: u64, each: u64, seed: u64) -> Vec<Vec<Event<Op, bool>>> {
    let limiter = L::build(quota(hot.limit, hot.window), 1, WhenFull::Refuse);
    let tickets = AtomicU64::new(0);
    let latest = AtomicU64::new(20 * hot.window);
    let arrived = AtomicU64::new(0);
    let (limiter, tickets, latest, arrived) = (&limiter, &tickets, &latest, &arrived);
    // All arrive for the n-th time before one goes on; a barrier that sleeps would part them.
    let meet = move |nth: u64| {
        arrived.fetch_add(1, SeqCst);
        while arrived.load(SeqCst) < nth * threads {
            thread::yield_now();
        }
    };
    let runner = |thread: u64| {
        let mut random = Random::new(seed ^ thread << 48);
        let mut recorded = Vec::new();
        for nth in 0..each {
            if nth % 32 == 0 {
                // The clock stands while requests are under way: the readings of all of them lie within one window.
                meet(nth / 32 * 2 + 1);
                if thread == 0 {
                    latest.fetch_add(TICK * random.pick(&[1, 1, 1, 2, hot.window / TICK]), SeqCst);
                }
                meet(nth / 32 * 2 + 2);
            }
            let now = latest.load(SeqCst);
            let late = |random: &mut Random| now - TICK * random.below(hot.window / TICK);
            // Others: each a new client, so that the segment grows, and is swept where their time is over.
            let stranger = 1_000 + (thread << 32) + nth / 2;
            // Not so many that the table fills.
            if random.one_in(3) {
                let reading = if random.one_in(3) { late(&mut random) } else { now };
                let _ = limiter.check(stranger, reading, 1);
            }
            match random.below(24) {
                0 => limiter.sweep_at(now),
                1..=4 => limiter.forget(stranger, now),
                _ => {}
            }
            let client = random.below(clients);
            let reading = if random.one_in(8) { late(&mut random) } else { now };
            let cost = random.pick(&[0, 1, 1, 1, 2, hot.limit, hot.limit + 1]).min(hot.limit + 1);
            let verb = if random.one_in(5) { Verb::Peek } else { Verb::Check };
            let forgets = random.one_in(40);
            let begin = tickets.fetch_add(1, SeqCst);
            if random.one_in(16) {
                // Another thread's request falls into this one's span where there is one.
                thread::yield_now();
            }
            let decision = if forgets {
                limiter.forget(client, now);
                None
            } else {
                Some(limiter.decide(client, verb, reading, cost))
            };
            let latest = latest.load(SeqCst);
            let end = tickets.fetch_add(1, SeqCst);
            let op = match decision.map(Answer::from) {
                Some(told) => Op::Ask { verb, reading, latest, cost, told },
                None => Op::Forget,
            };
            recorded.push((client, Event { start: begin, end, op, answer: true }));
        }
        recorded
    };
    let runner = &runner;
    let all: Vec<_> = thread::scope(|scope| {
        let runners: Vec<_> = (0..threads).map(|thread| scope.spawn(move || runner(thread))).collect();
        runners.into_iter().flat_map(|runner| runner.join().expect("no thread panics")).collect()
    });
    (0..clients)
        .map(|client| all.iter().filter(|(who, _)| *who == client).map(|(_, event)| event.clone()).collect())
        .collect()
}

/// The operations whose span touches an earlier one's.
fn overlapping(history: &[Event<Op, bool>]) -> usize {
    let mut spans: Vec<_> = history.iter().map(|event| (event.start, event.end)).collect();
    spans.sort_unstable();
    let mut latest = 0;
    let mut touches = |&(start, end): &(u64, u64)| {
        let touches = start < latest;
        latest = latest.max(end);
        touches
    };
    spans.iter().filter(|span| touches(span)).count()
}

fn all_linearizable<L: Clients>() {
    let histories = random::number_from("SLIDEGATE_HISTORIES").unwrap_or(30);
    let operations = random::number_from("SLIDEGATE_OPERATIONS").unwrap_or(2_000);
    let seed = random::seed();
    let mut random = Random::new(seed);
    let (mut total, mut allowed, mut refused, mut touching) = (0, 0, 0, 0);
    for _ in 0..histories {
        let hot = Hot { rule: L::RULE, limit: random.between(1, 8), window: TICK * random.between(2, 6) };
        let (clients, threads) = (random.between(1, 3), random.between(2, 4));
        for history in record::<L>(hot, clients, threads, operations / threads, random.next()) {
            if let Err(stuck) = linearize(&hot, &history) {
                let mut state = hot.initial();
                for &index in &stuck.deepest {
                    state = hot.apply(&state, &history[index].op).0;
                }
                let mut left: Vec<_> = (0..history.len()).filter(|index| !stuck.deepest.contains(index)).collect();
                left.sort_by_key(|&index| history[index].start);
                let show: Vec<_> = left.iter().take(8).map(|&index| format!("{:?}", history[index])).collect();
                let last: Vec<_> =
                    stuck.deepest.iter().rev().take(8).rev().map(|&at| format!("{:?}", history[at])).collect();
                panic!(
                    "seed {seed}, {hot:?}: {} of {} have an order\n{}\nthen, in {state:?}, none of\n{}",
                    stuck.deepest.len(),
                    history.len(),
                    last.join("\n"),
                    show.join("\n")
                );
            }
            total += history.len();
            touching += overlapping(&history);
            for event in &history {
                match event.op {
                    Op::Ask { told: Answer { verdict: Verdict::Allowed { .. }, .. }, .. } => allowed += 1,
                    Op::Ask { told: Answer { verdict: Verdict::Refused { .. }, .. }, .. } => refused += 1,
                    _ => {}
                }
            }
        }
    }
    println!(
        "{:?}: seed {seed}, {total} operations, {allowed} allowed, {refused} refused, {touching} overlap",
        L::RULE
    );
    assert!(touching * 1_000 > total, "the threads hardly met: {touching} of {total}");
    assert!(allowed * 10 > total && refused * 10 > total, "{allowed} and {refused} of {total}");
}

#[test]
fn counters_are_linearizable_while_they_move() {
    all_linearizable::<Counters>();
}

#[test]
fn fixed_windows_are_linearizable_while_they_move() {
    all_linearizable::<Windows>();
}

/// Ten clients at one instant, while others force moves: 40 of 1,000 are allowed.
#[test]
fn b47_a_thousand_requests_over_ten_clients() {
    fn run<L: Clients>() {
        for _ in 0..20 {
            let limiter = L::build(quota(4, 86_400 * S), 1, WhenFull::Refuse);
            let start = Barrier::new(4);
            let (limiter, start) = (&limiter, &start);
            let runner = |thread: u64| {
                start.wait();
                let one = |nth: u64| {
                    let stranger = 1_000 + thread * 250 + nth;
                    let _ = limiter.check(stranger, S, 1);
                    if nth.is_multiple_of(3) {
                        limiter.forget(stranger, S);
                    }
                    u64::from(limiter.check(nth % 10, S, 1).is_allowed())
                };
                (0..250).map(one).sum::<u64>()
            };
            let runner = &runner;
            let allowed: u64 = thread::scope(|scope| {
                let runners: Vec<_> = (0..4).map(|thread| scope.spawn(move || runner(thread))).collect();
                runners.into_iter().map(|runner| runner.join().expect("no thread panics")).sum()
            });
            assert_eq!(allowed, 40);
            for client in 0..10 {
                assert_eq!(limiter.peek(client, S, 0).remaining(), 0);
            }
        }
    }
    run::<Counters>();
    run::<Windows>();
}

/// Threads come and go, and each leaves its record to another: nothing that was replaced stays for good.
#[test]
fn short_lived_threads_leave_nothing_behind() {
    let limiter = Windows::build(quota(4, S), 1, WhenFull::Refuse);
    let twin = Windows::build(quota(4, S), 1, WhenFull::Refuse);
    let limiter = &limiter;
    for round in 0..50 {
        thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    let first = 1 + 100 * thread;
                    (first..first + 50).for_each(|key| assert!(limiter.check(key, round * S, 1).is_allowed()));
                    limiter.forget(first, round * S);
                });
            }
        });
        let (_, bytes, most) = limiter.sizes();
        // Each of the four may keep what another was reading when it replaced it.
        assert!(bytes <= 5 * most, "{bytes} of {most} after {round} rounds");
    }
    let now = 100 * S;
    assert!(twin.check(1, now, 1).is_allowed());
    // Records pass on to whoever comes next, and a move frees what its record keeps.
    let mut bytes = 0;
    for round in 0..200 {
        let all = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    all.wait();
                    limiter.forget_all_at(now);
                    all.wait();
                });
            }
        });
        limiter.forget_all_at(now);
        assert!(limiter.check(1, now, 1).is_allowed());
        (_, bytes, _) = limiter.sizes();
        if bytes == twin.sizes().1 {
            println!("{bytes} bytes after {} rounds", round + 1);
            return;
        }
    }
    panic!("{bytes} bytes, where one array takes {}", twin.sizes().1);
}
