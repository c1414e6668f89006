//! Models in which time passes, or news travels, beside the gate.

use crate::{Ask, Client, History, Truth, explore, report};
use loom::{
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread,
};
use slidegate::{Algorithm, Clock, Gate, Nanos};

/// A clock inside the model: loom moves its readings between any two steps, and lets them be late.
#[derive(Clone)]
pub struct LoomClock(Arc<AtomicU64>);

impl Clock for LoomClock {
    fn now(&self) -> Nanos {
        Nanos::from_nanos(self.0.load(Relaxed))
    }
}

/// A unit is taken before, two threads take 2 and 1 while the clock takes these steps, and one is taken after; a reading
/// may be as old as the model lets it.
pub fn with_a_running_clock<A: Algorithm + Send + Sync + 'static>(
    name: &str,
    preemptions: Option<usize>,
    gate: fn() -> Gate<A>,
    truth: Truth,
    start: u64,
    steps: [u64; 2],
    after: &'static [Ask],
) where
    Gate<A, LoomClock>: Send + Sync,
{
    let executions = explore(preemptions, move || {
        let clock = Arc::new(AtomicU64::new(start));
        let gate = Arc::new(gate().with_clock(LoomClock(Arc::clone(&clock))));
        let mut begin = Client::new(&*gate);
        begin.check_now(1);
        let check = |cost| {
            let gate = Arc::clone(&gate);
            thread::spawn(move || {
                let mut client = Client::new(&*gate);
                client.check_now(cost);
                client.records()
            })
        };
        let threads = [2, 1].map(check);
        for step in steps {
            clock.fetch_add(step, Relaxed);
        }
        let threads = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let mut end = Client::new(&*gate);
        end.check_now(1);
        after.iter().for_each(|&ask| end.ask(ask));
        let history = History { before: begin.records(), threads, after: end.records(), ..History::default() };
        history.assert_linearizable(truth.clone());
    });
    report(name, executions);
}

/// Whoever was told of a request sees it counted: one thread asks and tells, another asks, may have been told, and asks
/// twice more.
pub fn nothing_stale<A: Algorithm + 'static>(
    name: &str,
    preemptions: Option<usize>,
    gate: fn() -> Gate<A>,
    truth: Truth,
    told: [Ask; 2],
    reader: [Ask; 3],
    after: Ask,
) where
    Gate<A>: Send + Sync,
{
    let executions = explore(preemptions, move || {
        let (gate, news) = (Arc::new(gate()), Arc::new(AtomicBool::new(false)));
        let other = thread::spawn({
            let (gate, news) = (Arc::clone(&gate), Arc::clone(&news));
            move || {
                let mut client = Client::new(&*gate);
                let [first, second, third] = reader;
                client.ask(first);
                // The last that the other thread asked comes before our second.
                let precedes = if news.load(Acquire) { vec![[(1, 1), (0, 1)]] } else { Vec::new() };
                client.ask(second);
                client.ask(third);
                (client.records(), precedes)
            }
        });
        let mut client = Client::new(&*gate);
        told.iter().for_each(|&ask| client.ask(ask));
        news.store(true, Release);
        let (records, precedes) = other.join().unwrap();
        let mut end = Client::new(&*gate);
        end.ask(after);
        let threads = vec![records, client.records()];
        let history = History { threads, precedes, after: end.records(), ..History::default() };
        history.assert_linearizable(truth.clone());
    });
    report(name, executions);
}
