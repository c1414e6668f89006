//! [`Failure`]: why a run ends without a result, or with one that is not to be relied on.

use std::{
    io::{self, Write},
    process::ExitCode,
};

/// Why a run ends without a result, or with one that is not to be relied on: one line for people and
/// an exit code for scripts.
#[derive(Debug)]
pub(crate) struct Failure {
    exit_code: u8,
    message: String,
}

impl Failure {
    /// Too many lines of the input are bad.
    pub(crate) fn bad_lines(message: impl Into<String>) -> Failure {
        Failure { exit_code: 1, message: message.into() }
    }

    /// An argument or an input cannot be used.
    pub(crate) fn unusable(message: impl Into<String>) -> Failure {
        Failure { exit_code: 2, message: message.into() }
    }

    /// The result was printed, but clients were turned away for want of room.
    pub(crate) fn no_room(message: impl Into<String>) -> Failure {
        Failure { exit_code: 3, message: message.into() }
    }

    /// Prints the message to standard error and hands out the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        // Where standard error is closed nobody is left to tell, so this must not panic as `eprintln!` would.
        let _ = writeln!(io::stderr(), "slidegate: {}", self.message);
        ExitCode::from(self.exit_code)
    }
}
