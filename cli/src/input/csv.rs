//! [`Csv`]: rows of comma-separated fields under a header.

use super::{
    format::{Columns, Format, Request},
    stamp::{self, Unit},
};
use crate::escape::Shown;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};
use memchr::memchr_iter;

/// A file with a header. A row is one line: a field cannot hold a line end, so a stray quote costs one line.
#[derive(Debug)]
pub(super) struct Csv {
    fields: Fields,
    header_read: bool,
    columns: usize,
    time: usize,
    client: usize,
    /// `None`: dates.
    unit: Option<Unit>,
}

impl Csv {
    /// The columns are found by the header; the second line shows whether times are dates.
    pub(super) fn new(header: &[u8], second: Option<&[u8]>, columns: &Columns) -> Result<Csv, String> {
        let mut fields = Fields::default();
        let count = fields.split(header)?;
        let names: Vec<&[u8]> = (0..count).map(|index| fields.get(index).trim_ascii()).collect();
        let column = |name: &str| {
            let mut places = (0..count).filter(|index| names[*index] == name.as_bytes());
            let shown = Shown(name.as_bytes());
            match (places.next(), places.next()) {
                (Some(place), None) => Ok(place),
                (Some(_), Some(_)) => Err(format!("the header has more than one column `{shown}`")),
                (None, _) => Err(format!(
                    "no column `{shown}` in the header `{}`; name the columns with --time-column and --key-column",
                    Shown(header)
                )),
            }
        };
        let time_column = columns.time_column.as_deref().unwrap_or("t_ms");
        let time = column(time_column)?;
        let client = column(columns.key_column.as_deref().unwrap_or("client"))?;
        let unit = columns.time_unit.or_else(|| Unit::of_column(time_column));
        let numbers = second.is_some_and(|row| {
            fields.split(row).is_ok_and(|count| time < count && stamp::is_number(fields.get(time).trim_ascii()))
        });
        if unit.is_none() && numbers {
            return Err(format!(
                "the column `{}` holds numbers without a unit; say it with --time-unit ns, us, ms or s",
                Shown(time_column.as_bytes())
            ));
        }
        Ok(Csv { fields, header_read: false, columns: count, time, client, unit })
    }
}

impl Format for Csv {
    fn request<'l>(&'l mut self, line: &'l [u8]) -> Result<Option<Request<'l>>, String> {
        if line.is_empty() {
            return Ok(None);
        }
        if !self.header_read {
            self.header_read = true;
            return Ok(None);
        }
        let count = self.fields.split(line)?;
        if count != self.columns {
            return Err(format!(
                "the row does not have {} fields as the header does, but {count}: `{}`",
                self.columns,
                Shown(line)
            ));
        }
        let text = self.fields.get(self.time).trim_ascii();
        let time = match self.unit {
            Some(unit) => stamp::number(text, unit)?,
            None => stamp::rfc3339(text)?,
        };
        match self.fields.get(self.client) {
            [] => Err("the client is empty".to_owned()),
            client => Ok(Some(Request { time, client })),
        }
    }

    fn dated(&self) -> bool {
        self.unit.is_none()
    }
}

/// Splits lines into fields and takes their quotes off.
#[derive(Debug)]
struct Fields {
    reader: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Default for Fields {
    fn default() -> Self {
        // A carriage return within a line is a byte like any other.
        let reader = ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build();
        Fields { reader, text: Vec::new(), ends: Vec::new() }
    }
}

impl Fields {
    /// The number of fields of a line that is not empty.
    fn split(&mut self, line: &[u8]) -> Result<usize, String> {
        // Room for what can come at most, so that the reader never stops for more.
        self.text.resize(line.len() + 1, 0);
        self.ends.resize(memchr_iter(b',', line).count() + 2, 0);
        self.reader.reset();
        let (_, _, written, fields) = self.reader.read_record(line, &mut self.text, &mut self.ends);
        let (result, _, _, last) = self.reader.read_record(b"\n", &mut self.text[written..], &mut self.ends[fields..]);
        match result {
            ReadRecordResult::Record => Ok(fields + last),
            _ => Err(format!("a quote is not closed on its line: `{}`", Shown(line))),
        }
    }

    fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn columns(time: &str, key: &str, unit: Option<Unit>) -> Columns {
        Columns { time_column: Some(time.to_owned()), key_column: Some(key.to_owned()), time_unit: unit }
    }

