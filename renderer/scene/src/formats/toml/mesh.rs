//! Shapes of type `mesh`.

use std::collections::HashMap;
use std::sync::Arc;

use glam::Affine3A;
use torrance_text::{quoted, quoted_path};

use super::shape::{TOO_FAR, complain};
use super::values::{ByName, Named, ValueReader};
use crate::description::{Normals, TriangleMesh};
use crate::files::Files;
use crate::files::mesh::{MeshError, MeshFile, Placement};
use crate::input::{Field, Problem, Section};

impl Named for Normals {
    const NAMES: ByName<Self> = &[("file", Self::File), ("smooth", Self::Smooth), ("flat", Self::Flat)];
}

/// How a file is read: its name in the scene, its normals, and whether v is turned around.
type Key = (String, Normals, bool);

/// The mesh files of a scene, each read once however many shapes use it.
pub(super) struct Meshes<'a> {
    files: &'a Files,
    /// `None` for those with errors, which are reported once.
    read: HashMap<Key, Option<Arc<MeshFile>>>,
}

impl<'a> Meshes<'a> {
    /// For a scene that may read `files`.
    pub(super) fn new(files: &'a Files) -> Self {
        Self { files, read: HashMap::new() }
    }

    /// The mesh of a shape, without the triangles that have no area where the transform puts them.
    pub(super) fn mesh(
        &mut self,
        section: &Section<'_>,
        reader: &mut ValueReader<'_, '_>,
        t: Option<&Affine3A>,
    ) -> Option<Arc<TriangleMesh>> {
        let (normals, flip_v) = (reader.or("normals", Normals::File), reader.or("flip_v", false));
        let file = section.require("file", "file = \"teapot.obj\"")?;
        let name = file.string()?;
        let (normals, flip_v) = (normals?, flip_v?);
        let files = self.files;
        let read = self.read.entry((name.to_owned(), normals, flip_v));
        let mesh = read.or_insert_with(|| read_file(&file, files, name, normals, flip_v)).as_ref()?;
        place(section, &file, &Arc::clone(mesh), files, t?)
    }
}

/// Reads a mesh file and reports what is wrong with it.
fn read_file(
    field: &Field<'_>,
    files: &Files,
    name: &str,
    normals: Normals,
    flip_v: bool,
) -> Option<Arc<MeshFile>> {
    let src = field.src;
    let shown = files.folder().join(name).display().to_string();
    let place = src.problem(field.span(), "").place.map_or(0, |(line, _)| line);
    let used =
        |problem: Problem| problem.with_help(format!("the mesh is used on line {place} of {}", src.file));
    let path = files.resolve(name).map_err(MeshError::Unreadable);
    match path.and_then(|path| files.mesh(&path, normals, flip_v)) {
        Ok(file) => {
            file.warnings.iter().cloned().for_each(|w| src.warn(used(w)));
            return Some(file);
        }
        Err(MeshError::Wrong(problems)) => problems.into_iter().for_each(|p| src.push(used(p))),
        Err(MeshError::Unreadable(reason)) => {
            src.error(field.span(), format!("cannot read mesh file {}: {reason}", quoted_path(&shown)));
        }
        Err(MeshError::Unknown) => {
            let message = format!("mesh file {} is neither an .obj nor a .ply file", quoted_path(&shown));
            src.error(field.span(), message);
        }
    }
    None
}

/// The mesh where it stands. Triangles without an area are left out with a warning; a mesh of nothing else is an error.
fn place(
    section: &Section<'_>,
    field: &Field<'_>,
    file: &MeshFile,
    files: &Files,
    t: &Affine3A,
) -> Option<Arc<TriangleMesh>> {
    let all = file.mesh.triangles.len();
    let name = quoted(field.as_str().unwrap_or_default());
    let src = section.src;
    match files.place(&file.mesh, t) {
        Placement::Whole(mesh) => return Some(mesh),
        Placement::TooFar => complain(section, TOO_FAR),
        Placement::Empty => {
            let triangles = if all == 1 { "triangle, which has" } else { "triangles, none of which has" };
            let no = if all == 1 { "no" } else { "an" };
            src.error(field.span(), format!("mesh file {name} holds {all} {triangles} {no} area"));
        }
        Placement::Without { mesh, dropped, first } => {
            let have = if dropped == 1 { "has no area and is" } else { "have no area and are" };
            let first = file.place.describe(first);
            let message =
                format!("{dropped} of {all} triangles of {name} {have} left out; the first is {first}");
            src.warn(src.problem(field.span(), message));
            return Some(mesh);
        }
    }
    None
}
