//! [`Race`]: two threads at one gate, the shape of most models.

use crate::{Ask, Client, History, Record, Truth, explore, report};
use loom::{sync::Arc, thread};
use slidegate::{__loom::after_steps, Algorithm, Gate};
use std::sync::atomic;

/// Two threads that ask a gate at the same time, after `before` and before `after` in a third.
pub struct Race<A: Algorithm> {
    pub name: &'static str,
    /// The bound of [`model`](crate::model); `None` is exhaustive.
    pub preemptions: Option<usize>,
    pub gate: fn() -> Gate<A>,
    pub truth: Truth,
    pub before: &'static [Ask],
    pub threads: [&'static [Ask]; 2],
    pub after: &'static [Ask],
}

impl<A: Algorithm + 'static> Race<A>
where
    Gate<A>: Send + Sync,
{
    /// Every interleaving has an order that explains all answers.
    ///
    /// Runs twice, the second time with the threads' parts exchanged: loom notes only the last access to an atomic, and
    /// overlooks a race of a load with an exchange whose own thread loaded in between, if the first load came first.
    pub fn run(self) {
        let both = [false, true].map(|exchanged| {
            let setting = self.setting(exchanged);
            explore(self.preemptions, move || {
                setting.execute(None);
            })
        });
        report(self.name, both[0] + both[1]);
        assert!(both[0] + both[1] > 2, "{}: the threads never met", self.name);
    }

    /// The same with the second thread stopped for ever before its k-th atomic operation, for every k.
    pub fn run_with_a_stop(self) {
        let mut executions = 0;
        let mut last = 0;
        for exchanged in [false, true] {
            for steps in 0.. {
                let stopped = std::sync::Arc::new(atomic::AtomicBool::new(false));
                let (setting, seen) = (self.setting(exchanged), std::sync::Arc::clone(&stopped));
                executions += explore(self.preemptions, move || {
                    if setting.execute(Some(steps)) {
                        seen.store(true, atomic::Ordering::Relaxed);
                    }
                });
                if !stopped.load(atomic::Ordering::Relaxed) {
                    last = last.max(steps);
                    break;
                }
            }
        }
        assert!(last > 0, "{}: the thread has no atomic operation", self.name);
        report(&format!("{}, before each of {last} operations", self.name), executions);
    }

    fn setting(&self, exchanged: bool) -> Setting<A> {
        let Race { gate, before, threads, after, .. } = *self;
        Setting { gate, truth: self.truth.clone(), before, threads, after, exchanged }
    }
}

struct Setting<A: Algorithm> {
    gate: fn() -> Gate<A>,
    truth: Truth,
    before: &'static [Ask],
    threads: [&'static [Ask]; 2],
    after: &'static [Ask],
    /// Whether the first part is played by the spawned thread.
    exchanged: bool,
}

impl<A: Algorithm + 'static> Setting<A>
where
    Gate<A>: Send + Sync,
{
    /// One execution; whether the second thread was stopped in it.
    fn execute(&self, steps: Option<u32>) -> bool {
        let gate = Arc::new((self.gate)());
        let (before, _) = play(&gate, self.before, None);
        let parts = [(self.threads[0], None), (self.threads[1], steps)];
        let [(mine, my_steps), (theirs, their_steps)] = if self.exchanged { [parts[1], parts[0]] } else { parts };
        let other = thread::spawn({
            let gate = Arc::clone(&gate);
            move || play(&gate, theirs, their_steps)
        });
        let (mine, i_stopped) = play(&gate, mine, my_steps);
        let (theirs, they_stopped) = other.join().unwrap();
        let (after, _) = play(&gate, self.after, None);
        let history = History { before, threads: vec![mine, theirs], after, ..History::default() };
        history.assert_linearizable(self.truth.clone());
        i_stopped || they_stopped
    }
}

/// Asks one after the other, for at most so many atomic operations; whether it was stopped by that.
fn play<A: Algorithm>(gate: &Gate<A>, asks: &[Ask], steps: Option<u32>) -> (Vec<Record>, bool) {
    let mut client = Client::new(gate);
    let mut all = || asks.iter().for_each(|&ask| client.ask(ask));
    let stopped = match steps {
        Some(steps) => after_steps(steps, all).is_none(),
        None => {
            all();
            false
        }
    };
    (client.records(), stopped)
}