    fn csv(header: &str) -> Csv {
        let mut csv = Csv::new(header.as_bytes(), None, &Columns::default()).unwrap();
        assert_eq!(csv.request(header.as_bytes()), Ok(None));
        csv
    }

    #[test]
    fn rows() {
        let mut csv = csv("url, client ,\"t_ms\"");
        for (row, time, client) in [
            ("/,a,5", 5_000_000, "a"),
            ("\"/x,y\",\"b \"\"c\"\", d\", 7.5 ", 7_500_000, "b \"c\", d"),
            (",\u{e9},-1", -1_000_000, "\u{e9}"),
            ("a\rb,\r,0", 0, "\r"),
        ] {
            assert_eq!(csv.request(row.as_bytes()), Ok(Some(Request { time, client: client.as_bytes() })), "{row}");
        }
        assert_eq!(csv.request(b"/,\xff\xfe,1"), Ok(Some(Request { time: 1_000_000, client: b"\xff\xfe" })));
        assert_eq!(csv.request(b""), Ok(None));
    }

    #[test]
    fn bad_rows_leave_the_next_one_alone() {
        let mut csv = csv("t_ms,client");
        for (row, reason) in [
            ("5", "but 1"),
            ("5,a,b", "but 3"),
            ("5,\"a", "a quote is not closed"),
            ("\"5,a", "a quote is not closed"),
            ("5,", "the client is empty"),
            ("5,\"\"", "the client is empty"),
            (",a", "no number"),
            ("t_ms,client", "no number"),
        ] {
            let error = csv.request(row.as_bytes()).unwrap_err();
            assert!(error.contains(reason), "{row}: {error}");
            assert_eq!(csv.request(b"1,x"), Ok(Some(Request { time: 1_000_000, client: b"x" })), "after {row}");
        }
    }

    #[test]
    fn the_unit_is_never_guessed() {
        let header = b"ts,who";
        let find = |second: &str, unit| Csv::new(header, Some(second.as_bytes()), &columns("ts", "who", unit));
        assert!(find("1700000000,a", None).unwrap_err().contains("--time-unit"));
        assert!(find("1700000000.5,a", None).unwrap_err().contains("--time-unit"));
        assert!(!find("1700000000,a", Some(Unit::S)).unwrap().dated());
        let mut dates = find("2024-05-14T09:00:00Z,a", None).unwrap();
        assert!(dates.dated());
        assert_eq!(dates.request(header), Ok(None));
        assert_eq!(dates.request(b"1970-01-01T00:00:01Z,a"), Ok(Some(Request { time: 1_000_000_000, client: b"a" })));
        assert!(dates.request(b"1700000000,a").unwrap_err().contains("RFC 3339"));
    }

    #[test]
    fn headers_that_do_not_fit() {
        let error = |header: &str| Csv::new(header.as_bytes(), None, &Columns::default()).unwrap_err();
        assert!(error("time,client").contains("no column `t_ms`"));
        assert!(error("t_ms,ip").contains("no column `client`"));
        assert!(error("t_ms,client,client").contains("more than one column `client`"));
        assert!(error("\"t_ms,client").contains("quote"));
    }

    proptest! {
        #[test]
        fn fields_come_out_as_they_went_in(fields in proptest::collection::vec("[^\n]*", 1..6)) {
            let row: Vec<String> = fields.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\""))).collect();
            let mut split = Fields::default();
            prop_assert_eq!(split.split(row.join(",").as_bytes()), Ok(fields.len()));
            for (index, field) in fields.iter().enumerate() {
                prop_assert_eq!(split.get(index), field.as_bytes());
            }
        }

        #[test]
        fn any_line_is_split_or_an_error(line in proptest::collection::vec(prop_oneof![Just(b','), Just(b'"'), any::<u8>()], 1..40)) {
            let line: Vec<u8> = line.into_iter().filter(|byte| *byte != b'\n').chain([b'x']).collect();
            let mut split = Fields::default();
            if let Ok(count) = split.split(&line) {
                prop_assert!((1..=memchr_iter(b',', &line).count() + 1).contains(&count));
                let length: usize = (0..count).map(|index| split.get(index).len()).sum();
                prop_assert!(length <= line.len());
            }
        }
    }
}
