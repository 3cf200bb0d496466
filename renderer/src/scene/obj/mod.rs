//! Wavefront OBJ meshes. `tobj` parses them; [`scan`] looks first, because it knows the lines.
//!
//! Positions, normals, texture coordinates and faces count; groups, materials, points, lines and curves are passed
//! over. Polygons become fans. The v of the file is 0 at the bottom of an image, as exporters write it; here it is 0 at
//! the top.

mod scan;

use std::collections::HashMap;
use std::sync::Arc;

use glam::{Vec2, Vec3};

use super::{Normals, TriangleMesh};
use crate::input::Problem;

/// A mesh file.
#[derive(Debug, Clone)]
pub(super) struct Obj {
    /// All triangles, in the order of the file, degenerate ones included.
    pub(super) mesh: Arc<TriangleMesh>,
    /// The line of the face from which each triangle comes.
    pub(super) triangle_lines: Vec<u32>,
    pub(super) warnings: Vec<Problem>,
}

/// Reads the contents of an OBJ file. `file` is its name in messages.
pub(super) fn read(file: &str, bytes: &[u8], normals: Normals) -> Result<Obj, Vec<Problem>> {
    let scanned = scan::scan(file, bytes, normals == Normals::File)?;
    let options = tobj::LoadOptions { triangulate: true, single_index: false, ..Default::default() };
    let (models, _) =
        tobj::load_obj_buf(&mut scanned.clean.as_bytes(), &options, |_| Err(tobj::LoadError::GenericFailure))
            .map_err(|e| vec![Problem::of_file(file, format!("not a valid OBJ file: {e}"))])?;
    let mut mesh = TriangleMesh::default();
    for model in models {
        append(&mut mesh, &model.mesh).ok_or_else(|| vec![Problem::of_file(file, "too many vertices")])?;
    }
    let mut warnings = scanned.warnings;
    if normals == Normals::Smooth {
        mesh.normals = smooth_normals(&mesh);
    } else if !mesh.normals.is_empty() {
        warnings.extend(repair_normals(file, &mut mesh));
    }
    Ok(Obj { mesh: Arc::new(mesh), triangle_lines: scanned.triangle_lines, warnings })
}

/// Adds a mesh as `tobj` gives it, with separate indices of positions, normals and texture coordinates, made into one
/// vertex for each triple that occurs. `None` if there are more than fit 32 bits.
fn append(mesh: &mut TriangleMesh, model: &tobj::Mesh) -> Option<()> {
    let vec3 = |data: &[f32], i: u32| {
        let at = 3 * i as usize;
        data.get(at..at + 3).map(Vec3::from_slice)
    };
    let vec2 = |data: &[f32], i: u32| {
        let at = 2 * i as usize;
        data.get(at..at + 2).map(Vec2::from_slice)
    };
    let with_normals = model.normal_indices.len() == model.indices.len() && !model.indices.is_empty();
    let with_uvs = model.texcoord_indices.len() == model.indices.len() && !model.indices.is_empty();
    let mut vertices = HashMap::new();
    let mut corners = Vec::with_capacity(model.indices.len());
    for (i, &position) in model.indices.iter().enumerate() {
        let normal = if with_normals { Some(model.normal_indices[i]) } else { None };
        let uv = if with_uvs { Some(model.texcoord_indices[i]) } else { None };
        let vertex = match vertices.get(&(position, normal, uv)) {
            Some(&vertex) => vertex,
            None => {
                let vertex = u32::try_from(mesh.positions.len()).ok()?;
                mesh.positions.push(vec3(&model.positions, position)?);
                if let Some(normal) = normal {
                    mesh.normals.push(vec3(&model.normals, normal)?);
                }
                if let Some(uv) = uv {
                    let uv = vec2(&model.texcoords, uv)?;
                    mesh.uvs.push(Vec2::new(uv.x, 1.0 - uv.y));
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

/// Makes the normals of a file unit vectors; those that are zero come from the faces instead.
fn repair_normals(file: &str, mesh: &mut TriangleMesh) -> Option<Problem> {
    let mut zero = 0;
    let mut from_faces = Vec::new();
    for i in 0..mesh.normals.len() {
        // In f64, since the squares of small components vanish in f32.
        match mesh.normals[i].as_dvec3().try_normalize() {
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
