//! The numbers of a PLY file, one after another.

use std::io::{BufRead, ErrorKind, Read};

use torrance_text::quoted;

use super::header::Type;
use crate::input::{Mistakes, Problem, io_reason};

/// Longest line of a text: a polygon of a hundred thousand corners.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// A problem that ends the reading; rare, and so out of the way.
pub(super) type Fault = Box<Problem>;

/// Rows of numbers.
pub(super) trait Values {
    /// Goes to the next row.
    #[inline(always)]
    fn begin_row(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// Leaves a row, all of which should have been taken.
    #[inline(always)]
    fn end_row(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// The next number. Whole numbers may lose digits.
    fn float(&mut self, of: Type) -> Result<f32, Fault>;

    /// The next number, which has to be whole.
    fn integer(&mut self, of: Type) -> Result<i64, Fault>;

    /// Passes over numbers.
    fn skip(&mut self, of: Type, count: u64) -> Result<(), Fault>;

    /// Says that something is wrong with the number taken last.
    fn fault(&self, message: String) -> Fault;

    /// Whether anything is left after the last row.
    fn has_more(&mut self) -> Result<bool, Fault>;

    /// Mistakes in how rows are written.
    fn mistakes(&mut self) -> Mistakes {
        Mistakes::default()
    }
}

/// Numbers as text: a row is a line.
pub(super) struct Text<'a, R> {
    pub(super) file: &'a str,
    pub(super) input: R,
    /// What ends lines.
    pub(super) line_end: u8,
    pub(super) mistakes: Mistakes,
    /// Number of the line, from 1.
    pub(super) line: usize,
    pub(super) text: String,
    /// The part of it that was taken last.
    pub(super) word: std::ops::Range<usize>,
}

impl<R: BufRead> Text<'_, R> {
    /// Reads a line that is not empty; false at the end of the file.
    fn next_line(&mut self) -> Result<bool, Fault> {
        loop {
            let mut bytes = std::mem::take(&mut self.text).into_bytes();
            bytes.clear();
            self.word = 0..0;
            let read = self.input.by_ref().take(MAX_LINE_BYTES).read_until(self.line_end, &mut bytes);
            let read = read.map_err(|e| Problem::of_file(self.file, io_reason(&e)))?;
            self.line += 1;
            self.text =
                String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into());
            if read as u64 == MAX_LINE_BYTES {
                let message = format!("line {} is longer than {MAX_LINE_BYTES} bytes", self.line);
                return Err(Problem::of_file(self.file, message).into());
            }
            self.text.truncate(self.text.trim_ascii_end().len());
            if !self.text.is_empty() || read == 0 {
                return Ok(read > 0);
            }
        }
    }

    /// Where the next word of the line is.
    fn word_ahead(&self) -> Option<std::ops::Range<usize>> {
        let rest = &self.text.as_bytes()[self.word.end..];
        let start = self.word.end + rest.iter().position(|b| !b.is_ascii_whitespace())?;
        let rest = &self.text.as_bytes()[start..];
        Some(start..start + rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len()))
    }

    fn next_word(&mut self) -> Result<&str, Fault> {
        let mut word = self.word_ahead();
        if word.is_none() {
            // Some programs break lines where they like.
            let message = "this line has too few numbers for the element's properties";
            let problem = || Problem::at_line(self.file, self.line, &self.text, 0..self.text.len(), message);
            self.mistakes.add("few", "they go on in the next", problem);
            self.begin_row()?;
            word = self.word_ahead();
        }
        self.word = word.unwrap_or_default();
        Ok(&self.text[self.word.clone()])
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, Fault> {
        let word = self.next_word()?;
        let number = word.parse().map_err(|_| format!("{} is not a {what}", quoted(word)));
        number.map_err(|message| self.fault(message))
    }
}

