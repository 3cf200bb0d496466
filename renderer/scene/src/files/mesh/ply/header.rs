//! The header of a PLY file.

use std::io::BufRead;

use torrance_text::{hint, quoted};

use crate::input::{Mistakes, Problem};

/// Longest header; those of real files have less than a thousandth.
const MAX_HEADER_BYTES: usize = 1 << 20;

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Ascii,
    LittleEndian,
    BigEndian,
}

const ENCODINGS: [(&str, Encoding); 3] = [
    ("ascii", Encoding::Ascii),
    ("binary_little_endian", Encoding::LittleEndian),
    ("binary_big_endian", Encoding::BigEndian),
];

/// Types of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

/// Types in their order, with the two names of each, its bytes, and its value that stands for 1 in a colour.
const TYPES: [(Type, [&str; 2], usize, f32); 8] = [
    (Type::I8, ["char", "int8"], 1, i8::MAX as f32),
    (Type::U8, ["uchar", "uint8"], 1, u8::MAX as f32),
    (Type::I16, ["short", "int16"], 2, i16::MAX as f32),
    (Type::U16, ["ushort", "uint16"], 2, u16::MAX as f32),
    (Type::I32, ["int", "int32"], 4, i32::MAX as f32),
    (Type::U32, ["uint", "uint32"], 4, u32::MAX as f32),
    (Type::F32, ["float", "float32"], 4, 1.0),
    (Type::F64, ["double", "float64"], 8, 1.0),
];

// They are in the order of the type, by which they are looked up.
const _: () = {
    let mut i = 0;
    while i < TYPES.len() {
        assert!(TYPES[i].0 as usize == i);
        i += 1;
    }
};

impl Type {
    fn named(name: &str) -> Result<Self, Complaint<'_>> {
        let names = [0, 1].into_iter().flat_map(|i| TYPES.iter().map(move |(of, names, ..)| (names[i], *of)));
        named("type", name, names)
    }

    pub(super) const fn bytes(self) -> usize {
        TYPES[self as usize].2
    }

    pub(super) const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// The value that stands for 1 in a colour.
    pub(super) const fn one(self) -> f32 {
        TYPES[self as usize].3
    }
}

/// Role of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Scalar(Type),
    List { count: Type, item: Type },
}

/// A column of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    /// Number of rows.
    pub(super) count: u64,
    pub(super) properties: Vec<Property>,
}

impl Element {
    /// Index of the property with this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.properties.iter().position(|p| p.name == name)
    }

    /// Bytes that a row takes at least, if lists are empty.
    fn least_bytes(&self, encoding: Encoding) -> u64 {
        let of = |p: &Property| match (encoding, p.kind) {
            // A digit, and what separates it from the next.
            (Encoding::Ascii, _) => 2,
            (_, Kind::Scalar(t)) => t.bytes() as u64,
            (_, Kind::List { count, .. }) => count.bytes() as u64,
        };
        self.properties.iter().map(of).sum()
    }
}

/// The head of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
    /// Its length.
    pub(super) bytes: u64,
    /// Number of its lines.
    pub(super) lines: usize,
    /// What ends its lines: a carriage return alone, as on a Macintosh before 2001, or a line feed, perhaps after one.
    pub(super) line_end: u8,
    /// Names of images, as VCGlib writes them in comments: `comment TextureFile wood.png`.
    pub(super) textures: Vec<String>,
}

impl Header {
    /// The table with this name.
    pub(super) fn element(&self, name: &str) -> Option<&Element> {
        self.elements.iter().find(|e| e.name == name)
    }

    /// Checks that a file of `len` bytes can hold as many rows as are promised.
    fn check_counts(&self, file: &str, len: u64) -> Result<(), Problem> {
        let mut left = u128::from(len.saturating_sub(self.bytes));
        // The last number of a text may end with the file.
        left += u128::from(self.encoding == Encoding::Ascii);
        for element in &self.elements {
            let needed = u128::from(element.count) * u128::from(element.least_bytes(self.encoding));
            if needed > left {
                let Element { name, count, .. } = element;
                let message = format!(
                    "the file is too short for what its header promises: {count} rows of element {} take at \
                     least {needed} bytes, and {left} are left",
                    quoted(name)
                );
                return Err(Problem::of_file(file, message));
            }
            left -= needed;
        }
        Ok(())
    }
}

/// A fault of a line: the word, if it is one, and why.
type Complaint<'a> = (Option<&'a str>, String);

