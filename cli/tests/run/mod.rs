//! [`Run`]: what a run of the binary left behind.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    pub(crate) fn of(output: Output) -> Run {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// What a run printed that must have succeeded in silence.
    pub(crate) fn result(&self) -> &str {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self:?}");
        &self.out
    }

    /// Asserts that the run ended without a result, and hands out what it said.
    pub(crate) fn failure(&self, code: i32) -> &str {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{self:?}");
        assert!(self.err.ends_with('\n') && !self.err.contains("panicked"), "{self:?}");
        self.err.trim_end()
    }
}

/// A subcommand of `slidegate`, to be given arguments.
pub(crate) fn subcommand(name: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slidegate"));
    command.arg(name);
    command
}

/// A path of a name that no other test uses.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
