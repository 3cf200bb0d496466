//! PLY meshes (Turk 1994, "The PLY Polygon File Format"), read and written.
//!
//! Read are of the element `vertex`, position (`x y z`), normal (`nx ny nz`), texture coordinates (`u v`, `s t`,
//! `texture_u texture_v` or `texture_s texture_t`) and colour (`red green blue`, `diffuse_red …`, `r g b` or Mitsuba's
//! `color_0 …`); of `face`, the list `vertex_indices` or `vertex_index`, polygons as fans, and as VCGlib (MeshLab) writes them
//! a colour, the list `texcoord` of u and v of each corner, and `texnumber`; of `tristrips`, the same lists of indices, in
//! which a negative one ends a strip. Other properties and elements are passed over.
//!
//! Whole numbers that are colours are encoded as sRGB, like the photographs and brushes that they come from; floats are
//! linear. v is taken as it stands, 0 at the top of an image, as Mitsuba has it.
//!
//! Files of others have mistakes. What they spoil is left out, with a warning for each kind of them.

mod attribute;
mod faces;
mod header;
mod values;
mod write;

use std::io::{BufReader, Read};
use std::sync::Arc;

use glam::{Vec2, Vec3};
use torrance_image::film::develop::srgb_decode;
use torrance_text::quoted;

use crate::description::limits::MAX_COORDINATE;
use crate::description::{Normals, TriangleMesh};
use crate::files::mesh::{MeshFile, TriangleOrigin, finish_normals};
use crate::input::{Mistakes, Problem};

use faces::FaceAttributes;
use header::{Element, Encoding, Header, Kind, Property, Type};
use values::{Binary, Fault, Text, Values};

pub(crate) use attribute::{MeshAttribute, read_attribute};
pub use write::write;

/// Bytes read at once.
const BUFFER: usize = 1 << 18;

/// A PLY file: a mesh, or points if it has no triangles.
#[derive(Debug)]
pub(crate) struct PlyFile {
    pub(crate) mesh: TriangleMesh,
    pub(crate) place: TriangleOrigin,
    pub(crate) warnings: Vec<Problem>,
    /// Names of images.
    pub(crate) textures: Vec<String>,
    /// Which of them each triangle has, if that is said.
    pub(crate) texture_of: Vec<u32>,
}

/// Reads a PLY file of `len` bytes. `file` is its name in messages; `flip_v` turns v around.
///
/// # Errors
/// The first thing that is wrong.
pub fn read(
    file: &str,
    input: impl Read,
    len: u64,
    normals: Normals,
    flip_v: bool,
) -> Result<MeshFile, Problem> {
    let PlyFile { mut mesh, place, warnings, .. } = read_any(file, input, len, normals)?;
    if mesh.triangles.is_empty() {
        // What spoilt all faces says more.
        let mistake = warnings.into_iter().find(|warning| warning.remedy.is_some());
        let empty = || Problem::of_file(file, "the mesh is empty: there are no faces");
        return Err(mistake.map_or_else(empty, Problem::held_against));
    }
    if flip_v {
        turn_v(&mut mesh);
    }
    Ok(MeshFile { mesh: Arc::new(mesh), place, warnings })
}

/// Turns v around.
pub(crate) fn turn_v(mesh: &mut TriangleMesh) {
    mesh.uvs.iter_mut().for_each(|uv| uv.y = 1.0 - uv.y);
}

