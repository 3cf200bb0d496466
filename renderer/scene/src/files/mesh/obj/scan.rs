//! Checks an OBJ file line by line, and copies out what `tobj` is to parse.
//!
//! `tobj` does not suffice alone: its errors name no line, it takes what is not finite, and it has no lines that go on in
//! the next, no indices that lead forward, and no corners without texture coordinates among others that have them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use torrance_text::quoted;

use crate::description::limits::MAX_COORDINATE;
use crate::input::{Error, Problem};

/// Most problems reported of one file: a wrong file has one on every line.
pub(crate) const MOST: usize = 10;

/// An OBJ file that has been checked.
#[derive(Debug, Default)]
pub(crate) struct ObjText {
    /// Positions, normals, texture coordinates and faces only, every line of them valid.
    pub(crate) clean: String,
    /// For every triangle that the faces become, the line of its face.
    pub(crate) triangle_lines: Vec<u32>,
    /// The material libraries, each with the line that names it.
    pub(crate) libraries: Vec<(usize, String)>,
    /// The names of materials, each with the first line that uses it. In `clean`, their indices are their names.
    pub(crate) materials: Vec<(usize, String)>,
    pub(crate) warnings: Vec<Problem>,
}

/// A word of a line and where it stands there, in bytes.
pub(crate) type Word<'a> = (Range<usize>, &'a str);

/// Parts of the corners of faces to be copied, beside positions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Attributes {
    normals: bool,
    /// Corners without texture coordinates then get (0, 0) here.
    uvs: bool,
    materials: bool,
}

/// Whether corners have something.
#[derive(Debug, Clone, Copy, Default)]
struct Presence {
    with: bool,
    /// Line of the first corner that does not have it.
    without: Option<usize>,
}

impl Presence {
    fn add(&mut self, has: bool, line: usize) {
        self.with |= has;
        self.without = self.without.or((!has).then_some(line));
    }

    /// The first line of those that lack what others have.
    fn mixed(&self) -> Option<usize> {
        self.without.filter(|_| self.with)
    }
}

#[derive(Default)]
struct Scan<'a> {
    /// Where in `out.materials` each name is.
    known: HashMap<String, usize>,
    file: &'a str,
    keep: Attributes,
    /// Lines of each kind so far, from which negative indices count back.
    so_far: Counts,
    /// Lines of each kind in the whole file.
    total: Counts,
    normals: Presence,
    uvs: Presence,
    /// Whether there are curves and surfaces other than faces.
    has_free_form: bool,
    out: ObjText,
    /// Faces and their materials, which follow all that they refer to.
    faces: String,
    problems: Vec<Problem>,
}

/// Numbers of positions, texture coordinates and normals.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    positions: i64,
    texcoords: i64,
    normals: i64,
}

impl Counts {
    /// Counts a line by its first word. A wrong line counts as well, so that the faces are not blamed for it.
    fn count(&mut self, keyword: &str) {
        match keyword {
            "v" => self.positions += 1,
            "vt" => self.texcoords += 1,
            "vn" => self.normals += 1,
            _ => {}
        }
    }

    fn total(bytes: &[u8]) -> Self {
        let mut counts = Self::default();
        for (_, text) in logical_lines(bytes) {
            counts.count(text.split_ascii_whitespace().next().unwrap_or_default());
        }
        counts
    }
}

/// Looks through an OBJ file. With `keep_normals`, the copy has vertex normals if every corner has one. It has texture
/// coordinates if any corner has them, and with `materials` the materials of faces.
pub(crate) fn scan(file: &str, bytes: &[u8], keep_normals: bool, materials: bool) -> Result<ObjText, Error> {
    let all = Attributes { normals: keep_normals, uvs: true, materials };
    let first_pass = scan_once(file, bytes, all)?;
    let Scan { normals, uvs, total, .. } = first_pass;
    let bare = normals.mixed().filter(|_| keep_normals);
    let keep = Attributes {
        normals: keep_normals && bare.is_none(),
        uvs: uvs.with || total.texcoords == 0,
        materials,
    };
    let mut out = if keep == all { first_pass.out } else { scan_once(file, bytes, keep)?.out };
    let mut warn = |line, message| out.warnings.push(Problem::at_line(file, line, "", 0..0, message));
    if let Some(line) = bare {
        warn(line, "this face has no vertex normals and others do; all are left out");
    }
    if let Some(line) = uvs.mixed() {
        warn(
            line,
            "this face has no texture coordinates and others do; they are (0, 0) where there are none",
        );
    }
    Ok(out)
}

