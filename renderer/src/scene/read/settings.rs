//! `[render]` and `[camera]`.

use glam::Vec3;

use super::keys;
use crate::input::{Field, Section, Source};
use crate::scene::limits::{MAX_COORDINATE, MAX_DEPTH, MAX_SPP, check_size};
use crate::scene::{
    Camera, Direct, FovAxis, HiddenNormals, Masking, Overrides, PixelFilter, Projection, RenderSettings,
    Sampler,
};

/// Samplers by the names they have in scene files and on the command line.
pub const SAMPLERS: &[(&str, Sampler)] = &[("sobol", Sampler::Sobol), ("independent", Sampler::Independent)];
/// Estimators of direct light by name.
pub const DIRECT: &[(&str, Direct)] = &[("mis", Direct::Mis), ("nee", Direct::Nee), ("bsdf", Direct::Bsdf)];
/// Masking–shadowing functions by name.
pub const MASKINGS: &[(&str, Masking)] =
    &[("correlated", Masking::Correlated), ("separable", Masking::Separable)];
/// Axes of the field of view by name.
const FOV_AXES: &[(&str, FovAxis)] = &[("x", FovAxis::X), ("y", FovAxis::Y)];

impl Default for RenderSettings {
    /// What a scene gets that says nothing about rendering.
    fn default() -> Self {
        Self {
            width: 512,
            height: 512,
            spp: 64,
            seed: 0,
            max_depth: 16,
            rr_depth: Some(5),
            sampler: Sampler::Sobol,
            direct: Direct::Mis,
            masking: Masking::Correlated,
            hidden_normals: HiddenNormals::Geometric,
            filter: PixelFilter::PIXEL,
        }
    }
}

/// Reads `[render]`, which may be missing.
pub(super) fn render(src: &Source<'_>, section: Option<Section<'_>>) -> Option<RenderSettings> {
    let defaults = RenderSettings::default();
    let Some(section) = section else {
        return Some(defaults);
    };
    section.reject_unknown_keys(keys::RENDER);
    fn or<'a, T>(field: Option<Field<'a>>, default: T, read: impl Fn(Field<'a>) -> Option<T>) -> Option<T> {
        field.map_or(Some(default), read)
    }
    let (width, height) = size(src, &section, &defaults).unzip();
    let spp = or(section.get("spp"), defaults.spp, |f| f.integer(1..=MAX_SPP));
    let seed = or(section.get("seed"), defaults.seed, |f| f.integer(0..=u32::MAX));
    let max_depth = or(section.get("max_depth"), defaults.max_depth, |f| f.integer(1..=MAX_DEPTH));
    let rr_depth = or(section.get("rr"), defaults.rr_depth, |f| rr(&f, defaults.rr_depth));
    let sampler = or(section.get("sampler"), defaults.sampler, |f| f.choice(SAMPLERS));
    let direct = or(section.get("direct"), defaults.direct, |f| f.choice(DIRECT));
    let masking = or(section.get("masking"), defaults.masking, |f| f.choice(MASKINGS));
    Some(RenderSettings {
        width: width?,
        height: height?,
        spp: spp?,
        seed: seed?,
        max_depth: max_depth?,
        rr_depth: rr_depth?,
        sampler: sampler?,
        direct: direct?,
        masking: masking?,
        hidden_normals: defaults.hidden_normals,
        filter: defaults.filter,
    })
}

/// What a section says instead of `[render]`, by the same keys, but for samples and seed.
pub(crate) fn overrides(section: &Section<'_>) -> Option<Overrides> {
    fn read<'a, T>(
        section: &Section<'a>,
        key: &str,
        read: impl Fn(Field<'a>) -> Option<T>,
    ) -> Option<Option<T>> {
        section.get(key).map_or(Some(None), |f| read(f).map(Some))
    }
    let defaults = RenderSettings::default();
    let side = |x: u64| u32::try_from(x).ok();
    let size = read(section, "size", |f| {
        let (width, height) = sides(&f)?;
        match check_size(width, height) {
            Ok(()) => side(width).zip(side(height)),
            Err(message) => {
                f.src.error(f.span(), message);
                None
            }
        }
    });
    let max_depth = read(section, "max_depth", |f| f.integer(1..=MAX_DEPTH));
    let rr_depth = read(section, "rr", |f| rr(&f, defaults.rr_depth));
    let sampler = read(section, "sampler", |f| f.choice(SAMPLERS));
    let direct = read(section, "direct", |f| f.choice(DIRECT));
    let masking = read(section, "masking", |f| f.choice(MASKINGS));
    Some(Overrides {
        size: size?,
        spp: None,
        seed: None,
        max_depth: max_depth?,
        rr_depth: rr_depth?,
        sampler: sampler?,
        direct: direct?,
        masking: masking?,
    })
}

/// `size = [width, height]`, unchecked.
fn sides(size: &Field<'_>) -> Option<(u64, u64)> {
    let sides = size.numbers(2, "width and height, for example [640, 480]")?;
    let (width, height) = (sides[0].natural(), sides[1].natural());
    Some((width?, height?))
}

