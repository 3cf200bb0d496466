//! Attributes of vertices and faces by their names, as Mitsuba has them in PLY files: `vertex_NAME` and `face_NAME`.
//!
//! `NAME_0 NAME_1 NAME_2` are the colour `NAME`, and `NAME_0` alone is a number; so are `NAME_1` and on, and `NAME_x` and on.
//! `NAME_r NAME_g NAME_b` are `NAME_color`, and `r g b` or `red green blue` are `color`.

use std::io::{BufReader, Read};

use glam::Vec3;
use torrance_text::quoted;

use super::header::{self, Element, Encoding, Header, Kind, Type};
use super::values::{Binary, Fault, Text, Values};
use super::{BUFFER, as_color, index_list, pass_over, pass_over_property};
use crate::input::{Mistakes, Problem};

/// Values of an attribute in all three channels, or in each of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MeshAttribute {
    /// One a vertex.
    Vertices(Vec<Vec3>),
    /// One a triangle.
    Triangles(Vec<Vec3>),
}

/// Ends of the names of properties that belong together. The last would be a fourth, with which they are no colour.
const ENDINGS: [[&str; 4]; 4] =
    [["0", "1", "2", "3"], ["1", "2", "3", "4"], ["x", "y", "z", "w"], ["r", "g", "b", "a"]];

/// Reads an attribute of a PLY file of `len` bytes; nothing if it does not have it. Gives how many values are brought to
/// between 0 and 1 as well.
///
/// # Errors
/// The first thing that is wrong.
pub(crate) fn read_attribute(
    file: &str,
    input: impl Read,
    len: u64,
    name: &str,
) -> Result<Option<(MeshAttribute, usize)>, Problem> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    // Mistakes that are forgiven are told of when the mesh is read.
    let header = header::read(file, &mut input, len, &mut Mistakes::default())?;
    let (of_faces, name) = match (name.strip_prefix("vertex_"), name.strip_prefix("face_")) {
        (Some(name), _) => (false, name),
        (_, Some(name)) => (true, name),
        _ => return Ok(None),
    };
    let element = if of_faces { "face" } else { "vertex" };
    let Some(properties) = header.element(element).and_then(|element| find(element, name)) else {
        return Ok(None);
    };
    let column = Column { file, element, properties };
    let (at, last) = (header.bytes, 0);
    let read = match header.encoding {
        Encoding::Ascii => {
            let (line, text, word) = (header.lines, String::new(), 0..0);
            let (line_end, mistakes) = (header.line_end, Mistakes::default());
            column.read(&header, Text { file, input, line_end, mistakes, line, text, word })
        }
        Encoding::LittleEndian => column.read(&header, Binary::<_, false> { file, input, at, last }),
        Encoding::BigEndian => column.read(&header, Binary::<_, true> { file, input, at, last }),
    };
    let mut values = read.map_err(|fault| *fault)?;
    let mut clamped = 0;
    for value in &mut values {
        let within = value.clamp(Vec3::ZERO, Vec3::ONE);
        clamped += usize::from(*value != within);
        *value = within;
    }
    let attribute = if of_faces { MeshAttribute::Triangles(values) } else { MeshAttribute::Vertices(values) };
    Ok(Some((attribute, clamped)))
}

/// The properties that an attribute is made of: one or three.
fn find(element: &Element, name: &str) -> Option<Vec<usize>> {
    let all = |names: &[String]| names.iter().map(|name| element.find(name)).collect::<Option<Vec<_>>>();
    if name == "color" {
        let plain = [["r", "g", "b"], ["red", "green", "blue"]];
        if let Some(found) = plain.iter().find_map(|names| all(&names.map(str::to_owned))) {
            return Some(found);
        }
    }
    let named = ENDINGS.iter().filter_map(|endings| {
        let prefix = if endings[0] == "r" { name.strip_suffix("_color")? } else { name };
        Some(endings.map(|ending| format!("{prefix}_{ending}")))
    });
    let has = |name: &String| element.find(name).is_some();
    let names = named.into_iter().find(|names| has(&names[0]))?;
    match [1, 2, 3].map(|i| has(&names[i])) {
        [true, true, false] => all(&names[..3]),
        [false, ..] => all(&names[..1]),
        _ => None,
    }
}

/// What is read of a file.
struct Column<'a> {
    file: &'a str,
    /// The element that has it.
    element: &'static str,
    properties: Vec<usize>,
}

impl Column<'_> {
    fn read(&self, header: &Header, mut values: impl Values) -> Result<Vec<Vec3>, Fault> {
        for element in &header.elements {
            if element.name == self.element {
                return self.rows(element, &mut values);
            }
            pass_over(element, &mut values)?;
        }
        Ok(Vec::new())
    }

    /// Reads the rows of its element. Those of faces count once for each of their triangles.
    fn rows(&self, element: &Element, values: &mut impl Values) -> Result<Vec<Vec3>, Fault> {
        let corners = if self.element == "face" { Some(index_list(self.file, element)?) } else { None };
        let mut out = Vec::new();
        for _ in 0..element.count {
            let (mut row, mut triangles) = ([0.0; 3], 1);
            values.begin_row()?;
            for (i, property) in element.properties.iter().enumerate() {
                let channel = self.properties.iter().position(|p| *p == i);
                match (property.kind, channel) {
                    (Kind::Scalar(of), Some(channel)) => row[channel] = self.number(of, values)?,
                    (Kind::List { .. }, Some(_)) => {
                        let name = quoted(&property.name);
                        return Err(Problem::of_file(self.file, format!("property {name} is a list")).into());
                    }
                    (Kind::List { count, item }, None) if Some(i) == corners => {
                        let length = values.integer(count)?;
                        triangles = usize::try_from(length - 2).unwrap_or_default();
                        values.skip(item, u64::try_from(length).unwrap_or_default())?;
                    }
                    _ => pass_over_property(property, values)?,
                }
            }
            values.end_row()?;
            let value = if self.properties.len() == 1 { Vec3::splat(row[0]) } else { row.into() };
            out.extend(std::iter::repeat_n(value, triangles));
        }
        Ok(out)
    }

    /// A number, or a channel of a colour, which is encoded as sRGB if it is a whole number.
    fn number(&self, of: Type, values: &mut impl Values) -> Result<f32, Fault> {
        let x = values.float(of)?;
        match x {
            _ if !x.is_finite() => {
                Err(values.fault(format!("the value {x} of this {} is not finite", self.element)))
            }
            _ if of.is_float() || self.properties.len() == 1 => Ok(x),
            _ => Ok(as_color(x, of)),
        }
    }
}
