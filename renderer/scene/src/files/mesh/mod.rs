//! Mesh files of all formats.

pub mod obj;
pub mod ply;

use std::path::Path;
use std::sync::Arc;

use glam::{Affine3A, Vec3};

use crate::description::limits::{MAX_COORDINATE, MAX_MESH_BYTES, is_degenerate};
use crate::description::{MeshSource, Normals, TriangleMesh};
use crate::files::FileError;
use crate::input::file::{ReadError, open_regular, read_regular};
use crate::input::{Error, Problem};

/// A mesh file.
#[derive(Debug, Clone)]
pub struct MeshFile {
    /// All triangles, in the order of the file, degenerate ones included.
    pub mesh: Arc<TriangleMesh>,
    /// Origin of the triangles in the file.
    pub place: TriangleOrigin,
    /// Suspicious things found in it.
    pub warnings: Vec<Problem>,
}

impl MeshFile {
    /// With a mesh that knows where it comes from, unless a scene could not name the file for its mistakes.
    pub(crate) fn with_source(mut self, file: &Path, normals: Normals, flip_v: bool) -> Self {
        if self.warnings.iter().any(|warning| warning.remedy.is_some()) {
            return self;
        }
        Arc::make_mut(&mut self.mesh).source = Some(MeshSource { file: file.into(), normals, flip_v });
        self
    }
}

/// Origin of a mesh's triangles in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriangleOrigin {
    /// The line of the face from which each triangle comes.
    Lines(Vec<u32>),
    /// Triangle i is face i.
    Face,
    /// Faces are several triangles, or none.
    Triangle,
}

impl TriangleOrigin {
    /// Where triangle `i` is, to follow "the first is".
    pub(crate) fn describe(&self, i: usize) -> String {
        match self {
            Self::Lines(lines) => format!("on line {} there", lines[i]),
            Self::Face => format!("face {i} there, from 0"),
            Self::Triangle => format!("triangle {i} there, from 0, where polygons are cut into fans"),
        }
    }
}

/// Why a mesh cannot be read.
#[derive(Debug)]
pub(crate) enum MeshError {
    /// The file is of no format that is read.
    Unknown,
    /// There is no file, or it cannot be read: the reason, to follow "cannot read …:".
    Unreadable(FileError),
    /// Its contents are wrong.
    Wrong(Vec<Problem>),
}

/// The bytes of a mesh file.
///
/// # Errors
/// There are none, or too many.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    read_regular(path, MAX_MESH_BYTES)
}

impl From<ReadError> for MeshError {
    fn from(error: ReadError) -> Self {
        Self::Unreadable(error.into())
    }
}

impl From<Error> for MeshError {
    fn from(error: Error) -> Self {
        Self::Wrong(error.problems)
    }
}

/// Reads an OBJ or PLY file, by the extension of its name. Its mesh knows where it comes from.
pub(crate) fn read(path: &Path, normals: Normals, flip_v: bool) -> Result<MeshFile, MeshError> {
    let name = path.display().to_string();
    let extension = path.extension().and_then(|e| e.to_str()).map(str::to_lowercase);
    let read = match extension.as_deref() {
        Some("obj") => obj::read(&name, &read_bytes(path)?, normals, flip_v)?,
        Some("ply") => {
            let (file, len) = open_regular(path, MAX_MESH_BYTES)?;
            ply::read(&name, file, len, normals, flip_v).map_err(Error::from)?
        }
        _ => return Err(MeshError::Unknown),
    };
    Ok(read.with_source(path, normals, flip_v))
}

/// A mesh placed by its shape.
#[derive(Debug, Clone)]
pub(crate) enum Placement {
    /// It reaches beyond [`MAX_COORDINATE`].
    TooFar,
    /// None of its triangles has an area there.
    Empty,
    /// Without the triangles that have no area there: how many, and which is the first.
    Without { mesh: Arc<TriangleMesh>, dropped: usize, first: usize },
    /// As it is.
    Whole(Arc<TriangleMesh>),
}

