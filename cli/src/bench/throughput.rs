//! [`Throughput`]: as many checks as go into a time, none of them timed.

use super::{
    answers::Answers,
    crew::{self, wait_until},
    keys::Keys,
    load::Load,
};
use crate::{failure::Failure, progress::Progress};
use slidegate::{Algorithm, Limiter};
use std::time::Duration;

/// What all threads did.
#[derive(Debug, Default)]
pub(super) struct Throughput {
    /// The answers they got.
    pub(super) answers: Answers,
    /// From the common start to the end of the last one.
    pub(super) elapsed: Duration,
}

/// Every thread asks again as soon as it is answered, through a handle, as threads do that ask often.
pub(super) fn measure<A: Algorithm + Send + Sync>(
    limiter: &Limiter<u64, A>,
    load: &Load,
    keys: &Keys,
    progress: &Progress,
) -> Result<Throughput, Failure> {
    let crew = crew::run(load.threads, progress, |thread, start| {
        let handle = limiter.handle();
        let mut own = Throughput::default();
        wait_until(start);
        for chunk in keys.endless(thread, load.threads) {
            for &key in chunk {
                own.answers.count(handle.check(&u64::from(key)));
            }
            own.elapsed = start.elapsed();
            if own.elapsed >= load.time {
                break;
            }
        }
        own
    })?;
    let mut all = Throughput::default();
    for own in crew {
        all.answers += own.answers;
        all.elapsed = all.elapsed.max(own.elapsed);
    }
    Ok(all)
}
