//! [`Progress`]: how far a run is, on a terminal.

use indicatif::{ProgressBar, ProgressBarIter, ProgressStyle};
use std::io::{self, Read, Write};

/// A bar on standard error, where that is a terminal; nothing elsewhere. It disappears when dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Starts a step of `total` bytes or rows; `None` where nobody knows how many they are.
    pub(crate) fn start(step: &'static str, total: Option<u64>) -> Progress {
        let (bar, template) = match total {
            Some(total) => (ProgressBar::new(total), "{msg} {wide_bar} {percent:>3} % {eta}"),
            None => (ProgressBar::new_spinner(), "{msg} {spinner} {elapsed}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(step);
        Progress { bar }
    }

    /// Counts what is read from `source`.
    pub(crate) fn watch<R: Read>(&self, source: R) -> ProgressBarIter<R> {
        self.bar.wrap_read(source)
    }

    /// Says that so many more are done.
    pub(crate) fn advance(&self, more: usize) {
        self.bar.inc(more as u64);
    }

    /// Prints a line to standard error, above the bar.
    pub(crate) fn say(&self, line: &str) {
        // As in `Failure::report`: a closed standard error is no reason to panic.
        self.bar.suspend(|| {
            let _ = writeln!(io::stderr(), "{line}");
        });
    }
}