/// Drops the triangles whose normal is undefined in the world: real meshes have a few.
pub(crate) fn place(mesh: &Arc<TriangleMesh>, t: &Affine3A) -> Placement {
    let world = |i: u32| t.transform_point3(mesh.positions[i as usize]);
    let is_near = |p: &Vec3| t.transform_point3(*p).abs().max_element() <= MAX_COORDINATE;
    if !mesh.positions.iter().all(is_near) {
        return Placement::TooFar;
    }
    let degenerate = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(world);
        is_degenerate(b - a, c - a)
    };
    let Some(first) = mesh.triangles.iter().position(degenerate) else {
        return Placement::Whole(Arc::clone(mesh));
    };
    let mut rest = TriangleMesh::clone(mesh);
    rest.triangles.retain(|t| !degenerate(t));
    if rest.triangles.is_empty() {
        return Placement::Empty;
    }
    let dropped = mesh.triangles.len() - rest.triangles.len();
    Placement::Without { mesh: Arc::new(rest), dropped, first }
}

/// Gives a mesh the wanted normals and normalizes those from its file. Returns a warning if some were invalid.
pub(crate) fn finish_normals(file: &str, mesh: &mut TriangleMesh, wanted: Normals) -> Option<Problem> {
    match wanted {
        Normals::Smooth => mesh.normals = smooth_normals(mesh),
        Normals::Flat => mesh.normals = Vec::new(),
        Normals::File => return repair_normals(file, mesh),
    }
    None
}

/// Makes the normals of a file unit vectors; those that are zero come from the faces instead.
fn repair_normals(file: &str, mesh: &mut TriangleMesh) -> Option<Problem> {
    let mut zero = 0;
    let mut from_faces = Vec::new();
    for i in 0..mesh.normals.len() {
        // In f64, since the squares of small components vanish in f32.
        let normal = mesh.normals[i].as_dvec3();
        // What is a unit vector but for rounding stays: a mesh that was written is read as it was.
        if (normal.length_squared() - 1.0).abs() < 2e-7 {
            continue;
        }
        match normal.try_normalize() {
            Some(n) => mesh.normals[i] = n.as_vec3(),
            None => {
                if from_faces.is_empty() {
                    from_faces = smooth_normals(mesh);
                }
                mesh.normals[i] = from_faces[i];
                zero += 1;
            }
        }
    }
    let what = if zero == 1 { "vertex normal has" } else { "vertex normals have" };
    let message = format!("{zero} {what} zero length; the normals of the faces there are used instead");
    (zero > 0).then(|| Problem::of_file(file, message))
}

/// Unit normals from the faces around each position, weighted by angle, which does not depend on how a
/// surface is cut into triangles. Vertices at the same position get the same normal.
fn smooth_normals(mesh: &TriangleMesh) -> Vec<Vec3> {
    let places = places(&mesh.positions);
    // The sum, and the first face's normal: faces that cancel, as those of a folded sheet do, leave that one.
    let mut sums = vec![None; mesh.positions.len()];
    for triangle in &mesh.triangles {
        let p = triangle.map(|i| mesh.positions[i as usize]);
        let Some(normal) = (p[1] - p[0]).as_dvec3().cross((p[2] - p[0]).as_dvec3()).try_normalize() else {
            continue;
        };
        let normal = normal.as_vec3();
        for i in 0..3 {
            let (a, b) = (p[(i + 1) % 3] - p[i], p[(i + 2) % 3] - p[i]);
            let angle = a.as_dvec3().angle_between(b.as_dvec3()) as f32;
            let place = places[triangle[i] as usize] as usize;
            sums[place].get_or_insert((Vec3::ZERO, normal)).0 += normal * angle;
        }
    }
    let normal_at = |place: &u32| match sums[*place as usize] {
        Some((sum, first)) => sum.try_normalize().unwrap_or(first),
        None => Vec3::Z,
    };
    places.iter().map(normal_at).collect()
}

/// For each vertex the first one at the same place. They are sorted, which is faster than a hash table of millions.
pub(crate) fn places(positions: &[Vec3]) -> Vec<u32> {
    // -0 and 0 are the same place.
    let key = |p: &Vec3| (*p + Vec3::ZERO).to_array().map(f32::to_bits);
    let mut sorted: Vec<_> = positions.iter().map(key).zip(0_u32..).collect();
    sorted.sort_unstable();
    let mut places = vec![0; positions.len()];
    for same in sorted.chunk_by(|a, b| a.0 == b.0) {
        same.iter().for_each(|(_, vertex)| places[*vertex as usize] = same[0].1);
    }
    places
}
