//! TOML scene files.

mod keys;
mod mesh;
mod settings;
mod shape;
mod source;
mod transform;

use std::path::Path;

use glam::{Vec2, Vec3};
use toml::de::DeTable;

use super::error::{Error, MOST_PROBLEMS, Problem};
use super::limits::{MAX_IOR, MAX_RADIANCE, MIN_ALPHA};
use super::{Description, Distribution, Material, MaterialKind};
use source::{Field, Section, Source};

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
    let mut materials = materials(&top);
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
        materials: materials.done(),
        shapes,
    })
}

fn environment_radiance(section: &Section<'_>) -> Option<Vec3> {
    section.reject_unknown_keys(keys::ENVIRONMENT);
    section.require("radiance", "radiance = 0.2")?.color(MAX_RADIANCE)
}

/// The materials read so far, by name.
struct Materials {
    /// `None` where a definition was wrong, so that shapes that name it are not blamed.
    list: Vec<(String, Option<Material>)>,
}

/// Name of the material of shapes that have none; no TOML scene can define it, since it is reserved.
const BLACK: &str = "(none)";

impl Materials {
    fn find(&self, name: &str) -> Option<usize> {
        self.list.iter().position(|(n, _)| n == name)
    }

    fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.list.iter().map(|(n, _)| n.as_str())
    }

    /// Index of a material that reflects nothing, for light sources without a material.
    fn black(&mut self) -> usize {
        self.find(BLACK).unwrap_or_else(|| {
            let kind = MaterialKind::Diffuse { reflectance: Vec3::ZERO };
            self.list
                .push((BLACK.to_owned(), Some(Material { name: BLACK.to_owned(), two_sided: true, kind })));
            self.list.len() - 1
        })
    }

    /// The materials; complete if no error was reported.
    fn done(self) -> Vec<Material> {
        self.list.into_iter().filter_map(|(_, m)| m).collect()
    }
}

fn materials(top: &Section<'_>) -> Materials {
    let mut list = Vec::new();
    if let Some(section) = top.get("materials").and_then(|f| f.table("[materials]")) {
        for (name, field) in section.entries() {
            let material = field.table(format!("material {}", field.name)).and_then(|s| material(name, &s));
            if name == BLACK {
                field.src.error(field.key_span, format!("the name {BLACK:?} is reserved"));
            }
            list.push((name.to_owned(), material));
        }
    }
    Materials { list }
}

fn material(name: &str, section: &Section<'_>) -> Option<Material> {
    let choices: Vec<_> = keys::MATERIAL_TYPES.iter().map(|(name, extra)| (*name, (*name, *extra))).collect();
    let (kind, extra) = section.require("type", "type = \"diffuse\"")?.choice(&choices)?;
    section.reject_unknown_keys(&[keys::MATERIAL, extra].concat());
    let two_sided = match section.get("two_sided") {
        Some(field) => field.boolean(),
        None => Some(true),
    };
    if let (true, Some(field)) = (kind.ends_with("dielectric"), section.get("two_sided")) {
        let rule = "is a dielectric, which light passes from both sides; leave \"two_sided\" out";
        section.src.error(field.key_span, format!("{} {rule}", section.name));
    }
    let kind = match kind {
        "diffuse" => {
            let reflectance = section.require("reflectance", "reflectance = [0.8, 0.8, 0.8]")?.color(1.0)?;
            MaterialKind::Diffuse { reflectance }
        }
        "dielectric" => {
            let (ior, alpha, distribution) = (ior(section), smooth_or_alpha(section), distribution(section));
            MaterialKind::Dielectric { ior: ior?, alpha: alpha?, distribution: distribution? }
        }
        "thin_dielectric" => MaterialKind::ThinDielectric { ior: ior(section)? },
        _ => conductor(section)?,
    };
    Some(Material { name: name.to_owned(), two_sided: two_sided?, kind })
}

fn conductor(section: &Section<'_>) -> Option<MaterialKind> {
    let eta = section.require("eta", "eta = [0.143, 0.375, 1.442] for gold").and_then(|f| f.color(MAX_IOR));
    let k_field = section.require("k", "k = [3.983, 2.386, 1.603] for gold");
    let k = k_field.as_ref().and_then(|f| f.color(MAX_IOR));
    let (alpha, distribution) = (alpha(section), distribution(section));
    let (eta, k) = (eta?, k?);
    if (eta.cmpeq(Vec3::ZERO) & k.cmpeq(Vec3::ZERO)).any() {
        let message = "\"eta\" and \"k\" are both 0 in the same channel; no material is like that";
        section.src.error(k_field?.span(), message);
    }
    Some(MaterialKind::Conductor { eta, k, alpha: alpha?, distribution: distribution? })
}

/// Index of refraction relative to the outside; that of common glass if there is none.
fn ior(section: &Section<'_>) -> Option<f32> {
    const GLASS: f32 = 1.5;
    section.get("ior").map_or(Some(GLASS), |field| field.number_in(0.1, 10.0))
}

/// Statistics of microfacets; GGX if nothing is said.
fn distribution(section: &Section<'_>) -> Option<Distribution> {
    const CHOICES: [(&str, Distribution); 2] =
        [("ggx", Distribution::Ggx), ("beckmann", Distribution::Beckmann)];
    section.get("distribution").map_or(Some(Distribution::Ggx), |field| field.choice(&CHOICES))
}

/// Alpha of a material that is smooth if nothing is said.
fn smooth_or_alpha(section: &Section<'_>) -> Option<Vec2> {
    let is_said = section.get("roughness").is_some() || section.get("alpha").is_some();
    if is_said { alpha(section) } else { Some(Vec2::ZERO) }
}

/// Alpha along u and v, from `alpha` or `roughness`, each a number or two.
fn alpha(section: &Section<'_>) -> Option<Vec2> {
    match (section.get("roughness"), section.get("alpha")) {
        (Some(roughness), Some(_)) => {
            let message = format!(
                "{} gives both \"roughness\" and \"alpha\"; keep one (alpha = roughness²)",
                section.name
            );
            section.src.error(roughness.key_span, message);
            None
        }
        (None, Some(alpha)) => along_u_and_v(&alpha, |alpha| alpha.number_in(MIN_ALPHA, 1.0)),
        (roughness, None) => {
            let example = "roughness = 0.3 (or alpha = 0.09)";
            let roughness = roughness.or_else(|| section.require("roughness", example))?;
            let alpha =
                |r: &Field<'_>| r.number_in(MIN_ALPHA.sqrt(), 1.0).map(|r| (r * r).clamp(MIN_ALPHA, 1.0));
            along_u_and_v(&roughness, alpha)
        }
    }
}

/// A number for both directions, 0 for a smooth surface, or `[u, v]`.
fn along_u_and_v(field: &Field<'_>, number: impl Fn(&Field<'_>) -> Option<f32>) -> Option<Vec2> {
    if field.is_zero() {
        return Some(Vec2::ZERO);
    }
    if !field.is_array() {
        return number(field).map(Vec2::splat);
    }
    let numbers = field.numbers(2, "a number, or two: along u and along v")?;
    match (numbers[0].is_zero(), numbers[1].is_zero()) {
        (true, true) => return Some(Vec2::ZERO),
        (false, false) => {}
        _ => {
            return field
                .fail("is 0 along one direction only; a surface is smooth along both or rough along both");
        }
    }
    let (u, v) = (number(&numbers[0]), number(&numbers[1]));
    Some(Vec2::new(u?, v?))
}
