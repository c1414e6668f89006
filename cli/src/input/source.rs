//! [`open`]: the bytes of a file, decompressed.

use super::zst::ZstReader;
use crate::progress::Progress;
use flate2::read::MultiGzDecoder;
use std::{
    fs::File,
    io::{self, Cursor, Read},
    path::Path,
};

/// What is read at once, to find the format from.
pub(super) const HEAD: u64 = 1 << 20;

/// The head of a file (all of it, if it is shorter than [`HEAD`]) and the rest; `-` is standard input. What is
/// compressed shows in the first bytes, whatever the name says.
pub(super) fn open(file: &Path, progress: &Progress) -> io::Result<(Vec<u8>, Box<dyn Read>)> {
    let raw: Box<dyn Read> = if file.as_os_str() == "-" { Box::new(io::stdin()) } else { Box::new(File::open(file)?) };
    let (magic, raw) = split(progress.watch(raw), 4)?;
    let whole = Cursor::new(magic.clone()).chain(raw);
    let plain: Box<dyn Read> = match magic.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(whole)),
        // A frame, or one to skip over.
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Box::new(ZstReader::new(whole)),
        _ => Box::new(whole),
    };
    split(plain, HEAD)
}

/// The first `length` bytes (fewer at the end) and the rest.
fn split<R: Read>(mut source: R, length: u64) -> io::Result<(Vec<u8>, R)> {
    let mut head = Vec::new();
    source.by_ref().take(length).read_to_end(&mut head)?;
    Ok((head, source))
}
