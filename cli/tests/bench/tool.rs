//! Runs `slidegate bench`.

pub(crate) use crate::run::path as file;
use crate::run::{Run, subcommand};
use serde_json::Value;

/// `slidegate bench`.
pub(crate) fn bench(args: &[&str]) -> Run {
    Run::of(subcommand("bench").args(args).output().unwrap())
}

/// The report of a short bench, as JSON.
pub(crate) fn report(args: &[&str]) -> Value {
    let args = [&["--seconds", "0.05", "--json"], args].concat();
    serde_json::from_str(bench(&args).result()).unwrap()
}
