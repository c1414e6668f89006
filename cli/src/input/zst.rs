//! [`ZstReader`]: a Zstandard file with all its frames.

use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};
use std::io::{self, BufRead, BufReader, Read};

/// Reads frame after frame (`ruzstd` reads one), skips those to skip, and compares the checksums.
pub(super) struct ZstReader<R> {
    source: BufReader<R>,
    decoder: FrameDecoder,
}

impl<R: Read> ZstReader<R> {
    /// Reads from the start of a frame.
    pub(super) fn new(source: R) -> Self {
        ZstReader { source: BufReader::new(source), decoder: FrameDecoder::new() }
    }

    /// Goes to the next frame; `false` at the end of the file.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                reset => return reset.map(|()| true).map_err(|error| self.broken(error)),
            }
        }
        Ok(false)
    }

    /// The checksum of a frame that was read to its end, if it has one.
    fn check(&self) -> io::Result<()> {
        match self.decoder.get_checksum_from_data() {
            Some(checksum) if self.decoder.get_calculated_checksum() != Some(checksum) => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum of the compressed data is wrong"))
            }
            _ => Ok(()),
        }
    }

    /// An error of the decoder, or the one of the source behind it.
    fn broken(&mut self, error: FrameDecoderError) -> io::Error {
        // The decoder wraps errors of the source many ways; at its end nothing is left to read.
        match self.source.fill_buf() {
            Ok([]) => io::ErrorKind::UnexpectedEof.into(),
            Ok(_) => io::Error::new(io::ErrorKind::InvalidData, format!("the compressed data is damaged: {error}")),
            Err(error) => error,
        }
    }
}

impl<R: Read> Read for ZstReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 {
            if self.decoder.is_finished() {
                self.check()?;
                if !self.next_frame()? {
                    return Ok(0);
                }
            } else if let Err(error) =
                self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
            {
                return Err(self.broken(error));
            }
        }
        self.decoder.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        ZstReader::new(bytes).read_to_end(&mut plain)?;
        Ok(plain)
    }

    /// Two frames, with one to skip before each.
    fn frames() -> (Vec<u8>, Vec<u8>) {
        let first: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        let skipped = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
        let mut bytes = Vec::new();
        for frame in [first.as_slice(), b"end"] {
            bytes.extend_from_slice(&skipped);
            bytes.extend(compress_to_vec(frame, CompressionLevel::Fastest));
        }
        (bytes, [first.as_slice(), b"end"].concat())
    }

    #[test]
    fn all_frames_are_read() {
        let (bytes, plain) = frames();
        assert!(read(&bytes).unwrap() == plain);
    }

    #[test]
    fn a_cut_file_is_told_from_a_whole_one() {
        let (bytes, plain) = frames();
        for length in (0..bytes.len()).step_by(1009).chain(bytes.len() - 20..bytes.len()) {
            match read(&bytes[..length]) {
                Ok(part) => assert!(plain.starts_with(&part) && part.len() < plain.len()),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "cut at {length}: {error}"),
            }
        }
    }

    #[test]
    fn a_changed_byte_is_noticed() {
        let plain = b"t_ms,client\n0,a\n1,b\n2,c\n";
        let bytes = compress_to_vec(&plain[..], CompressionLevel::Uncompressed);
        let place = bytes.windows(3).position(|part| part == b"1,b").unwrap();
        let mut changed = bytes.clone();
        changed[place] = b'7';
        assert_eq!(read(&bytes).unwrap(), plain);
        assert!(read(&changed).unwrap_err().to_string().contains("checksum"));
    }
}
