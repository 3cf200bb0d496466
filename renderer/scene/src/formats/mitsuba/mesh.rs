//! Shapes that are meshes in files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{Affine3A, DAffine3, Vec3};
use torrance_text::{quoted, quoted_path};

use super::extent::TOO_FAR;
use super::serialized;
use super::view::{PropertyView, View};
use crate::description::affine::is_similarity;
use crate::description::limits::MAX_MESH_BYTES;
use crate::description::{Normals, TriangleMesh};
use crate::files::Files;
use crate::files::mesh::ply::{self, MeshAttribute};
use crate::files::mesh::{self, MeshError, Placement, read_bytes};
use crate::input::Problem;
use crate::input::file::open_regular;

/// The options with which a file is read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct MeshKey {
    path: PathBuf,
    normals: Normals,
    flip_v: bool,
    /// Which of the meshes of a `.serialized` file.
    index: usize,
}

/// The mesh files of a scene, each read once however many shapes use it.
pub(super) struct Meshes<'a> {
    files: &'a Files,
    /// Nothing for those with errors, which are reported once.
    read: HashMap<MeshKey, Option<Arc<TriangleMesh>>>,
    /// By file and name; nothing for those with errors, as before.
    attributes: HashMap<(PathBuf, String), Option<Option<Arc<MeshAttribute>>>>,
}

impl<'a> Meshes<'a> {
    pub(super) fn new(files: &'a Files) -> Self {
        Self { files, read: HashMap::new(), attributes: HashMap::new() }
    }

    /// The mesh of a shape, without the triangles that have no area where `to_world` puts them, and whether its normals
    /// follow its winding in the world, so that a reflection turns them around. Its colours are `attribute`, if it has that.
    pub(super) fn mesh(
        &mut self,
        view: &View<'_>,
        to_world: Option<&DAffine3>,
        attribute: Option<&str>,
    ) -> Option<(Arc<TriangleMesh>, bool)> {
        let plugin = view.object.plugin.as_str();
        let face_normals = view.boolean("face_normals", false);
        // Mitsuba turns the v of OBJ files around, as we do: there it begins at the bottom.
        let flip_v = match plugin {
            "obj" => view.boolean("flip_tex_coords", true).map(|flip| !flip),
            "ply" => view.boolean("flip_tex_coords", false),
            _ => Some(false),
        };
        let index = match plugin {
            "serialized" => view.integer("shape_index", 0, (0, i64::from(u32::MAX))),
            _ => Some(0),
        };
        let file = view.require("filename")?;
        let name = file.text()?;
        let (flip_v, index, face_normals) = (flip_v?, index? as usize, face_normals?);
        let path = file.path(self.files, "mesh file", name)?;
        let normals = if face_normals { Normals::Flat } else { Normals::File };
        let how = MeshKey { path: path.clone(), normals, flip_v, index };
        let mesh = self.file(&file, plugin, how.clone())?;
        let follows_winding = mesh.normals.is_empty();
        let to_world = to_world?;
        let mesh = match follows_winding && !face_normals {
            true if is_similarity(&to_world.matrix3) && has_distinct_positions(&mesh) => {
                self.file(&file, plugin, MeshKey { normals: Normals::Smooth, ..how })?
            }
            true => Arc::new(smooth(&mesh, to_world)),
            false => mesh,
        };
        // Colours of vertices have been read with them.
        let mesh = match attribute {
            None | Some("vertex_color") => mesh,
            Some(name) => self.with_attribute(&file, plugin, path, name, &mesh)?,
        };
        let mesh = place(view, &file, &mesh, &to_world.as_affine3a())?;
        Some((mesh, follows_winding))
    }