/// As [`read`], also of a cloud of points, and with the images that the file names.
pub(crate) fn read_any(file: &str, input: impl Read, len: u64, normals: Normals) -> Result<PlyFile, Problem> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let mut mistakes = Mistakes::default();
    let read = header::read(file, &mut input, len, &mut mistakes);
    let read = read.and_then(|header| Ok((Rows::new(file, &header, normals)?, header)));
    // A mistake that would be forgiven is why what follows is wrong.
    let blame =
        |mistakes: Mistakes, problem| mistakes.into_warnings().next().map_or(problem, Problem::held_against);
    let (mut rows, mut header) = match read {
        Ok(read) => read,
        Err(problem) => return Err(blame(mistakes, problem)),
    };
    rows.mistakes = mistakes;
    let textures = std::mem::take(&mut header.textures);
    let (at, last) = (header.bytes, 0);
    let read = match header.encoding {
        Encoding::Ascii => {
            let (line, text, word) = (header.lines, String::new(), 0..0);
            let (line_end, mistakes) = (header.line_end, Mistakes::default());
            rows.read(&header, &mut Text { file, input, line_end, mistakes, line, text, word })
        }
        Encoding::LittleEndian => rows.read(&header, &mut Binary::<_, false> { file, input, at, last }),
        Encoding::BigEndian => rows.read(&header, &mut Binary::<_, true> { file, input, at, last }),
    };
    read.map_err(|(fault, mistakes)| blame(mistakes, *fault))?;
    let Rows { mut mesh, mut warnings, clamped, faces, face_attributes, is_spoilt, mistakes, .. } = rows;
    // All polygons are triangles in most files, and then faces need no list.
    let mut place = match faces == Some(mesh.triangles.len() as u64) {
        true => TriangleOrigin::Face,
        false => TriangleOrigin::Triangle,
    };
    let texture_of = face_attributes.hand_out(&mut mesh);
    if is_spoilt {
        place = TriangleOrigin::Triangle;
    }
    let texture_of = if is_spoilt { leave_out_spoilt(&mut mesh, texture_of) } else { texture_of };
    warnings.extend(mistakes.into_warnings());
    if clamped > 0 {
        let message = format!("{clamped} vertex colours are outside 0 to 1, and clamped");
        warnings.push(Problem::of_file(file, message));
    }
    if !mesh.triangles.is_empty() {
        warnings.extend(finish_normals(file, &mut mesh, normals));
    }
    Ok(PlyFile { mesh, place, warnings, textures, texture_of })
}

/// Leaves out triangles of vertices that are no points, or of a cloud the points themselves. Where vertices stay that no
/// triangle has, they are others. Yields what is left of `texture_of`.
fn leave_out_spoilt(mesh: &mut TriangleMesh, mut texture_of: Vec<u32>) -> Vec<u32> {
    let is_point: Vec<bool> = mesh.positions.iter().map(|p| p.is_finite()).collect();
    if mesh.triangles.is_empty() {
        let mut kept = is_point.iter();
        mesh.colors.retain(|_| kept.next().copied().unwrap_or(true));
        mesh.positions.retain(|p| p.is_finite());
        return texture_of;
    }
    let is_whole = |triangle: &[u32; 3]| triangle.iter().all(|i| is_point[*i as usize]);
    let mut whole = mesh.triangles.iter().map(is_whole).collect::<Vec<_>>().into_iter();
    texture_of.retain(|_| whole.next().unwrap_or(true));
    mesh.triangles.retain(is_whole);
    let other = mesh.triangles.first().map_or(Vec3::ZERO, |t| mesh.positions[t[0] as usize]);
    mesh.positions.iter_mut().filter(|p| !p.is_finite()).for_each(|p| *p = other);
    texture_of
}

/// Attributes of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    X,
    Y,
    Z,
    Nx,
    Ny,
    Nz,
    U,
    V,
    Red,
    Green,
    Blue,
}

