//! TOML scene files.

mod keys;
mod material;
mod mesh;
mod settings;
mod shape;
mod source;
mod texture;
mod transform;

use std::path::Path;

use glam::Vec3;
use toml::de::DeTable;

use super::error::{Error, MOST_PROBLEMS, Problem};
use super::limits::MAX_RADIANCE;
use super::{Description, MaterialAlone};
use material::{BLACK, Materials};
use source::{Section, Source};
use texture::Textures;

pub use settings::{DIRECT, MASKINGS, SAMPLERS};

/// Reads a scene from the text of a file. `file` is what messages call it, `folder` is where the paths in it start.
/// Gives the description and what looks suspicious, or everything that is wrong.
pub(super) fn read(file: &str, text: &str, folder: &Path) -> Result<(Description, Vec<Problem>), Error> {
    let src = Source::new(file, text);
    let (document, syntax_errors) = DeTable::parse_recoverable(text);
    if !syntax_errors.is_empty() {
        let problems = syntax_errors.iter().take(MOST_PROBLEMS).map(|e| syntax_error(&src, e)).collect();
        return Err(Error { problems: sorted(file, problems) });
    }
    let description = document_to_description(&src, document.get_ref(), folder);
    let errors = src.errors.into_inner();
    match description {
        Some(description) if errors.is_empty() => Ok((description, sorted(file, src.warnings.into_inner()))),
        _ => Err(Error { problems: sorted(file, errors) }),
    }
}

/// Reads one material from the text of a TOML document that has it under the key [`MATERIAL_KEY`].
pub(super) fn read_material(file: &str, text: &str) -> Result<MaterialAlone, Error> {
    let src = Source::new(file, text);
    let (document, syntax_errors) = DeTable::parse_recoverable(text);
    if !syntax_errors.is_empty() {
        let problems = syntax_errors.iter().take(MOST_PROBLEMS).map(|e| syntax_error(&src, e)).collect();
        return Err(Error { problems: sorted(file, problems) });
    }
    let top = Section::new(&src, document.get_ref(), 0..0, "the text");
    top.reject_unknown_keys(&[MATERIAL_KEY]);
    let section = top.get(MATERIAL_KEY).and_then(|f| f.table("the material"));
    let mut textures = Textures::new(Path::new("."));
    let material = section.and_then(|s| material::material(MATERIAL_KEY, &s, &mut textures));
    let errors = src.errors.into_inner();
    match material {
        Some(material) if errors.is_empty() => {
            Ok(MaterialAlone { material, images: textures.images, textures: textures.textures })
        }
        _ => Err(Error { problems: sorted(file, errors) }),
    }
}

/// What a material on its own is called.
pub(super) const MATERIAL_KEY: &str = "material";

/// In the order of the scene file, then of the files it uses.
fn sorted(file: &str, mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by_cached_key(|p| (p.file != file, p.file.clone(), p.place));
    problems.dedup();
    problems
}

fn syntax_error(src: &Source<'_>, error: &toml::de::Error) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let before = src.text.get(..span.start).unwrap_or_default();
    let rest = src.text.get(span.start..).unwrap_or_default();
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
    let message = match error.message() {
        "duplicate key" => {
            let key = src.text.get(span.clone()).unwrap_or_default();
            format!("{} is defined twice", super::suggest::quoted(key))
        }
        _ if before.trim_end_matches([' ', '\t']).ends_with('=')
            && (rest.is_empty() || rest.starts_with('\n')) =>
        {
            "there is no value after \"=\"".to_owned()
        }
        other => other.replace('`', "\""),
    };
    src.problem(span, format!("not valid TOML: {message}"))
}

fn document_to_description(src: &Source<'_>, document: &DeTable<'_>, folder: &Path) -> Option<Description> {
    let top = Section::new(src, document, 0..0, "the scene");
    top.reject_unknown_keys(keys::TOP);
    let render = settings::render(src, top.get("render").and_then(|f| f.table("[render]")));
    let camera_field = top.get("camera");
    if camera_field.is_none() {
        src.error(0..0, "the scene has no [camera]; it needs one with \"position\", \"target\" and \"fov\"");
    }
    let camera = camera_field.and_then(|f| f.table("[camera]")).and_then(|s| settings::camera(&s));
    let environment = top.get("environment").and_then(|f| f.table("[environment]"));
    let radiance = match &environment {
        Some(section) => environment_radiance(section),
        None => Some(Vec3::ZERO),
    };
    let mut textures = Textures::new(folder);
    let mut materials = material::materials(&top, &mut textures);
    let shapes = shape::shapes(&top, &mut materials, folder);

    if src.errors.borrow().is_empty()
        && radiance == Some(Vec3::ZERO)
        && shapes.iter().all(|s| s.emission == Vec3::ZERO)
    {
        let place = environment.map_or(0..0, |e| e.span);
        src.error(
            place,
            "the scene has no light, so the image would be black: \
             give a shape an \"emission\", or [environment] a \"radiance\" above 0",
        );
    }
    Some(Description {
        render: render?,
        camera: camera?,
        environment: radiance?,
        images: textures.images,
        textures: textures.textures,
        materials: materials.done(),
        shapes,
    })
}

fn environment_radiance(section: &Section<'_>) -> Option<Vec3> {
    section.reject_unknown_keys(keys::ENVIRONMENT);
    section.require("radiance", "radiance = 0.2")?.color(MAX_RADIANCE)
}
