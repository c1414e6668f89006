//! Threads that start at the same instant.

use crate::{failure::Failure, progress::Progress};
use std::{
    panic::resume_unwind,
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

/// From the word to go to the start: until then the last of the threads is awake and has what it needs.
const LEAD: Duration = Duration::from_millis(10);

/// What `work` makes of each number from 0 to `threads` - 1 and the common start, each in a thread of its own. The progress is
/// the nanoseconds that it takes.
pub(super) fn run<R: Send>(
    threads: usize,
    progress: &Progress,
    work: impl Fn(usize, Instant) -> R + Sync,
) -> Result<Vec<R>, Failure> {
    let start: OnceLock<Option<Instant>> = OnceLock::new();
    thread::scope(|scope| {
        let (start, work) = (&start, &work);
        let mut crew = Vec::new();
        for number in 0..threads {
            let member = thread::Builder::new().spawn_scoped(scope, move || start.wait().map(|at| work(number, at)));
            match member {
                Ok(member) => crew.push(member),
                Err(error) => {
                    // Who waits is sent home, or the scope would never end.
                    let _ = start.set(None);
                    return Err(Failure::unusable(format!("--threads: no more than {number} of them start: {error}")));
                }
            }
        }
        let _ = start.set(Some(Instant::now() + LEAD));
        let mut seen = Instant::now();
        while !crew.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(20));
            let now = Instant::now();
            progress.advance(usize::try_from((now - seen).as_nanos()).unwrap_or(0));
            seen = now;
        }
        Ok(crew.into_iter().filter_map(|member| member.join().unwrap_or_else(|panic| resume_unwind(panic))).collect())
    })
}

/// Comes back at an instant, or at once if it is past. Reads the clock and nothing else: the hint to the processor that
/// this is a loop would stop it for as long as a check takes.
#[inline]
pub(super) fn wait_until(instant: Instant) {
    while Instant::now() < instant {}
}
