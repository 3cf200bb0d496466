//! `[camera]`.

use glam::Vec3;

use super::keys;
use super::values::{ByName, Named, ValueReader, Visitor, type_of};
use crate::description::limits::{MAX_COORDINATE, MIN_LENGTH};
use crate::description::{Camera, Clip, FovAxis, Lens, Projection};
use crate::input::{Field, Section};

impl Named for FovAxis {
    const NAMES: ByName<Self> = &[
        ("x", Self::X),
        ("y", Self::Y),
        ("diagonal", Self::Diagonal),
        ("smaller", Self::Smaller),
        ("larger", Self::Larger),
    ];
}

/// Where a camera stands, what it looks at, and what is up.
pub(crate) fn visit_frame(visitor: &mut impl Visitor, camera: &mut Camera) {
    visitor.visit("position", &mut camera.position);
    visitor.visit("target", &mut camera.target);
    visitor.visit("up", &mut camera.up);
}

/// The distances between which things are seen.
pub(crate) fn visit_clip(visitor: &mut impl Visitor, clip: &mut Clip) {
    visitor.visit("near", &mut clip.near);
    visitor.visit("far", &mut clip.far);
}

/// Whether something is between two distances; reports if not.
fn is_range(section: &Section<'_>, clip: Clip) -> bool {
    let is_right = clip.near < clip.far;
    if !is_right {
        let place = section.get("near").or_else(|| section.get("far"));
        let message = format!("\"near\" must be below \"far\", which is {}, not {}", clip.far, clip.near);
        section.src.error(place.map_or(section.span.clone(), |f| f.span()), message);
    }
    is_right
}

/// The values of a projection that follow its field of view.
pub(crate) fn visit_projection(visitor: &mut impl Visitor, projection: &mut Projection) {
    match projection {
        Projection::Perspective { fov_axis, principal_point, .. } => {
            visitor.visit("fov_axis", fov_axis);
            visitor.visit("principal_point", principal_point);
        }
        Projection::Orthographic { size, axis } => {
            visitor.visit("size", size);
            visitor.visit("size_axis", axis);
        }
        Projection::Equirectangular => {}
    }
}

/// Reads `[camera]`.
pub(super) fn camera(section: &Section<'_>) -> Option<Camera> {
    let kind = type_of(section, &keys::CAMERA, keys::CAMERA.default_type)?;
    section.reject_unknown_keys(&keys::CAMERA.known(Some(kind)));
    let projection = match kind.name() {
        "orthographic" => Projection::Orthographic { size: 0.0, axis: FovAxis::default() },
        "equirectangular" => Projection::Equirectangular,
        _ => Projection::pinhole(0.0, FovAxis::default()),
    };
    let (position, target) = (Vec3::ZERO, Vec3::ZERO);
    let mut camera =
        Camera { position, target, up: Vec3::Y, mirrored: false, projection, clip: Clip::DEFAULT };
    let mut reader = ValueReader::new(section, &keys::CAMERA, Some(kind));
    visit_frame(&mut reader, &mut camera);
    reader.is_right = reader.is_right && has_frame(section, &camera);
    let frame = reader.is_right.then(|| camera.clone());
    reader.visit("mirrored", &mut camera.mirrored);
    visit_clip(&mut reader, &mut camera.clip);
    reader.is_right = reader.is_right && is_range(section, camera.clip);
    visit_projection(&mut reader, &mut camera.projection);
    if let Projection::Perspective { fov, lens, .. } = &mut camera.projection {
        let read = section.require("fov", "fov = 40").and_then(|f| self::fov(&f));
        let with = section
            .get("lens")
            .map_or(Some(None), |f| self::lens(&f.table("\"lens\"")?, frame.as_ref()).map(Some));
        (*fov, *lens) = (read?, with?);
    }
    reader.is_right.then_some(camera)
}

/// Whether a camera has a direction, and another one upwards; reports if not.
fn has_frame(section: &Section<'_>, camera: &Camera) -> bool {
    let view = ("the camera", "position");
    let Some((problem, is_up)) = frame_problem(view, camera.position, camera.target, camera.up) else {
        return true;
    };
    let up = section.get("up").filter(|_| is_up);
    let place = up.or_else(|| section.get("target")).map_or(section.span.clone(), |f| f.span());
    section.src.error(place, problem);
    false
}

/// The values of a lens.
pub(crate) fn visit_lens(visitor: &mut impl Visitor, lens: &mut Lens) {
    visitor.visit("radius", &mut lens.radius);
    visitor.visit("focus_distance", &mut lens.focus_distance);
    visitor.visit("blades", &mut lens.blades);
    visitor.visit("rotation", &mut lens.rotation);
}

/// Reads `lens`, for a camera that stands and looks as `frame` does.
fn lens(section: &Section<'_>, frame: Option<&Camera>) -> Option<Lens> {
    section.reject_unknown_keys(&keys::LENS.known(None));
    let mut lens = Lens::default();
    let mut reader = ValueReader::new(section, &keys::LENS, None);
    visit_lens(&mut reader, &mut lens);
    if let (1 | 2, Some(field)) = (lens.blades, section.get("blades")) {
        reader.is_right = false;
        field.reject::<u32>("must be 3 or more, or 0 for a round aperture");
    }
    if let (0, true, Some(field)) = (lens.blades, lens.rotation != 0.0, section.get("rotation")) {
        field.warn("\"rotation\" has no effect without \"blades\": the aperture is round");
    }
    section.reject_both(["focus_distance", "focus"], "focus")?;
    if section.get("focus_distance").is_none() {
        lens.focus_distance = focus_distance(section.get("focus"), frame)?;
    }
    reader.is_right.then_some(lens)
}

/// The distance along the axis of a point that is in focus, or of the target.
fn focus_distance(focus: Option<Field<'_>>, frame: Option<&Camera>) -> Option<f32> {
    let point = focus.as_ref().map(|field| field.vec3(MAX_COORDINATE));
    let Camera { position, target, .. } = frame?;
    let view = (target - position).as_dvec3();
    let Some((point, field)) = point.zip(focus) else { return Some(view.length() as f32) };
    let distance = (point? - position).as_dvec3().dot(view.normalize()) as f32;
    if distance >= MIN_LENGTH { Some(distance) } else { field.fail("is not before the camera") }
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

/// Why looking from `origin`, a key of `what`, to `target` is not well defined, and whether `up` is to blame.
pub(super) fn frame_problem(
    (what, key): (&str, &str),
    origin: Vec3,
    target: Vec3,
    up: Vec3,
) -> Option<(String, bool)> {
    let Some(direction) = (target - origin).as_dvec3().try_normalize() else {
        return Some((format!("\"target\" is the same point as {key:?}, so {what} has no direction"), false));
    };
    let problem = match up.as_dvec3().try_normalize() {
        None => "\"up\" is the zero vector".to_owned(),
        Some(up) if up.cross(direction).length() < 1e-4 => {
            format!("\"up\" is parallel to the direction from {key:?} to \"target\"; turn it aside")
        }
        Some(_) => return None,
    };
    Some((problem, true))
}