fn scan_once<'a>(file: &'a str, bytes: &[u8], keep: Attributes) -> Result<Scan<'a>, Error> {
    let out = ObjText { clean: String::with_capacity(bytes.len()), ..ObjText::default() };
    let mut scan = Scan { file, keep, total: Counts::total(bytes), out, ..Scan::default() };
    if keep.materials {
        scan.out.clean.push_str("mtllib all\n");
    }
    for (line, text) in logical_lines(bytes) {
        scan.line(line, &text);
        if scan.problems.len() >= MOST {
            break;
        }
    }
    if scan.default_uv().is_some() {
        scan.out.clean.push_str("vt 0 1\n");
    }
    scan.out.clean.push_str(&std::mem::take(&mut scan.faces));
    if scan.problems.is_empty() && scan.out.triangle_lines.is_empty() {
        scan.problems.push(Problem::at(file, "", 0..0, "the mesh is empty: there are no faces"));
    }
    if scan.problems.is_empty() { Ok(scan) } else { Err(Error { problems: scan.problems }) }
}

/// The lines of a file, from 1; those that end in a backslash go on in the next. Bytes that are not UTF-8
/// become replacement characters: they are fine in comments and names.
pub(crate) fn logical_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, Cow<'_, str>)> {
    let mut lines = bytes.split(|b| *b == b'\n').enumerate();
    std::iter::from_fn(move || {
        let (number, line) = lines.next()?;
        let mut text = decode(line);
        while let Some(start) = text.strip_suffix('\\') {
            let Some((_, next)) = lines.next() else { break };
            text = Cow::Owned(format!("{start} {}", decode(next)));
        }
        Some((number + 1, text))
    })
}

/// The words of a line, up to a comment.
pub(crate) fn split_words(text: &str) -> Vec<Word<'_>> {
    let code = text.split('#').next().unwrap_or_default();
    let place = |w: &str| {
        let start = w.as_ptr() as usize - text.as_ptr() as usize;
        start..start + w.len()
    };
    code.split_ascii_whitespace().map(|w| (place(w), w)).collect()
}

fn decode(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line))
}

