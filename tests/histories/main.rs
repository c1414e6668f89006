//! What real threads were answered, explained by an order of one request at a time.
//!
//! The ordinary run is small; `SLIDEGATE_HISTORIES=1000` records that many of each kind, those of limiters with 20,000
//! operations or `SLIDEGATE_OPERATIONS`. `SLIDEGATE_SEED` chooses the requests; what the threads make of them is new each
//! time.

#[path = "../clients/mod.rs"]
mod clients;
#[path = "../model/mod.rs"]
mod model;
#[path = "../oracle/mod.rs"]
mod oracle;
#[path = "../random/mod.rs"]
mod random;
#[path = "../segment/mod.rs"]
mod segment;

mod gates;
mod limiters;
mod search;

use model::{Answer, Model, Rule, Verb, Verdict};
use oracle::{Event, Spec, Stuck, linearize};
use random::Random;
use segment::Segment;
use slidegate::{Decision, WhenFull};
use std::fmt::Debug;

/// A step of the coarse clock, so long that the words of the counter have room for a limit of 8.
const TICK: u64 = 1_000;

/// The operations whose span touches an earlier one's.
fn overlapping<O, A>(history: &[Event<O, A>]) -> usize {
    let mut spans: Vec<_> = history.iter().map(|event| (event.start, event.end)).collect();
    spans.sort_unstable();
    let mut latest = 0;
    let mut touches = |&(start, end): &(u64, u64)| {
        let touches = start <= latest;
        latest = latest.max(end);
        touches
    };
    spans.iter().filter(|span| touches(span)).count()
}

/// Panics with the requests around the place where no order goes on.
fn explain<S>(spec: &S, history: &[Event<S::Op, S::Answer>], stuck: &Stuck) -> !
where
    S: Spec<State: Debug, Op: Debug, Answer: Debug> + Debug,
{
    let mut state = spec.initial();
    for &index in &stuck.deepest {
        state = spec.apply(&state, &history[index].op).0;
    }
    let mut left: Vec<_> = (0..history.len()).filter(|index| !stuck.deepest.contains(index)).collect();
    left.sort_by_key(|&index| history[index].start);
    let show =
        |indices: &[usize]| -> String { indices.iter().map(|&index| format!("  {:?}\n", history[index])).collect() };
    let last = &stuck.deepest[stuck.deepest.len().saturating_sub(8)..];
    panic!(
        "{spec:?}: {} of {} requests have an order, whose last are\n{}then, in {state:?}, none of\n{}",
        stuck.deepest.len(),
        history.len(),
        show(last),
        show(&left[..left.len().min(8)]),
    );
}

/// What histories were like, to see that they asked for everything.
#[derive(Debug, Default)]
struct Figures {
    operations: usize,
    overlap: usize,
    allowed: usize,
    refused: usize,
    forgotten: usize,
    /// Publications of arrays, at least.
    moves: usize,
}

impl Figures {
    fn add<O>(&mut self, history: &[Event<O, Option<Answer>>]) {
        self.operations += history.len();
        self.overlap += overlapping(history);
        for event in history {
            match event.answer.map(|answer| answer.verdict) {
                Some(Verdict::Allowed { .. }) => self.allowed += 1,
                Some(Verdict::Refused { .. }) => self.refused += 1,
                Some(_) => {}
                None => self.forgotten += 1,
            }
        }
    }

    /// Threads that hardly met, or that asked for nothing, prove nothing.
    fn assert_telling(&self) {
        let part = |count: usize| count * 1_000 / self.operations;
        assert!(part(self.overlap) >= 5, "the threads hardly met: {self:?}");
        assert!(part(self.allowed) >= 100 && part(self.refused) >= 100 && part(self.forgotten) >= 5, "{self:?}");
    }
}
