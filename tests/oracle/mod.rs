//! Whether a recorded history of overlapping operations is linearizable: the search of Wing and Gong with Lowe's memory.
//!
//! Operations are taken one by one, each while no other that is still to be taken had already ended before it began,
//! and each only if the specification gives the answer that was recorded. A dead end goes back one operation; a set of
//! taken operations with the state it led to is never tried twice.

use std::{collections::HashSet, hash::Hash, mem};

/// What operations do, one at a time.
pub(crate) trait Spec {
    type State: Clone + Eq + Hash;
    type Op;
    type Answer: PartialEq;

    fn initial(&self) -> Self::State;

    fn apply(&self, state: &Self::State, op: &Self::Op) -> (Self::State, Self::Answer);

    /// All that may come of an operation, where that is not one thing only.
    fn outcomes(&self, state: &Self::State, op: &Self::Op) -> Vec<(Self::State, Self::Answer)> {
        vec![self.apply(state, op)]
    }
}

/// An operation as it was recorded; those whose spans touch overlap.
#[derive(Clone, Debug)]
pub(crate) struct Event<O, A> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) op: O,
    pub(crate) answer: A,
}

/// The longest order that explains its own operations, as indices of the history, where none explains all.
#[derive(Debug)]
pub(crate) struct Stuck {
    pub(crate) deepest: Vec<usize>,
}

/// An order of the operations that explains every answer, as indices of the history.
pub(crate) fn linearize<S: Spec>(spec: &S, history: &[Event<S::Op, S::Answer>]) -> Result<Vec<usize>, Stuck> {
    let mut ends = Ends::new(history);
    let mut state = spec.initial();
    // With the state before, and how many outcomes were tried from there.
    let mut taken: Vec<(usize, S::State, usize)> = Vec::new();
    let mut tried_outcomes = 0;
    let (mut set, mut tried) = (Taken::new(history.len()), HashSet::new());
    let mut deepest = Vec::new();
    let mut at = ends.next[HEAD];
    while at != HEAD {
        let (rank, is_end) = ends.entries[at - 1];
        if is_end {
            // Its operation had to be taken before: the last choice was wrong.
            if taken.len() > deepest.len() {
                deepest = taken.iter().map(|&(rank, ..)| ends.order[rank]).collect();
            }
            let Some((last, before, outcomes)) = taken.pop() else { return Err(Stuck { deepest }) };
            (state, tried_outcomes) = (before, outcomes);
            set.remove(last);
            at = ends.put_back(last);
            continue;
        }
        let event = &history[ends.order[rank]];
        assert!(tried.len() < 3_000_000, "too many states to tell: {} of {} in order", deepest.len(), history.len());
        set.insert(rank);
        let outcomes = spec.outcomes(&state, &event.op).into_iter().enumerate().skip(tried_outcomes);
        let mut right = outcomes.filter(|(_, (_, answer))| *answer == event.answer);
        if let Some((nth, (after, _))) = right.find(|(_, (after, _))| tried.insert((set.key(), after.clone()))) {
            taken.push((rank, mem::replace(&mut state, after), nth + 1));
            ends.take_out(rank);
            at = ends.next[HEAD];
        } else {
            set.remove(rank);
            at = ends.next[at];
        }
        tried_outcomes = 0;
    }
    Ok(taken.into_iter().map(|(rank, ..)| ends.order[rank]).collect())
}

const HEAD: usize = 0;

/// The starts and ends of the operations that are still to be taken, in the order of time, as a linked list.
struct Ends {
    /// The operations by their start; the rank of one is its place here.
    order: Vec<usize>,
    /// The rank of a start, or of an end with `true`; the node of an entry is its index and one.
    entries: Vec<(usize, bool)>,
    /// The nodes of the start and the end of each rank.
    nodes: Vec<[usize; 2]>,
    next: Vec<usize>,
    previous: Vec<usize>,
}

impl Ends {
    fn new<O, A>(history: &[Event<O, A>]) -> Ends {
        let mut order: Vec<usize> = (0..history.len()).collect();
        order.sort_by_key(|&index| history[index].start);
        let mut timed = Vec::new();
        for (rank, &index) in order.iter().enumerate() {
            timed.push((history[index].start, false, rank));
            timed.push((history[index].end, true, rank));
        }
        // At one instant the starts come first: operations that touch overlap.
        timed.sort_unstable();
        let entries: Vec<_> = timed.iter().map(|&(_, is_end, rank)| (rank, is_end)).collect();
        let mut nodes = vec![[0; 2]; order.len()];
        for (index, &(rank, is_end)) in entries.iter().enumerate() {
            nodes[rank][usize::from(is_end)] = index + 1;
        }
        let count = entries.len() + 1;
        let next = (0..count).map(|node| (node + 1) % count).collect();
        let previous = (0..count).map(|node| (node + count - 1) % count).collect();
        Ends { order, entries, nodes, next, previous }
    }

    fn take_out(&mut self, rank: usize) {
        for node in self.nodes[rank] {
            let (previous, next) = (self.previous[node], self.next[node]);
            self.next[previous] = next;
            self.previous[next] = previous;
        }
    }

    /// Undoes the newest `take_out`; the node of the start.
    fn put_back(&mut self, rank: usize) -> usize {
        for node in self.nodes[rank].into_iter().rev() {
            let (previous, next) = (self.previous[node], self.next[node]);
            self.next[previous] = node;
            self.previous[next] = node;
        }
        self.nodes[rank][0]
    }
}

/// A set of ranks, most of them below all that are missing.
struct Taken {
    bits: Vec<u64>,
    /// The first rank that is missing.
    first: usize,
}

impl Taken {
    fn new(len: usize) -> Taken {
        Taken { bits: vec![0; len / 64 + 1], first: 0 }
    }

    fn contains(&self, rank: usize) -> bool {
        self.bits[rank / 64] >> (rank % 64) & 1 == 1
    }

    fn insert(&mut self, rank: usize) {
        self.bits[rank / 64] |= 1 << (rank % 64);
        while self.first < 64 * self.bits.len() && self.contains(self.first) {
            self.first += 1;
        }
    }

    fn remove(&mut self, rank: usize) {
        self.bits[rank / 64] &= !(1 << (rank % 64));
        self.first = self.first.min(rank);
    }

    /// The set without the words that are all taken or all missing.
    fn key(&self) -> (usize, Vec<u64>) {
        let start = (self.first / 64).min(self.bits.len());
        let end = self.bits.iter().rposition(|&word| word != 0).map_or(start, |last| last + 1);
        (self.first, self.bits[start..end.max(start)].to_vec())
    }
}
