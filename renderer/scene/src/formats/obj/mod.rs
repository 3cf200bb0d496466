//! OBJ files as scenes of their own.

mod materials;
mod mtl;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use glam::{Affine3A, Vec3};
use torrance_text::{quoted, quoted_path};

use crate::description::limits::MAX_SCENE_BYTES;
use crate::description::{Color, Description, Material, Normals, Shape, TriangleMesh};
use crate::files::Files;
use crate::files::mesh::obj::{append, decode_colors, models, scan, too_many};
use crate::files::mesh::{Placement, finish_normals, place};
use crate::formats::model::{self, Up};
use crate::input::file::read_regular;
use crate::input::{Error, Problem};

use materials::Textures;

/// Most material libraries that a line names; with more words it is one name. Also the most that may be missing.
const MOST_LIBRARIES: usize = 64;

/// The name of the faces that name no material.
const NO_MATERIAL: &str = "default";

/// Reads an OBJ file as a scene: a shape for every material, with a camera and light of our own. Gives the description
/// and what looks suspicious.
///
/// # Errors
/// Everything that is wrong.
pub(crate) fn read_scene(
    file: &str,
    bytes: &[u8],
    files: &Files,
    up: Up,
) -> Result<(Description, Vec<Problem>), Error> {
    let scanned = scan::scan(file, bytes, true, true)?;
    let mut warnings = scanned.warnings.clone();
    let mut meshes: Vec<TriangleMesh> = vec![TriangleMesh::default(); scanned.materials.len() + 1];
    for model in models(file, &scanned)? {
        let part = model.mesh.material_id.map_or(0, |id| id + 1);
        append(&mut meshes[part], &model.mesh, false).ok_or_else(|| too_many(file))?;
    }
    let mut textures = Textures::new(files, scanned.color_unit.is_some());
    let found = read_materials(file, &scanned, files, &mut textures);
    warnings.append(&mut textures.warnings);
    warnings.extend(textures.mistakes.into_warnings());
    let names = std::iter::once(NO_MATERIAL).chain(scanned.materials.iter().map(|(_, name)| name.as_str()));
    let mut scene = model::model_scene();
    (scene.images, scene.textures) = (textures.images, textures.textures);
    for ((mut mesh, (material, emission)), name) in meshes.into_iter().zip(found).zip(names) {
        if mesh.triangles.is_empty() {
            continue;
        }
        decode_colors(&mut mesh, &scanned);
        warnings.extend(finish_normals(file, &mut mesh, Normals::File));
        scene.shapes.extend(shape(file, name, mesh, (scene.materials.len(), emission), &mut warnings)?);
        scene.materials.push(material);
    }
    scene.finish_model(file, up).map(|scene| (scene, warnings))
}

/// The faces of a material, if any has an area.
fn shape(
    file: &str,
    name: &str,
    mesh: TriangleMesh,
    (material, emission): (usize, Color),
    warnings: &mut Vec<Problem>,
) -> Result<Option<Shape>, Problem> {
    let all = mesh.triangles.len();
    let (mesh, dropped) = match place(&Arc::new(mesh), &Affine3A::IDENTITY) {
        Placement::Whole(mesh) => (Some(mesh), 0),
        Placement::Without { mesh, dropped, .. } => (Some(mesh), dropped),
        Placement::Empty => (None, all),
        Placement::TooFar => return Err(Problem::of_file(file, "the mesh reaches beyond 1e9 metres")),
    };
    if dropped > 0 {
        let message = format!(
            "{dropped} of {all} triangles of material {} have no area; they are left out",
            quoted(name)
        );
        warnings.push(Problem::of_file(file, message));
    }
    Ok(mesh.map(|mesh| model::shape(name, mesh, material, emission)))
}

/// The files that a line names: one, whose name may have spaces, or if that is not there several between spaces.
fn library_names<'a>(files: &Files, names: &'a str) -> Vec<&'a str> {
    let is_there = |name: &str| {
        files.look_for(files.folder(), name).is_ok_and(|(path, is_other)| !is_other && path.is_file())
    };
    let several: Vec<_> = names.split_ascii_whitespace().take(MOST_LIBRARIES + 1).collect();
    let is_list = several.len() <= MOST_LIBRARIES && !is_there(names);
    if is_list && several.iter().any(|name| is_there(name)) { several } else { vec![names] }
}

/// The materials of faces without one, and of all names that the file uses, with the light that they emit.
fn read_materials(
    file: &str,
    scanned: &scan::ObjText,
    files: &Files,
    textures: &mut Textures<'_>,
) -> Vec<(Material, Color)> {
    let mut known = HashMap::new();
    // Some files name their library once for every object.
    let mut named = HashSet::new();
    let lines = scanned.libraries.iter().filter(|(_, names)| named.insert(names));
    let libraries =
        lines.flat_map(|(line, names)| library_names(files, names).into_iter().map(move |name| (line, name)));
    let mut missing = 0;
    for (line, name) in libraries {
        if missing > MOST_LIBRARIES {
            break;
        }
        let problem = |message| Problem::at_line(file, *line, "", 0..0, message);
        let shown = quoted_path(name);
        let found = files.look_for(files.folder(), &name.trim_matches('"').replace('\\', "/"));
        let read =
            found.and_then(|(path, is_other)| Ok((read_regular(&path, MAX_SCENE_BYTES)?, path, is_other)));
        match read {
            Ok((bytes, path, is_other)) => {
                if is_other {
                    let remedy = format!("{} is read", quoted_path(&path));
                    let message = || problem(format!("there is no material library {shown}"));
                    textures.mistakes.add("another library", &remedy, message);
                }
                let (library, warnings) = mtl::read(&path.display().to_string(), &bytes);
                textures.warnings.extend(warnings);
                for material in library {
                    known.entry(material.name.clone()).or_insert((path.clone(), material));
                }
            }
            Err(reason) => {
                missing += 1;
                let message = || problem(format!("cannot read material library {shown}: {reason}"));
                textures.mistakes.add("library", "its materials are grey", message);
            }
        }
    }
    let mut found = vec![(materials::plain(NO_MATERIAL, textures), Color::new(Vec3::ZERO))];
    for (line, name) in &scanned.materials {
        found.push(match known.get(name) {
            Some((path, material)) => {
                textures.enter(path);
                materials::material(material, textures)
            }
            None => {
                let message = format!("no library has a material {}", quoted(name));
                let problem = || Problem::at_line(file, *line, "", 0..0, message);
                textures.mistakes.add("material", "it is grey", problem);
                (materials::plain(name, textures), Color::new(Vec3::ZERO))
            }
        });
    }
    found
}
