//! [`BadLines`]: reports the lines that are no requests, and knows when there are too many.

use crate::{failure::Failure, progress::Progress};

/// Reports bad lines on standard error and counts them.
pub(super) struct BadLines<'p> {
    most: u64,
    count: u64,
    progress: &'p Progress,
}

impl BadLines<'_> {
    /// Tolerates `most` bad lines.
    pub(super) fn new(most: u64, progress: &Progress) -> BadLines<'_> {
        BadLines { most, count: 0, progress }
    }

    /// Reports a bad line; an error if it is one too many. The name and the reason are already escaped.
    pub(super) fn report(&mut self, file: &str, line: u64, reason: &str) -> Result<(), Failure> {
        self.count += 1;
        self.progress.say(&format!("{file}:{line}: {reason}"));
        if self.count <= self.most {
            return Ok(());
        }
        Err(Failure::bad_lines(format!("more bad lines than --max-errors {} allows; stopped there", self.most)))
    }

    /// Bad lines so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }
}
