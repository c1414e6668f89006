//! The search for an order itself: what it must find, and what it must not.

use super::*;
use clients::quota;
use gates::{Op, Recorded, Shared, Spot, Time, gate, record};
use slidegate::Gate;
use std::{sync::Mutex, thread};

/// A limiter that loads, decides and stores: right for one thread, but what another does in between is lost.
struct Torn(Mutex<Segment>);

impl Shared for Torn {
    fn ask(&self, verb: Verb, reading: u64, cost: u64) -> Answer {
        let mut segment = self.0.lock().expect("no thread panics").clone();
        let answer = segment.ask(1, verb, reading, cost).0;
        thread::yield_now();
        if verb == Verb::Check && matches!(answer.verdict, Verdict::Allowed { .. }) {
            *self.0.lock().expect("no thread panics") = segment;
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
        let spot = Spot::new(rule, 3, 4 * TICK);
        let torn = || Torn(Mutex::new(spot.segment.clone()));
        let alone = record(&torn(), &spot, time, 1, 300, 0);
        assert!(linearize(&spot, &alone).is_ok(), "{rule:?} by {time:?}");
        let caught = (0..20).any(|seed| linearize(&spot, &record(&torn(), &spot, time, 3, 200, seed)).is_err());
        assert!(caught, "{rule:?} by {time:?}");
    }
}

/// The oracle, against trying every order.
#[test]
fn the_oracle_agrees_with_brute_force() {
    fn some_order(spec: &Spot, state: &Option<segment::Array>, history: &[Recorded], left: &[usize]) -> bool {
        let first_end = left.iter().map(|&index| history[index].end).min();
        left.is_empty()
            || left.iter().any(|&index| {
                let Event { start, op, answer, .. } = &history[index];
                let others: Vec<_> = left.iter().copied().filter(|&other| other != index).collect();
                let mut right = spec.outcomes(state, op).into_iter().filter(|(_, told)| told == answer);
                Some(*start) <= first_end && right.any(|(after, _)| some_order(spec, &after, history, &others))
            })
    }
    let mut random = Random::new(random::seed());
    let mut agreed = [0, 0];
    for _ in 0..20_000 {
        let rule = random.pick(&[Rule::Log { tick: 1 }, Rule::Counter, Rule::Fixed]);
        let spot = Spot::new(rule, random.between(1, 3), random.between(1, 4));
        // Answers of some order, not always one that the spans allow.
        let mut state = spot.initial();
        let mut history = Vec::new();
        for nth in 0..random.between(1, 6) {
            let (reading, cost) = (nth + random.below(3), random.between(0, spot.limit));
            let verb = random.pick(&[Verb::Check, Verb::Check, Verb::Peek]);
            let op = if random.one_in(12) { Op::Forget } else { Op::Ask { verb, reading, cost } };
            let (after, answer) = spot.apply(&state, &op);
            state = after;
            let moment = 10 * nth + 20;
            let (early, late) = (random.below(30), random.below(30));
            let shift = if random.one_in(3) { random.below(60) } else { 0 };
            history.push(Event { start: moment + shift - early.min(moment), end: moment + shift + late, op, answer });
        }
        let indices: Vec<_> = (0..history.len()).collect();
        let possible = some_order(&spot, &spot.initial(), &history, &indices);
        let found = linearize(&spot, &history);
        assert_eq!(found.is_ok(), possible, "{spot:?}, {history:?}, {found:?}");
        if let Ok(order) = found {
            check_order(&spot, &history, &order);
        }
        agreed[usize::from(possible)] += 1;
    }
    assert!(agreed[0] > 1_000 && agreed[1] > 1_000, "{agreed:?}");
}

/// Asserts that an order explains every answer and respects the spans.
fn check_order(spot: &Spot, history: &[Recorded], order: &[usize]) {
    let mut states = vec![spot.initial()];
    let mut latest_start = 0;
    for &index in order {
        let outcomes = states.iter().flat_map(|state| spot.outcomes(state, &history[index].op));
        let mut after: Vec<_> = outcomes.filter(|(_, answer)| *answer == history[index].answer).collect();
        after.dedup();
        assert!(!after.is_empty(), "{:?} in {states:?}", history[index]);
        assert!(latest_start <= history[index].end, "it had ended before");
        latest_start = latest_start.max(history[index].start);
        states = after.into_iter().map(|(state, _)| state).collect();
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
        let spot = Spot::new(Rule::Log { tick: 1 }, 4, 3 * TICK);
        let log = gate(Gate::try_log(quota(spot.limit, spot.window)));
        let mut history = record(&log, &spot, Time::Tickets, 3, 400, nth);
        let order = linearize(&spot, &history).expect("a gate is linearizable");
        check_order(&spot, &history, &order);

        // Only the number is wrong: one unit more remains than can be by any order.
        let answered: Vec<_> = (0..history.len()).filter(|&index| history[index].answer.is_some()).collect();
        let flipped = random.pick(&answered);
        let start = history[flipped].start;
        history[flipped].answer = history[flipped].answer.map(|answer| Answer { remaining: spot.limit + 1, ..answer });
        let stuck = linearize(&spot, &history).expect_err("an answer is wrong");
        assert!(!stuck.deepest.contains(&flipped));
        let all_before = (0..history.len()).filter(|&index| history[index].end < start);
        assert!(all_before.into_iter().all(|index| stuck.deepest.contains(&index)), "it goes as far as it can");
    }
}

/// The real answers do not fit a specification that differs in a single unit or tick.
#[test]
fn another_specification_does_not_explain_a_gate() {
    let spot = Spot::new(Rule::Log { tick: 1 }, 4, 3 * TICK);
    let log = gate(Gate::try_log(quota(spot.limit, spot.window)));
    let mut history = record(&log, &spot, Time::Tickets, 2, 500, 1);
    assert!(linearize(&spot, &history).is_ok());
    for (limit, window) in [(spot.limit + 1, spot.window), (spot.limit, spot.window - 1)] {
        let other = Spot::new(Rule::Log { tick: 1 }, limit, window);
        // What an answer says of the limit itself is left out.
        for event in &mut history {
            event.answer = event.answer.map(|answer| Answer { limit, ..answer });
        }
        assert!(linearize(&other, &history).is_err(), "{limit} in {window} ns");
    }
}
