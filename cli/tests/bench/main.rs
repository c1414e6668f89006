//! `slidegate bench` as its users run it: what it counts and prints. How long things take is never asserted.

mod counts;
mod errors;
mod output;
#[path = "../run/mod.rs"]
mod run;
mod tool;
