//! `slidegate`: replays request logs through rate limiters, to choose an algorithm and a limit.

mod escape;
mod failure;
mod input;
mod progress;
mod replay;
mod trace;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

const EXIT_CODES: &str = "\
Exit codes:
  0  the result was printed
  1  no result: more bad lines than --max-errors allows
  2  no result: an argument or a file cannot be used";

/// Replays request logs through rate limiters, to choose an algorithm and a limit
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
}

fn main() -> ExitCode {
    let Command::Replay(args) = Cli::parse().command;
    match replay::run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
