//! Checks an OBJ file line by line, and copies out what `tobj` is to parse.
//!
//! `tobj` does not suffice alone: its errors name no line, it takes what is not finite, and it has no lines that go on in
//! the next, no indices that lead forward, and no corners without texture coordinates among others that have them.
//!
//! Files of others have mistakes. What they spoil is left out, with a warning for each kind of them: a file is wrong only if
//! no face is left.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::ops::Range;

use torrance_text::quoted;

use crate::description::limits::MAX_COORDINATE;
use crate::input::{Error, Mistakes, Problem};

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
    /// What the colours of vertices, encoded as sRGB, are parts of, if there are any.
    pub(crate) color_unit: Option<f32>,
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
    /// Vertices without a colour then get white here.
    white: bool,
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
    colors: Presence,
    /// Largest component of a colour.
    brightest: f32,
    /// Vertices that are no points, counted from 1, and those that are known not to be from the start.
    spoilt: BTreeSet<i64>,
    known_spoilt: BTreeSet<i64>,
    /// Whether there are curves and surfaces other than faces.
    has_free_form: bool,
    out: ObjText,
    /// Faces and their materials, which follow all that they refer to.
    faces: String,
    mistakes: Mistakes,
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
/// coordinates if any corner has them, colours if any vertex has one, and with `materials` the materials of faces.
pub(crate) fn scan(file: &str, bytes: &[u8], keep_normals: bool, materials: bool) -> Result<ObjText, Error> {
    let all = Attributes { normals: keep_normals, uvs: true, materials, white: false };
    let mut pass = Scan::all(file, bytes, all, BTreeSet::new());
    let bare = pass.normals.mixed().filter(|_| keep_normals);
    let keep = Attributes {
        normals: keep_normals && bare.is_none(),
        uvs: pass.uvs.with || pass.total.texcoords == 0,
        materials,
        white: pass.colors.mixed().is_some(),
    };
    let uvs = pass.uvs.mixed();
    if keep != all || !pass.spoilt.is_empty() {
        pass = Scan::all(file, bytes, keep, std::mem::take(&mut pass.spoilt));
    }
    let mut out = pass.finish()?;
    let mut warn = |line, message| out.warnings.push(Problem::at_line(file, line, "", 0..0, message));
    if let Some(line) = bare {
        warn(line, "this face has no vertex normals and others do; all are left out");
    }
    if let Some(line) = uvs {
        warn(
            line,
            "this face has no texture coordinates and others do; they are (0, 0) where there are none",
        );
    }
    Ok(out)
}

/// The lines of a file, from 1; those that end in a backslash go on in the next, but for comments, which may end with the
/// path of a folder. Bytes that are not UTF-8 become replacement characters: they are fine in comments and names.
pub(crate) fn logical_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, Cow<'_, str>)> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // As on a Macintosh before 2001.
    let end = if bytes.contains(&b'\n') { b'\n' } else { b'\r' };
    let mut lines = bytes.split(move |b| *b == end).enumerate();
    std::iter::from_fn(move || {
        let (number, line) = lines.next()?;
        let mut text = decode(line);
        let is_comment = text.trim_start().starts_with('#');
        while let Some(start) = text.strip_suffix('\\').filter(|_| !is_comment) {
            let Some((_, next)) = lines.next() else { break };
            text = Cow::Owned(format!("{start} {}", decode(next)));
        }
        Some((number + 1, text))
    })
}

/// The words of a line, up to a comment.
pub(crate) fn split_words(text: &str) -> Vec<Word<'_>> {
    let keyword = text.split_ascii_whitespace().next().unwrap_or_default();
    let code = match has_name(keyword) {
        // Programs number materials, as in "Material #25".
        true => text.find(" # ").map_or(text, |end| &text[..end]),
        false => text.split('#').next().unwrap_or_default(),
    };
    let place = |w: &str| {
        let start = w.as_ptr() as usize - text.as_ptr() as usize;
        start..start + w.len()
    };
    code.split_ascii_whitespace().map(|w| (place(w), w)).collect()
}

/// Whether a statement is of a name, which may have any characters.
fn has_name(keyword: &str) -> bool {
    const OTHERS: [&str; 5] = ["usemtl", "mtllib", "newmtl", "bump", "norm"];
    keyword.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("map_"))
        || OTHERS.iter().any(|other| keyword.eq_ignore_ascii_case(other))
}

fn decode(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line))
}