    /// A mesh whose colours are an attribute of a file, or that has none.
    fn with_attribute(
        &mut self,
        file: &PropertyView<'_>,
        plugin: &str,
        path: PathBuf,
        name: &str,
        mesh: &TriangleMesh,
    ) -> Option<Arc<TriangleMesh>> {
        let key = (path, name.to_owned());
        let found = match plugin {
            "ply" => {
                let known = self.attributes.get(&key).cloned();
                known.unwrap_or_else(|| {
                    let read = read_attribute(file, &key.0, name);
                    self.attributes.insert(key.clone(), read.clone());
                    read
                })?
            }
            _ => None,
        };
        let plain = |colors: &[Vec3]| TriangleMesh { colors: colors.to_vec(), source: None, ..mesh.clone() };
        Some(Arc::new(match found.as_deref() {
            None => plain(&[]),
            Some(MeshAttribute::Vertices(colors)) => plain(colors),
            Some(MeshAttribute::Triangles(colors)) if colors.len() != mesh.triangles.len() => {
                return file.error(format!(
                    "mesh file {} has strips, to which {} gives no values",
                    quoted_path(&key.0),
                    quoted(name)
                ));
            }
            Some(MeshAttribute::Triangles(colors)) => mesh.colored_by_triangle(colors),
        }))
    }

    /// The mesh in a file.
    fn file(&mut self, given: &PropertyView<'_>, plugin: &str, how: MeshKey) -> Option<Arc<TriangleMesh>> {
        if let Some(known) = self.read.get(&how) {
            return known.clone();
        }
        let read = match plugin {
            "serialized" => read_serialized(given, &how),
            _ => read_file(self.files, given, &how, plugin),
        };
        self.read.insert(how, read.clone());
        read
    }
}

/// Reads an attribute of a PLY file.
fn read_attribute(file: &PropertyView<'_>, path: &Path, name: &str) -> Option<Option<Arc<MeshAttribute>>> {
    let shown = path.display().to_string();
    let opened = open_regular(path, MAX_MESH_BYTES);
    let (input, len) = file.read(&format!("mesh file {}", quoted_path(path)), opened)?;
    let sources = file.view.sources;
    let read = ply::read_attribute(&shown, input, len, name).map_err(|problem| sources.push(problem)).ok()?;
    let Some((attribute, clamped)) = read else { return Some(None) };
    if clamped > 0 {
        let message = format!("{clamped} values of {} are outside 0 to 1, and clamped", quoted(name));
        sources.push_warning(Problem::of_file(shown, message));
    }
    Some(Some(Arc::new(attribute)))
}

fn read_serialized(given: &PropertyView<'_>, how: &MeshKey) -> Option<Arc<TriangleMesh>> {
    let shown = format!("mesh file {}", quoted_path(&how.path));
    let bytes = given.read(&shown, read_bytes(&how.path))?;
    let mut mesh = given.read(&shown, serialized::read(&bytes, how.index))?;
    let wanted =
        if mesh.normals.is_empty() && how.normals == Normals::File { Normals::Flat } else { how.normals };
    let problem = mesh::finish_normals(&how.path.display().to_string(), &mut mesh, wanted);
    problem.into_iter().for_each(|p| given.view.sources.push_warning(p));
    Some(Arc::new(mesh))
}

/// Reads an OBJ or PLY file, and reports what is wrong with it.
fn read_file(
    files: &Files,
    given: &PropertyView<'_>,
    how: &MeshKey,
    plugin: &str,
) -> Option<Arc<TriangleMesh>> {
    let sources = given.view.sources;
    let shown = quoted_path(&how.path);
    let place = sources.describe(&given.property.place);
    let used = |problem: Problem| problem.with_help(format!("the mesh is used on {place}"));
    let is_of_plugin = how.path.extension().is_some_and(|e| e.eq_ignore_ascii_case(plugin));
    if !is_of_plugin {
        return given.error(format!("mesh file {shown} is not a .{plugin} file"));
    }
    match files.mesh(&how.path, how.normals, how.flip_v) {
        Ok(read) => {
            read.warnings.iter().cloned().for_each(|w| sources.push_warning(used(w)));
            Some(Arc::clone(&read.mesh))
        }
        Err(MeshError::Wrong(problems)) => {
            problems.into_iter().for_each(|p| sources.push(used(p)));
            None
        }
        Err(MeshError::Unreadable(reason)) => given.error(format!("cannot read mesh file {shown}: {reason}")),
        Err(MeshError::Unknown) => given.error(format!("mesh file {shown} is of no format that is read")),
    }
}

