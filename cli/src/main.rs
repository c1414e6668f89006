//! `slidegate`: replays request logs through rate limiters, to choose an algorithm and a limit, and measures limiters.

mod algorithm;
mod bench;
mod escape;
mod failure;
mod input;
mod millis;
mod output;
mod progress;
mod replay;
mod text;
mod trace;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

const EXIT_CODES: &str = "\
Exit codes:
  0  the result was printed
  1  no result: more bad lines than --max-errors allows
  2  no result: an argument or a file cannot be used
  3  the result was printed, but clients were turned away at a full table: raise --max-clients";

/// Replays request logs through rate limiters, to choose an algorithm and a limit, and measures limiters
#[derive(Parser)]
#[command(name = "slidegate", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(after_help = EXIT_CODES)]
    Replay(replay::Args),
    #[command(after_help = bench::NOTES)]
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Replay(args) => replay::run(&args),
        Command::Bench(args) => bench::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
