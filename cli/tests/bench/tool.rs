//! Runs the binary.

use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    /// What it printed; it must have succeeded in silence.
    pub(crate) fn result(&self) -> &str {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self:?}");
        &self.out
    }

    /// What it said; it must have ended without a result.
    pub(crate) fn failure(&self) -> &str {
        assert_eq!((self.code, self.out.as_str()), (Some(2), ""), "{self:?}");
        assert!(self.err.ends_with('\n') && !self.err.contains("panicked"), "{self:?}");
        self.err.trim_end()
    }
}

/// `slidegate bench`.
pub(crate) fn bench(args: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_slidegate")).arg("bench").args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// The report of a short bench, as JSON.
pub(crate) fn report(args: &[&str]) -> Value {
    let args = [&["--seconds", "0.05", "--json"], args].concat();
    serde_json::from_str(bench(&args).result()).unwrap()
}

/// A path that no other test uses.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
