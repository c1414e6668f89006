//! Quotas: nothing, the tiniest, the largest, and what cannot be built.

use super::*;
use slidegate::{BuildError, Quota};

#[test]
fn b26_a_limit_of_zero_allows_nothing() {
    fn run<G: Algorithm>(gate: Gate<G>) {
        for at in [0, S, 1_000_000_000 * S] {
            assert_eq!(gate.ask(at), N(0));
            assert_eq!(gate.at(Nanos::from_nanos(at)).check().retry_after(), None);
        }
        assert_eq!(gate.costing(0, 0), A(0));
        let Decision::Allowed(allowed) = gate.at(Nanos::ZERO).cost(0).check() else { panic!("a cost of 0 fits") };
        assert_eq!((allowed.next_unit(), allowed.full_reset()), (None, Duration::ZERO));
    }
    run(log(0, 60 * S));
    run(counter(0, 60 * S));
    run(fixed(0, 60 * S));
}

#[test]
fn b28_windows_below_a_millisecond() {
    let gate = log(1, 500 * US);
    assert_eq!(gate.ask(0), A(0));
    assert_eq!(gate.ask(499 * US), R(0, US + TICK));
    assert_eq!(gate.ask(500 * US), R(0, TICK));
    assert_eq!(gate.ask(501 * US), A(0));

    let gate = log(1_024, S);
    assert_eq!(gate.many(1_024, 0), 1_024);
    assert_eq!(gate.ask(0), R(0, S + TICK));
    assert_eq!(gate.ask(S + US), A(1_023));
}

#[test]
fn b29_a_window_of_odd_nanoseconds() {
    let gate = log(1, 3_333_333);
    assert_eq!([gate.ask(0), gate.ask(3_333_332), gate.ask(3_333_334)], [A(0), R(0, NS + TICK), A(0)]);
}

#[test]
fn b31_count_times_time_does_not_overflow() {
    let gate = counter(16_000_000, 30 * DAY);
    assert_eq!(gate.costing(16_000_000, 0), A(0));
    assert_eq!(gate.costing(8_000_000, 45 * DAY), A(0));
    assert_eq!(gate.ask(45 * DAY), R(0, 162 * MS));
}

#[test]
fn b32_a_huge_limit_is_an_error() {
    let refused = |error: Result<_, BuildError>| match error {
        Err(BuildError::DoesNotFit { largest_limit, .. }) => largest_limit,
        other => panic!("{other:?}"),
    };
    for limit in [1 << 40, u64::MAX] {
        let largest = refused(Gate::try_log(quota(limit, 60 * S)).map(|_| ()));
        assert_eq!(log(largest, 60 * S).costing(largest, 0), A(0));
        let _ = refused(Gate::try_log(quota(largest + 1, 60 * S)).map(|_| ()));
    }
    for limit in [1 << 32, u64::MAX] {
        let largest = refused(Gate::try_counter(quota(limit, 60 * S)).map(|_| ()));
        assert_eq!(counter(largest, 60 * S).costing(largest, 0), A(0));
        let _ = refused(Gate::try_counter(quota(largest + 1, 60 * S)).map(|_| ()));
    }
    for limit in [1 << 60, u64::MAX] {
        let largest = refused(Gate::try_fixed_window(quota(limit, 60 * S)).map(|_| ()));
        assert_eq!(fixed(largest, 60 * S).costing(largest, 0), A(0));
        let _ = refused(Gate::try_fixed_window(quota(largest + 1, 60 * S)).map(|_| ()));
    }
    // Where the count has the room, it is exact.
    let gate = fixed(1 << 32, 60 * S);
    assert_eq!([gate.costing(1 << 31, 0), gate.costing(1 << 31, 0)], [A(1 << 31), A(0)]);
    assert_eq!(gate.ask(0), R(0, 60 * S));
}

#[test]
fn b34_a_limit_of_16_bits_keeps_its_size() {
    let (log, fixed) = (log(65_535, S), fixed(65_535, S));
    for k in 0..10 {
        assert_eq!([log.ask(k * 100 * MS), fixed.ask(k * 100 * MS)], [A(65_534 - k); 2]);
    }
    assert_eq!([log.ask(1_050 * MS), fixed.ask(1_050 * MS)], [A(65_525), A(65_534)]);
}

#[test]
fn b35_the_unit_of_the_rate_is_kept() {
    let minute = Gate::try_log("1/1m".parse().unwrap()).unwrap();
    assert_eq!([minute.ask(0), minute.ask(S), minute.ask(60 * S + MS)], [A(0), R(0, 59 * S + TICK), A(0)]);
    let ten = Gate::try_log("1/10s".parse().unwrap()).unwrap();
    assert_eq!([ten.ask(0), ten.ask(9_900 * MS), ten.ask(10 * S + MS)], [A(0), R(0, 100 * MS + TICK), A(0)]);
}

#[test]
fn b37_per_second_is_a_number_of_units() {
    let gate = Gate::try_log(Quota::per_second(20)).unwrap();
    assert_eq!(gate.many(20, 0), 20);
    assert_eq!([gate.ask(0), gate.ask(500 * MS)], [R(0, S + TICK), R(0, 500 * MS + TICK)]);
    assert_eq!(gate.ask(S + MS), A(19));
}

/// The three builders, each with the error of a quota.
fn errors(quota: Quota) -> [Option<BuildError>; 3] {
    [Gate::try_log(quota).err(), Gate::try_counter(quota).err(), Gate::try_fixed_window(quota).err()]
}

#[test]
fn a_window_of_zero_is_an_error() {
    for error in errors(quota(5, 0)) {
        assert_eq!(error, Some(BuildError::ZeroWindow { quota: quota(5, 0) }));
        let message = error.unwrap().to_string();
        assert!(message.contains("`5/0s`") && message.contains("as in `5/1s`"), "{message}");
    }
}

#[test]
fn a_window_beyond_a_century_is_an_error() {
    for window in [Duration::from_secs(101 * 31_557_600), Duration::MAX] {
        for error in errors(Quota::new(5, window)) {
            let Some(BuildError::WindowTooLong { quota, longest }) = error else { panic!("{error:?}") };
            assert_eq!(quota, Quota::new(5, window));
            let message = error.unwrap().to_string();
            assert!(message.contains(&format!("`{quota}`")) && message.contains("36525d"), "{message}");
            assert_eq!(errors(Quota::new(5, longest)), [None; 3]);
            assert!(errors(Quota::new(5, longest + Duration::from_nanos(1))).iter().all(Option::is_some));
        }
    }
}

/// What an error names as the way out does work.
#[test]
fn the_ways_out_of_an_error_work() {
    let mut shown = 0;
    for window in [NS, US, MS, S, DAY, 36_525 * DAY] {
        for limit in [10, 1_000, 1_000_000, 1 << 33, 1 << 61] {
            for (index, error) in errors(quota(limit, window)).into_iter().enumerate() {
                let Some(BuildError::DoesNotFit { largest_limit: largest, .. }) = error else { continue };
                let message = error.unwrap().to_string();
                assert!(message.starts_with(&format!("`{}`", quota(limit, window))), "{message}");
                assert!(message.contains(&format!("at most {largest} ")), "{message}");
                assert_eq!(errors(quota(largest, window))[index], None, "{message}");
                assert!(errors(quota(largest + 1, window))[index].is_some(), "{message}");
                shown += 1;
            }
        }
    }
    assert!(shown > 20, "{shown}");
}
