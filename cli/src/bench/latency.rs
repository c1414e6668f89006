//! [`Latency`]: how long checks take, each of them timed.

use super::{
    answers::Answers,
    crew::{self, wait_until},
    keys::Keys,
    load::Load,
};
use crate::{failure::Failure, progress::Progress};
use hdrhistogram::Histogram;
use slidegate::{Algorithm, Decision, Limiter};
use std::time::{Duration, Instant};

/// What all threads met.
#[derive(Debug)]
pub(super) struct Latency {
    /// The answers they got.
    pub(super) answers: Answers,
    /// How long each took, in nanoseconds.
    pub(super) histogram: Histogram<u64>,
    /// From the common start to the end of the last one.
    pub(super) elapsed: Duration,
    /// Requests that were to be made; `None` in a closed loop.
    pub(super) scheduled: Option<u64>,
}

/// Times every check of all threads: in an open loop where the load has a rate, else in a closed one.
pub(super) fn measure<A: Algorithm + Send + Sync>(
    limiter: &Limiter<u64, A>,
    load: &Load,
    keys: &Keys,
    progress: &Progress,
) -> Result<Latency, Failure> {
    let schedule = load.rate.map(|rate| Schedule::new(rate, load.time));
    let crew = crew::run(load.threads, progress, |thread, start| {
        let handle = limiter.handle();
        let check = |key: u32| handle.check(&u64::from(key));
        let mut own = Latency::new(None);
        wait_until(start);
        match &schedule {
            None => own.closed(start, thread, load, keys, check),
            Some(schedule) => {
                let own_requests = (thread as u64..schedule.requests).step_by(load.threads);
                own.open(start, schedule, own_requests, |number| check(keys.of_request(number)));
            }
        }
        own.elapsed = start.elapsed();
        own
    })?;
    let mut all = Latency::new(schedule.map(|schedule| schedule.requests));
    for own in crew {
        all.answers += own.answers;
        all.elapsed = all.elapsed.max(own.elapsed);
        all.histogram += own.histogram;
    }
    Ok(all)
}

impl Latency {
    fn new(scheduled: Option<u64>) -> Latency {
        // No run of the schedule is longer than two hours.
        const DAY: u64 = 24 * 60 * 60 * 1_000_000_000;
        const DIGITS: u8 = 3;

        let histogram = Histogram::new_with_bounds(1, DAY, DIGITS).expect("these bounds are right");
        Latency { answers: Answers::default(), histogram, elapsed: Duration::ZERO, scheduled }
    }

    /// Asks again as soon as it is answered: service times.
    fn closed(&mut self, start: Instant, thread: usize, load: &Load, keys: &Keys, check: impl Fn(u32) -> Decision) {
        for chunk in keys.endless(thread, load.threads) {
            for &key in chunk {
                let before = Instant::now();
                let decision = check(key);
                self.record(before, decision);
            }
            if start.elapsed() >= load.time {
                break;
            }
        }
    }

    /// Asks when the schedule says so, or as soon as it can after that; the latency counts from the schedule.
    fn open(
        &mut self,
        start: Instant,
        schedule: &Schedule,
        requests: impl Iterator<Item = u64>,
        check: impl Fn(u64) -> Decision,
    ) {
        for number in requests {
            let intended = start + schedule.at(number);
            wait_until(intended);
            let decision = check(number);
            let end = self.record(intended, decision);
            if end.duration_since(start) > schedule.patience {
                break;
            }
        }
    }

    /// Stamps the end of a check. The system's clock is read in order with what stands before it; that of the limiters is
    /// cheaper and could be read while the check still runs.
    #[inline]
    fn record(&mut self, begin: Instant, decision: Decision) -> Instant {
        let end = Instant::now();
        let nanos = end.duration_since(begin).as_nanos();
        self.histogram.saturating_record(u64::try_from(nanos).unwrap_or(u64::MAX));
        self.answers.count(decision);
        end
    }
}

/// When requests are to start.
#[derive(Debug)]
struct Schedule {
    rate: u64,
    /// How many there are.
    requests: u64,
    /// Since the start, after which no more requests are made.
    patience: Duration,
}

const SECOND: u64 = 1_000_000_000;

impl Schedule {
    fn new(rate: u64, time: Duration) -> Schedule {
        let requests = (time.as_nanos() * u128::from(rate)).div_ceil(u128::from(SECOND));
        Schedule {
            rate,
            requests: u64::try_from(requests).unwrap_or(u64::MAX),
            // What is late at the end is still done, or the worst would be left out; but a rate that this machine cannot
            // keep must come to an end.
            patience: time + time.max(Duration::from_secs(2)),
        }
    }

    /// When a request is to start, since the start of all.
    fn at(&self, number: u64) -> Duration {
        // At most 10^9 a second, so the product fits.
        Duration::new(number / self.rate, 0) + Duration::from_nanos(number % self.rate * SECOND / self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slidegate::{Gate, Quota};

    #[test]
    fn a_schedule_is_even_and_ends_in_time() {
        for (rate, millis, requests) in [(1, 1_000, 1), (1, 1, 1), (3, 1_000, 3), (1_000, 1_500, 1_500)] {
            let schedule = Schedule::new(rate, Duration::from_millis(millis));
            assert_eq!(schedule.requests, requests);
            assert_eq!(schedule.at(0), Duration::ZERO);
            assert!(schedule.at(requests - 1) < Duration::from_millis(millis));
            assert!(schedule.at(requests) >= Duration::from_millis(millis));
        }
        let fastest = Schedule::new(SECOND, Duration::from_secs(3_600));
        assert_eq!(fastest.requests, 3_600 * SECOND);
        assert_eq!(fastest.at(fastest.requests - 1), Duration::from_secs(3_600) - Duration::from_nanos(1));
        assert_eq!(Schedule::new(3, Duration::from_secs(1)).at(2), Duration::from_nanos(666_666_666));
    }

    #[test]
    fn what_is_late_counts_from_its_schedule() {
        let allowed = Gate::try_counter(Quota::per_second(1)).unwrap();
        let mut latency = Latency::new(None);
        let schedule = Schedule::new(1_000, Duration::from_millis(3));
        // Started when the schedule was over by ten seconds: all are late by that, though each check is short.
        let start = Instant::now().checked_sub(Duration::from_secs(10)).unwrap();
        let patient = Schedule { patience: Duration::from_secs(60), ..schedule };
        latency.open(start, &patient, 0..patient.requests, |_| allowed.check());
        assert_eq!(latency.histogram.len(), 3);
        assert!(latency.histogram.min() > 9_900_000_000, "{}", latency.histogram.min());
        // Without patience only one is made.
        let mut latency = Latency::new(None);
        latency.open(start, &Schedule { patience: Duration::ZERO, ..patient }, 0..3, |_| allowed.check());
        assert_eq!((latency.histogram.len(), latency.answers.checks()), (1, 1));
    }
}
