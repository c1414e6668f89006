//! The input: files of several formats and compressions, read as one [`Trace`].

mod access_log;
mod bad_lines;
mod csv;
mod format;
mod lines;
mod source;
mod stamp;
mod zst;

use crate::{
    escape::Shown,
    failure::Failure,
    progress::Progress,
    trace::{Recorder, Trace},
};
use bad_lines::BadLines;
use lines::Lines;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What to read, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Files {
    /// Request logs: CSV with a header, or Common or Combined access logs, plain, .gz or .zst; `-` is standard input.
    /// Several files are one input
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    format: format::Choice,

    /// Bad lines that are reported and left out before the run is given up
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    max_errors: u64,
}

/// The requests of the input, and what is to be said about it.
#[derive(Debug)]
pub(crate) struct Input {
    /// The requests.
    pub(crate) trace: Trace,
    /// The files as they were named.
    pub(crate) names: Vec<String>,
    /// Lines that were reported and left out.
    pub(crate) bad_lines: u64,
    /// All stamps are dates, so that an instant can be shown as one.
    pub(crate) dated: bool,
}

/// Reads all files. Bad lines are reported on standard error as they are met.
pub(crate) fn read(files: &Files) -> Result<Input, Failure> {
    let progress = Progress::start("reading", files.paths.iter().map(|file| size(file)).sum());
    let mut recorder = Recorder::default();
    let mut bad_lines = BadLines::new(files.max_errors, &progress);
    let mut dated = true;
    for file in &files.paths {
        dated &= read_file(file, &files.format, &progress, &mut recorder, &mut bad_lines)?;
    }
    let bad_lines = bad_lines.count();
    let trace = recorder.finish().ok_or_else(|| {
        Failure::unusable(match bad_lines {
            0 => "the input has no requests".to_owned(),
            _ => format!("the input has no requests, only bad lines ({bad_lines})"),
        })
    })?;
    let names = files.paths.iter().map(|file| file.to_string_lossy().into_owned()).collect();
    Ok(Input { trace, names, bad_lines, dated })
}

/// The size of a regular file.
fn size(file: &Path) -> Option<u64> {
    let metadata = fs::metadata(file).ok()?;
    metadata.is_file().then_some(metadata.len())
}

/// Adds the requests of one file; says whether its stamps are dates.
fn read_file(
    file: &Path,
    format: &format::Choice,
    progress: &Progress,
    recorder: &mut Recorder,
    bad_lines: &mut BadLines<'_>,
) -> Result<bool, Failure> {
    let name = format!("{:#}", Shown(file.as_os_str().as_encoded_bytes()));
    let unusable = |reason: String| Failure::unusable(format!("{name}: {reason}"));
    let (head, source) = source::open(file, progress).map_err(|error| unusable(unreadable(&error)))?;
    let mut format = format::find(&head, format).map_err(unusable)?;
    let mut lines = Lines::new(io::Cursor::new(head), source);
    while let Some(line) = lines.next().map_err(|error| unusable(unreadable(&error)))? {
        match line.text.and_then(|text| format.request(text)) {
            Ok(None) => {}
            Ok(Some(request)) => recorder.push(request.time, request.client).map_err(unusable)?,
            Err(reason) => bad_lines.report(&name, line.number, &reason)?,
        }
    }
    Ok(format.dated())
}

/// Why a file cannot be read, or not to its end.
fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the compressed data ends too early; the file is cut off".to_owned(),
        _ => error.to_string(),
    }
}
