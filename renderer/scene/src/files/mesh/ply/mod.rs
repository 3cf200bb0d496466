//! PLY meshes (Turk 1994, "The PLY Polygon File Format"), read and written.
//!
//! Read are of the element `vertex`, position (`x y z`), normal (`nx ny nz`), texture coordinates (`u v`, `s t`,
//! `texture_u texture_v` or `texture_s texture_t`) and colour (`red green blue`, `diffuse_red …`, `r g b` or Mitsuba's
//! `color_0 …`); of `face`, the list `vertex_indices` or `vertex_index`, polygons as fans; of `tristrips`, the same lists,
//! in which a negative index ends a strip. Other properties and elements are passed over.
//!
//! Whole numbers that are colours are encoded as sRGB, like the photographs and brushes that they come from; floats are
//! linear. v is taken as it stands, 0 at the top of an image, as Mitsuba has it.

mod attribute;
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
use crate::input::Problem;

use header::{Element, Encoding, Header, Kind, Property, Type};
use values::{Binary, Fault, Text, Values};

pub(crate) use attribute::{MeshAttribute, read_attribute};
pub use write::write;

/// Bytes read at once.
const BUFFER: usize = 1 << 18;

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
    let mut input = BufReader::with_capacity(BUFFER, input);
    let header = header::read(file, &mut input, len)?;
    let mut rows = Rows::new(file, &header, normals)?;
    let (at, last) = (header.bytes, 0);
    let read = match header.encoding {
        Encoding::Ascii => {
            let (line, text, word) = (header.lines, String::new(), 0..0);
            rows.read(&header, Text { file, input, line, text, word })
        }
        Encoding::LittleEndian => rows.read(&header, Binary::<_, false> { file, input, at, last }),
        Encoding::BigEndian => rows.read(&header, Binary::<_, true> { file, input, at, last }),
    };
    read.map_err(|fault| *fault)?;
    let Rows { mut mesh, mut warnings, clamped, faces, .. } = rows;
    if mesh.triangles.is_empty() {
        return Err(Problem::of_file(file, "the mesh is empty: there are no faces"));
    }
    if clamped > 0 {
        let message = format!("{clamped} vertex colours are outside 0 to 1, and clamped");
        warnings.push(Problem::of_file(file, message));
    }
    if flip_v {
        mesh.uvs.iter_mut().for_each(|uv| uv.y = 1.0 - uv.y);
    }
    warnings.extend(finish_normals(file, &mut mesh, normals));
    // All polygons are triangles in most files, and then faces need no list.
    let place = match faces == mesh.triangles.len() as u64 {
        true => TriangleOrigin::Face,
        false => TriangleOrigin::Triangle,
    };
    Ok(MeshFile { mesh: Arc::new(mesh), place, warnings })
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
    /// Number of faces so far.
    faces: u64,
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
        if !header.elements.iter().any(|e| e.name == "face" || e.name == "tristrips") {
            return Err(problem("the file has no element \"face\": clouds of points are not read".into()));
        }
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
            faces: 0,
            clamped: 0,
            linear,
            warnings: Vec::new(),
            corners: Vec::new(),
        })
    }

    /// Reads all rows of all elements.
    fn read(&mut self, header: &Header, mut values: impl Values) -> Result<(), Fault> {
        for element in &header.elements {
            match element.name.as_str() {
                "vertex" => self.read_vertices(element, &mut values)?,
                "face" => self.read_faces(element, &mut values)?,
                "tristrips" => self.read_lists(element, &mut values, Self::strip)?,
                _ => pass_over(element, &mut values)?,
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
            self.mesh.positions.push(Vec3::new(x, y, z));
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
    fn value(&self, column: Column, of: Type, values: &mut impl Values) -> Result<f32, Fault> {
        let x = values.float(of)?;
        if column as usize >= Column::Red as usize && !of.is_float() {
            return Ok(match of {
                Type::U8 => self.linear[x.clamp(0.0, 255.0) as usize],
                _ => as_color(x, of),
            });
        }
        let limit = if (column as usize) < 3 || (6..8).contains(&(column as usize)) {
            MAX_COORDINATE
        } else {
            f32::MAX
        };
        if x.abs() <= limit { Ok(x) } else { Err(out_of_range(x, column, limit, values)) }
    }

    fn read_faces(&mut self, element: &Element, values: &mut impl Values) -> Result<(), Fault> {
        if element.find("texcoord").is_some() && !self.has[2] {
            let message = "the texture coordinates of faces (texcoord) are not read; those of vertices are";
            self.warnings.push(Problem::of_file(self.file, message));
        }
        self.mesh.triangles.reserve_exact(element.count as usize);
        self.faces += element.count;
        self.read_lists(element, values, Self::face)
    }

    /// Reads the lists of corners of an element's rows.
    fn read_lists<V: Values>(
        &mut self,
        element: &Element,
        values: &mut V,
        read: impl Fn(&mut Self, Type, Type, &mut V) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let list = index_list(self.file, element)?;
        for _ in 0..element.count {
            values.begin_row()?;
            for (i, property) in element.properties.iter().enumerate() {
                match property.kind {
                    Kind::List { count, item } if i == list => read(self, count, item, values)?,
                    _ => pass_over_property(property, values)?,
                }
            }
            values.end_row()?;
        }
        Ok(())
    }

    #[inline(always)]
    fn face(&mut self, count: Type, item: Type, values: &mut impl Values) -> Result<(), Fault> {
        let corners = values.integer(count)?;
        if corners < 3 {
            return Err(
                values.fault(format!("a face has at least three vertices, and this one has {corners}"))
            );
        }
        let first = self.index(item, values)?;
        let mut last = self.index(item, values)?;
        for _ in 2..corners {
            let next = self.index(item, values)?;
            self.mesh.triangles.push([first, last, next]);
            last = next;
        }
        Ok(())
    }

    /// Reads the index of a vertex.
    #[inline(always)]
    fn index(&self, of: Type, values: &mut impl Values) -> Result<u32, Fault> {
        let index = values.integer(of)?;
        if (index as u64) < self.vertices { Ok(index as u32) } else { Err(self.no_vertex(index, values)) }
    }

    #[cold]
    fn no_vertex(&self, index: i64, values: &impl Values) -> Fault {
        let count = self.vertices;
        values.fault(format!("the vertex index {index} is out of range; the file has {count}, from 0"))
    }

    /// Triangles that share two vertices with the one before, every other one turned around.
    fn strip(&mut self, count: Type, item: Type, values: &mut impl Values) -> Result<(), Fault> {
        let mut strip = std::mem::take(&mut self.corners);
        strip.clear();
        for _ in 0..values.integer(count)? {
            let index = values.integer(item)?;
            if index < 0 {
                strip.clear();
                continue;
            }
            if index as u64 >= self.vertices {
                return Err(self.no_vertex(index, values));
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

/// Which property of an element holds the corners.
fn index_list(file: &str, element: &Element) -> Result<usize, Fault> {
    let name = quoted(&element.name);
    let problem = |message| Fault::from(Problem::of_file(file, message));
    let Some(at) = element.find("vertex_indices").or_else(|| element.find("vertex_index")) else {
        return Err(problem(format!("element {name} has no property \"vertex_indices\"")));
    };
    match element.properties[at].kind {
        Kind::List { item, .. } if !item.is_float() => Ok(at),
        _ => Err(problem(format!(
            "property {} of element {name} is no list of whole numbers",
            quoted(&element.properties[at].name)
        ))),
    }
}

#[cold]
fn out_of_range(x: f32, column: Column, limit: f32, values: &impl Values) -> Fault {
    let what = match column {
        Column::X | Column::Y | Column::Z => "coordinate of this vertex",
        Column::Nx | Column::Ny | Column::Nz => "coordinate of this vertex normal",
        Column::U | Column::V => "texture coordinate of this vertex",
        Column::Red | Column::Green | Column::Blue => "colour of this vertex",
    };
    values.fault(match x {
        x if x.is_nan() => format!("a {what} is not a number (NaN)"),
        x if x.is_infinite() => format!("a {what} is infinite"),
        x => format!("the {what}, {x:e}, is beyond ±{limit:e}"),
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
