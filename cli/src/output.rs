//! Standard output: where results go, and nothing else.

use crate::{escape, failure::Failure};
use serde::Serialize;
use std::io::{self, Write};

/// A report as one JSON object.
pub(crate) fn json(report: &impl Serialize) -> Result<String, Failure> {
    let json = serde_json::to_string_pretty(report).map_err(|error| Failure::unusable(error.to_string()))?;
    Ok(escape::ascii_json(&json) + "\n")
}

/// Prints the result. A reader who had enough (`| head -1`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::unusable(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}
