//! The arithmetic of a `Retry-After` header: whole seconds, rounded up, at least 1.

use super::*;

fn header<G: Algorithm>(gate: &Gate<G>, at: u64) -> Option<u64> {
    let wait = gate.at(Nanos::from_nanos(at)).check().retry_after()?;
    Some(nanos(wait).div_ceil(S).max(1))
}

#[test]
fn b61_a_fraction_of_a_second() {
    let gate = log(5, S);
    assert_eq!(gate.many(5, 0), 5);
    assert_eq!(gate.ask(800 * MS), R(0, 200 * MS + TICK));
    assert_eq!(header(&gate, 800 * MS), Some(1));
}

#[test]
fn b62_a_client_that_obeys_is_allowed() {
    let gate = log(1, 10 * S);
    assert_eq!(gate.ask(0), A(0));
    assert_eq!(gate.ask(8_100 * MS), R(0, 1_900 * MS + TICK));
    assert_eq!(header(&gate, 8_100 * MS), Some(2));
    // Had it been floored:
    assert_eq!(gate.ask(9_100 * MS), R(0, 900 * MS + TICK));
    assert_eq!(header(&gate, 9_100 * MS), Some(1));
    assert_eq!(gate.ask(10_100 * MS), A(0));
    assert_eq!(header(&gate, 20_200 * MS), None);
}

/// A retry at the whole second that a header names is allowed, and at the one before it is not.
#[test]
fn the_header_is_the_first_whole_second() {
    fn run<G: Algorithm>(spent: impl Fn() -> Gate<G>) {
        // From the newest record on: a wait counts from there.
        for at in (2..40).map(|k| k * 293 * MS) {
            let gate = spent();
            let Some(seconds) = header(&gate, at) else { continue };
            let allowed = |after: u64| matches!(gate.peeking(1, at + after * S), A(_));
            assert!(allowed(seconds), "at {at}, after {seconds} s");
            assert!(seconds == 1 || !allowed(seconds - 1), "at {at}, before {seconds} s");
        }
    }
    run(|| {
        let gate = log(3, 10 * S);
        assert_eq!([gate.ask(0), gate.ask(250 * MS), gate.ask(500 * MS)], [A(2), A(1), A(0)]);
        gate
    });
    run(|| {
        let gate = counter(3, 10 * S);
        assert_eq!(gate.many(3, 0), 3);
        gate
    });
    run(|| {
        let gate = fixed(3, 10 * S);
        assert_eq!(gate.many(3, 0), 3);
        gate
    });
}
