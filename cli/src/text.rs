//! Figures and tables for people.

use comfy_table::{CellAlignment, LineStyle, Table, presets::NOTHING};

/// A table with a line under its header; `numbers` are the columns whose figures stand at the right.
pub(crate) fn table(header: &[&str], numbers: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING.header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_header(header);
    for &number in numbers {
        if let Some(column) = table.column_mut(number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// `1,234 rows`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

/// `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    in_groups(&number.to_string())
}

/// `1,234,567`, of a number that is not negative; to the nearest whole one.
pub(crate) fn rounded(number: f64) -> String {
    in_groups(&format!("{number:.0}"))
}

/// `12.34 %`, of a share from 0 to 1.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn in_groups(digits: &str) -> String {
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_groups_of_three() {
        assert_eq!([0, 999, 1_000, 12_345, 1_234_567].map(grouped), ["0", "999", "1,000", "12,345", "1,234,567"]);
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!((counted(1, "row"), counted(1_000, "row")), ("1 row".to_owned(), "1,000 rows".to_owned()));
        assert_eq!([0.4, 999.6, 12_345_678.9].map(rounded), ["0", "1,000", "12,345,679"]);
        assert_eq!(percent(0.123_45), "12.35 %");
    }
}
