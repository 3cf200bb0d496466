//! `transform`: steps, applied in the order written.

use glam::{DAffine3, DMat3, DVec3, Vec3};

use super::camera::frame_problem;
use super::keys;
use crate::description::affine::{is_similarity, sin_cos_degrees};
use crate::description::limits::MAX_COORDINATE;
use crate::input::{Field, Section};

/// Reads a transform, object to world, in f64 so that long chains lose nothing.
pub(super) fn transform(field: &Field<'_>) -> Option<DAffine3> {
    let steps = if field.is_table() {
        vec![field.clone()]
    } else {
        field.array("an array of steps, for example [{ translate = [0, 1, 0] }]")?
    };
    // Every step is read even after a wrong one, to report all that is wrong. A single one stays exactly as it is.
    let mut total = Some(None);
    for step in &steps {
        let next = step.table("a step of \"transform\"").and_then(|s| one_step(&s));
        total = total.zip(next).map(|(total, next)| Some(total.map_or(next, |total: DAffine3| next * total)));
    }
    let total = total?.unwrap_or(DAffine3::IDENTITY);
    if let Some(why) = unusable(&total) {
        return field.fail(why);
    }
    Some(total)
}

fn one_step(section: &Section<'_>) -> Option<DAffine3> {
    let steps = keys::STEPS.known(None);
    section.reject_unknown_keys(&steps);
    let mut known = section.entries();
    known.retain(|(key, _)| steps.contains(key));
    match known.as_slice() {
        [] if section.entries().is_empty() => {
            section.src.error(
                section.span.clone(),
                "an empty step of \"transform\"; write for example { scale = 2 }",
            );
            None
        }
        [] => None,
        [(key, field)] => match *key {
            "scale" => scale(field),
            "rotate" => rotate(&field.table("\"rotate\"")?),
            "translate" => field.vec3(MAX_COORDINATE).map(|v| DAffine3::from_translation(v.as_dvec3())),
            "look_at" => look_at(&field.table("\"look_at\"")?),
            _ => matrix(field),
        },
        [_, (second, field), ..] => {
            let message = format!(
                "a step of \"transform\" does one thing; write {second:?} as a step of its own: \
                 [{{ {} = … }}, {{ {second} = … }}]",
                known[0].0
            );
            section.src.error(field.key_span.clone(), message);
            None
        }
    }
}

/// A factor for all axes, or one for each.
fn scale(field: &Field<'_>) -> Option<DAffine3> {
    let factor = |f: &Field<'_>| match f.number_in(-MAX_COORDINATE, MAX_COORDINATE)? {
        0.0 => f.fail(&format!("of {} would flatten the shape", f.written())),
        x => Some(f64::from(x)),
    };
    let factors = if field.is_array() {
        let [x, y, z] = field.numbers("a number or three, for example [1, 2, 1]")?;
        DVec3::new(factor(&x)?, factor(&y)?, factor(&z)?)
    } else {
        DVec3::splat(factor(field)?)
    };
    Some(DAffine3::from_scale(factors))
}

fn rotate(section: &Section<'_>) -> Option<DAffine3> {
    section.reject_unknown_keys(&keys::ROTATE.known(None));
    let axis = section.require("axis", "axis = \"y\"").and_then(|f| axis(&f));
    let degrees =
        section.require("degrees", "degrees = 90").and_then(|f| f.number_in(-MAX_COORDINATE, MAX_COORDINATE));
    let (sin, cos) = sin_cos_degrees(degrees?.into());
    let a = axis?;
    // Rodrigues: cos·1 + sin·[a]× + (1 - cos)·a aᵀ.
    let cross =
        DMat3::from_cols(DVec3::new(0.0, a.z, -a.y), DVec3::new(-a.z, 0.0, a.x), DVec3::new(a.y, -a.x, 0.0));
    let outer = DMat3::from_cols(a * a.x, a * a.y, a * a.z);
    Some(DAffine3::from_mat3(DMat3::from_diagonal(DVec3::splat(cos)) + cross * sin + outer * (1.0 - cos)))
}

/// `"x"`, `"y"`, `"z"` or a vector.
fn axis(field: &Field<'_>) -> Option<DVec3> {
    if field.as_str().is_some() {
        return field.choice(&[("x", DVec3::X), ("y", DVec3::Y), ("z", DVec3::Z)]);
    }
    if !field.is_array() {
        return field.wrong_type("\"x\", \"y\", \"z\" or a vector");
    }
    let axis = field.vec3(MAX_COORDINATE)?.as_dvec3().try_normalize();
    axis.or_else(|| field.fail("has no direction"))
}

/// Moves the object's origin to `origin` and turns its +z towards `target`, its +y towards `up`.
fn look_at(section: &Section<'_>) -> Option<DAffine3> {
    section.reject_unknown_keys(&keys::LOOK_AT.known(None));
    let point = |key, example| section.require(key, example).and_then(|f| f.vec3(MAX_COORDINATE));
    let origin = point("origin", "origin = [0, 2, 0]");
    let target = point("target", "target = [0, 0, 0]");
    let up = section.get("up").map_or(Some(Vec3::Y), |f| f.vec3(MAX_COORDINATE));
    let (origin, target, up) = (origin?, target?, up?);
    if let Some((problem, _)) = frame_problem(("\"look_at\"", "origin"), origin, target, up) {
        section.src.error(section.span.clone(), problem);
        return None;
    }
    let (origin, target, up) = (origin.as_dvec3(), target.as_dvec3(), up.as_dvec3());
    let z = (target - origin).normalize();
    let x = up.cross(z).normalize();
    Some(DAffine3 { matrix3: DMat3::from_cols(x, z.cross(x), z), translation: origin })
}

/// Four rows of four; the columns are the images of x, y, z and the origin.
fn matrix(field: &Field<'_>) -> Option<DAffine3> {
    let m = field.matrix::<4, 4>("four rows of four numbers", MAX_COORDINATE)?;
    if m[3] != [0.0, 0.0, 0.0, 1.0] {
        return field.fail("must have [0, 0, 0, 1] as its last row");
    }
    let column = |c: usize| Vec3::new(m[0][c], m[1][c], m[2][c]).as_dvec3();
    Some(DAffine3 { matrix3: DMat3::from_cols(column(0), column(1), column(2)), translation: column(3) })
}

/// Why a transform cannot place anything.
pub(super) fn unusable(t: &DAffine3) -> Option<&'static str> {
    let m = t.matrix3;
    let lengths = [m.x_axis.length(), m.y_axis.length(), m.z_axis.length()];
    let largest = f64::from(MAX_COORDINATE);
    if lengths.iter().any(|l| *l > largest) || t.translation.abs().max_element() > largest {
        return Some("moves or scales by more than 1e9");
    }
    let volume: f64 = lengths.iter().product();
    if lengths.iter().any(|l| *l < 1.0 / largest) {
        return Some("scales by less than 1e-9");
    }
    if m.determinant().abs() < 1e-6 * volume {
        return Some("flattens the shape: its determinant is 0");
    }
    None
}

/// The ratio by which a similarity scales; `None` if lengths change by direction, or angles at all.
pub(super) fn similarity_scale(t: &DAffine3) -> Option<f64> {
    is_similarity(&t.matrix3).then(|| t.matrix3.x_axis.length())
}
