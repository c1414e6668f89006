//! Writes the files in `samples/`: `cargo run -p slidegate-cli --example sample -- csv > samples/requests.csv`, and the
//! same with `access-log` for `samples/access.log`.

mod generator;

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

fn main() -> ExitCode {
    let text = match env::args().nth(1).as_deref() {
        Some("csv") => generator::csv(),
        Some("access-log") => generator::access_log(),
        _ => {
            eprintln!("say which sample: csv or access-log");
            return ExitCode::from(2);
        }
    };
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("standard output: {error}");
            ExitCode::FAILURE
        }
    }
}
