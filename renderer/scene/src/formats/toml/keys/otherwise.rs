//! Equivalents of keys: a roughness by its alpha, a metal by its index of refraction.

use device::bsdf::principled::eta_from_specular;
use glam::{DVec3, Vec2, Vec3};
use toml::{Table, Value as Toml};

use super::lookup::as_number;
use crate::description::key::Key;
use crate::description::limits::MIN_ALPHA;
use crate::description::metals::METALS;
use crate::formats::toml::text::{number, rgb, roughness, vector};

/// The value of a key that is not in a table, by one that is there instead; nothing if that is something else.
pub(crate) fn converted(key: &Key, table: &Table) -> Option<Toml> {
    key.instead.iter().find_map(|from| convert(key.name, from, table))
}

fn convert(key: &str, from: &str, table: &Table) -> Option<Toml> {
    let said = table.get(from)?;
    match (key, from) {
        ("alpha", "roughness") => each(said, |r| if r == 0.0 { 0.0 } else { (r * r).clamp(MIN_ALPHA, 1.0) }),
        ("roughness", "alpha") => each(said, |alpha| roughness(alpha).unwrap_or(alpha.sqrt())),
        ("ior", "specular") => each(said, eta_from_specular),
        ("specular", "ior") => each(said, |ior| 12.5 * ((ior - 1.0) / (ior + 1.0)).powi(2)),
        ("eta" | "k", "metal") => {
            let metal =
                METALS.iter().find(|metal| said.as_str().is_some_and(|s| metal.names.contains(&s)))?;
            Some(rgb(if key == "k" { metal.k } else { metal.eta }))
        }
        ("width", "size") => said.get(0).cloned(),
        ("height", "size") => said.get(1).cloned(),
        ("size", _) => Some(vec![table.get("width")?.clone(), table.get("height")?.clone()].into()),
        ("elevation" | "azimuth", "sun_direction") => {
            let d = three(said)?.try_normalize()?;
            let angle = if key == "azimuth" { d.x.atan2(-d.z) } else { d.y.asin() };
            Some(number(angle.to_degrees() as f32))
        }
        ("sun_direction", _) => {
            let angle = |key: &str| Some(f64::from(one(table.get(key)?)?).to_radians().sin_cos());
            let ((sin, cos), (east, north)) = (angle("elevation")?, angle("azimuth")?);
            Some(vector(DVec3::new(cos * east, sin, -cos * north).as_vec3()))
        }
        ("rotate" | "scale" | "offset", "matrix") => steps_of_uv(key, said),
        _ => None,
    }
}

/// The rotation, scale or offset that acts on texture coordinates as a matrix does, if that is all that it does.
fn steps_of_uv(key: &str, matrix: &Toml) -> Option<Toml> {
    let [u, v] = [three(matrix.get(0)?)?.as_vec3(), three(matrix.get(1)?)?.as_vec3()];
    let [a, b] = [Vec2::new(u.x, u.y), Vec2::new(v.x, v.y)];
    if a.dot(b).abs() > 1e-6 * a.length() * b.length() {
        return None;
    }
    let pair = |x: f32, y: f32| vec![number(x), number(y)].into();
    Some(match key {
        "rotate" => number((-a.y).atan2(a.x).to_degrees()),
        "scale" => pair(a.length(), b.length() * a.perp_dot(b).signum()),
        _ => pair(u.z, v.z),
    })
}

fn one(value: &Toml) -> Option<f32> {
    as_number(value).map(|x| x as f32)
}

fn three(value: &Toml) -> Option<DVec3> {
    let numbers: Option<Vec<_>> = value.as_array()?.iter().map(one).collect();
    match numbers?[..] {
        [x, y, z] => Some(Vec3::new(x, y, z).as_dvec3()),
        _ => None,
    }
}

/// Maps a number, or each of two.
fn each(value: &Toml, of: impl Fn(f32) -> f32 + Copy) -> Option<Toml> {
    match value {
        Toml::Array(items) => {
            items.iter().map(|item| each(item, of)).collect::<Option<Vec<_>>>().map(Toml::Array)
        }
        value => one(value).map(|x| number(of(x))),
    }
}
