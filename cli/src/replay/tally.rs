//! [`Tally`]: what the answers of an algorithm amount to.

use crate::trace::Trace;
use slidegate::Quota;

/// What the answers of an algorithm amount to, in whole numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Rows allowed.
    pub(super) allowed: u64,
    /// Rows refused.
    pub(super) refused: u64,
    /// Clients that were refused at least once.
    pub(super) clients_refused: u64,
    /// Rows answered unlike the reference.
    pub(super) disagree: u64,
    /// The most that one client was allowed in a closed window; `None` if nothing was allowed.
    pub(super) peak: Option<Peak>,
}

/// The first time that one client had been allowed the most in a closed window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peak {
    /// Units allowed in the window.
    pub(super) units: u64,
    /// Who it was.
    pub(super) client: u32,
    /// Where the window ends, in nanoseconds since the first request.
    pub(super) at: u64,
}

impl Tally {
    /// Counts in one pass over the rows. A second index follows behind and takes away what the closed window
    /// `[t-W, t]` has left, for all clients at once, since all rows are in order of time.
    pub(super) fn new(trace: &Trace, quota: Quota, answers: &[bool], reference: &[bool]) -> Tally {
        // A window that does not fit 64 bits is longer than any trace.
        let window = u64::try_from(quota.window().as_nanos()).unwrap_or(u64::MAX);
        let mut tally = Tally::default();
        let mut in_window = vec![0_u64; trace.names.len()];
        let mut ever_refused = vec![false; trace.names.len()];
        let mut oldest = 0;
        for (row, (&time, &client)) in trace.times.iter().zip(&trace.clients).enumerate() {
            tally.disagree += u64::from(answers[row] != reference[row]);
            if !answers[row] {
                tally.refused += 1;
                ever_refused[client as usize] = true;
                continue;
            }
            tally.allowed += 1;
            while trace.times[oldest] < time.saturating_sub(window) {
                in_window[trace.clients[oldest] as usize] -= u64::from(answers[oldest]);
                oldest += 1;
            }
            let units = &mut in_window[client as usize];
            *units += 1;
            if tally.peak.is_none_or(|peak| peak.units < *units) {
                tally.peak = Some(Peak { units: *units, client, at: time });
            }
        }
        tally.clients_refused = ever_refused.into_iter().map(u64::from).sum();
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Recorder;
    use std::time::Duration;

    fn trace(rows: &[(i64, &str)]) -> Trace {
        let mut recorder = Recorder::default();
        for (time, client) in rows {
            recorder.push(*time, client.as_bytes()).unwrap();
        }
        recorder.finish().unwrap()
    }

    fn quota(window: u64) -> Quota {
        Quota::new(1, Duration::from_nanos(window))
    }

    #[test]
    fn the_window_is_closed_on_both_sides() {
        let trace = trace(&[(0, "a"), (10, "a"), (21, "a")]);
        let all = [true; 3];
        let peak = |window| Tally::new(&trace, quota(window), &all, &all).peak.unwrap();
        assert_eq!(peak(9), Peak { units: 1, client: 0, at: 0 });
        assert_eq!(peak(10), Peak { units: 2, client: 0, at: 10 });
        assert_eq!(peak(20), Peak { units: 2, client: 0, at: 10 });
        assert_eq!(peak(21), Peak { units: 3, client: 0, at: 21 });
    }

    #[test]
    fn only_what_was_allowed_counts_and_each_client_alone() {
        let trace = trace(&[(0, "a"), (0, "b"), (1, "b"), (1, "b"), (2, "a"), (2, "a")]);
        let answers = [true, true, false, true, false, true];
        let reference = [true, true, true, true, false, false];
        assert_eq!(
            Tally::new(&trace, quota(5), &answers, &reference),
            Tally {
                allowed: 4,
                refused: 2,
                clients_refused: 2,
                disagree: 2,
                peak: Some(Peak { units: 2, client: 1, at: 1 }),
            }
        );
    }

    #[test]
    fn nothing_allowed_has_no_peak() {
        let trace = trace(&[(0, "a"), (1, "b")]);
        let tally = Tally::new(&trace, quota(5), &[false; 2], &[false; 2]);
        assert_eq!(tally, Tally { refused: 2, clients_refused: 2, ..Tally::default() });
    }
}
