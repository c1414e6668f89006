//! [`Trace`]: all requests of the input, in order of time.

use indexmap::IndexSet;

/// Steps that stamps are written in, in nanoseconds, coarsest first: a minute, a second, 1 ms, 1 µs, 1 ns.
const STEPS: [i64; 5] = [60_000_000_000, 1_000_000_000, 1_000_000, 1_000, 1];

/// All requests of the input, in order of time; equal stamps stay in the order of the input.
///
/// Two flat columns: 12 bytes for a row.
#[derive(Debug)]
pub(crate) struct Trace {
    /// Nanoseconds since the first request, row by row.
    pub(crate) times: Vec<u64>,
    /// Who asked, row by row: positions in `names`.
    pub(crate) clients: Vec<u32>,
    /// The clients, in order of first appearance in the input.
    pub(crate) names: IndexSet<Box<[u8]>>,
    /// The first stamp as the input has it, in nanoseconds since its own zero (the Unix epoch where it has dates).
    pub(crate) origin: i64,
    /// The coarsest of the steps that every stamp of the input is a multiple of, in nanoseconds.
    pub(crate) resolution: u64,
    /// Rows that stood behind a later one in the input.
    pub(crate) out_of_order: u64,
}

impl Trace {
    /// The time from the first request to the last, in nanoseconds.
    pub(crate) fn span(&self) -> u64 {
        self.times.last().copied().unwrap_or(0)
    }
}

/// Takes the rows of the input as they come and makes a [`Trace`] of them.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    times: Vec<i64>,
    clients: Vec<u32>,
    names: IndexSet<Box<[u8]>>,
    newest: Option<i64>,
    out_of_order: u64,
}

impl Recorder {
    /// Adds a row; an error is a reason to give up.
    pub(crate) fn push(&mut self, time: i64, client: &[u8]) -> Result<(), String> {
        let client = match self.names.get_index_of(client) {
            Some(known) => known,
            None => self.names.insert_full(client.into()).0,
        };
        let client = u32::try_from(client).map_err(|_| "more than 4,294,967,296 clients".to_owned())?;
        self.times.push(time);
        self.clients.push(client);
        if self.newest > Some(time) {
            self.out_of_order += 1;
        } else {
            self.newest = Some(time);
        }
        Ok(())
    }

    /// The trace of all rows; `None` if there was none.
    pub(crate) fn finish(self) -> Option<Trace> {
        let Recorder { mut times, mut clients, names, out_of_order, .. } = self;
        if out_of_order > 0 {
            let mut rows: Vec<(i64, u32)> = times.into_iter().zip(clients).collect();
            rows.sort_by_key(|&(time, _)| time);
            (times, clients) = rows.into_iter().unzip();
        }
        let origin = *times.first()?;
        let whole = |step: &i64| times.iter().all(|time| time % step == 0);
        let resolution = STEPS.into_iter().find(whole).unwrap_or(1).unsigned_abs();
        let times = times.into_iter().map(|time| time.abs_diff(origin)).collect();
        Some(Trace { times, clients, names, origin, resolution, out_of_order })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(rows: &[(i64, &str)]) -> Trace {
        let mut recorder = Recorder::default();
        for (time, client) in rows {
            recorder.push(*time, client.as_bytes()).unwrap();
        }
        recorder.finish().unwrap()
    }

    #[test]
    fn rows_are_sorted_by_time_and_equal_stamps_keep_their_order() {
        let trace = trace(&[(50, "a"), (70, "b"), (50, "c"), (60, "a"), (70, "d")]);
        assert_eq!(trace.times, [0, 0, 10, 20, 20]);
        assert_eq!(trace.clients, [0, 2, 0, 1, 3]);
        assert_eq!(trace.out_of_order, 2);
        assert_eq!((trace.origin, trace.span()), (50, 20));
        assert_eq!(trace.names.get_index(2).unwrap().as_ref(), b"c");
    }

    #[test]
    fn the_resolution_is_the_coarsest_step_of_all_stamps() {
        assert_eq!(trace(&[(120_000_000_000, "a"), (0, "a")]).resolution, 60_000_000_000);
        assert_eq!(trace(&[(1_000_000_000, "a"), (-2_000_000_000, "a")]).resolution, 1_000_000_000);
        assert_eq!(trace(&[(1_000_000_000, "a"), (3_000_000, "a")]).resolution, 1_000_000);
        assert_eq!(trace(&[(1_000_000_000, "a"), (3_000, "a")]).resolution, 1_000);
        assert_eq!(trace(&[(1_000_000_000, "a"), (3_001, "a")]).resolution, 1);
    }

    #[test]
    fn the_widest_span_does_not_wrap() {
        assert_eq!(trace(&[(i64::MIN, "a"), (i64::MAX, "b")]).span(), u64::MAX);
    }

    #[test]
    fn no_rows_no_trace() {
        assert!(Recorder::default().finish().is_none());
    }
}
