//! [`Run`]: a trace through a limiter, and what the limiter took for it.

use crate::{progress::Progress, trace::Trace};
use slidegate::{Algorithm, BuildError, Builder, ClientKey, Decision, ManualClock, Nanos, Quota};
use std::{
    collections::{HashSet, VecDeque},
    time::Duration,
};

/// What a limiter did with a trace.
#[derive(Debug)]
pub(super) struct Run {
    /// Was the request of each row allowed?
    pub(super) answers: Vec<bool>,
    /// Requests that met a full table; not allowed.
    pub(super) full: u64,
    /// Clients that made them.
    pub(super) clients_full: u64,
    /// The most bytes that the limiter took.
    pub(super) max_bytes: usize,
    /// The most clients of which it remembered something at once.
    pub(super) max_tracked: usize,
}

/// Rows between two looks at the progress bar.
const STRIDE: usize = 1 << 16;

/// 25 years: half of what may lie between two readings of a limiter.
const AGE: u64 = 25 * 31_557_600 * 1_000_000_000;

impl Run {
    /// Replays the trace through one limiter with room for so many clients.
    pub(super) fn new<A: Algorithm>(
        builder: Builder<u32, A>,
        quota: Quota,
        max_clients: usize,
        trace: &Trace,
        progress: &Progress,
    ) -> Result<Run, BuildError> {
        let clock = ManualClock::new();
        // A table grows with what it remembers, which is never more than the trace, so no other bound is needed. That
        // of logs would have every client spend its whole limit, one unit per tick.
        let limiter = builder.max_clients(max_clients).max_bytes(usize::MAX).clock(clock.clone()).build()?;
        let handle = limiter.handle();
        // Then nothing is remembered of anybody, in any algorithm.
        let silence = AGE.max(u64::try_from(2 * quota.window().as_nanos()).unwrap_or(u64::MAX));

        let mut run = Run {
            answers: Vec::with_capacity(trace.times.len()),
            full: 0,
            clients_full: 0,
            max_bytes: limiter.bytes_in_use(),
            max_tracked: 0,
        };
        let mut turned_away = HashSet::new();
        let mut tracked = Tracked::new(trace.names.len());
        let mut before = 0;
        for (times, clients) in trace.times.chunks(STRIDE).zip(trace.clients.chunks(STRIDE)) {
            for (&time, &client) in times.iter().zip(clients) {
                let now = Nanos::from_nanos(time);
                if time - before > silence {
                    // A stray stamp of 0 among those of this century is further away than a limiter can tell.
                    clock.set(now);
                    limiter.forget_all();
                }
                before = time;
                // By its number and not its name: names with equal hashes would share a count, numbers of 32 bits
                // never do. Nor are they seeded, so a replay takes the same bytes each time.
                let decision = handle.client_by(ClientKey::from_u64(client.into())).at(now).check();
                run.answers.push(decision.is_allowed());
                match decision {
                    Decision::Allowed(allowed) => {
                        tracked.allowed(client, time, allowed.full_reset());
                        run.max_bytes = run.max_bytes.max(limiter.bytes_in_use());
                    }
                    Decision::Refused(_) | Decision::Never(_) => {}
                    Decision::Full(_) => {
                        run.full += 1;
                        turned_away.insert(client);
                    }
                }
            }
            progress.advance(times.len());
        }
        run.clients_full = turned_away.len() as u64;
        run.max_tracked = tracked.most;
        Ok(run)
    }
}

/// Counts the clients of which a limiter remembers something: to ask it would be a look at every slot, for each row.
#[derive(Debug)]
struct Tracked {
    /// When nothing is remembered of a client any more.
    forgotten_at: Vec<u64>,
    /// Each such instant that was told and is not over, in order: whoever is allowed later is forgotten later.
    ends: VecDeque<(u64, u32)>,
    count: usize,
    most: usize,
}

impl Tracked {
    fn new(clients: usize) -> Tracked {
        Tracked { forgotten_at: vec![0; clients], ends: VecDeque::new(), count: 0, most: 0 }
    }

