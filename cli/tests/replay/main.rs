//! The tool as its users run it.

mod input;
mod output;
#[path = "../run/mod.rs"]
mod run;
mod samples;
mod tool;
mod traffic;
mod truth;
