//! [`TableRace`]: threads at one segment of a table of clients, and the search for the orders that explain them.

use crate::{Answer, Truth, deep, explore, report};
use loom::{sync::Arc, thread};
use slidegate::{
    __loom::{after_steps, blocks, key, known_blocks, published, small_counter, small_log},
    Algorithm, Clock, Decision, Limiter, Nanos, Quota, WhenFull,
};
use std::{
    cell::Cell,
    collections::BTreeSet,
    fmt,
    hash::{BuildHasherDefault, Hasher},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

/// The window of all models of the table, in nanoseconds.
pub const W: u64 = 4;

/// The algorithm of a table.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// With so many bits for a count.
    Counter { bits: u32 },
    /// With so many bits for a stamp.
    Log { stamp_bits: u32, preallocates: bool },
}

/// An epoch of 51 bits.
pub const LONG: Kind = Kind::Counter { bits: 6 };

/// An epoch of 61 bits, for a limit of 1: the only one of these words that stays true for a century.
pub const ENDLESS: Kind = Kind::Counter { bits: 1 };

/// An epoch of 3 bits: an array is moved when it is two windows old.
pub const SHORT: Kind = Kind::Counter { bits: 30 };

/// Stamps of all the bits there are.
pub const LOG: Kind = Kind::Log { stamp_bits: 63, preallocates: false };

/// Stamps of 5 bits: an array is moved when it is two windows old.
pub const SHORT_LOG: Kind = Kind::Log { stamp_bits: 5, preallocates: false };

/// What is asked of a limiter: the client first, then the reading, then the cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Check(u64, u64, u64),
    Peek(u64, u64, u64),
    /// Several clients at once, at a cost of 1; the reading comes last.
    Many(&'static [u64], u64),
    Forget(u64, u64),
    ForgetAll(u64),
    Sweep(u64),
}

use Call::{Check, Forget, ForgetAll, Many, Peek, Sweep};

impl Call {
    fn reading(self) -> u64 {
        match self {
            Check(_, now, _) | Peek(_, now, _) | Many(_, now) | Forget(_, now) | ForgetAll(now) | Sweep(now) => now,
        }
    }
}

/// The answer to a call, and whether there was one: a thread may be stopped inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Known(Answer),
    Full,
    Untracked,
    /// Forgotten or swept.
    Done,
    Stopped,
}

