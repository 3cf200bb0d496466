//! Headers of OpenEXR files, before the decoder makes objects of them: it takes fifty times their size.

use std::io::{BufRead, Cursor, ErrorKind, Read, Seek, SeekFrom};

use super::image::DecodeError;

/// Most attributes of all parts of a file. A part has a dozen, and those that programs add to say how it was made.
const MAX_ATTRIBUTES: usize = 10_000;
/// Most channels of all parts of a file.
const MAX_CHANNELS: usize = 4096;
/// Most bytes of all attributes of a file.
const MAX_BYTES: u64 = 16 << 20;
/// Most bytes of a name. The format allows 255.
const MAX_NAME: u64 = 256;

/// `76 2f 31 01`.
const MAGIC: [u8; 4] = [0x76, 0x2f, 0x31, 0x01];
/// The flag of files of several parts.
const MULTIPART: u32 = 1 << 12;

/// Checks that the headers in the bytes of a file are not too large to be read.
///
/// # Errors
/// They are.
pub fn check_exr_headers(bytes: &[u8]) -> Result<(), DecodeError> {
    check(&mut Cursor::new(bytes))
}

/// As [`check_exr_headers`]. Leaves the file at its start. What is not valid is for the decoder to find, which goes no further
/// than that.
pub(super) fn check(file: &mut (impl BufRead + Seek)) -> Result<(), DecodeError> {
    let checked = Headers::default().read(file);
    file.rewind()?;
    match checked {
        Err(DecodeError::Io(e)) if e.kind() == ErrorKind::UnexpectedEof => Ok(()),
        checked => checked,
    }
}

/// What there is in the headers read so far.
#[derive(Default)]
struct Headers {
    attributes: usize,
    channels: usize,
    bytes: u64,
}

impl Headers {
    fn read(&mut self, file: &mut (impl BufRead + Seek)) -> Result<(), DecodeError> {
        let [magic, flags] = [word(file)?, word(file)?];
        if magic != MAGIC {
            return Ok(());
        }
        let has_parts = u32::from_le_bytes(flags) & MULTIPART != 0;
        loop {
            let mut name = name(file)?;
            if name.is_empty() {
                return Ok(());
            }
            while !name.is_empty() {
                self.attribute(file)?;
                name = self::name(file)?;
            }
            if !has_parts {
                return Ok(());
            }
        }
    }

    /// Counts an attribute and goes past it, from behind its name.
    fn attribute(&mut self, file: &mut (impl BufRead + Seek)) -> Result<(), DecodeError> {
        let kind = name(file)?;
        let size = u32::from_le_bytes(word(file)?);
        self.attributes += 1;
        self.bytes += u64::from(size);
        if self.attributes > MAX_ATTRIBUTES {
            return Err(too_many(format_args!("{MAX_ATTRIBUTES} attributes")));
        }
        if self.bytes > MAX_BYTES {
            return Err(too_many(format_args!("{} MiB of attributes", MAX_BYTES >> 20)));
        }
        if kind != b"chlist" {
            // Within the buffer, if possible.
            file.seek_relative(size.into())?;
            return Ok(());
        }
        let mut list = file.by_ref().take(size.into());
        while !name(&mut list)?.is_empty() {
            self.channels += 1;
            if self.channels > MAX_CHANNELS {
                return Err(too_many(format_args!("{MAX_CHANNELS} channels")));
            }
            // Type, linearity, and steps in x and y.
            std::io::copy(&mut list.by_ref().take(16), &mut std::io::sink())?;
        }
        let left = list.limit();
        file.seek(SeekFrom::Current(left as i64))?;
        Ok(())
    }
}

fn too_many(most: std::fmt::Arguments<'_>) -> DecodeError {
    DecodeError::Contents(format!("its headers have more than {most}"))
}

fn word(file: &mut impl Read) -> Result<[u8; 4], DecodeError> {
    let mut word = [0; 4];
    file.read_exact(&mut word)?;
    Ok(word)
}

/// The bytes up to the next zero.
fn name(file: &mut impl BufRead) -> Result<Vec<u8>, DecodeError> {
    let mut name = Vec::new();
    file.take(MAX_NAME).read_until(0, &mut name)?;
    match name.pop() {
        Some(0) => Ok(name),
        _ => Err(std::io::Error::from(ErrorKind::UnexpectedEof).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of parts that have so many attributes of a size each, and so many channels.
    fn file(parts: usize, attributes: usize, size: usize, channels: usize) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend((2 | if parts == 1 { 0 } else { MULTIPART }).to_le_bytes());
        for _ in 0..parts {
            for i in 0..attributes {
                bytes.extend(format!("a{i}\0string\0").bytes());
                bytes.extend((size as u32).to_le_bytes());
                bytes.extend(b"x".repeat(size));
            }
            bytes.extend(b"channels\0chlist\0");
            let list: Vec<u8> = (0..channels)
                .flat_map(|i| [format!("{i}\0").as_bytes(), &[0; 16]].concat())
                .chain([0])
                .collect();
            bytes.extend((list.len() as u32).to_le_bytes());
            bytes.extend(list);
            bytes.push(0);
        }
        bytes.push(0);
        bytes
    }

    fn message(bytes: &[u8]) -> String {
        check_exr_headers(bytes).err().map_or_else(String::new, |e| e.to_string())
    }

    #[test]
    fn headers_that_take_much_to_decode_are_refused() {
        for (bytes, says) in [
            (file(1, 10, 10, 3), ""),
            (file(3, 10, 10, 3), ""),
            (file(1, 9_999, 0, 3), ""),
            (file(1, 10_000, 0, 3), "its headers have more than 10000 attributes"),
            (file(100, 99, 1, 3), ""),
            (file(100, 100, 1, 3), "its headers have more than 10000 attributes"),
            (file(1, 15, 1 << 20, 4096), ""),
            (file(1, 16, 1 << 20, 3), "its headers have more than 16 MiB of attributes"),
            (file(1, 1, 1, 4097), "its headers have more than 4096 channels"),
            (file(2, 1, 1, 2049), "its headers have more than 4096 channels"),
        ] {
            assert_eq!(message(&bytes), says);
        }
    }

    /// A file cut off anywhere is for the decoder to complain of.
    #[test]
    fn what_ends_too_early_is_not_refused() {
        let bytes = file(2, 3, 4, 2);
        for end in 0..bytes.len() {
            assert_eq!(message(&bytes[..end]), "", "{end}");
        }
        let mut huge = file(1, 1, 0, 1);
        let size = huge.windows(7).position(|w| w == b"string\0").unwrap() + 7;
        huge[size..size + 4].copy_from_slice(&i32::MAX.to_le_bytes());
        assert!(message(&huge).contains("16 MiB"), "as the decoder would allocate it");
        assert_eq!(message(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"), "");
    }
}