/// `rr = false`, or the number of bounces that are safe from it; `true` is the default number.
fn rr(field: &Field<'_>, default: Option<u32>) -> Option<Option<u32>> {
    match field.as_bool() {
        Some(true) => Some(default),
        Some(false) => Some(None),
        None if field.is_number() => field.integer(0..=MAX_DEPTH).map(Some),
        None => field.wrong_type("false or a number of bounces"),
    }
}

/// The image size, from `size` or from `width` and `height`.
fn size(src: &Source<'_>, section: &Section<'_>, defaults: &RenderSettings) -> Option<(u32, u32)> {
    let (width_field, height_field) = (section.get("width"), section.get("height"));
    let (width, height, place) = match section.get("size") {
        Some(size) => {
            if let Some(both) = width_field.or(height_field) {
                src.error(
                    both.key_span,
                    format!("{} is given by \"size\" already; keep one of them", both.name),
                );
                return None;
            }
            let (width, height) = sides(&size)?;
            (width, height, size.span())
        }
        None => {
            let place =
                width_field.as_ref().or(height_field.as_ref()).map_or(section.span.clone(), Field::span);
            let side = |f: Option<Field<'_>>, default: u32| f.map_or(Some(default.into()), |f| f.natural());
            let (width, height) = (side(width_field, defaults.width), side(height_field, defaults.height));
            (width?, height?, place)
        }
    };
    match check_size(width, height) {
        Ok(()) => Some((u32::try_from(width).ok()?, u32::try_from(height).ok()?)),
        Err(message) => {
            src.error(place, message);
            None
        }
    }
}

/// Reads `[camera]`.
pub(super) fn camera(section: &Section<'_>) -> Option<Camera> {
    section.reject_unknown_keys(keys::CAMERA);
    let src = section.src;
    let position = section.require("position", "position = [0, 1, 5]").and_then(|f| f.vec3(MAX_COORDINATE));
    let target_field = section.require("target", "target = [0, 0, 0]");
    let target = target_field.as_ref().and_then(|f| f.vec3(MAX_COORDINATE));
    let up_field = section.get("up");
    let up = up_field.as_ref().map_or(Some(Vec3::Y), |f| f.vec3(MAX_COORDINATE));
    let fov = section.require("fov", "fov = 40").and_then(|f| fov(&f));
    let fov_axis = section.get("fov_axis").map_or(Some(FovAxis::default()), |f| f.choice(FOV_AXES));
    let (position, target, up) = (position?, target?, up?);
    if let Some(problem) = frame_problem(position, target, up) {
        let place = match problem {
            FrameProblem::NoDirection => target_field.map(|f| f.span()),
            FrameProblem::NoUp | FrameProblem::UpAlongView => up_field.or(target_field).map(|f| f.span()),
        };
        src.error(place.unwrap_or(section.span.clone()), problem.message("the camera", "position"));
        return None;
    }
    let projection = Projection::pinhole(fov?, fov_axis?);
    Some(Camera { position, target, up, mirrored: false, projection })
}

/// Degrees, above 0 and below 180, by so much that its tangent is an ordinary number.
fn fov(field: &Field<'_>) -> Option<f32> {
    const MARGIN: f64 = 1e-3;
    let degrees = field.number()?;
    if degrees <= 0.0 || degrees >= 180.0 {
        return field.reject("must be above 0 and below 180 degrees");
    }
    if !(MARGIN..=180.0 - MARGIN).contains(&degrees) {
        return field.reject("must be between 0.001 and 179.999 degrees");
    }
    Some(degrees as f32)
}

/// Why three vectors give no frame to look along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameProblem {
    /// Both points are the same.
    NoDirection,
    /// Up is zero.
    NoUp,
    /// Up is the direction of view, or the opposite one.
    UpAlongView,
}

impl FrameProblem {
    pub(super) fn message(self, what: &str, origin: &str) -> String {
        match self {
            Self::NoDirection => {
                format!("\"target\" is the same point as {origin:?}, so {what} has no direction")
            }
            Self::NoUp => "\"up\" is the zero vector".to_owned(),
            Self::UpAlongView => {
                format!("\"up\" is parallel to the direction from {origin:?} to \"target\"; turn it aside")
            }
        }
    }
}

/// Whether looking from `origin` to `target` with `up` is well defined.
pub(super) fn frame_problem(origin: Vec3, target: Vec3, up: Vec3) -> Option<FrameProblem> {
    let direction = (target - origin).as_dvec3().try_normalize();
    let Some(direction) = direction else {
        return Some(FrameProblem::NoDirection);
    };
    let Some(up) = up.as_dvec3().try_normalize() else {
        return Some(FrameProblem::NoUp);
    };
    (up.cross(direction).length() < 1e-4).then_some(FrameProblem::UpAlongView)
}