impl Scan<'_> {
    fn line(&mut self, line: usize, text: &str) {
        let words = split_words(text);
        let Some(((first, keyword), rest)) = words.split_first() else { return };
        let whole = first.start..words[words.len() - 1].0.end;
        self.so_far.count(keyword);
        let checked = match *keyword {
            "v" => self.numbers::<3>(keyword, rest, ("vertex", MAX_COORDINATE), true),
            "vn" => self.numbers::<3>(keyword, rest, ("vertex normal", f32::MAX), self.keep.normals),
            "vt" => self.numbers::<2>(keyword, rest, ("texture vertex", MAX_COORDINATE), self.keep.uvs),
            "f" => self.face(line, rest),
            "usemtl" | "mtllib" if self.keep.materials => {
                // Spaces as they are, as in libraries.
                let name = rest.first().map_or("", |(first, _)| &text[first.start..whole.end]);
                self.material(line, keyword, name.to_owned());
                Ok(())
            }
            "cstype" | "curv" | "curv2" | "surf" if !self.has_free_form => {
                self.has_free_form = true;
                let message = "free-form curves and surfaces are not supported, and left out";
                self.out.warnings.push(Problem::at_line(self.file, line, text, whole.clone(), message));
                Ok(())
            }
            _ => Ok(()),
        };
        if let Err((span, message)) = checked {
            self.problems.push(Problem::at_line(self.file, line, text, span.unwrap_or(whole), message));
        }
    }

    /// A library, or the material of the faces that follow.
    fn material(&mut self, line: usize, keyword: &str, name: String) {
        if keyword == "mtllib" {
            self.out.libraries.push((line, name));
            return;
        }
        let materials = &mut self.out.materials;
        let index = *self.known.entry(name).or_insert_with_key(|name| {
            materials.push((line, name.clone()));
            materials.len() - 1
        });
        let _ = writeln!(self.faces, "usemtl {index}");
    }

    /// Checks `N` numbers up to a limit, and copies their line if it is to be kept; more of them, such as colours, are
    /// passed over.
    fn numbers<const N: usize>(
        &mut self,
        keyword: &str,
        words: &[Word<'_>],
        (what, limit): (&str, f32),
        keep: bool,
    ) -> Result<(), Complaint> {
        let numbers = &words[..N.min(words.len())];
        for (span, word) in numbers {
            let fault = match word.parse::<f32>() {
                Err(_) => format!("{} is not a number", quoted(word)),
                Ok(x) if x.is_nan() => format!("a coordinate of this {what} is not a number (NaN)"),
                Ok(x) if x.is_infinite() => format!("a coordinate of this {what} is infinite"),
                Ok(x) if x.abs() > limit => format!("the coordinate {} is beyond ±{limit:e}", quoted(word)),
                Ok(_) => continue,
            };
            return Err((Some(span.clone()), fault));
        }
        if numbers.len() < N {
            let many = if N == 2 { "two" } else { "three" };
            let message = format!("a {what} has {many} coordinates, and this one has {}", numbers.len());
            return Err((None, message));
        }
        if keep {
            let clean = &mut self.out.clean;
            clean.push_str(keyword);
            for (_, word) in numbers {
                clean.extend([" ", word]);
            }
            clean.push('\n');
        }
        Ok(())
    }

    fn face(&mut self, line: usize, words: &[Word<'_>]) -> Result<(), Complaint> {
        if words.len() < 3 {
            return Err((
                None,
                format!("a face has at least three vertices, and this one has {}", words.len()),
            ));
        }
        let corners: Vec<_> = words.iter().map(|word| self.corner(word)).collect::<Result<_, _>>()?;
        self.faces.push('f');
        for Corner { position, uv, normal } in corners {
            self.normals.add(normal.is_some(), line);
            self.uvs.add(uv.is_some(), line);
            let normal = normal.filter(|_| self.keep.normals);
            let uv = uv.filter(|_| self.keep.uvs).or(self.default_uv());
            let _ = match (uv, normal) {
                (Some(uv), Some(normal)) => write!(self.faces, " {position}/{uv}/{normal}"),
                (Some(uv), None) => write!(self.faces, " {position}/{uv}"),
                (None, Some(normal)) => write!(self.faces, " {position}//{normal}"),
                (None, None) => write!(self.faces, " {position}"),
            };
        }
        self.faces.push('\n');
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        self.out.triangle_lines.extend(std::iter::repeat_n(line, words.len() - 2));
        Ok(())
    }

    /// Index of the texture coordinates that corners without any get, which follow all others.
    fn default_uv(&self) -> Option<i64> {
        (self.keep.uvs && self.total.texcoords > 0).then_some(self.total.texcoords + 1)
    }

    /// `v`, `v/vt`, `v//vn` or `v/vt/vn`.
    fn corner(&self, (span, word): &Word<'_>) -> Result<Corner, Complaint> {
        let wrong = |message: String| (Some(span.clone()), message);
        let mut parts = word.split('/');
        let (v, vt, vn) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        if parts.next().is_some() {
            let word = quoted(word);
            return Err(wrong(format!("{word} is not a face vertex; write v, v/vt, v//vn or v/vt/vn")));
        }
        let index = |text: &str, what: &str, so_far: i64, total: i64| {
            let number: i64 = text.parse().map_err(|_| wrong(format!("{} is not an index", quoted(text))))?;
            let from_one = if number < 0 { so_far.saturating_add(number).saturating_add(1) } else { number };
            match number {
                0 => Err(wrong(format!("the {what} index is 0; they begin at 1"))),
                _ if (1..=total).contains(&from_one) => Ok(from_one),
                _ => {
                    let there = match number < 0 {
                        true => format!("up to here the file has {so_far}"),
                        false => format!("the file has {total}"),
                    };
                    Err(wrong(format!("the {what} index {number} is out of range; {there}")))
                }
            }
        };
        let optional = |text: Option<&str>, what: &str, so_far: i64, total: i64| {
            text.filter(|t| !t.is_empty()).map(|t| index(t, what, so_far, total)).transpose()
        };
        let Counts { positions, texcoords, normals } = self.so_far;
        let position = index(v, "vertex", positions, self.total.positions)?;
        let uv = optional(vt, "texture coordinate", texcoords, self.total.texcoords)?;
        let normal = optional(vn, "normal", normals, self.total.normals)?;
        Ok(Corner { position, uv, normal })
    }
}

/// Indices from 1.
struct Corner {
    position: i64,
    uv: Option<i64>,
    normal: Option<i64>,
}

/// A fault of a line: at which bytes if not all of them, and the message.
pub(crate) type Complaint = (Option<Range<usize>>, String);
