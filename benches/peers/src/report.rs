//! [`Report`]: what came of a workload, in numbers and as a table.

use crate::{
    contender::Pace,
    footprint::Footprint,
    peers::{Clock, Entry, FLOOR, FLOOR_CACHED, GOVERNOR, Note},
    trial::Trial,
    workload::Workload,
};
use comfy_table::{CellAlignment, LineStyle, Table, presets::NOTHING};
use serde::Serialize;
use std::fmt;

#[derive(Serialize)]
pub struct Report {
    workload: &'static str,
    title: &'static str,
    clients: u64,
    threads: usize,
    checks: usize,
    repetitions: usize,
    #[serde(skip)]
    columns: &'static [&'static str],
    rows: Vec<Row>,
    /// Who is not in the table, and why.
    pub failed: Vec<(&'static str, String)>,
}

#[derive(Serialize)]
struct Row {
    contender: &'static str,
    clock: Clock,
    notes: &'static [Note],
    /// The part of the answers that were wrong.
    wrong: f64,
    #[serde(flatten)]
    figures: Figures,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Figures {
    /// Nanoseconds a check; and the median over the repetitions of this one's time, as a part of the other's in the same
    /// repetition.
    Times {
        nanos: Spread,
        of_governor: Option<f64>,
        of_floor: Option<f64>,
    },
    /// Nanoseconds between the stamps of a check; and the median over the repetitions of the slowest.
    Latency {
        p50: u64,
        p99: u64,
        p99_9: u64,
        p99_99: u64,
        slowest: f64,
        max: u64,
    },
    Footprint(Footprint),
}

#[derive(Clone, Copy, Serialize)]
struct Spread {
    median: f64,
    min: f64,
    max: f64,
}

const TIMES: &[&str] = &["ns a check,\nmedian", "min", "max", "of governor's\ntime", "of the\nfloor's"];
const LATENCY: &[&str] = &["p50\nns", "p99", "p99.9", "p99.99", "slowest,\nmedian", "slowest\nof all"];
const FOOTPRINT: &[&str] = &["bytes a client,\nallocated", "resident"];

impl Report {
    /// Times or latencies, whatever the pace of the workload gives.
    pub fn of_trials<K>(workload: &Workload, trials: &[Trial<K>]) -> Report {
        let stamped = workload.pace == Pace::Stamped;
        let rows = trials.iter().map(|trial| {
            if let Some(failure) = &trial.failure {
                return Err((trial.entry.name, failure.clone()));
            }
            let figures = if stamped { Figures::latency(trial) } else { Figures::times(trial, trials) };
            let wrong = Spread::of(trial.runs.iter().map(|run| run.wrong)).median;
            Ok(Row { wrong, ..Row::new(&trial.entry, figures) })
        });
        Report::new(workload, if stamped { LATENCY } else { TIMES }, rows)
    }

    pub fn of_footprints<K>(workload: &Workload, footprints: &[(Entry<K>, Result<Footprint, String>)]) -> Report {
        let rows = footprints.iter().map(|(entry, footprint)| match footprint {
            Ok(footprint) => Ok(Row::new(entry, Figures::Footprint(*footprint))),
            Err(failure) => Err((entry.name, failure.clone())),
        });
        Report::new(workload, FOOTPRINT, rows)
    }

    fn new(
        workload: &Workload,
        columns: &'static [&'static str],
        all: impl Iterator<Item = Result<Row, (&'static str, String)>>,
    ) -> Report {
        let (mut rows, mut failed) = (Vec::new(), Vec::new());
        for row in all {
            match row {
                Ok(row) => rows.push(row),
                Err(failure) => failed.push(failure),
            }
        }
        Report {
            workload: workload.name,
            title: workload.title,
            clients: workload.clients,
            threads: workload.threads,
            checks: workload.checks_of_a_thread() * workload.threads,
            repetitions: workload.repetitions,
            columns,
            rows,
            failed,
        }
    }