/// The mesh where its shape puts it, with a warning about triangles that are left out.
fn place(
    view: &View<'_>,
    file: &PropertyView<'_>,
    mesh: &Arc<TriangleMesh>,
    to_world: &Affine3A,
) -> Option<Arc<TriangleMesh>> {
    let name = || quoted(file.text().unwrap_or_default());
    if mesh.triangles.is_empty() {
        return file.error(format!("mesh file {} holds no triangles", name()));
    }
    match mesh::place(mesh, to_world) {
        Placement::TooFar => view.fail(TOO_FAR),
        Placement::Empty => file.error(format!("mesh file {} holds no triangle with an area", name())),
        Placement::Without { mesh: rest, dropped, first } => {
            let all = mesh.triangles.len();
            let message = format!(
                "{dropped} of {all} triangles of {} have no area and are left out; the first is number {first}",
                name()
            );
            view.sources.warn(&file.property.place, message);
            Some(rest)
        }
        Placement::Whole(mesh) => Some(mesh),
    }
}

/// The mesh with triangles wound to agree with their normals: Mitsuba emits on the side of the normals, we on that of the
/// winding.
pub(super) fn wound_by_normals(mesh: Arc<TriangleMesh>) -> Arc<TriangleMesh> {
    let is_against = |t: &[u32; 3]| {
        let p = t.map(|i| mesh.positions[i as usize].as_dvec3());
        let normals: glam::DVec3 =
            t.iter().filter_map(|i| mesh.normals.get(*i as usize)).map(|n| n.as_dvec3()).sum();
        (p[1] - p[0]).cross(p[2] - p[0]).dot(normals) < 0.0
    };
    if !mesh.triangles.iter().any(is_against) {
        return mesh;
    }
    let wound = mesh.triangles.iter().map(|t| if is_against(t) { [t[0], t[2], t[1]] } else { *t });
    Arc::new(TriangleMesh { triangles: wound.collect(), source: None, ..(*mesh).clone() })
}

/// Whether no two vertices are at the same place.
fn has_distinct_positions(mesh: &TriangleMesh) -> bool {
    mesh::places(&mesh.positions).iter().zip(0..).all(|(place, vertex)| *place == vertex)
}

/// The mesh with normals from the faces around each vertex, weighted by their angles in the world, as Mitsuba makes them:
/// where two vertices are at the same place, each has its own.
fn smooth(mesh: &TriangleMesh, to_world: &DAffine3) -> TriangleMesh {
    let world: Vec<_> = mesh.positions.iter().map(|p| to_world.transform_point3(p.as_dvec3())).collect();
    let mut sums = vec![glam::DVec3::ZERO; world.len()];
    for triangle in &mesh.triangles {
        let p = triangle.map(|i| world[i as usize]);
        let Some(normal) = (p[1] - p[0]).cross(p[2] - p[0]).try_normalize() else { continue };
        for i in 0..3 {
            let (a, b) = (p[(i + 1) % 3] - p[i], p[(i + 2) % 3] - p[i]);
            sums[triangle[i] as usize] += normal * a.angle_between(b);
        }
    }
    // Normals go to the world by the inverse transpose; so they come back by the transpose. A reflection turns them
    // around, and the shape with them.
    let back = to_world.matrix3.transpose() * to_world.matrix3.determinant().signum();
    let normals =
        sums.iter().map(|n| (back * n.normalize_or(glam::DVec3::Z)).normalize_or(glam::DVec3::Z).as_vec3());
    TriangleMesh { normals: normals.collect(), source: None, ..mesh.clone() }
}
