//! Shapes of type `mesh`.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use glam::{Affine3A, Vec3};

use super::shape::{TOO_FAR, complain};
use crate::input::Problem;
use crate::input::quoted;
use crate::input::{Field, Section};
use crate::scene::limits::{MAX_COORDINATE, is_degenerate};
use crate::scene::obj::{self, Obj};
use crate::scene::{Files, MeshSource, Normals, TriangleMesh, load};

/// Where the vertex normals of a mesh come from, by name.
pub(in crate::scene) const NORMALS: &[(&str, Normals)] =
    &[("file", Normals::File), ("smooth", Normals::Smooth), ("flat", Normals::Flat)];

/// The mesh files of a scene, each read once however many shapes use it.
pub(super) struct Meshes<'a> {
    files: &'a Files,
    /// By name and how it is read; `None` for those with errors, which are reported once.
    read: HashMap<(String, Normals, bool), Option<Rc<Obj>>>,
}

impl<'a> Meshes<'a> {
    /// For a scene that may read `files`.
    pub(super) fn new(files: &'a Files) -> Self {
        Self { files, read: HashMap::new() }
    }

    /// The mesh of a shape, without the triangles that have no area where the transform puts them.
    pub(super) fn mesh(&mut self, section: &Section<'_>, t: Option<&Affine3A>) -> Option<Arc<TriangleMesh>> {
        let normals = section.get("normals").map_or(Some(Normals::File), |f| f.choice(NORMALS));
        let flip_v = section.get("flip_v").map_or(Some(false), |f| f.boolean());
        let file = section.require("file", "file = \"teapot.obj\"")?;
        let name = file.string()?;
        let (normals, flip_v, files) = (normals?, flip_v?, self.files);
        let read = self.read.entry((name.to_owned(), normals, flip_v));
        let read = read.or_insert_with(|| read_obj(&file, files, name, normals, flip_v));
        let obj = Rc::clone(read.as_ref()?);
        place(section, &file, &obj, t?)
    }
}

/// Reads a mesh file and reports what is wrong with it.
fn read_obj(field: &Field<'_>, files: &Files, name: &str, normals: Normals, flip_v: bool) -> Option<Rc<Obj>> {
    let src = field.src;
    let path = files.folder().join(name);
    let shown = path.display().to_string();
    if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("obj")) {
        src.error(field.span(), format!("mesh file {} is not an .obj file", quoted(&shown)));
        return None;
    }
    let bytes = match files.resolve(name).and_then(|path| load::read_mesh(&path)) {
        Ok(bytes) => bytes,
        Err(reason) => {
            src.error(field.span(), format!("cannot read mesh file {}: {reason}", quoted(&shown)));
            return None;
        }
    };
    let place = src.problem(field.span(), "").place.map_or(0, |(line, _)| line);
    let used =
        |problem: Problem| problem.with_help(format!("the mesh is used on line {place} of {}", src.file));
    match obj::read(&shown, &bytes, normals) {
        Ok(mut obj) => {
            obj.warnings.iter().cloned().for_each(|w| src.warn(used(w)));
            if let Some(mesh) = Arc::get_mut(&mut obj.mesh) {
                if flip_v {
                    mesh.uvs.iter_mut().for_each(|uv| uv.y = 1.0 - uv.y);
                }
                mesh.source = Some(MeshSource { file: path.into(), normals, flip_v });
            }
            Some(Rc::new(obj))
        }
        Err(problems) => {
            problems.into_iter().for_each(|p| src.push(used(p)));
            None
        }
    }
}

/// Drops the triangles whose normal is undefined in the world, with a warning: real meshes have a few. A mesh
/// of nothing else is an error.
fn place(section: &Section<'_>, file: &Field<'_>, obj: &Obj, t: &Affine3A) -> Option<Arc<TriangleMesh>> {
    let world: Vec<Vec3> = obj.mesh.positions.iter().map(|p| t.transform_point3(*p)).collect();
    if world.iter().any(|p| p.abs().max_element() > MAX_COORDINATE) {
        complain(section, TOO_FAR);
        return None;
    }
    let degenerate = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|i| world[i as usize]);
        is_degenerate(b - a, c - a)
    };
    let all = obj.mesh.triangles.len();
    let Some(first) = obj.mesh.triangles.iter().position(degenerate) else {
        return Some(Arc::clone(&obj.mesh));
    };
    let mut mesh = TriangleMesh::clone(&obj.mesh);
    mesh.triangles.retain(|t| !degenerate(t));
    let name = quoted(file.as_str().unwrap_or_default());
    let src = section.src;
    if mesh.triangles.is_empty() {
        let triangles = if all == 1 { "triangle, which has" } else { "triangles, none of which has" };
        let no = if all == 1 { "no" } else { "an" };
        src.error(file.span(), format!("mesh file {name} holds {all} {triangles} {no} area"));
        return None;
    }
    let dropped = all - mesh.triangles.len();
    let have = if dropped == 1 { "has no area and is" } else { "have no area and are" };
    let line = obj.triangle_lines[first];
    let message =
        format!("{dropped} of {all} triangles of {name} {have} left out; the first is on line {line} there");
    src.warn(src.problem(file.span(), message));
    Some(Arc::new(mesh))
}