    /// What the letters in the table stand for.
    pub fn notes(&self) -> impl Iterator<Item = Note> {
        self.rows.iter().flat_map(|row| row.notes).copied()
    }
}

impl Row {
    fn new<K>(entry: &Entry<K>, figures: Figures) -> Row {
        Row { contender: entry.name, clock: entry.clock, notes: entry.notes, wrong: 0.0, figures }
    }
}

impl Figures {
    fn times<K>(trial: &Trial<K>, all: &[Trial<K>]) -> Figures {
        let part = |name| {
            let other = all.iter().find(|other| other.entry.name == name && other.failure.is_none())?;
            let parts = trial.runs.iter().zip(&other.runs).map(|(own, other)| own.nanos / other.nanos);
            Some(Spread::of(parts).median)
        };
        let floor = if trial.entry.clock == Clock::Cached { FLOOR_CACHED } else { FLOOR };
        let nanos = Spread::of(trial.runs.iter().map(|run| run.nanos));
        Figures::Times { nanos, of_governor: part(GOVERNOR), of_floor: part(floor) }
    }

    fn latency<K>(Trial { latency, runs, .. }: &Trial<K>) -> Figures {
        Figures::Latency {
            p50: latency.value_at_quantile(0.5),
            p99: latency.value_at_quantile(0.99),
            p99_9: latency.value_at_quantile(0.999),
            p99_99: latency.value_at_quantile(0.9999),
            slowest: Spread::of(runs.iter().map(|run| run.slowest as f64)).median,
            max: latency.max(),
        }
    }

    fn cells(&self) -> Vec<String> {
        match *self {
            Figures::Times { nanos: Spread { median, min, max }, of_governor, of_floor } => {
                let part = |part: Option<f64>| part.map_or(String::new(), |part| format!("{part:.2}"));
                let nanos = [median, min, max].map(|nanos| format!("{nanos:.1}"));
                nanos.into_iter().chain([part(of_governor), part(of_floor)]).collect()
            }
            Figures::Latency { p50, p99, p99_9, p99_99, slowest, max } => {
                [p50, p99, p99_9, p99_99, slowest as u64, max].map(|nanos| nanos.to_string()).into()
            }
            Figures::Footprint(Footprint { allocated, resident }) => {
                [allocated, resident].map(|bytes| format!("{bytes:.1}")).into()
            }
        }
    }
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Spread {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        // The middle one, or halfway between the two in the middle.
        let median = sorted[(sorted.len() - 1) / 2].midpoint(sorted[sorted.len() / 2]);
        Spread { median, min: sorted[0], max: sorted[sorted.len() - 1] }
    }
}

/// A heading, the table, who was wrong and who failed.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { workload, title, checks, repetitions, .. } = self;
        writeln!(f, "{workload}: {title}")?;
        if self.columns != FOOTPRINT {
            writeln!(f, "{repetitions} times {checks} checks")?;
        }
        writeln!(f)?;
        writeln!(f, "{}", self.table().trim_fmt())?;
        for row in self.rows.iter().filter(|row| row.wrong > 0.0) {
            writeln!(f, " {}: {:.2} % of the answers were wrong", row.contender, row.wrong * 100.0)?;
        }
        for (name, failure) in &self.failed {
            writeln!(f, " {name}: {failure}")?;
        }
        Ok(())
    }
}

impl Report {
    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(NOTHING.header_separator(LineStyle::none().fill('─').junction('─')));
        table.set_header(["contender", "clock"].iter().chain(self.columns).chain(&["notes"]));
        for row in &self.rows {
            let mut cells = vec![row.contender.to_owned(), row.clock.to_string()];
            cells.extend(row.figures.cells());
            cells.push(row.notes.iter().map(|note| note.letter()).collect());
            table.add_row(cells);
        }
        for number in 0..self.columns.len() {
            if let Some(column) = table.column_mut(2 + number) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    }
}
