//! Wavefront OBJ meshes. `tobj` parses them; `scan` looks first, because it knows the lines.
//!
//! Positions, colours, normals, texture coordinates and faces count, and materials where a file is a whole scene; groups,
//! points, lines and curves are passed over. Polygons become fans. The v of the file is 0 at the bottom of an image, as
//! exporters write it; here it is 0 at the top.
//!
//! Colours follow positions, `v x y z r g b`, encoded as sRGB: as Blender (since 3.3), MeshLab and three.js write them, which
//! read them so, too.

pub(crate) mod scan;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use glam::{Vec2, Vec3};
use torrance_image::film::develop::srgb_decode;

use crate::description::{Normals, TriangleMesh};
use crate::files::mesh::{MeshFile, TriangleOrigin, finish_normals};
use crate::input::{Error, Problem};
use scan::ObjText;

/// Reads the contents of an OBJ file. `file` is its name in messages; `flip_v` leaves v as it is in the file.
///
/// # Errors
/// Everything that is wrong.
pub fn read(file: &str, bytes: &[u8], normals: Normals, flip_v: bool) -> Result<MeshFile, Error> {
    let scanned = scan::scan(file, bytes, normals == Normals::File, false)?;
    let mut mesh = TriangleMesh::default();
    for model in models(file, &scanned)? {
        append(&mut mesh, &model.mesh, flip_v).ok_or_else(|| too_many(file))?;
    }
    decode_colors(&mut mesh, &scanned);
    let mut warnings = scanned.warnings;
    warnings.extend(finish_normals(file, &mut mesh, normals));
    Ok(MeshFile { mesh: Arc::new(mesh), place: TriangleOrigin::Lines(scanned.triangle_lines), warnings })
}

/// The faces of a file, cut where their material changes.
pub(crate) fn models(file: &str, scanned: &ObjText) -> Result<Vec<tobj::Model>, Problem> {
    let options = tobj::LoadOptions { triangulate: true, single_index: false, ..Default::default() };
    // `mtl` knows the lines of libraries; here materials are but numbers.
    let names = || (0..scanned.materials.len()).map(|i| (i.to_string(), i)).collect();
    let library = |_: &Path| Ok((vec![tobj::Material::default(); scanned.materials.len()], names()));
    match tobj::load_obj_buf(&mut scanned.clean.as_bytes(), &options, library) {
        Ok((models, _)) => Ok(models),
        Err(e) => Err(Problem::of_file(file, format!("not a valid OBJ file: {e}"))),
    }
}

/// Makes linear colours of those that the file has.
pub(crate) fn decode_colors(mesh: &mut TriangleMesh, scanned: &ObjText) {
    let Some(unit) = scanned.color_unit else { return };
    let linear = |x: f32| srgb_decode(f64::from(x / unit)) as f32;
    mesh.colors.iter_mut().for_each(|color| *color = color.map(linear));
}

pub(crate) fn too_many(file: &str) -> Problem {
    Problem::of_file(file, "too many vertices")
}

/// Indices of a vertex's position, normal and texture coordinates.
type Triple = (u32, Option<u32>, Option<u32>);

/// Vertices of a mesh by the triples that they are made of. Those of one position are a short list, which lies where its
/// neighbours' do, as nothing in a hash table does.
struct Vertices {
    /// For each position its list in `listed`: the last entry, counted from 1; 0 for none.
    last: Vec<u32>,
    listed: Vec<Listed>,
    /// What lists have no room for, lest a position that very many vertices have take time by their square.
    others: HashMap<Triple, u32>,
}

struct Listed {
    triple: Triple,
    vertex: u32,
    /// The entry before it in the list, counted as in [`Vertices::last`], and the number of entries up to this one.
    before: u32,
    length: u32,
}

impl Vertices {
    /// Longest list.
    const LONGEST: u32 = 8;

    fn new(positions: usize) -> Self {
        Self { last: vec![0; positions], listed: Vec::new(), others: HashMap::new() }
    }

    /// The entries of a position's list, the last one first.
    fn list(&self, position: u32) -> impl Iterator<Item = &Listed> {
        let at = |index: u32| self.listed.get((index as usize).wrapping_sub(1));
        let last = self.last.get(position as usize).copied().unwrap_or(0);
        std::iter::successors(at(last), move |entry| at(entry.before))
    }

    fn find(&self, triple: Triple) -> Option<u32> {
        let listed = self.list(triple.0).find(|entry| entry.triple == triple).map(|entry| entry.vertex);
        listed.or_else(|| self.others.get(&triple).copied())
    }

    /// Adds a vertex of a position that there is.
    fn insert(&mut self, triple: Triple, vertex: u32) {
        let length = self.list(triple.0).next().map_or(0, |entry| entry.length) + 1;
        if length > Self::LONGEST {
            self.others.insert(triple, vertex);
            return;
        }
        let last = &mut self.last[triple.0 as usize];
        self.listed.push(Listed { triple, vertex, before: *last, length });
        *last = self.listed.len() as u32;
    }
}

/// Adds a mesh as `tobj` gives it, with separate indices of positions, normals and texture coordinates, made into one
/// vertex for each triple that occurs. `None` if there are more than fit 32 bits.
pub(crate) fn append(mesh: &mut TriangleMesh, model: &tobj::Mesh, flip_v: bool) -> Option<()> {
    let vec3 = |data: &[f32], i: u32| data.as_chunks::<3>().0.get(i as usize).copied().map(Vec3::from);
    let vec2 = |data: &[f32], i: u32| data.as_chunks::<2>().0.get(i as usize).copied().map(Vec2::from);
    let with_normals = model.normal_indices.len() == model.indices.len();
    let with_uvs = model.texcoord_indices.len() == model.indices.len();
    let mut vertices = Vertices::new(model.positions.len() / 3);
    let mut corners = Vec::with_capacity(model.indices.len());
    for (i, &position) in model.indices.iter().enumerate() {
        let normal = with_normals.then(|| model.normal_indices[i]);
        let uv = with_uvs.then(|| model.texcoord_indices[i]);
        let vertex = match vertices.find((position, normal, uv)) {
            Some(vertex) => vertex,
            None => {
                let vertex = u32::try_from(mesh.positions.len()).ok()?;
                mesh.positions.push(vec3(&model.positions, position)?);
                mesh.colors.extend(vec3(&model.vertex_color, position));
                if let Some(normal) = normal {
                    mesh.normals.push(vec3(&model.normals, normal)?);
                }
                if let Some(uv) = uv {
                    let uv = vec2(&model.texcoords, uv)?;
                    mesh.uvs.push(if flip_v { uv } else { Vec2::new(uv.x, 1.0 - uv.y) });
                }
                vertices.insert((position, normal, uv), vertex);
                vertex
            }
        };
        corners.push(vertex);
    }
    mesh.triangles.extend(corners.chunks_exact(3).map(|t| [t[0], t[1], t[2]]));
    Some(())
}
