//! Runs `slidegate replay`.

use crate::run::{Run, path, subcommand};
use serde_json::Value;
use std::{
    ffi::OsStr,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

impl Run {
    /// The JSON of a run that must have succeeded in silence.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(self.result()).unwrap()
    }

    /// What a run said that ended without a result, where one line is all there is to say.
    pub(crate) fn one_line(&self, code: i32) -> &str {
        let said = self.failure(code);
        assert_eq!(said.lines().count(), 1, "{said}");
        said
    }
}

/// `slidegate replay`, with `input` on its standard input.
pub(crate) fn replay<A: AsRef<OsStr>>(args: &[A], input: &[u8]) -> Run {
    let mut child =
        command().args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = thread::scope(|scope| {
        // A tool that gives up early closes its end; that is no matter here.
        scope.spawn(move || stdin.write_all(input).ok());
        child.wait_with_output().unwrap()
    });
    Run::of(output)
}

/// `slidegate replay`, to be given arguments.
pub(crate) fn command() -> Command {
    subcommand("replay")
}

/// The report for `input` under a limit, as JSON.
pub(crate) fn report(limit: &str, input: &[u8]) -> Value {
    replay(&["--limit", limit, "--json", "-"], input).json()
}

/// A file with this content, of a name that no other test uses.
pub(crate) fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = path(name);
    fs::write(&path, content).unwrap();
    path
}

/// A file of the repository's samples.
pub(crate) fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples").join(name)
}