/// Reads the head of a file of `len` bytes.
pub(super) fn read(
    file: &str,
    input: &mut impl BufRead,
    len: u64,
    mistakes: &mut Mistakes,
) -> Result<Header, Problem> {
    let mut header = Header {
        encoding: Encoding::Ascii,
        elements: Vec::new(),
        bytes: 0,
        lines: 0,
        line_end: b'\n',
        textures: Vec::new(),
    };
    let mut encoding = None;
    loop {
        let line = next_line(file, input, &mut header)?;
        let text = String::from_utf8_lossy(&line);
        if header.lines == 1 {
            if text.trim_ascii_end() != "ply" {
                return Err(Problem::of_file(file, "not a PLY file: its first line is not \"ply\""));
            }
            continue;
        }
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        if words == ["end_header"] {
            break;
        }
        if let ["comment", keyword, ..] = words[..]
            && keyword.eq_ignore_ascii_case("TextureFile")
        {
            // Its name may have spaces.
            let start = keyword.as_ptr() as usize - text.as_ptr() as usize + keyword.len();
            header.textures.push(text[start..].trim_ascii().to_owned());
        }
        let problem = |(word, message): Complaint<'_>| {
            let start = word.map_or(0, |w| w.as_ptr() as usize - text.as_ptr() as usize);
            let end = word.map_or(text.len(), |w| start + w.len());
            Problem::at_line(file, header.lines, &text, start..end, message)
        };
        let keyword = words.first().copied().unwrap_or_default();
        if keyword.is_empty() || KEYWORDS.contains(&keyword) {
            statement(&words, &mut encoding, &mut header.elements).map_err(problem)?;
            if let Some(complaint) = repetition(&words, header.elements.last()) {
                mistakes.add("property", "the first counts", || problem(complaint));
            }
        } else {
            let hint = hint(keyword, "a header has", KEYWORDS);
            let complaint = (Some(keyword), format!("unknown keyword {}{hint}", quoted(keyword)));
            mistakes.add("keyword", "the line is left out", || problem(complaint));
        }
    }
    header.encoding = encoding.ok_or_else(|| Problem::of_file(file, "the header has no \"format\""))?;
    header.check_counts(file, len)?;
    Ok(header)
}

/// The statements of a header.
const KEYWORDS: [&str; 5] = ["format", "comment", "obj_info", "element", "property"];

/// The next line without its end. Byte by byte, since what follows the header must be left to others.
fn next_line(file: &str, input: &mut impl BufRead, header: &mut Header) -> Result<Vec<u8>, Problem> {
    let mut line = Vec::new();
    header.lines += 1;
    loop {
        let mut byte = [0];
        let read = input.read(&mut byte).map_err(|e| Problem::of_file(file, crate::input::io_reason(&e)))?;
        header.bytes += read as u64;
        if read == 0 && header.lines == 1 {
            return Ok(line);
        }
        if read == 0 {
            let message = "the file ends within its header: there is no \"end_header\"";
            return Err(Problem::of_file(file, message));
        }
        if header.bytes > MAX_HEADER_BYTES as u64 {
            let message = format!("the header is longer than {MAX_HEADER_BYTES} bytes");
            return Err(Problem::of_file(file, message));
        }
        if header.lines == 1 && byte == *b"\r" && !input.fill_buf().is_ok_and(|rest| rest.starts_with(b"\n"))
        {
            header.line_end = b'\r';
        }
        if byte == [header.line_end] {
            line.pop_if(|b| *b == b'\r');
            return Ok(line);
        }
        line.push(byte[0]);
    }
}

fn statement<'a>(
    words: &[&'a str],
    encoding: &mut Option<Encoding>,
    elements: &mut Vec<Element>,
) -> Result<(), Complaint<'a>> {
    match words {
        ["format", name, version] => {
            if encoding.is_some() {
                return Err((None, "the format is given twice".into()));
            }
            if *version != "1.0" {
                return Err((Some(version), format!("version {} is not read; 1.0 is", quoted(version))));
            }
            *encoding = Some(named("format", name, ENCODINGS.into_iter())?);
            Ok(())
        }
        ["element", name, count] => {
            if elements.iter().any(|e| e.name == *name) {
                return Err((Some(name), format!("there is an element {} already", quoted(name))));
            }
            let number =
                count.parse().map_err(|_| (Some(*count), format!("{} is not a count", quoted(count))))?;
            elements.push(Element { name: (*name).into(), count: number, properties: Vec::new() });
            Ok(())
        }
        ["property", rest @ ..] => property(rest, elements.last_mut()),
        ["format", ..] => Err((None, "write format, the encoding and 1.0".into())),
        ["element", ..] => Err((None, "write element, its name and the number of rows".into())),
        _ => Ok(()),
    }
}

/// What is wrong if the property that has just been added to an element is there already.
fn repetition<'a>(words: &[&'a str], element: Option<&Element>) -> Option<Complaint<'a>> {
    let (element, name) = (element?, words.last().filter(|_| words.first() == Some(&"property"))?);
    let is_new = element.find(name) == element.properties.len().checked_sub(1);
    let message = || format!("element {} has a property {} already", quoted(&element.name), quoted(name));
    (!is_new).then(|| (Some(*name), message()))
}

fn property<'a>(words: &[&'a str], element: Option<&mut Element>) -> Result<(), Complaint<'a>> {
    let Some(element) = element else {
        return Err((None, "this property belongs to no element".into()));
    };
    let (kind, name) = match words {
        ["list", count, item, name] => {
            (Kind::List { count: Type::named(count)?, item: Type::named(item)? }, name)
        }
        [of, name] if *of != "list" => (Kind::Scalar(Type::named(of)?), name),
        _ => {
            let message = "write property, its type and name; or property list, two types and a name";
            return Err((None, message.into()));
        }
    };
    // Of properties of one name the first is found.
    element.properties.push(Property { name: (*name).into(), kind });
    Ok(())
}

fn named<'a, T>(
    what: &str,
    name: &'a str,
    choices: impl Iterator<Item = (&'static str, T)> + Clone,
) -> Result<T, Complaint<'a>> {
    choices.clone().find(|(n, _)| *n == name).map(|(_, value)| value).ok_or_else(|| {
        let hint = hint(name, &format!("{what}s are"), choices.map(|(n, _)| n));
        (Some(name), format!("unknown {what} {}{hint}", quoted(name)))
    })
}