    /// A request of the client is allowed, the last one that it remembers for so long. Times never decrease.
    fn allowed(&mut self, client: u32, now: u64, full_reset: Duration) {
        while let Some(&(end, client)) = self.ends.front().filter(|(end, _)| *end <= now) {
            self.count -= usize::from(self.forgotten_at[client as usize] == end);
            self.ends.pop_front();
        }
        let forgotten_at = &mut self.forgotten_at[client as usize];
        let end = Nanos::from_nanos(now).saturating_add(full_reset).as_nanos();
        self.count += usize::from(*forgotten_at <= now);
        self.most = self.most.max(self.count);
        if *forgotten_at != end {
            *forgotten_at = end;
            self.ends.push_back((end, client));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Recorder;
    use slidegate::Limiter;

    const SECOND: u64 = 1_000_000_000;
    const YEAR: u64 = 31_557_600 * SECOND;

    fn trace(rows: impl IntoIterator<Item = (u64, u32)>) -> Trace {
        let mut recorder = Recorder::default();
        for (time, client) in rows {
            // From the lowest stamp on, so that any span fits.
            recorder.push(i64::MIN.saturating_add_unsigned(time), &client.to_le_bytes()).unwrap();
        }
        recorder.finish().unwrap()
    }

    /// Through the log, the counter and the fixed window.
    fn try_runs(quota: Quota, max_clients: usize, trace: &Trace) -> [Result<Run, BuildError>; 3] {
        let hidden = Progress::start("test", None);
        [
            Run::new(Limiter::log(quota), quota, max_clients, trace, &hidden),
            Run::new(Limiter::counter(quota), quota, max_clients, trace, &hidden),
            Run::new(Limiter::fixed_window(quota), quota, max_clients, trace, &hidden),
        ]
    }

    fn runs(quota: Quota, max_clients: usize, trace: &Trace) -> [Run; 3] {
        try_runs(quota, max_clients, trace).map(Result::unwrap)
    }

    #[test]
    fn all_clients_of_a_trace_have_room_at_once() {
        for clients in [1, 2, 683, 684, 1_366, 1_367, 9_999, 200_000] {
            let trace = trace((0..clients).map(|client| (0, client)));
            let room = trace.names.len();
            for run in runs(Quota::per_second(1), room, &trace) {
                assert_eq!((run.full, run.max_tracked), (0, room));
                assert!(run.answers.iter().all(|allowed| *allowed));
            }
        }
    }

    #[test]
    fn who_finds_no_room_is_counted_and_turned_away() {
        // Room for 896 clients. Some of the others ask twice; after the window the others come first.
        let first = (0..1_000).chain(990..1_000).map(|client| (0, client));
        let second = (0..1_000).rev().map(|client| (5 * SECOND, client));
        let trace = trace(first.chain(second));
        for run in runs(Quota::per_second(2), 1, &trace) {
            assert_eq!((run.full, run.clients_full, run.max_tracked), (114 + 104, 104 + 104, 896));
            let (first, second) = run.answers.split_at(1_010);
            assert!([first, second].iter().all(|rows| rows[..896].iter().all(|allowed| *allowed)));
            assert!([first, second].iter().all(|rows| rows[896..].iter().all(|allowed| !*allowed)));
        }
    }

    #[test]
    fn clients_long_gone_cost_nothing() {
        let one_by_one = trace((0..100_000).map(|client| (u64::from(client) * SECOND, client)));
        for run in runs(Quota::per_second(5), one_by_one.names.len(), &one_by_one) {
            assert!(run.max_tracked <= 2, "{}", run.max_tracked);
            assert!(run.max_bytes < 100_000, "{} bytes for two clients at a time", run.max_bytes);
        }
    }

    #[test]
    fn a_limit_of_many_cells_takes_only_those_it_needs() {
        // Full of such logs, a table for so many clients would take 28 GB.
        let trace = trace((0..10_000).map(|row| (row, 0)));
        let [log, ..] = runs(Quota::per_second(100_000), 10_000, &trace);
        assert!(log.max_bytes < 32 * 10_000, "{}", log.max_bytes);
    }

    /// As many as the limiter itself says that it remembers.
    #[test]
    fn tracked_are_those_that_the_limiter_remembers() {
        for window in [1, 7, 100] {
            let quota = Quota::new(2, Duration::from_nanos(window));
            let mut rows: Vec<(u64, u32)> =
                (0..2_000_u32).map(|row| (u64::from(row * row % 1_999), row * 7 % 13)).collect();
            rows.sort_unstable();
            let clock = ManualClock::new();
            let limiter = Limiter::<u32>::counter(quota).clock(clock.clone()).build().unwrap();
            let mut tracked = Tracked::new(13);
            for (time, client) in rows {
                clock.set(Nanos::from_nanos(time));
                if let Decision::Allowed(allowed) = limiter.check(&client) {
                    tracked.allowed(client, time, allowed.full_reset());
                    assert_eq!(tracked.count, limiter.tracked(), "at {time}");
                }
            }
            assert!(tracked.most > 3);
        }
    }

    /// Among others words that tell little more than a century apart, and ages of half of that and more.
    #[test]
    fn whoever_comes_back_late_is_new() {
        let ages = (31..64).map(|bits| 1_u64 << bits).chain((1..11).map(|half| half * 51 * YEAR));
        let traces: Vec<Trace> = ages
            .map(|age| {
                let many = (0..3).flat_map(|_| 0..100).map(|client| (age, client));
                trace([(0, 0), (0, 0)].into_iter().chain(many))
            })
            .collect();
        for quota in (1..20).map(|nanos| Quota::new(2, Duration::from_nanos(nanos))).chain([Quota::per_second(2)]) {
            for trace in &traces {
                for run in runs(quota, 100, trace) {
                    let (allowed, refused) = run.answers.split_at(202);
                    assert!(allowed.iter().all(|allowed| *allowed), "{quota} after {} ns", trace.span());
                    assert!(refused.iter().all(|allowed| !*allowed), "{quota} after {} ns", trace.span());
                    assert_eq!(run.max_tracked, 100);
                }
            }
        }
    }
}