/// Columns that come together or not at all, and the names that programs give them.
struct Group {
    columns: &'static [Column],
    names: &'static [&'static [&'static str]],
}

const COLUMNS: usize = 11;

/// Positions, normals, texture coordinates, colours. All but the first may be missing.
const GROUPS: [Group; 4] = [
    Group { columns: &[Column::X, Column::Y, Column::Z], names: &[&["x", "y", "z"]] },
    Group { columns: &[Column::Nx, Column::Ny, Column::Nz], names: &[&["nx", "ny", "nz"]] },
    Group {
        columns: &[Column::U, Column::V],
        names: &[&["u", "v"], &["s", "t"], &["texture_u", "texture_v"], &["texture_s", "texture_t"]],
    },
    Group {
        columns: &[Column::Red, Column::Green, Column::Blue],
        names: &[
            &["red", "green", "blue"],
            &["r", "g", "b"],
            &["diffuse_red", "diffuse_green", "diffuse_blue"],
            &["color_0", "color_1", "color_2"],
        ],
    },
];

impl Group {
    /// The properties of `element` that are these columns, by the first names of which all are there.
    fn find(&self, element: &Element) -> Option<Vec<usize>> {
        let all = |names: &&[&str]| names.iter().map(|name| element.find(name)).collect();
        self.names.iter().find_map(all)
    }
}

/// The mesh as rows of the file are read.
struct Rows<'a> {
    file: &'a str,
    /// Of every property of `vertex`, the column that it is.
    columns: Vec<Option<Column>>,
    /// Which of [`GROUPS`] there are.
    has: [bool; 4],
    vertices: u64,
    mesh: TriangleMesh,
    /// Number of faces so far, unless some were left out.
    faces: Option<u64>,
    face_attributes: FaceAttributes,
    /// Whether some vertices are no points.
    is_spoilt: bool,
    mistakes: Mistakes,
    /// Number of vertices with a colour out of range.
    clamped: u64,
    /// Linear values of the bytes of colours.
    linear: [f32; 256],
    warnings: Vec<Problem>,
    corners: Vec<u32>,
}

impl<'a> Rows<'a> {
    fn new(file: &'a str, header: &Header, normals: Normals) -> Result<Self, Problem> {
        let problem = |message: String| Problem::of_file(file, message);
        let vertex =
            header.element("vertex").ok_or_else(|| problem("the file has no element \"vertex\"".into()))?;
        if vertex.count > u64::from(u32::MAX) {
            return Err(problem(format!("{} vertices are more than 32-bit indices can name", vertex.count)));
        }
        let mut columns = vec![None; vertex.properties.len()];
        let mut has = [false; 4];
        for (group, has) in GROUPS.iter().zip(&mut has) {
            let found = match group.find(vertex) {
                Some(_) if group.columns[0] == Column::Nx && normals != Normals::File => continue,
                Some(found) => found,
                None if group.columns[0] == Column::X => {
                    return Err(problem("element \"vertex\" has no properties x, y and z".into()));
                }
                None => continue,
            };
            *has = true;
            for (at, column) in found.into_iter().zip(group.columns) {
                let Property { name, kind } = &vertex.properties[at];
                if matches!(kind, Kind::List { .. }) {
                    return Err(problem(format!(
                        "property {} of element \"vertex\" is a list",
                        quoted(name)
                    )));
                }
                columns[at] = Some(*column);
            }
        }
        let linear = std::array::from_fn(|i| srgb_decode(i as f64 / 255.0) as f32);
        Ok(Self {
            file,
            columns,
            has,
            vertices: vertex.count,
            mesh: TriangleMesh::default(),
            faces: Some(0),
            face_attributes: FaceAttributes::default(),
            is_spoilt: false,
            mistakes: Mistakes::default(),
            clamped: 0,
            linear,
            warnings: Vec::new(),
            corners: Vec::new(),
        })
    }

    /// Reads all rows of all elements. With what is wrong come mistakes in how rows are written.
    fn read(&mut self, header: &Header, values: &mut impl Values) -> Result<(), (Fault, Mistakes)> {
        let read = self.read_elements(header, values);
        let mistakes = values.mistakes();
        match read {
            Ok(()) => {
                self.mistakes.extend(mistakes);
                Ok(())
            }
            Err(fault) => Err((fault, mistakes)),
        }
    }

