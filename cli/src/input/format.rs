//! [`Format`]: how the lines of a file are read, and which one a file has.

use super::{access_log::AccessLog, csv::Csv, lines, stamp::Unit};

/// Lines that are looked at to find the format.
const LOOKED_AT: usize = 100;

/// One request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request<'l> {
    /// Nanoseconds since the zero of the input.
    pub(super) time: i64,
    /// Who asked; any bytes.
    pub(super) client: &'l [u8],
}

/// How the lines of one file are read.
pub(super) trait Format {
    /// The request of a line; `None` if it has none and is not meant to (a header, an empty line). The reason for a
    /// bad line is escaped.
    fn request<'l>(&'l mut self, line: &'l [u8]) -> Result<Option<Request<'l>>, String>;

    /// The stamps are dates.
    fn dated(&self) -> bool;
}

/// The formats by name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Name {
    /// Rows under a header
    Csv,
    /// Common and Combined Log Format
    AccessLog,
}

/// What the user says about the format.
#[derive(Debug, clap::Args)]
pub(super) struct Choice {
    /// The format of the files; found from their first lines unless given
    #[arg(long, value_name = "NAME")]
    format: Option<Name>,

    #[command(flatten)]
    columns: Columns,
}

/// What the user says about the columns of a CSV.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Columns {
    /// CSV: the column of the time [default: t_ms]
    #[arg(long, value_name = "NAME")]
    pub(super) time_column: Option<String>,

    /// CSV: the column of the client [default: client]
    #[arg(long, value_name = "NAME")]
    pub(super) key_column: Option<String>,

    /// CSV: the unit of the times, unless the column's name ends on _ns, _us, _ms or _s, or holds RFC 3339 dates
    #[arg(long, value_name = "UNIT")]
    pub(super) time_unit: Option<Unit>,
}

impl Columns {
    fn any(&self) -> bool {
        self.time_column.is_some() || self.key_column.is_some() || self.time_unit.is_some()
    }
}

/// The format of the file that starts with `head`.
pub(super) fn find(head: &[u8], choice: &Choice) -> Result<Box<dyn Format>, String> {
    let mut first_lines = head
        .split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(index, line)| lines::trim(line, index == 0))
        .filter(|line| !line.is_empty())
        .take(LOOKED_AT)
        .peekable();
    let Some(header) = first_lines.next() else {
        return Ok(Box::new(AccessLog)); // No request in any format.
    };
    let second = first_lines.peek().copied();
    let csv = || Csv::new(header, second, &choice.columns);
    match choice.format {
        Some(Name::AccessLog) => return Ok(Box::new(AccessLog)),
        Some(Name::Csv) => return Ok(Box::new(csv()?)),
        None => {}
    }
    match csv() {
        Ok(csv) => Ok(Box::new(csv)),
        Err(reason) if choice.columns.any() => Err(reason),
        Err(_) if [header].into_iter().chain(first_lines).any(AccessLog::knows) => Ok(Box::new(AccessLog)),
        Err(reason) => Err(format!(
            "unknown format: no line of an access log (Common or Combined) among the first {LOOKED_AT}, and as a CSV: \
             {reason}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCESS: &str = "192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 -";

    fn first(text: &str, columns: Columns) -> Result<Option<i64>, String> {
        let mut format = find(text.as_bytes(), &Choice { format: None, columns })?;
        let mut found = None;
        for line in text.lines() {
            let request = format.request(lines::trim(line.as_bytes(), true)).unwrap_or(None);
            found = found.or(request.map(|request| request.time));
        }
        Ok(found)
    }

    #[test]
    fn the_first_lines_tell() {
        assert_eq!(first("t_ms,client\n5,a\n", Columns::default()), Ok(Some(5_000_000)));
        assert_eq!(first("\u{feff}\"client\",\"t_ms\"\r\n\"a\",5\r\n", Columns::default()), Ok(Some(5_000_000)));
        assert_eq!(first(ACCESS, Columns::default()), Ok(Some(971_211_336_000_000_000)));
        let late = format!("{}{ACCESS}", "started, listening on 0.0.0.0:80\n".repeat(LOOKED_AT - 1));
        assert_eq!(first(&late, Columns::default()), Ok(Some(971_211_336_000_000_000)));
        assert_eq!(first("\n\r\n", Columns::default()), Ok(None));
        // A client that looks like an access log is still a client.
        assert_eq!(first(&format!("client,t_ms\n{ACCESS}\na,5\n"), Columns::default()), Ok(Some(5_000_000)));
    }

    #[test]
    fn an_unknown_format_is_said() {
        assert!(first("hello\nworld\n", Columns::default()).unwrap_err().contains("unknown format"));
        assert!(first("{\"t_ms\": 5}\n", Columns::default()).unwrap_err().contains("unknown format"));
        let columns = first("time,who\n5,a\n", Columns::default()).unwrap_err();
        assert!(columns.contains("unknown format") && columns.contains("--time-column"), "{columns}");
        let named = Columns { time_column: Some("when".to_owned()), ..Columns::default() };
        assert!(first(ACCESS, named).unwrap_err().starts_with("no column `when`"));
        let too_late = format!("{}{ACCESS}", "started\n".repeat(LOOKED_AT));
        assert!(first(&too_late, Columns::default()).unwrap_err().contains("unknown format"));
    }
}
