//! slidegate beside its competitors and a hand-written floor, in one process and interleaved; see `benches/README.md`.

mod contender;
mod footprint;
mod keys;
mod peers;
mod report;
mod trial;
mod workload;

use clap::{Parser, builder::PossibleValuesParser};
use indicatif::{ProgressBar, ProgressStyle};
use peers::{Entry, Key};
use report::Report;
use std::{collections::BTreeSet, io};
use trial::Trial;
use workload::{Form, Keys, MILLION, Measure, Workload};

/// Measures slidegate beside its competitors.
#[derive(Parser)]
struct Args {
    /// Fewer checks and repetitions: about 3 minutes instead of 30.
    #[arg(long)]
    quick: bool,
    /// These workloads only; several with commas between.
    #[arg(
        long,
        value_name = "WORKLOAD",
        value_delimiter = ',',
        value_parser = names(&workload::all(Form::Full), |workload| workload.name)
    )]
    only: Vec<String>,
    /// These contenders only.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = names(&peers::all::<u64>(), |entry| entry.name)
    )]
    contenders: Vec<String>,
    /// Prints one JSON object instead of tables.
    #[arg(long)]
    json: bool,
    /// For the processes that this one starts: the memory of the one contender.
    #[arg(long, hide = true, requires_all = ["only", "contenders"])]
    footprint: bool,
}

/// Takes one of these names; clap lists them in the help, and where none fits.
fn names<T>(all: &[T], name: fn(&T) -> &'static str) -> PossibleValuesParser {
    all.iter().map(name).into()
}

impl Args {
    fn workloads(&self) -> Vec<Workload> {
        let mut workloads = workload::all(if self.quick { Form::Quick } else { Form::Full });
        let too_long = |workload: &Workload| self.quick && self.only.is_empty() && workload.clients > MILLION;
        workloads.retain(|workload| chosen(&self.only, workload.name) && !too_long(workload));
        workloads
    }

    fn entries<K: Key>(&self, workload: &Workload) -> Vec<Entry<K>> {
        let mut entries = peers::all();
        entries.retain(|entry| chosen(&self.contenders, entry.name) && entry.suits(workload));
        entries
    }
}

fn chosen(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|chosen| chosen == name)
}

fn main() -> Result<(), serde_json::Error> {
    let args = Args::parse();
    let workloads = args.workloads();
    if args.footprint {
        let footprint = footprint::of_this_process(&args.contenders[0], &workloads[0]);
        return serde_json::to_writer(io::stdout().lock(), &footprint);
    }

    // Drawn on standard error, if that is a terminal.
    let bar = ProgressBar::new(workloads.iter().map(|workload| steps(workload, &args)).sum());
    bar.set_style(ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} % {eta}").expect("a valid template"));
    let mut reports = Vec::new();
    for workload in &workloads {
        if steps(workload, &args) == 0 {
            continue;
        }
        bar.set_message(workload.name);
        let report = match (workload.measure, workload.keys) {
            (Measure::Times, Keys::Numbers) => times(workload, args.entries::<u64>(workload), &bar),
            (Measure::Times, Keys::Text) => times(workload, args.entries::<String>(workload), &bar),
            (Measure::Footprint, _) => footprints(workload, args.entries(workload), &bar),
        };
        if !args.json {
            bar.suspend(|| println!("{report}"));
        }
        reports.push(report);
    }
    bar.finish_and_clear();
    if args.json {
        return serde_json::to_writer_pretty(io::stdout().lock(), &serde_json::json!({ "workloads": reports }));
    }
    for note in reports.iter().flat_map(Report::notes).collect::<BTreeSet<_>>() {
        println!("{}  {}", note.letter(), note.meaning());
    }
    Ok(())
}

/// The steps of the progress bar.
fn steps(workload: &Workload, args: &Args) -> u64 {
    (args.entries::<u64>(workload).len() * workload.repetitions) as u64
}

/// Everyone once in each repetition; whoever begins comes last in the next one.
fn times<K: Key>(workload: &Workload, entries: Vec<Entry<K>>, bar: &ProgressBar) -> Report {
    let streams = workload.streams();
    let mut trials: Vec<_> = entries.into_iter().map(|entry| Trial::new(entry, workload)).collect();
    for repetition in 0..workload.repetitions {
        let first = repetition % trials.len();
        let (last, first) = trials.split_at_mut(first);
        for trial in first.iter_mut().chain(last) {
            trial.repeat(workload, &streams);
            bar.inc(1);
        }
    }
    Report::of_trials(workload, &trials)
}

fn footprints(workload: &Workload, entries: Vec<Entry<u64>>, bar: &ProgressBar) -> Report {
    let measured = entries.into_iter().map(|entry| {
        let footprint = footprint::measured(entry.name, workload);
        bar.inc(1);
        (entry, footprint)
    });
    Report::of_footprints(workload, &measured.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_answers_rightly() {
        let bar = ProgressBar::hidden();
        for workload in workload::all(Form::Quick) {
            if workload.measure == Measure::Footprint {
                continue;
            }
            let workload = Workload { clients: workload.clients.min(1_000), checks: 1_000, repetitions: 3, ..workload };
            let mut entries = peers::all::<String>();
            entries.retain(|entry| entry.suits(&workload));
            assert_eq!(times(&workload, entries, &bar).failed, [], "{}", workload.name);
            let mut entries = peers::all::<u64>();
            entries.retain(|entry| entry.suits(&workload));
            assert_eq!(times(&workload, entries, &bar).failed, [], "{}", workload.name);
        }
    }
}
