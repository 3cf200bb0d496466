//! `[camera]`.

use glam::{Vec2, Vec3};

use super::keys;
use crate::description::limits::MAX_COORDINATE;
use crate::description::{Camera, FovAxis, Lens, Projection};
use crate::input::{Field, Section};

/// Along which side of the image something is measured, by name.
pub(crate) const AXES: &[(&str, FovAxis)] = &[
    ("x", FovAxis::X),
    ("y", FovAxis::Y),
    ("diagonal", FovAxis::Diagonal),
    ("smaller", FovAxis::Smaller),
    ("larger", FovAxis::Larger),
];

/// Reads `[camera]`.
pub(super) fn camera(section: &Section<'_>) -> Option<Camera> {
    let kinds = keys::CAMERA.choices();
    let kind = match section.get("type") {
        Some(field) => field.choice(&kinds)?,
        None => keys::CAMERA.type_named(keys::CAMERA.default_type)?,
    };
    section.reject_unknown_keys(&keys::CAMERA.known(Some(kind)));
    let frame = frame(section);
    let mirrored = section.get("mirrored").map_or(Some(false), |f| f.boolean());
    let projection = match kind.name() {
        "orthographic" => orthographic(section),
        "equirectangular" => Some(Projection::Equirectangular),
        _ => perspective(section, frame),
    };
    let (position, target, up) = frame?;
    Some(Camera { position, target, up, mirrored: mirrored?, projection: projection? })
}

/// Where the camera stands, what it looks at, and what is up.
fn frame(section: &Section<'_>) -> Option<(Vec3, Vec3, Vec3)> {
    let position = section.require("position", "position = [0, 1, 5]").and_then(|f| f.vec3(MAX_COORDINATE));
    let target_field = section.require("target", "target = [0, 0, 0]");
    let target = target_field.as_ref().and_then(|f| f.vec3(MAX_COORDINATE));
    let up_field = section.get("up");
    let up = up_field.as_ref().map_or(Some(Vec3::Y), |f| f.vec3(MAX_COORDINATE));
    let (position, target, up) = (position?, target?, up?);
    if let Some(problem) = frame_problem(position, target, up) {
        let place = match problem {
            FrameProblem::NoDirection => target_field.map(|f| f.span()),
            FrameProblem::NoUp | FrameProblem::UpAlongView => up_field.or(target_field).map(|f| f.span()),
        };
        let message = problem.message("the camera", "position");
        section.src.error(place.unwrap_or(section.span.clone()), message);
        return None;
    }
    Some((position, target, up))
}

fn perspective(section: &Section<'_>, frame: Option<(Vec3, Vec3, Vec3)>) -> Option<Projection> {
    let fov = section.require("fov", "fov = 40").and_then(|f| fov(&f));
    let fov_axis = section.get("fov_axis").map_or(Some(FovAxis::default()), |f| f.choice(AXES));
    let principal_point = section.get("principal_point").map_or(Some(Vec2::ZERO), |f| {
        let both = f.numbers(2, "two numbers, for example [0.1, 0]")?;
        let (x, y) = (both[0].number_in(-100.0, 100.0), both[1].number_in(-100.0, 100.0));
        Some(Vec2::new(x?, y?))
    });
    let lens = section.get("lens").map_or(Some(None), |f| lens(&f.table("\"lens\"")?, frame).map(Some));
    Some(Projection::Perspective {
        fov: fov?,
        fov_axis: fov_axis?,
        principal_point: principal_point?,
        lens: lens?,
    })
}

fn orthographic(section: &Section<'_>) -> Option<Projection> {
    let size = section.require("size", "size = 4").and_then(|f| length(&f));
    let axis = section.get("size_axis").map_or(Some(FovAxis::default()), |f| f.choice(AXES));
    Some(Projection::Orthographic { size: size?, axis: axis? })
}

/// Metres, above 0.
fn length(field: &Field<'_>) -> Option<f32> {
    match field.number()? {
        x if x <= 0.0 => field.reject("must be above 0"),
        _ => field.number_in(keys::MIN_LENGTH, MAX_COORDINATE),
    }
}

/// Reads `lens`, for a camera that stands and looks as `frame` says.
fn lens(section: &Section<'_>, frame: Option<(Vec3, Vec3, Vec3)>) -> Option<Lens> {
    section.reject_unknown_keys(&keys::LENS.known(None));
    let radius = section.require("radius", "radius = 0.05").and_then(|f| length(&f));
    let blades = section.get("blades").map_or(Some(0), |f| match f.integer(0..=64)? {
        1 | 2 => f.reject("must be 3 or more, or 0 for a round aperture"),
        blades => Some(blades),
    });
    let rotation = section.get("rotation").map_or(Some(0.0), |f| f.number_in(-360.0, 360.0));
    if let Some(field) = section.get("rotation")
        && (blades, rotation.is_some_and(|r| r != 0.0)) == (Some(0), true)
    {
        field.warn("\"rotation\" has no effect without \"blades\": the aperture is round");
    }
    let focus_distance = focus_distance(section, frame);
    Some(Lens { radius: radius?, focus_distance: focus_distance?, blades: blades?, rotation: rotation? })
}

/// The focus distance along the axis: as given, that of a given point, or that of the target.
fn focus_distance(section: &Section<'_>, frame: Option<(Vec3, Vec3, Vec3)>) -> Option<f32> {
    match (section.get("focus_distance"), section.get("focus")) {
        (Some(_), Some(focus)) => {
            let message = "\"lens\" gives both \"focus_distance\" and \"focus\"; keep one";
            section.src.error(focus.key_span, message);
            None
        }
        (Some(distance), None) => length(&distance),
        (None, None) => frame.map(|(position, target, _)| (target - position).as_dvec3().length() as f32),
        (None, Some(focus)) => {
            let point = focus.vec3(MAX_COORDINATE);
            let (position, target, _) = frame?;
            let axis = (target - position).as_dvec3().normalize();
            let distance = (point? - position).as_dvec3().dot(axis) as f32;
            match distance >= keys::MIN_LENGTH {
                true => Some(distance),
                false => focus.fail("is not before the camera"),
            }
        }
    }
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
