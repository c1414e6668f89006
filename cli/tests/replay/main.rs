//! The tool as its users run it.

mod input;
mod output;
mod samples;
mod tool;
mod traffic;
mod truth;
