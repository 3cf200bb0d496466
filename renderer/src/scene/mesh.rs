//! What mesh files of all formats become.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use glam::{Affine3A, Vec3};

use super::limits::{MAX_COORDINATE, MAX_MESH_BYTES, is_degenerate};
use super::{
    Bounds, Description, MeshSource, Normals, RenderSettings, TriangleMesh, framing, load, obj, ply,
};
use crate::input::file::open_regular;
use crate::input::{Error, Problem};

/// A mesh file.
#[derive(Debug, Clone)]
pub(super) struct MeshFile {
    /// All triangles, in the order of the file, degenerate ones included.
    pub(super) mesh: Arc<TriangleMesh>,
    /// Where they are there.
    pub(super) place: Place,
    pub(super) warnings: Vec<Problem>,
}

/// Where the triangles of a mesh are in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// The line of the face from which each triangle comes.
    Lines(Vec<u32>),
    /// Triangle i is face i.
    Face,
    /// Faces are several triangles, or none.
    Triangle,
}

impl Place {
    /// Where triangle `i` is, to follow "the first is".
    pub(super) fn of(&self, i: usize) -> String {
        match self {
            Self::Lines(lines) => format!("on line {} there", lines[i]),
            Self::Face => format!("face {i} there, from 0"),
            Self::Triangle => format!("triangle {i} there, from 0, where polygons are cut into fans"),
        }
    }
}

/// Why there is no mesh.
#[derive(Debug)]
pub(super) enum Unread {
    /// The file is of no format that is read.
    Unknown,
    /// There is no file, or it cannot be read: the reason, to follow "cannot read …:".
    Unreadable(String),
    /// What is wrong in it.
    Wrong(Vec<Problem>),
}

/// Reads an OBJ or PLY file, by the extension of its name. Its mesh knows where it comes from.
pub(super) fn read(path: &Path, normals: Normals, flip_v: bool) -> Result<MeshFile, Unread> {
    let name = path.display().to_string();
    let extension = path.extension().and_then(|e| e.to_str()).map(str::to_lowercase);
    let mut read = match extension.as_deref() {
        Some("obj") => {
            let bytes = load::read_mesh(path).map_err(Unread::Unreadable)?;
            obj::read(&name, &bytes, normals, flip_v).map_err(Unread::Wrong)?
        }
        Some("ply") => {
            let (file, len) = open_regular(path, MAX_MESH_BYTES).map_err(Unread::Unreadable)?;
            ply::read(&name, file, len, normals, flip_v).map_err(|p| Unread::Wrong(vec![p]))?
        }
        _ => return Err(Unread::Unknown),
    };
    if let Some(mesh) = Arc::get_mut(&mut read.mesh) {
        mesh.source = Some(MeshSource { file: path.into(), normals, flip_v });
    }
    Ok(read)
}

/// A mesh where its shape puts it.
#[derive(Debug, Clone)]
pub(super) enum Placed {
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
pub(super) fn place(mesh: &Arc<TriangleMesh>, t: &Affine3A) -> Placed {
    let world = |i: u32| t.transform_point3(mesh.positions[i as usize]);
    let is_near = |p: &Vec3| t.transform_point3(*p).abs().max_element() <= MAX_COORDINATE;
    if !mesh.positions.iter().all(is_near) {
        return Placed::TooFar;
    }
    let degenerate = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(world);
        is_degenerate(b - a, c - a)
    };
    let Some(first) = mesh.triangles.iter().position(degenerate) else {
        return Placed::Whole(Arc::clone(mesh));
    };
    let mut rest = TriangleMesh::clone(mesh);
    rest.triangles.retain(|t| !degenerate(t));
    if rest.triangles.is_empty() {
        return Placed::Empty;
    }
    let dropped = mesh.triangles.len() - rest.triangles.len();
    Placed::Without { mesh: Arc::new(rest), dropped, first }
}

/// A scene of nothing, to be filled with a model and finished by [`Description::finish_model`].
pub(super) fn model_scene() -> Description {
    Description {
        render: RenderSettings::default(),
        camera: framing::camera(&Bounds::EMPTY),
        environment: None,
        portals: Vec::new(),
        lights: Vec::new(),
        images: Vec::new(),
        textures: Vec::new(),
        texture_names: BTreeMap::new(),
        materials: Vec::new(),
        shapes: Vec::new(),
        groups: Vec::new(),
        instances: Vec::new(),
    }
}

impl Description {
    /// Puts a camera and, unless something shines, light around a model.
    ///
    /// # Errors
    /// There is no model: nothing in the file has an area.
    pub(super) fn finish_model(mut self, file: &str) -> Result<Self, Error> {
        if self.shapes.is_empty() {
            return Err(Problem::of_file(file, "nothing in the file has an area").into());
        }
        self.camera = framing::camera(&self.bounds());
        framing::light(&mut self);
        Ok(self)
    }
}

/// Makes the normals of a mesh what is wanted, those of its file unit vectors, and says what was wrong with them.
pub(super) fn finish_normals(file: &str, mesh: &mut TriangleMesh, wanted: Normals) -> Option<Problem> {
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
    let mut sums = HashMap::<[u32; 3], (Vec3, Vec3)>::with_capacity(mesh.positions.len());
    // -0 and 0 are the same place.
    let key = |p: Vec3| (p + Vec3::ZERO).to_array().map(f32::to_bits);
    for triangle in &mesh.triangles {
        let p = triangle.map(|i| mesh.positions[i as usize]);
        let Some(normal) = (p[1] - p[0]).as_dvec3().cross((p[2] - p[0]).as_dvec3()).try_normalize() else {
            continue;
        };
        let normal = normal.as_vec3();
        for i in 0..3 {
            let (a, b) = (p[(i + 1) % 3] - p[i], p[(i + 2) % 3] - p[i]);
            let angle = a.as_dvec3().angle_between(b.as_dvec3()) as f32;
            let sum = sums.entry(key(p[i])).or_insert((Vec3::ZERO, normal));
            sum.0 += normal * angle;
        }
    }
    let normal_at = |p: &Vec3| match sums.get(&key(*p)) {
        // Faces that cancel, as those of a folded sheet do, leave the first one's.
        Some((sum, first)) => sum.try_normalize().unwrap_or(*first),
        None => Vec3::Z,
    };
    mesh.positions.iter().map(normal_at).collect()
}
