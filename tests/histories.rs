//! What real threads were answered by one gate, explained by an order of one request at a time.
//!
//! The ordinary run is small; `SLIDEGATE_HISTORIES=1000` records that many of each kind, `SLIDEGATE_SEED` chooses the
//! requests (what the threads make of them is new each time).

mod model;
mod oracle;
mod random;

use model::{Answer, Model, Rule, Verb, Verdict};
use oracle::{Event, Spec, Stuck, linearize};
use random::Random;
use slidegate::{__tool, Algorithm, Counter, Decision, FixedWindow, Gate, Nanos, Quota};
use std::{
    sync::{
        Mutex,
        atomic::{
            AtomicU64, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
    time::{Duration, Instant},
};

/// A step of the coarse clock, so long that the words of the counter have room for a limit of 8.
const TICK: u64 = 1_000;

#[derive(Clone, Copy, Debug)]
enum Op {
    Ask { verb: Verb, reading: u64, cost: u64 },
    Forget,
}

type Recorded = Event<Op, Option<Answer>>;

/// One client, by the list of what it was allowed.
#[derive(Clone, Copy, Debug)]
struct Client {
    rule: Rule,
    limit: u64,
    window: u64,
}

impl Spec for Client {
    type State = Model;
    type Op = Op;
    type Answer = Option<Answer>;

    fn initial(&self) -> Model {
        Model::new(self.rule, self.limit, self.window)
    }

    fn apply(&self, state: &Model, op: &Op) -> (Model, Option<Answer>) {
        let mut state = state.clone();
        let answer = match *op {
            Op::Ask { verb, reading, cost } => Some(state.ask(verb, reading, cost)),
            Op::Forget => {
                state.forget();
                None
            }
        };
        state.trim();
        (state, answer)
    }
}

/// A limiter that threads share.
trait Shared: Sync {
    fn ask(&self, verb: Verb, reading: u64, cost: u64) -> Answer;

    /// `false` where it cannot.
    fn forget(&self) -> bool;
}

macro_rules! shared {
    ($algorithm:ty, $forget:expr) => {
        impl Shared for Gate<$algorithm> {
            fn ask(&self, verb: Verb, reading: u64, cost: u64) -> Answer {
                ask(self, verb, reading, cost)
            }

            fn forget(&self) -> bool {
                let forget: fn(&Self) -> bool = $forget;
                forget(self)
            }
        }
    };
}
shared!(__tool::Log, |_| false);
shared!(Counter, |gate| {
    Gate::forget(gate);
    true
});
shared!(FixedWindow, |gate| {
    Gate::forget(gate);
    true
});

fn ask<A: Algorithm>(gate: &Gate<A>, verb: Verb, reading: u64, cost: u64) -> Answer {
    let request = gate.at(Nanos::from_nanos(reading)).cost(cost);
    Answer::from(match verb {
        Verb::Check => request.check(),
        Verb::Peek => request.peek(),
    })
}

/// How a history knows what came before what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Time {
    /// By tickets that all threads draw, before and after each operation; a coarse clock that they move.
    Tickets,
    /// By each thread's own reading of the system's clock, so that nothing but the gate synchronises them.
    Instants,
}

/// By how much a span of instants is widened: a processor may read its time a little out of order.
const MARGIN: u64 = 50;

/// Lets threads loose on a limiter and writes down what they were answered.
fn record(shared: &impl Shared, client: Client, time: Time, threads: u64, each: usize, seed: u64) -> Vec<Recorded> {
    let (tickets, clock, arrived) = (AtomicU64::new(0), AtomicU64::new(20 * client.window), AtomicUsize::new(0));
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
                clock.fetch_add(TICK * random.pick(&[1, 1, 1, 2, client.window / TICK + 1]), Relaxed);
            }
            let dice = random.below(64);
            let cost = random.pick(&[0, 1, 1, 1, 2, client.limit, client.limit + 1]).min(client.limit + 1);
            let verb = if dice < 12 { Verb::Peek } else { Verb::Check };

            let start = match time {
                Time::Tickets => tickets.fetch_add(1, SeqCst),
                Time::Instants => since_origin(),
            };
            let now = match time {
                Time::Tickets => clock.load(Relaxed),
                Time::Instants => 20 * client.window + start / TICK * TICK,
            };
            // Some readings are as old as a thread that was stopped in between.
            let reading = match dice {
                13..=16 => earlier,
                17 => now.saturating_sub(client.window * random.below(4)),
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

/// The operations whose span touches another's.
fn overlapping(history: &[Recorded]) -> usize {
    let mut spans: Vec<_> = history.iter().map(|event| (event.start, event.end)).collect();
    spans.sort_unstable();
    let mut latest = 0;
    let mut ends_before = |&(start, end): &(u64, u64)| {
        let touches = start <= latest;
        latest = latest.max(end);
        touches
    };
    spans.iter().filter(|span| ends_before(span)).count()
}

/// Panics with the requests around the place where no order goes on.
fn explain(client: Client, history: &[Recorded], stuck: &Stuck) -> ! {
    let mut state = client.initial();
    for &index in &stuck.deepest {
        state = client.apply(&state, &history[index].op).0;
    }
    let mut left: Vec<_> = (0..history.len()).filter(|index| !stuck.deepest.contains(index)).collect();
    left.sort_by_key(|&index| history[index].start);
    let show =
        |indices: &[usize]| -> String { indices.iter().map(|&index| format!("  {:?}\n", history[index])).collect() };
    let last = &stuck.deepest[stuck.deepest.len().saturating_sub(8)..];
    panic!(
        "{client:?}: {} of {} requests have an order, whose last are\n{}then, in {state:?}, none of\n{}",
        stuck.deepest.len(),
        history.len(),
        show(last),
        show(&left[..left.len().min(8)]),
    );
}

/// Records histories of gates and explains each of them.
fn all_linearizable<S: Shared>(rule: Rule, time: Time, build: impl Fn(Quota) -> S) {
    let histories = random::number_from("SLIDEGATE_HISTORIES").unwrap_or(30);
    let seed = random::seed();
    let mut random = Random::new(seed);
    let (mut overlaps, mut operations, mut allowed, mut refused) = (0, 0, 0, 0);
    for _ in 0..histories {
        let client = Client { rule, limit: random.between(1, 8), window: TICK * random.between(2, 6) };
        let gate = build(Quota::new(client.limit, Duration::from_nanos(client.window)));
        let threads = random.between(2, 4);
        let each = 2_000 / usize::try_from(threads).expect("a few");
        let history = record(&gate, client, time, threads, each, random.next());
        if let Err(stuck) = linearize(&client, &history) {
            println!("seed {seed}");
            explain(client, &history, &stuck);
        }
        overlaps += overlapping(&history);
        operations += history.len();
        for event in &history {
            match event.answer.map(|answer| answer.verdict) {
                Some(Verdict::Allowed { .. }) => allowed += 1,
                Some(Verdict::Refused { .. }) => refused += 1,
                _ => {}
            }
        }
    }
    println!(
        "{rule:?} by {time:?}: seed {seed}, {operations} operations, {overlaps} of them overlapping, \
         {allowed} allowed, {refused} refused"
    );
    assert!(overlaps * 100 > operations, "the threads hardly met: {overlaps} of {operations}");
    assert!(allowed * 10 > operations && refused * 10 > operations, "{allowed} and {refused} of {operations}");
}

fn log(quota: Quota) -> Gate<__tool::Log> {
    __tool::log_gate(quota).expect("a small quota")
}

fn counter(quota: Quota) -> Gate<Counter> {
    Gate::try_counter(quota).expect("a small quota")
}

fn fixed(quota: Quota) -> Gate<FixedWindow> {
    Gate::try_fixed_window(quota).expect("a small quota")
}

#[test]
fn log_is_linearizable() {
    all_linearizable(Rule::Log { tick: 1 }, Time::Tickets, log);
}

#[test]
fn counter_is_linearizable() {
    all_linearizable(Rule::Counter, Time::Tickets, counter);
}

#[test]
fn fixed_window_is_linearizable() {
    all_linearizable(Rule::Fixed, Time::Tickets, fixed);
}

#[test]
fn log_is_linearizable_without_tickets() {
    all_linearizable(Rule::Log { tick: 1 }, Time::Instants, log);
}

#[test]
fn counter_is_linearizable_without_tickets() {
    all_linearizable(Rule::Counter, Time::Instants, counter);
}

#[test]
fn fixed_window_is_linearizable_without_tickets() {
    all_linearizable(Rule::Fixed, Time::Instants, fixed);
}

/// A limiter that loads, decides and stores: right for one thread, but what another does in between is lost.
struct Torn(Mutex<Model>);

impl Shared for Torn {
    fn ask(&self, verb: Verb, reading: u64, cost: u64) -> Answer {
        let mut model = self.0.lock().expect("no thread panics").clone();
        let answer = model.ask(verb, reading, cost);
        thread::yield_now();
        if verb == Verb::Check && matches!(answer.verdict, Verdict::Allowed { .. }) {
            *self.0.lock().expect("no thread panics") = model;
        }
        answer
    }

    fn forget(&self) -> bool {
        false
    }
}

#[test]
fn a_torn_limiter_is_caught() {
    for (time, rule) in [Time::Tickets, Time::Instants]
        .into_iter()
        .flat_map(|time| [Rule::Log { tick: 1 }, Rule::Counter, Rule::Fixed].map(|rule| (time, rule)))
    {
        let client = Client { rule, limit: 3, window: 4 * TICK };
        let torn = || Torn(Mutex::new(client.initial()));
        let alone = record(&torn(), client, time, 1, 300, 0);
        assert!(linearize(&client, &alone).is_ok(), "{rule:?} by {time:?}");
        let caught = (0..20).any(|seed| linearize(&client, &record(&torn(), client, time, 3, 200, seed)).is_err());
        assert!(caught, "{rule:?} by {time:?}");
    }
}

/// The oracle, against trying every order.
#[test]
fn the_oracle_agrees_with_brute_force() {
    fn some_order(spec: &Client, state: &Model, history: &[Recorded], left: &[usize]) -> bool {
        let first_end = left.iter().map(|&index| history[index].end).min();
        left.is_empty()
            || left.iter().any(|&index| {
                let Event { start, op, answer, .. } = &history[index];
                let (after, told) = spec.apply(state, op);
                let others: Vec<_> = left.iter().copied().filter(|&other| other != index).collect();
                Some(*start) <= first_end && told == *answer && some_order(spec, &after, history, &others)
            })
    }
    let mut random = Random::new(random::seed());
    let mut agreed = [0, 0];
    for _ in 0..20_000 {
        let rule = random.pick(&[Rule::Log { tick: 1 }, Rule::Counter, Rule::Fixed]);
        let client = Client { rule, limit: random.between(1, 3), window: random.between(1, 4) };
        // Answers of some order, not always one that the spans allow.
        let mut state = client.initial();
        let mut history = Vec::new();
        for nth in 0..random.between(1, 6) {
            let (reading, cost) = (nth + random.below(3), random.between(0, client.limit));
            let verb = random.pick(&[Verb::Check, Verb::Check, Verb::Peek]);
            let op = if random.one_in(12) { Op::Forget } else { Op::Ask { verb, reading, cost } };
            let (after, answer) = client.apply(&state, &op);
            state = after;
            let moment = 10 * nth + 20;
            let (early, late) = (random.below(30), random.below(30));
            let shift = if random.one_in(3) { random.below(60) } else { 0 };
            history.push(Event { start: moment + shift - early.min(moment), end: moment + shift + late, op, answer });
        }
        let indices: Vec<_> = (0..history.len()).collect();
        let possible = some_order(&client, &client.initial(), &history, &indices);
        let found = linearize(&client, &history);
        assert_eq!(found.is_ok(), possible, "{client:?}, {history:?}, {found:?}");
        if let Ok(order) = found {
            check_order(client, &history, &order);
        }
        agreed[usize::from(possible)] += 1;
    }
    assert!(agreed[0] > 1_000 && agreed[1] > 1_000, "{agreed:?}");
}

/// Asserts that an order explains every answer and respects the spans.
fn check_order(client: Client, history: &[Recorded], order: &[usize]) {
    let mut state = client.initial();
    let mut latest_start = 0;
    for &index in order {
        let (after, answer) = client.apply(&state, &history[index].op);
        assert_eq!(answer, history[index].answer);
        assert!(latest_start <= history[index].end, "it had ended before");
        latest_start = latest_start.max(history[index].start);
        state = after;
    }
    let mut indices = order.to_vec();
    indices.sort_unstable();
    assert_eq!(indices, (0..history.len()).collect::<Vec<_>>());
}

/// In a long history of a gate, one answer that was told otherwise is found, and the order goes as far as it.
#[test]
fn the_oracle_finds_a_flipped_answer() {
    let mut random = Random::new(random::seed());
    for nth in 0..20 {
        let client = Client { rule: Rule::Log { tick: 1 }, limit: 4, window: 3 * TICK };
        let gate = log(Quota::new(client.limit, Duration::from_nanos(client.window)));
        let mut history = record(&gate, client, Time::Tickets, 3, 400, nth);
        let order = linearize(&client, &history).expect("a gate is linearizable");
        check_order(client, &history, &order);

        // Only the number is wrong: one unit more remains than can be by any order.
        let flipped = usize::try_from(random.below(history.len() as u64)).expect("an index");
        let start = history[flipped].start;
        if let Some(answer) = &mut history[flipped].answer {
            answer.remaining = client.limit + 1;
        }
        let stuck = linearize(&client, &history).expect_err("an answer is wrong");
        assert!(!stuck.deepest.contains(&flipped));
        let all_before = (0..history.len()).filter(|&index| history[index].end < start);
        assert!(all_before.into_iter().all(|index| stuck.deepest.contains(&index)), "it goes as far as it can");
    }
}

/// The real answers do not fit a specification that differs in a single unit or tick.
#[test]
fn another_specification_does_not_explain_a_gate() {
    let client = Client { rule: Rule::Log { tick: 1 }, limit: 4, window: 3 * TICK };
    let gate = log(Quota::new(client.limit, Duration::from_nanos(client.window)));
    let mut history = record(&gate, client, Time::Tickets, 2, 500, 1);
    assert!(linearize(&client, &history).is_ok());
    for other in [Client { limit: 5, ..client }, Client { window: client.window - 1, ..client }] {
        // What an answer says of the limit itself is left out.
        for event in &mut history {
            event.answer = event.answer.map(|answer| Answer { limit: other.limit, ..answer });
        }
        assert!(linearize(&other, &history).is_err(), "{other:?}");
    }
}