/// What is wrong with a line: its kind, at which bytes if not all of them, and the message.
type Mistake = (&'static str, Option<Range<usize>>, String);

impl<'a> Scan<'a> {
    /// Goes through a file, some vertices of which are known to be no points.
    fn all(file: &'a str, bytes: &[u8], keep: Attributes, known_spoilt: BTreeSet<i64>) -> Self {
        let out = ObjText { clean: String::with_capacity(bytes.len()), ..ObjText::default() };
        let mut scan = Self { file, keep, total: Counts::total(bytes), out, known_spoilt, ..Self::default() };
        if keep.materials {
            scan.out.clean.push_str("mtllib all\n");
        }
        for (line, text) in logical_lines(bytes) {
            scan.line(line, &text);
        }
        if scan.default_uv().is_some() {
            scan.out.clean.push_str("vt 0 1\n");
        }
        scan.out.clean.push_str(&std::mem::take(&mut scan.faces));
        scan
    }

    /// What there is, with a warning of each kind of mistake; errors if nothing is left for them.
    fn finish(self) -> Result<ObjText, Error> {
        let Self { mut out, mistakes, brightest, colors, file, .. } = self;
        let mistakes = mistakes.into_warnings();
        if out.triangle_lines.is_empty() {
            let mut problems: Vec<_> = mistakes.map(Problem::held_against).collect();
            if problems.is_empty() {
                problems.push(Problem::at(file, "", 0..0, "the mesh is empty: there are no faces"));
            }
            return Err(Error { problems });
        }
        out.warnings.extend(mistakes);
        if colors.with {
            let is_of_bytes = brightest > 1.0;
            out.color_unit = Some(if is_of_bytes { 255.0 } else { 1.0 });
            let message = format!("colours of vertices go from 0 to 1, and here to {brightest}");
            let problem = Problem::of_file(file, message).forgiven("they are taken for parts of 255");
            out.warnings.extend(is_of_bytes.then_some(problem));
        }
        Ok(out)
    }

    fn line(&mut self, line: usize, text: &str) {
        let words = split_words(text);
        let Some(((first, keyword), rest)) = words.split_first() else { return };
        let whole = first.start..words[words.len() - 1].0.end;
        self.so_far.count(keyword);
        let wrong = match *keyword {
            "v" => self.vertex(line, rest).map_err(|m| (m, "faces that have it are left out")),
            "vn" => {
                numbers::<3>(rest, ("vertex normal", f32::MAX)).map_err(|m| (m, "that of the faces is used"))
            }
            "vt" => numbers::<1>(rest, ("texture vertex", MAX_COORDINATE)).map_err(|m| (m, "it is (0, 0)")),
            "f" => self.face(line, text, rest).map_err(|m| (m, "the face is left out")),
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
        self.copy(keyword, rest, wrong.is_ok());
        if let Err(((kind, span, message), remedy)) = wrong {
            let problem = || Problem::at_line(self.file, line, text, span.unwrap_or(whole), message);
            self.mistakes.add(kind, remedy, problem);
        }
    }

    /// A position, and perhaps a colour: `x y z r g b`, after which there may be more.
    fn vertex(&mut self, line: usize, words: &[Word<'_>]) -> Result<(), Mistake> {
        let color = words.get(3..6).and_then(color);
        self.colors.add(color.is_some(), line);
        self.brightest = color.into_iter().flatten().fold(self.brightest, f32::max);
        let checked = numbers::<3>(words, ("vertex", MAX_COORDINATE));
        if checked.is_err() {
            self.spoilt.insert(self.so_far.positions);
        }
        checked
    }

    /// Copies numbers if they are to be kept; others in the place of wrong ones, so that indices stay.
    fn copy(&mut self, keyword: &str, words: &[Word<'_>], is_right: bool) {
        let clean = &mut self.out.clean;
        let mut write = |count: usize, missing: &str| {
            clean.push_str(keyword);
            for i in 0..count {
                clean.extend([" ", words.get(i).filter(|_| is_right).map_or(missing, |w| w.1)]);
            }
        };
        match keyword {
            "v" => {
                write(3, "0");
                match words.get(3..6).filter(|words| color(words).is_some()) {
                    Some(words) => words.iter().for_each(|(_, word)| clean.extend([" ", word])),
                    None if self.keep.white => clean.push_str(" 1 1 1"),
                    None => {}
                }
            }
            "vn" if self.keep.normals => write(3, "0"),
            "vt" if self.keep.uvs => write(2, "0"),
            _ => return,
        }
        self.out.clean.push('\n');
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

    fn face(&mut self, line: usize, text: &str, words: &[Word<'_>]) -> Result<(), Mistake> {
        if words.len() < 3 {
            let message = format!("a face has at least three vertices, and this one has {}", words.len());
            return Err(("vertices of faces", None, message));
        }
        let corners: Vec<_> =
            words.iter().map(|word| self.corner(line, text, word)).collect::<Result<_, _>>()?;
        if corners.iter().any(|corner| self.known_spoilt.contains(&corner.position)) {
            return Ok(());
        }
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

    /// `v`, `v/vt`, `v//vn` or `v/vt/vn`. Texture coordinates and normals that there are not are none.
    fn corner(&mut self, line: usize, text: &str, (span, word): &Word<'_>) -> Result<Corner, Mistake> {
        let mut parts = word.split('/');
        let (v, vt, vn) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        if parts.next().is_some() {
            let message = format!("{} is not a face vertex; write v, v/vt, v//vn or v/vt/vn", quoted(word));
            self.forgive(line, text, span, ("corner", None, message), "what follows v/vt/vn is left out");
        }
        let (so_far, total) = (self.so_far, self.total);
        let position = index(v, "vertex", so_far.positions, total.positions);
        let position = position.map_err(|(kind, message)| (kind, Some(span.clone()), message))?;
        let mut optional = |part: Option<&str>, what: &'static str, so_far: i64, total: i64| {
            let part = part.filter(|part| !part.is_empty())?;
            let found = index(part, what, so_far, total);
            found
                .map_err(|(_, message)| {
                    self.forgive(line, text, span, (what, None, message), "the corner has none");
                })
                .ok()
        };
        let uv = optional(vt, "texture coordinate", so_far.texcoords, total.texcoords);
        let normal = optional(vn, "normal", so_far.normals, total.normals);
        Ok(Corner { position, uv, normal })
    }

    fn forgive(
        &mut self,
        line: usize,
        text: &str,
        span: &Range<usize>,
        (kind, _, message): Mistake,
        remedy: &str,
    ) {
        let problem = || Problem::at_line(self.file, line, text, span.clone(), message);
        self.mistakes.add(kind, remedy, problem);
    }
}

/// Indices from 1.
struct Corner {
    position: i64,
    uv: Option<i64>,
    normal: Option<i64>,
}

/// An index counted from 1, of a list that is `so_far` long up to here and `total` in all; or the kind of what is wrong with
/// it, and a message.
fn index(text: &str, what: &str, so_far: i64, total: i64) -> Result<i64, (&'static str, String)> {
    let number: i64 = text.parse().map_err(|_| ("no index", format!("{} is not an index", quoted(text))))?;
    let from_one = if number < 0 { so_far.saturating_add(number).saturating_add(1) } else { number };
    match number {
        0 => Err(("index 0", format!("the {what} index is 0; they begin at 1"))),
        _ if (1..=total).contains(&from_one) => Ok(from_one),
        1.. => Err(("index", format!("the {what} index {number} is out of range; the file has {total}"))),
        _ => {
            let message =
                format!("the {what} index {number} is out of range; up to here the file has {so_far}");
            Err(("index from the end", message))
        }
    }
}

/// Checks at least `N` numbers, of three at most, up to a limit; more of them are passed over.
fn numbers<const N: usize>(words: &[Word<'_>], (what, limit): (&str, f32)) -> Result<(), Mistake> {
    let numbers = &words[..words.len().min(N.max(2))];
    for (span, word) in numbers {
        let (kind, fault) = match word.parse::<f32>() {
            Err(_) => ("no number", format!("{} is not a number", quoted(word))),
            Ok(x) if x.is_nan() => ("NaN", format!("a coordinate of this {what} is not a number (NaN)")),
            Ok(x) if x.is_infinite() => ("infinite", format!("a coordinate of this {what} is infinite")),
            Ok(x) if x.abs() > limit => {
                ("limit", format!("the coordinate {} is beyond ±{limit:e}", quoted(word)))
            }
            Ok(_) => continue,
        };
        return Err((kind, Some(span.clone()), fault));
    }
    if numbers.len() < N {
        let many = if N == 1 { "at least one coordinate" } else { "three coordinates" };
        let message = format!("a {what} has {many}, and this one has {}", numbers.len());
        return Err(("coordinates", None, message));
    }
    Ok(())
}

/// A colour, if these three words are one.
fn color(words: &[Word<'_>]) -> Option<[f32; 3]> {
    let channel = |i: usize| words.get(i)?.1.parse::<f32>().ok().filter(|x| (0.0..=255.0).contains(x));
    Some([channel(0)?, channel(1)?, channel(2)?])
}

/// A fault of a line: at which bytes if not all of them, and the message.
pub(crate) type Complaint = (Option<Range<usize>>, String);
