//! Short traffic against the list of all that was allowed, made to shrink; `decisions.rs` has the long.

mod model;

use model::{Answer, Model, Rule, Verb};
use proptest::{collection::vec, prelude::*};
use slidegate::{Algorithm, Decision, Gate, Nanos, Quota};
use std::time::Duration;

/// A step of the clock in eighths of the window and nanoseconds beside it, back or forth.
#[derive(Clone, Copy, Debug)]
struct Asked {
    eighths: i64,
    beside: i64,
    cost: u64,
    verb: Verb,
}

fn traffic() -> impl Strategy<Value = Vec<Asked>> {
    let eighths = prop_oneof![4 => Just(0), 4 => 0_i64..8, 1 => 0_i64..40, 1 => -40_i64..0];
    let beside = prop_oneof![2 => Just(0), 2 => -1_i64..=1, 1 => -1_000_i64..1_000];
    let cost = prop_oneof![Just(1), 0_u64..9];
    let verb = prop_oneof![4 => Just(Verb::Check), 1 => Just(Verb::Peek)];
    vec(
        (eighths, beside, cost, verb).prop_map(|(eighths, beside, cost, verb)| Asked { eighths, beside, cost, verb }),
        1..50,
    )
}

fn agrees<A: Algorithm>(gate: &Gate<A>, rule: Rule, quota: (u64, u64), traffic: &[Asked]) -> Result<(), TestCaseError> {
    let (limit, window) = quota;
    let mut model = Model::new(rule, limit, window);
    let mut time = 3 * window;
    for asked in traffic {
        let step = asked.eighths * i64::try_from(window).unwrap() / 8 + asked.beside;
        time = time.saturating_add_signed(step);
        let request = gate.at(Nanos::from_nanos(time)).cost(asked.cost);
        let peeked = Answer::from(request.peek());
        let decision = match asked.verb {
            Verb::Check => request.check(),
            Verb::Peek => request.peek(),
        };
        let answer = Answer::from(decision);
        prop_assert_eq!(peeked, answer, "{:?} at {}", asked, time);
        prop_assert_eq!(answer, model.ask(asked.verb, time, asked.cost), "{:?} at {}", asked, time);
        if let Decision::Refused(refused) = decision {
            let at = |then: u64| gate.at(Nanos::from_nanos(then)).cost(asked.cost).peek().is_allowed();
            let end = refused.retry_at().as_nanos();
            prop_assert!(at(end) && !at(end - 1), "{:?} at {}: {:?}", asked, time, refused);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn log(limit in 0_u64..8, window in prop_oneof![1_u64..9, Just(1_000), 1_u64..1 << 40], traffic in traffic()) {
        let gate = Gate::try_log(Quota::new(limit, Duration::from_nanos(window))).unwrap();
        agrees(&gate, Rule::Log { tick: 1 }, (limit, window), &traffic)?;
    }

    #[test]
    fn fixed_window(limit in 0_u64..8, window in prop_oneof![4_u64..9, Just(1_000), 4_u64..1 << 40], traffic in traffic()) {
        let gate = Gate::try_fixed_window(Quota::new(limit, Duration::from_nanos(window))).unwrap();
        agrees(&gate, Rule::Fixed, (limit, window), &traffic)?;
    }

    #[test]
    fn counter(limit in 0_u64..8, window in prop_oneof![100_u64..110, Just(1_000), 100_u64..1 << 40], traffic in traffic()) {
        let gate = Gate::try_counter(Quota::new(limit, Duration::from_nanos(window))).unwrap();
        agrees(&gate, Rule::Counter, (limit, window), &traffic)?;
    }
}
