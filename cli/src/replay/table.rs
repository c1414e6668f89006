//! [`text`]: a report for people.

use super::report::{Contender, Report};
use crate::{
    escape::Shown,
    text::{self, counted, grouped, percent},
};
use comfy_table::Table;
use jiff::{SignedDuration, Timestamp};
use std::fmt::Write;

/// The report for people: what was replayed, a table, and what to keep in mind.
pub(super) fn text(report: &Report) -> String {
    let mut text = format!("{}\n\n{}\n", heading(report), table(report).trim_fmt());
    let notes = notes(report);
    if !notes.is_empty() {
        text.push('\n');
    }
    for note in notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn heading(report: &Report) -> String {
    let files = match report.input.as_slice() {
        [one] => format!("{:#}", Shown(one.as_bytes())),
        several => format!("{} files", several.len()),
    };
    format!(
        "{files}: {}, {}, {}, stamps in steps of {}; limit {}",
        counted(report.rows, "row"),
        counted(report.clients, "client"),
        time(report.span.0),
        time(report.resolution.0),
        report.quota,
    )
}

fn table(report: &Report) -> Table {
    let columns = [
        "algorithm",
        "allowed",
        "refused",
        "share",
        "clients\nrefused",
        "most in\na window",
        "by",
        "at",
        "unlike\nthe log",
        "bytes per\nclient",
        "found\nno room",
    ];
    // The last one is for the exception.
    let columns = if any_full(report) { &columns[..] } else { &columns[..10] };
    let mut table = text::table(columns, &[1, 2, 3, 4, 5, 8, 9, 10]);
    for contender in &report.contenders {
        table.add_row(row(contender, report.origin).into_iter().take(columns.len()));
    }
    table
}

fn any_full(report: &Report) -> bool {
    report.contenders.iter().any(|contender| contender.full > 0)
}

fn row(contender: &Contender, origin: Option<i64>) -> [String; 11] {
    let by = contender.max_client.as_ref().map(|client| Shown(&client.0).to_string());
    let bytes = contender.bytes_per_client.map(|_| grouped(contender.max_bytes.div_ceil(contender.max_tracked) as u64));
    let at = contender.max_at.map(|at| match origin {
        Some(origin) => date(i128::from(origin) + at.0.cast_signed()),
        None => time(at.0),
    });
    [
        contender.algorithm.name().to_owned(),
        grouped(contender.allowed),
        grouped(contender.refused),
        percent(contender.refused_share),
        grouped(contender.clients_refused),
        grouped(contender.max_in_window),
        by.unwrap_or_default(),
        at.unwrap_or_default(),
        grouped(contender.disagree),
        bytes.unwrap_or_default(),
        grouped(contender.full),
    ]
}

fn notes(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    if report.bad_lines > 0 {
        notes.push(format!("{} left out, see standard error", counted(report.bad_lines, "bad line")));
    }
    if report.out_of_order > 0 {
        notes.push(format!(
            "{} stood behind a later one; all were sorted by time, equal stamps in the order of the input",
            counted(report.out_of_order, "row")
        ));
    }
    if any_full(report) {
        notes.push("who found no room was turned away, and counts as refused; see standard error".to_owned());
    }
    if report.window.0 < 10 * report.resolution.0 {
        notes.push(format!(
            "the stamps are multiples of {}: too coarse for a window of {}, what happened within a step is unknown",
            time(report.resolution.0),
            time(report.window.0)
        ));
    }
    notes
}

/// `1h 2m 3s`, from nanoseconds.
fn time(nanos: u128) -> String {
    format!("{:#}", SignedDuration::from_nanos_i128(nanos.cast_signed()))
}

/// `2024-05-14T09:00:00Z`, from nanoseconds since the Unix epoch.
fn date(nanos: i128) -> String {
    Timestamp::from_nanosecond(nanos).map_or_else(|_| nanos.to_string(), |date| date.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_for_people() {
        assert_eq!(time(0), "0s");
        assert_eq!(time(3_723_000_000_000), "1h 2m 3s");
        assert_eq!(time(1_500_000), "1ms 500µs");
        assert_eq!(date(971_211_336_000_000_000), "2000-10-10T20:55:36Z");
    }
}
