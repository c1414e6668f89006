//! [`Lines`]: the lines of a file, as bytes.

use std::io::{self, BufRead, BufReader, Chain, Read};

/// The longest line that is kept; a longer one is a bad line, so that no input can fill the memory.
const LONGEST: usize = 16 << 20;

/// Lines with their numbers, without their ends (`\n` or `\r\n`) and without the byte order mark of the first.
pub(super) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    number: u64,
}

/// One line.
pub(super) struct Line<'b> {
    /// Counted from 1.
    pub(super) number: u64,
    /// Its bytes, or why there are none.
    pub(super) text: Result<&'b [u8], String>,
}

impl<H: BufRead, R: Read> Lines<Chain<H, BufReader<R>>> {
    /// The lines of what was read already, and of the rest.
    pub(super) fn new(head: H, rest: R) -> Self {
        Lines { source: head.chain(BufReader::with_capacity(1 << 17, rest)), buffer: Vec::new(), number: 0 }
    }
}

impl<R: BufRead> Lines<R> {
    /// The next line; `None` at the end. An error of the source leaves no half line behind.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let most = LONGEST as u64 + 1;
        if self.source.by_ref().take(most).read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let text = match self.buffer.strip_suffix(b"\n") {
            Some(line) => Ok(line),
            None if self.buffer.len() > LONGEST => {
                self.source.skip_until(b'\n')?;
                Err(format!("the line is longer than {LONGEST} bytes"))
            }
            None => Ok(self.buffer.as_slice()),
        };
        Ok(Some(Line { number: self.number, text: text.map(|line| trim(line, self.number == 1)) }))
    }
}

/// A line without the carriage return before its end, and without the byte order mark if it is the first.
pub(super) fn trim(line: &[u8], first: bool) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if first { line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line) } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<(u64, Result<Vec<u8>, String>)> {
        // Cut at every place, so that no line depends on where the head ends.
        let whole: Vec<_> = split(text, 0);
        for cut in [1, text.len() / 2, text.len()] {
            assert!(split(text, cut) == whole, "cut at {cut}");
        }
        whole
    }

    fn split(text: &[u8], cut: usize) -> Vec<(u64, Result<Vec<u8>, String>)> {
        let (head, rest) = text.split_at(cut);
        let mut lines = Lines::new(head, rest);
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push((line.number, line.text.map(<[u8]>::to_vec)));
        }
        found
    }

    #[test]
    fn both_line_ends_and_a_missing_last_one() {
        let found = lines(b"\xef\xbb\xbfa\r\n\nb\rb\n\xef\xbb\xbfc");
        let expected = [&b"a"[..], b"", b"b\rb", b"\xef\xbb\xbfc"];
        assert_eq!(found.len(), expected.len());
        for ((number, line), (index, expected)) in found.into_iter().zip(expected.iter().enumerate()) {
            assert_eq!((number, line.unwrap()), (index as u64 + 1, expected.to_vec()));
        }
    }

    #[test]
    fn a_line_too_long_costs_only_itself() {
        let mut text = vec![b'x'; LONGEST];
        text.extend(b"\n");
        text.extend(vec![b'y'; LONGEST + 1]);
        text.extend(b"\nend");
        let found = lines(&text);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].1.as_ref().unwrap().len(), LONGEST);
        assert!(found[1].1.as_ref().unwrap_err().contains("longer"));
        assert_eq!(found[2], (3, Ok(b"end".to_vec())));
    }
}