    fn read_elements(&mut self, header: &Header, values: &mut impl Values) -> Result<(), Fault> {
        for element in &header.elements {
            match element.name.as_str() {
                "vertex" => self.read_vertices(element, values)?,
                "face" if element.count > 0 => self.read_faces(element, values)?,
                "tristrips" => self.read_strips(element, values)?,
                _ => pass_over(element, values)?,
            }
        }
        if values.has_more()? {
            let message = "the file goes on after its last element; what follows is left out";
            self.warnings.push(Problem::of_file(self.file, message));
        }
        Ok(())
    }

    fn read_vertices(&mut self, element: &Element, values: &mut impl Values) -> Result<(), Fault> {
        let [_, normals, uvs, colors] = self.has;
        // The header's counts have been checked against the size of the file.
        let count = element.count as usize;
        let reserve = |has: bool| if has { count } else { 0 };
        self.mesh.positions.reserve_exact(count);
        self.mesh.normals.reserve_exact(reserve(normals));
        self.mesh.uvs.reserve_exact(reserve(uvs));
        self.mesh.colors.reserve_exact(reserve(colors));
        let columns = std::mem::take(&mut self.columns);
        for _ in 0..element.count {
            let mut row = [0.0; COLUMNS];
            values.begin_row()?;
            for (property, column) in element.properties.iter().zip(&columns) {
                match (property.kind, column) {
                    (Kind::Scalar(of), Some(column)) => {
                        row[*column as usize] = self.value(*column, of, values)?
                    }
                    _ => pass_over_property(property, values)?,
                }
            }
            values.end_row()?;
            let [x, y, z, nx, ny, nz, u, v, r, g, b] = row;
            let position = Vec3::new(x, y, z);
            self.is_spoilt |= position.is_nan();
            self.mesh.positions.push(position);
            if normals {
                self.mesh.normals.push(Vec3::new(nx, ny, nz));
            }
            if uvs {
                self.mesh.uvs.push(Vec2::new(u, v));
            }
            if colors {
                let color = Vec3::new(r, g, b);
                let clamped = color.clamp(Vec3::ZERO, Vec3::ONE);
                self.clamped += u64::from(clamped != color);
                self.mesh.colors.push(clamped);
            }
        }
        Ok(())
    }

    /// Reads a number of a column.
    #[inline(always)]
    fn value(&mut self, column: Column, of: Type, values: &mut impl Values) -> Result<f32, Fault> {
        let x = values.float(of)?;
        if column as usize >= Column::Red as usize && !of.is_float() {
            return Ok(self.encoded(x, of));
        }
        let limit = if (column as usize) < 3 || (6..8).contains(&(column as usize)) {
            MAX_COORDINATE
        } else {
            f32::MAX
        };
        if x.abs() <= limit { Ok(x) } else { Ok(self.out_of_range(x, column, limit, values)) }
    }

    /// The linear value of a whole number that is encoded as sRGB.
    #[inline(always)]
    fn encoded(&self, x: f32, of: Type) -> f32 {
        match of {
            Type::U8 => self.linear[x.clamp(0.0, 255.0) as usize],
            _ => as_color(x, of),
        }
    }

    /// What stands in for a number that is none.
    #[cold]
    fn out_of_range(&mut self, x: f32, column: Column, limit: f32, values: &impl Values) -> f32 {
        let (what, remedy, other) = match column {
            Column::X | Column::Y | Column::Z => {
                ("coordinate of this vertex", "what has it is left out", f32::NAN)
            }
            Column::Nx | Column::Ny | Column::Nz => {
                ("coordinate of this vertex normal", "that of the faces is used", f32::NAN)
            }
            Column::U | Column::V => ("texture coordinate of this vertex", "it is 0", 0.0),
            Column::Red | Column::Green | Column::Blue => ("colour of this vertex", "it is 0", 0.0),
        };
        let (kind, message) = match x {
            x if x.is_nan() => ("NaN", format!("a {what} is not a number (NaN)")),
            x if x.is_infinite() => ("infinite", format!("a {what} is infinite")),
            x => ("limit", format!("the {what}, {x:e}, is beyond ±{limit:e}")),
        };
        self.mistakes.add(kind, remedy, || *values.fault(message));
        other
    }

