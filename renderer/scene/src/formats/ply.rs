//! PLY files as scenes of their own.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use glam::{Affine3A, Vec3};
use torrance_text::quoted_path;

use super::cloud;
use super::model::{GREY, Up, model_scene, shape};
use crate::description::{
    Bitmap, Channel, Color, Description, DiffuseMaterial, Material, MaterialKind, Normals, Texture,
    TriangleMesh,
};
use crate::files::Files;
use crate::files::image::{Meaning, Range};
use crate::files::mesh::ply::{PlyFile, read_any, turn_v};
use crate::files::mesh::{MeshFile, Placement, place};
use crate::input::{Error, Problem};

/// Most images of a file.
const MOST_TEXTURES: usize = 256;

/// Reads a PLY file as a scene: the mesh, with the images that the file names, in the colours of its vertices, or grey; or the
/// points, if there are no faces, as spheres. A camera and light of our own are put around it. Gives the description and what
/// looks suspicious.
///
/// # Errors
/// The file is wrong.
pub(crate) fn read_scene(
    file: &str,
    bytes: &[u8],
    files: &Files,
    up: Up,
    point_radius: Option<f32>,
) -> Result<(Description, Vec<Problem>), Error> {
    let problem = |message: &str| Problem::of_file(file, message);
    let mut read = read_any(file, bytes, bytes.len() as u64, Normals::File)?;
    let mut warnings = std::mem::take(&mut read.warnings);
    let mut scene = model_scene();
    if read.mesh.triangles.is_empty() {
        if read.mesh.positions.is_empty() {
            // What spoilt all points says more.
            let mistake = warnings.into_iter().find(|warning| warning.remedy.is_some());
            let empty = || problem("there are neither faces nor points");
            return Err(mistake.map_or_else(empty, Problem::held_against).into());
        }
        let told = cloud::add(&mut scene, &read.mesh, point_radius);
        warnings.extend(told.map(|told| problem(&told)));
    } else {
        if point_radius.is_some() {
            warnings.push(problem(
                "the file has faces, so that its points are not shown, and their radius counts for nothing",
            ));
        }
        add_mesh(&mut scene, file, files, read, &mut warnings)?;
    }
    scene.finish_model(file, up).map(|scene| (scene, warnings))
}

/// Adds the mesh, a shape for each of its textures.
fn add_mesh(
    scene: &mut Description,
    file: &str,
    files: &Files,
    read: PlyFile,
    warnings: &mut Vec<Problem>,
) -> Result<(), Error> {
    let PlyFile { mut mesh, place: origin, mut textures, texture_of, .. } = read;
    let problem = |message: &str| Problem::of_file(file, message);
    textures.truncate(if mesh.uvs.is_empty() { 0 } else { MOST_TEXTURES });
    let flip_v = !textures.is_empty();
    if flip_v {
        // VCGlib counts it from the bottom.
        turn_v(&mut mesh);
    }
    let colors = reflectance(scene, &mesh);
    let mut read = HashMap::new();
    let mut found = Vec::new();
    for name in &textures {
        let image = read.entry(name).or_insert_with(|| image(scene, file, files, name, warnings));
        found.push(image.unwrap_or(colors));
    }
    let parts = match textures.len() {
        0 => vec![(0, mesh)],
        _ if texture_of.is_empty() => vec![(0, mesh)],
        count => parts(mesh, &texture_of, count as u32),
    };
    let is_whole = parts.len() == 1;
    let (mut dropped, mut first) = (0, None);
    for (texture, mesh) in parts {
        let part = MeshFile { mesh: Arc::new(mesh), place: origin.clone(), warnings: warnings.clone() };
        // Of several parts none is all that the file has.
        let part = if is_whole { part.with_source(file.as_ref(), Normals::File, flip_v) } else { part };
        let mesh = match place(&part.mesh, &Affine3A::IDENTITY) {
            Placement::Whole(mesh) => mesh,
            Placement::Without { mesh, dropped: without, first: place } => {
                dropped += without;
                first = first.or(is_whole.then_some(place));
                mesh
            }
            Placement::Empty => {
                dropped += part.mesh.triangles.len();
                continue;
            }
            Placement::TooFar => return Err(problem("the mesh reaches beyond 1e9 metres").into()),
        };
        let reflectance = found.get(texture as usize).copied().unwrap_or(colors);
        let name = match texture {
            _ if is_whole => "default".to_owned(),
            texture => format!("texture {texture}"),
        };
        let kind = MaterialKind::Diffuse(DiffuseMaterial::new(reflectance));
        scene.materials.push(Material::new(&name, kind));
        let name = if is_whole { "mesh" } else { &name };
        scene.shapes.push(shape(name, mesh, scene.materials.len() - 1, Color::new(Vec3::ZERO)));
    }
    if scene.shapes.is_empty() {
        return Err(problem("none of the triangles has an area").into());
    }
    if dropped > 0 {
        let first = first.map_or(String::new(), |first| format!("; the first is {}", origin.describe(first)));
        let what =
            if dropped == 1 { "triangle has no area and is" } else { "triangles have no area and are" };
        warnings.push(problem(&format!("{dropped} {what} left out{first}")));
    }
    Ok(())
}