impl From<Decision> for Outcome {
    fn from(decision: Decision) -> Outcome {
        match decision {
            Decision::Full(_) => Outcome::Full,
            Decision::Allowed(allowed) if !allowed.is_tracked() => Outcome::Untracked,
            known => Outcome::Known(known.into()),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Record {
    call: Call,
    outcome: Outcome,
}

/// A clock that reads what the call at hand is to read.
#[derive(Clone, Copy, Debug)]
pub struct Told;

std::thread_local! {
    // Loom's threads share it; none is switched between its setting and the reading, which comes first.
    static READING: Cell<u64> = const { Cell::new(0) };
}

impl Clock for Told {
    fn now(&self) -> Nanos {
        Nanos::from_nanos(READING.get())
    }
}

/// A hash that is the key itself.
#[derive(Default)]
struct Same(u64);

impl Hasher for Same {
    fn write(&mut self, _: &[u8]) {
        unreachable!("a key is a number");
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type Table<A> = Limiter<u64, A, Told, BuildHasherDefault<Same>>;

/// A model of a table: `run`, or `run_with_a_stop`, and the fields that differ from [`RACE`].
#[macro_export]
macro_rules! table_race {
    ($(#[$doc:meta])* $name:ident: $run:ident { $($field:ident: $value:expr),+ $(,)? }) => {
        $(#[$doc])*
        #[test]
        fn $name() {
            $crate::TableRace { name: stringify!($name), $($field: $value,)+ ..$crate::RACE }.$run();
        }
    };
}

/// Two or three threads that call a limiter of one segment at the same time, after `before` and before `after`.
#[derive(Clone, Copy)]
pub struct TableRace {
    pub name: &'static str,
    /// The bound of [`model`](crate::model).
    pub preemptions: usize,
    pub limit: u64,
    pub kind: Kind,
    /// Slots of the largest array; at most `slots - slots.div_ceil(8)` are claimed.
    pub slots: usize,
    pub when_full: WhenFull,
    /// Clients that must have no slot and share one count.
    pub sharing: &'static [u64],
    /// Whether it takes too long for any but a deep run.
    pub deep: bool,
    /// Whether each thread asks through a handle.
    pub handles: bool,
    pub before: &'static [Call],
    pub threads: &'static [&'static [Call]],
    pub after: &'static [Call],
}

/// What most models have.
pub const RACE: TableRace = TableRace {
    name: "",
    preemptions: 2,
    limit: 2,
    kind: LONG,
    slots: 4,
    when_full: WhenFull::Refuse,
    sharing: &[],
    deep: false,
    handles: false,
    before: &[],
    threads: &[],
    after: &[],
};

impl TableRace {
    /// In every interleaving each client's answers are explained by some order; runs once for every part as the
    /// model's own thread, for the reason that stands at [`Race::run`](crate::Race::run).
    pub fn run(self) {
        if self.deep && !deep() {
            println!("{}: only in a deep run", self.name);
            return;
        }
        let count = self.threads.len();
        let runs = self.different_parts().map(|first| {
            explore(Some(self.preemptions), move || {
                self.execute(first, None);
            })
        });
        let executions: u64 = runs.sum();
        report(self.name, executions);
        assert!(executions > count as u64, "{}: the threads never met", self.name);
    }

    /// The parts, without those that are as a later one.
    fn different_parts(self) -> impl Iterator<Item = usize> {
        let parts = self.threads.len();
        (0..parts).filter(move |&part| !self.threads[part + 1..].contains(&self.threads[part]))
    }

    /// The same with the last part stopped for ever before its k-th atomic operation, for every k.
    pub fn run_with_a_stop(self) {
        let (mut executions, mut last) = (0, 0);
        for first in 0..self.threads.len() {
            for steps in 0.. {
                let stopped = std::sync::Arc::new(AtomicBool::new(false));
                let seen = std::sync::Arc::clone(&stopped);
                executions += explore(Some(self.preemptions), move || {
                    if self.execute(first, Some(steps)) {
                        seen.store(true, Relaxed);
                    }
                });
                if !stopped.load(Relaxed) {
                    last = last.max(steps);
                    break;
                }
            }
        }
        assert!(last > 0, "{}: the thread has no atomic operation", self.name);
        report(&format!("{}, before each of {last} operations", self.name), executions);
    }

    /// One execution, whose own thread plays the part `first`; whether the last part was stopped.
    fn execute(self, first: usize, steps: Option<u32>) -> bool {
        let (limit, slots, when_full) = (self.limit, self.slots, self.when_full);
        let (quota, hash) = (Quota::new(limit, Duration::from_nanos(W)), BuildHasherDefault::new());
        match self.kind {
            Kind::Counter { bits } => {
                let table = small_counter(quota, bits, slots, when_full, Told, hash).expect("a quota that fits");
                self.execute_in(table, Truth::counter(limit, W), first, steps)
            }
            Kind::Log { stamp_bits, preallocates } => {
                let table = small_log(quota, stamp_bits, preallocates, slots, when_full, Told, hash);
                self.execute_in(table.expect("a quota that fits"), Truth::log(limit, W), first, steps)
            }
        }
    }

    fn execute_in<A>(self, table: Table<A>, truth: Truth, first: usize, steps: Option<u32>) -> bool
    where
        A: Algorithm + 'static,
        Table<A>: Send + Sync,
    {
        let (table, blocks_before) = (Arc::new(table), blocks());
        let (before, _) = self.play(&table, self.before, None);
        let parts = self.threads.len();
        let steps_of = |part: usize| steps.filter(|_| part + 1 == parts);
        let others: Vec<_> = (0..parts)
            .filter(|part| *part != first)
            .map(|part| {
                let (table, calls, steps) = (Arc::clone(&table), self.threads[part], steps_of(part));
                thread::spawn(move || self.play(&table, calls, steps))
            })
            .collect();
        let mut threads = vec![self.play(&table, self.threads[first], steps_of(first))];
        threads.extend(others.into_iter().map(|other| other.join().unwrap()));
        let (after, _) = self.play(&table, self.after, None);
        let stopped = threads.iter().any(|(_, stopped)| *stopped);
        let threads = threads.into_iter().map(|(records, _)| records).collect();
        // A thread that was stopped may have had a block that nobody else knows.
        let lost = blocks() - blocks_before - isize::try_from(known_blocks(&table)).expect("few blocks");
        assert!(lost == 0 || stopped && lost == 1, "{lost} blocks were lost");
        TableHistory { race: self, truth, before, threads, after }.assert_linearizable();
        stopped
    }

    /// Calls one after the other, for at most so many atomic operations; whether it was stopped by that.
    fn play<A: Algorithm>(self, table: &Table<A>, calls: &[Call], steps: Option<u32>) -> (Vec<Record>, bool) {
        let mut records = Vec::new();
        let mut all = || {
            let handle = self.handles.then(|| table.handle());
            for &call in calls {
                let first = records.len();
                let noted = |call| Record { call, outcome: Outcome::Stopped };
                // Noted before they are answered, for the case that the thread is stopped inside.
                match call {
                    Many(clients, now) => records.extend(clients.iter().map(|&client| noted(Check(client, now, 1)))),
                    call => records.push(noted(call)),
                }
                let requests = u32::try_from(records.len() - first).expect("few requests");
                let published_before = published();
                let mut answer = |index: usize, outcome| records[first + index].outcome = outcome;
                READING.set(call.reading());
                match (&handle, call) {
                    (Some(handle), Check(client, now, cost)) => {
                        let client = handle.client_by(key(client));
                        answer(0, client.at(Nanos::from_nanos(now)).cost(cost).check().into());
                    }
                    (Some(handle), Many(clients, _)) => {
                        let clients: Vec<&u64> = clients.iter().collect();
                        handle.check_many(&clients, |index, decision| answer(index, decision.into()));
                    }
                    (None, Many(clients, _)) => {
                        let clients: Vec<&u64> = clients.iter().collect();
                        table.check_many(&clients, |index, decision| answer(index, decision.into()));
                    }
                    (_, call) => answer(0, ask(table, call)),
                }
                // A publication completes a request of its thread: none makes two.
                assert!(published() - published_before <= requests, "too many publications for {call:?}");
            }
        };
        let stopped = match steps {
            Some(steps) => after_steps(steps, all).is_none(),
            None => {
                all();
                false
            }
        };
        (records, stopped)
    }
}

fn ask<A: Algorithm>(table: &Table<A>, call: Call) -> Outcome {
    let request = |client, now, cost| table.client_by(key(client)).at(Nanos::from_nanos(now)).cost(cost);
    match call {
        Check(client, now, cost) => return request(client, now, cost).check().into(),
        Peek(client, now, cost) => return request(client, now, cost).peek().into(),
        Many(..) => unreachable!("answered one by one"),
        Forget(client, now) => request(client, now, 1).forget(),
        ForgetAll(_) => table.forget_all(),
        Sweep(_) => table.sweep(),
    }
    Outcome::Done
}

struct TableHistory {
    race: TableRace,
    /// Of a client that was never seen.
    truth: Truth,
    before: Vec<Record>,
    threads: Vec<Vec<Record>>,
    after: Vec<Record>,
}

impl fmt::Debug for TableHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TableHistory { before, threads, after, .. } = self;
        f.debug_struct("History")
            .field("before", before)
            .field("threads", threads)
            .field("after", after)
            .finish_non_exhaustive()
    }
}

/// A call of one client, and the calls of anybody that may have come first.
struct Step<'a> {
    record: &'a Record,
    earlier: Vec<&'a Record>,
}

impl TableHistory {
    /// Panics unless for each client some order of its requests, true to each thread's own, explains every answer.
    ///
    /// Linearizability is local, so each client is looked at apart. What one client does to another is time: a move
    /// raises the birth of the array to the mover's reading, and nobody's effective now is before that.
    fn assert_linearizable(&self) {
        let all = || self.before.iter().chain(self.threads.iter().flatten()).chain(&self.after);
        let clients: BTreeSet<u64> = all().filter_map(|record| self.client(record.call)).collect();
        for client in clients {
            assert!(self.explained(client), "no order explains client {client} in {self:#?}");
        }
    }

    /// The client of a call; those that share are one.
    fn client(&self, call: Call) -> Option<u64> {
        match call {
            Check(client, ..) | Peek(client, ..) | Forget(client, _) => {
                Some(if self.race.sharing.contains(&client) { 0 } else { client })
            }
            Many(..) | ForgetAll(_) | Sweep(_) => None,
        }
    }

    fn explained(&self, client: u64) -> bool {
        let mine = |record: &&Record| match record.call {
            Sweep(_) => false,
            call => self.client(call).is_none_or(|of| of == client),
        };
        let before: Vec<&Record> = self.before.iter().collect();
        let mut parts: Vec<Vec<Step<'_>>> = Vec::new();
        for (thread, records) in self.threads.iter().enumerate() {
            let others = self.threads.iter().enumerate().filter(|(other, _)| *other != thread);
            let others: Vec<&Record> = others.flat_map(|(_, records)| records).collect();
            parts.push(steps(records, before.iter().chain(&others).copied(), mine));
        }
        let between = before.iter().copied().chain(self.threads.iter().flatten());
        let after = steps(&self.after, between, mine);
        let before = steps(&self.before, std::iter::empty(), mine);
        let start = vec![0; parts.len()];
        self.in_turn(client, &self.truth, &before, &|truth| self.search(client, truth, &parts, &start, &after))
    }

    /// One call after the other, each with every effective now that it may have had.
    fn in_turn(&self, client: u64, truth: &Truth, steps: &[Step<'_>], then: &dyn Fn(&Truth) -> bool) -> bool {
        let Some((step, rest)) = steps.split_first() else { return then(truth) };
        self.outcomes(client, truth, step).iter().any(|truth| self.in_turn(client, truth, rest, then))
    }

    fn search(&self, client: u64, truth: &Truth, parts: &[Vec<Step<'_>>], done: &[usize], after: &[Step<'_>]) -> bool {
        let mut finished = true;
        for (part, steps) in parts.iter().enumerate() {
            let Some(step) = steps.get(done[part]) else { continue };
            finished = false;
            let mut then = done.to_vec();
            then[part] += 1;
            if self.outcomes(client, truth, step).iter().any(|truth| self.search(client, truth, parts, &then, after)) {
                return true;
            }
        }
        finished && self.in_turn(client, truth, after, &|_| true)
    }

    /// What the truth may be after a call, if it explains the answer.
    fn outcomes(&self, client: u64, truth: &Truth, step: &Step<'_>) -> Vec<Truth> {
        let (now, cost, recording) = match step.record.call {
            Check(_, now, cost) => (now, cost, true),
            Peek(_, now, cost) => (now, cost, false),
            Many(..) | Sweep(_) => return vec![truth.clone()],
            Forget(..) | ForgetAll(_) => {
                let mut forgotten = truth.clone();
                forgotten.forget();
                let mut outcomes = vec![forgotten];
                if step.record.outcome == Outcome::Stopped {
                    outcomes.push(truth.clone());
                }
                return outcomes;
            }
        };
        let mut outcomes = Vec::new();
        if step.record.outcome == Outcome::Stopped {
            // It may have got as far as its exchange, or not.
            outcomes.push(truth.clone());
        }
        // A move of any earlier call may have raised the birth, to its reading or to the record that it left out.
        let readings = step.earlier.iter().map(|record| record.call.reading());
        let births: BTreeSet<u64> = readings.flat_map(|reading| [reading, truth.recorded_at(reading)]).collect();
        let births = births.into_iter().filter(|birth| *birth > now);
        for now in std::iter::once(now).chain(births) {
            let mut next = truth.clone();
            let right = if recording { next.check(now, cost) } else { next.peek(now, cost) };
            let explained = match step.record.outcome {
                Outcome::Known(answer) => answer == right,
                Outcome::Stopped => true,
                Outcome::Done => false,
                Outcome::Full | Outcome::Untracked => {
                    // Only a client of which nothing counts is turned away, and only where the slots are taken.
                    next = truth.clone();
                    truth.clone().peek(now, 0) == Answer::Allowed { remaining: self.race.limit }
                        && self.may_be_full(client, now, step)
                }
            };
            if explained {
                outcomes.push(next);
            }
        }
        outcomes
    }

    /// Whether so many other clients may be live that there is no slot left.
    fn may_be_full(&self, client: u64, now: u64, step: &Step<'_>) -> bool {
        let live: BTreeSet<u64> = step
            .earlier
            .iter()
            .filter_map(|record| match (record.call, record.outcome) {
                (Check(other, reading, 1..), Outcome::Known(Answer::Allowed { .. }) | Outcome::Stopped) => {
                    (other != client && self.truth.may_count(reading, now)).then_some(other)
                }
                _ => None,
            })
            .collect();
        // One slot is for one client.
        live.len() >= (self.race.slots - self.race.slots.div_ceil(8)).max(1)
    }
}

/// The calls of one client, each with what may have come before it.
fn steps<'a>(
    records: &'a [Record],
    first: impl Iterator<Item = &'a Record>,
    mine: impl Fn(&&'a Record) -> bool,
) -> Vec<Step<'a>> {
    let mut earlier: Vec<&Record> = first.collect();
    let mut steps = Vec::new();
    for record in records {
        if mine(&record) {
            steps.push(Step { record, earlier: earlier.clone() });
        }
        earlier.push(record);
    }
    steps
}