impl<R: BufRead> Values for Text<'_, R> {
    fn begin_row(&mut self) -> Result<(), Fault> {
        match self.next_line()? {
            true => Ok(()),
            false => Err(Problem::of_file(self.file, "the file ends too early: rows are missing").into()),
        }
    }

    fn end_row(&mut self) -> Result<(), Fault> {
        if self.word.end == self.text.len() {
            return Ok(());
        }
        self.word = self.word_ahead().unwrap_or_default();
        let message = "this line has more numbers than the element has properties";
        let problem = || Problem::at_line(self.file, self.line, &self.text, self.word.clone(), message);
        self.mistakes.add("many", "those at its end are left out", problem);
        Ok(())
    }

    fn float(&mut self, _of: Type) -> Result<f32, Fault> {
        self.number("number")
    }

    fn integer(&mut self, of: Type) -> Result<i64, Fault> {
        // Of floats as well, as long as they are whole.
        match of.is_float() {
            true => self.number("whole number").map(|x: f64| x as i64),
            false => self.number("whole number"),
        }
    }

    fn mistakes(&mut self) -> Mistakes {
        std::mem::take(&mut self.mistakes)
    }

    fn skip(&mut self, _of: Type, count: u64) -> Result<(), Fault> {
        (0..count).try_for_each(|_| self.next_word().map(drop))
    }

    fn fault(&self, message: String) -> Fault {
        Problem::at_line(self.file, self.line, &self.text, self.word.clone(), message).into()
    }

    fn has_more(&mut self) -> Result<bool, Fault> {
        self.next_line()
    }
}

/// Numbers as bytes.
pub(super) struct Binary<'a, R, const BIG: bool> {
    pub(super) file: &'a str,
    pub(super) input: R,
    /// How many bytes of the file have been taken.
    pub(super) at: u64,
    /// Size of the number taken last.
    pub(super) last: u64,
}

impl<R: BufRead, const BIG: bool> Binary<'_, R, BIG> {
    #[inline(always)]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut bytes = match self.input.fill_buf() {
            Ok(buffer) if buffer.len() >= N => {
                let mut bytes = [0; N];
                bytes.copy_from_slice(&buffer[..N]);
                self.input.consume(N);
                bytes
            }
            _ => self.take_slowly()?,
        };
        (self.at, self.last) = (self.at + N as u64, N as u64);
        if BIG {
            bytes.reverse();
        }
        Ok(bytes)
    }

    /// A number that does not lie in the buffer as a whole.
    #[cold]
    fn take_slowly<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(|e| self.ended(&e))?;
        Ok(bytes)
    }

    fn ended(&self, error: &std::io::Error) -> Fault {
        let message = match error.kind() {
            ErrorKind::UnexpectedEof => format!("the file ends too early, after byte {}", self.at),
            _ => io_reason(error),
        };
        Problem::of_file(self.file, message).into()
    }
}

impl<R: BufRead, const BIG: bool> Values for Binary<'_, R, BIG> {
    #[inline(always)]
    fn float(&mut self, of: Type) -> Result<f32, Fault> {
        Ok(match of {
            Type::F32 => f32::from_le_bytes(self.take()?),
            Type::F64 => f64::from_le_bytes(self.take()?) as f32,
            integer => self.integer(integer)? as f32,
        })
    }

    #[inline(always)]
    fn integer(&mut self, of: Type) -> Result<i64, Fault> {
        Ok(match of {
            Type::I8 => i8::from_le_bytes(self.take()?).into(),
            Type::U8 => u8::from_le_bytes(self.take()?).into(),
            Type::I16 => i16::from_le_bytes(self.take()?).into(),
            Type::U16 => u16::from_le_bytes(self.take()?).into(),
            Type::I32 => i32::from_le_bytes(self.take()?).into(),
            Type::U32 => u32::from_le_bytes(self.take()?).into(),
            Type::F32 | Type::F64 => self.float(of)? as i64,
        })
    }

    fn skip(&mut self, of: Type, count: u64) -> Result<(), Fault> {
        let mut left = count * of.bytes() as u64;
        while left > 0 {
            let buffer = self.input.fill_buf().map_err(|e| Problem::of_file(self.file, io_reason(&e)))?;
            if buffer.is_empty() {
                return Err(self.ended(&ErrorKind::UnexpectedEof.into()));
            }
            let n = (buffer.len() as u64).min(left);
            self.input.consume(n as usize);
            (self.at, left) = (self.at + n, left - n);
        }
        Ok(())
    }

    fn fault(&self, message: String) -> Fault {
        Problem::of_file(self.file, format!("byte {}: {message}", self.at - self.last)).into()
    }

    fn has_more(&mut self) -> Result<bool, Fault> {
        let buffer = self.input.fill_buf().map_err(|e| Problem::of_file(self.file, io_reason(&e)))?;
        Ok(buffer.iter().any(|b| !b.is_ascii_whitespace()))
    }
}
