//! What the threads asked and were answered, and the search for one order that explains it all.

use crate::Truth;
use slidegate::{Algorithm, Clock, Decision, FastClock, Gate, Nanos};

/// The part of an answer that a caller sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Allowed { remaining: u64 },
    Refused { remaining: u64, wait: u64, at: u64 },
    Never { remaining: u64 },
}

impl From<Decision> for Answer {
    fn from(decision: Decision) -> Answer {
        let remaining = decision.remaining();
        match decision {
            Decision::Allowed(_) => Answer::Allowed { remaining },
            Decision::Refused(refused) => Answer::Refused {
                remaining,
                wait: refused.retry_after().as_nanos().try_into().expect("a short wait"),
                at: refused.retry_at().as_nanos(),
            },
            Decision::Never(_) => Answer::Never { remaining },
            Decision::Full(_) => panic!("a model ran out of memory"),
        }
    }
}

/// What a thread of a model asks of a gate; instants and costs are numbers.
#[derive(Clone, Copy, Debug)]
pub enum Ask {
    Check(u64, u64),
    Peek(u64, u64),
    Forget,
}

/// What was asked, and the answer; none if the thread was stopped on the way, or if there is none to give.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    ask: Ask,
    answer: Option<Answer>,
}

/// A gate as a thread of a model uses it: it notes what it asks.
pub struct Client<'a, A: Algorithm, C = FastClock> {
    gate: &'a Gate<A, C>,
    records: Vec<Record>,
}

impl<'a, A: Algorithm, C: Clock> Client<'a, A, C> {
    pub fn new(gate: &'a Gate<A, C>) -> Self {
        Client { gate, records: Vec::new() }
    }

    /// Checks at the gate's own clock.
    pub fn check_now(&mut self, cost: u64) {
        self.ask(Ask::Check(self.gate.now().as_nanos(), cost));
    }

    pub fn ask(&mut self, ask: Ask) {
        // Noted before it is answered, for the case that the thread is stopped inside.
        self.records.push(Record { ask, answer: None });
        let request = |now, cost| self.gate.at(Nanos::from_nanos(now)).cost(cost);
        let answer = match ask {
            Ask::Check(now, cost) => Some(request(now, cost).check().into()),
            Ask::Peek(now, cost) => Some(request(now, cost).peek().into()),
            Ask::Forget => {
                self.gate.forget();
                None
            }
        };
        if let Some(record) = self.records.last_mut() {
            record.answer = answer;
        }
    }

    pub fn records(self) -> Vec<Record> {
        self.records
    }
}

/// Everything that was asked of a gate: in one thread before and after, in several at the same time between.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub before: Vec<Record>,
    pub threads: Vec<Vec<Record>>,
    pub after: Vec<Record>,
    /// Pairs of (thread, index): the first was answered before the second was asked.
    pub precedes: Vec<[(usize, usize); 2]>,
}

impl History {
    /// Panics unless some order of the requests, true to each thread's own, explains every answer.
    pub fn assert_linearizable(&self, truth: Truth) {
        let mut start = truth.clone();
        for record in &self.before {
            assert!(explains(&mut start, record), "alone in its thread, not explained: {record:?} in {self:#?}");
        }
        let done = vec![0; self.threads.len()];
        assert!(self.search(&start, &done), "no order explains {self:#?} from {start:?}");
    }

    fn search(&self, truth: &Truth, done: &[usize]) -> bool {
        let mut finished = true;
        for (thread, records) in self.threads.iter().enumerate() {
            let Some(record) = records.get(done[thread]) else { continue };
            finished = false;
            if self.precedes.iter().any(|[first, second]| *second == (thread, done[thread]) && done[first.0] <= first.1)
            {
                continue;
            }
            let mut then = done.to_vec();
            then[thread] += 1;
            let mut next = truth.clone();
            if explains(&mut next, record) && self.search(&next, &then) {
                return true;
            }
            // A thread that was stopped inside may have got as far as its exchange, or not.
            if record.answer.is_none() && self.search(truth, &then) {
                return true;
            }
        }
        let mut end = truth.clone();
        finished && self.after.iter().all(|record| explains(&mut end, record))
    }
}

fn explains(truth: &mut Truth, record: &Record) -> bool {
    let right = match record.ask {
        Ask::Check(now, cost) => truth.check(now, cost),
        Ask::Peek(now, cost) => truth.peek(now, cost),
        Ask::Forget => {
            truth.forget();
            return true;
        }
    };
    record.answer.is_none_or(|answer| answer == right)
}