/// The colours of vertices, or grey.
fn reflectance(scene: &mut Description, mesh: &TriangleMesh) -> Color {
    if mesh.colors.is_empty() {
        return Color::new(GREY);
    }
    scene.textures.push(Texture::VertexColor { channel: Channel::Rgb });
    Color { texture: scene.textures.len() as u32 - 1, ..Color::new(Vec3::ONE) }
}

/// The colours of an image that the file names; `None` if it cannot be read.
fn image(
    scene: &mut Description,
    file: &str,
    files: &Files,
    name: &str,
    warnings: &mut Vec<Problem>,
) -> Option<Color> {
    let problem = |message: String| Problem::of_file(file, message);
    let meaning = Meaning { is_srgb: true, is_alpha: false, range: Range::Unit };
    let shown = quoted_path(Path::new(name));
    let read = files.look_for(files.folder(), &name.replace('\\', "/")).and_then(|(path, is_other)| {
        if is_other {
            let other = problem(format!("there is no image {shown}"));
            warnings.push(other.forgiven(format!("{} is used", quoted_path(&path))));
        }
        files.image(&path, meaning)
    });
    match read {
        Ok(found) => {
            warnings.extend(found.warning.map(|w| problem(format!("image {shown} {w}"))));
            scene.images.push(found.image);
            scene.textures.push(Texture::Bitmap(Bitmap::new(scene.images.len() - 1)));
            Some(Color { texture: scene.textures.len() as u32 - 1, ..Color::new(Vec3::ONE) })
        }
        Err(reason) => {
            let problem = problem(format!("cannot read image {shown}: {reason}"));
            warnings.push(problem.forgiven("the mesh is without it"));
            None
        }
    }
}

/// The parts of a mesh by the textures of their triangles, each with its own vertices; all textures from `count` on are none.
fn parts(mesh: TriangleMesh, texture_of: &[u32], count: u32) -> Vec<(u32, TriangleMesh)> {
    let texture_of = texture_of.iter().map(|texture| (*texture).min(count));
    let mut order: Vec<_> = texture_of.zip(&mesh.triangles).collect();
    order.sort_by_key(|(texture, _)| *texture);
    // Of each vertex the part that had it last, and which it is there.
    let mut new = vec![(u32::MAX, 0); mesh.positions.len()];
    let mut part = |texture: u32, triangles: &[(u32, &[u32; 3])]| {
        let mut part = TriangleMesh::default();
        let mut vertex = |i: u32| {
            let i = i as usize;
            if new[i].0 != texture {
                new[i] = (texture, part.positions.len() as u32);
                part.positions.push(mesh.positions[i]);
                part.normals.extend(mesh.normals.get(i));
                part.uvs.extend(mesh.uvs.get(i));
                part.colors.extend(mesh.colors.get(i));
            }
            new[i].1
        };
        let triangles = triangles.iter().map(|(_, t)| t.map(&mut vertex)).collect();
        TriangleMesh { triangles, ..part }
    };
    let mut parts: Vec<_> =
        order.chunk_by(|a, b| a.0 == b.0).map(|chunk| (chunk[0].0, part(chunk[0].0, chunk))).collect();
    match &parts[..] {
        // As the file has it.
        [(texture, _)] => vec![(*texture, mesh)],
        _ => std::mem::take(&mut parts),
    }
}