    /// Reads the lists of corners of strips.
    fn read_strips<V: Values>(&mut self, element: &Element, values: &mut V) -> Result<(), Fault> {
        let list = index_list(self.file, element)?;
        for _ in 0..element.count {
            values.begin_row()?;
            for (i, property) in element.properties.iter().enumerate() {
                match property.kind {
                    Kind::List { count, item } if i == list => self.strip(count, item, values)?,
                    _ => pass_over_property(property, values)?,
                }
            }
            values.end_row()?;
        }
        Ok(())
    }

    /// Reads the index of a vertex.
    #[inline(always)]
    fn index(&mut self, of: Type, values: &mut impl Values, remedy: &str) -> Result<Option<u32>, Fault> {
        let index = values.integer(of)?;
        if (index as u64) < self.vertices {
            return Ok(Some(index as u32));
        }
        self.no_vertex(index, values, remedy);
        Ok(None)
    }

    #[cold]
    fn no_vertex(&mut self, index: i64, values: &impl Values, remedy: &str) {
        let count = self.vertices;
        let message = || format!("the vertex index {index} is out of range; the file has {count}, from 0");
        self.mistakes.add("index", remedy, || *values.fault(message()));
    }

    /// Triangles that share two vertices with the one before, every other one turned around.
    fn strip(&mut self, count: Type, item: Type, values: &mut impl Values) -> Result<(), Fault> {
        let mut strip = std::mem::take(&mut self.corners);
        strip.clear();
        for _ in 0..values.integer(count)? {
            let index = values.integer(item)?;
            if index < 0 || index as u64 >= self.vertices {
                if index >= 0 {
                    self.no_vertex(index, values, "the strip ends there");
                }
                strip.clear();
                continue;
            }
            strip.push(index as u32);
            if let [.., a, b, c] = strip[..] {
                // Strips repeat a vertex where they turn a corner.
                if a != b && b != c && c != a {
                    self.mesh.triangles.push(if strip.len() % 2 == 1 { [a, b, c] } else { [b, a, c] });
                }
            }
        }
        self.corners = strip;
        Ok(())
    }
}

/// The linear value of a whole number that is a channel of a colour.
fn as_color(x: f32, of: Type) -> f32 {
    srgb_decode(f64::from(x / of.one()).clamp(0.0, 1.0)) as f32
}

/// Which property of an element holds the corners: by its name, or else the first list of whole numbers.
fn index_list(file: &str, element: &Element) -> Result<usize, Fault> {
    let is_list = |kind: Kind| matches!(kind, Kind::List { .. });
    let is_of_wholes = |kind: Kind| matches!(kind, Kind::List { item, .. } if !item.is_float());
    let named = element.find("vertex_indices").or_else(|| element.find("vertex_index"));
    let named = named.filter(|at| is_list(element.properties[*at].kind));
    let found = named.or_else(|| element.properties.iter().position(|p| is_of_wholes(p.kind)));
    found.ok_or_else(|| {
        let name = quoted(&element.name);
        let message = format!("element {name} has no list of indices, as \"vertex_indices\" is");
        Problem::of_file(file, message).into()
    })
}

fn pass_over(element: &Element, values: &mut impl Values) -> Result<(), Fault> {
    // Rows of nothing could be any number.
    if element.properties.is_empty() {
        return Ok(());
    }
    for _ in 0..element.count {
        values.begin_row()?;
        for property in &element.properties {
            pass_over_property(property, values)?;
        }
        values.end_row()?;
    }
    Ok(())
}

fn pass_over_property(property: &Property, values: &mut impl Values) -> Result<(), Fault> {
    match property.kind {
        Kind::Scalar(of) => values.skip(of, 1),
        Kind::List { count, item } => {
            let length = values.integer(count)?;
            match u64::try_from(length) {
                Ok(length) => values.skip(item, length),
                Err(_) => Err(values.fault(format!("a list cannot have the length {length}"))),
            }
        }
    }
}
