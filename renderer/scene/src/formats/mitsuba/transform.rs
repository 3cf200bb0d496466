//! Steps of transforms, and what Mitsuba 0.x called things.

use glam::{DAffine3, DMat3, DVec3};

use super::tree::{Object, Value};
use crate::description::affine::sin_cos_degrees;

/// Tags of the steps of a transform.
pub(super) const STEPS: [&str; 5] = ["translate", "rotate", "scale", "lookat", "matrix"];

/// The rotation by `degrees` around a unit vector: Rodrigues, cos·1 + sin·\[a\]× + (1 − cos)·a aᵀ. Of another vector it is what
/// Mitsuba makes of that, which stretches.
pub(super) fn rotation(a: DVec3, degrees: f64) -> DMat3 {
    let (sin, cos) = sin_cos_degrees(degrees);
    let cross =
        DMat3::from_cols(DVec3::new(0.0, a.z, -a.y), DVec3::new(-a.z, 0.0, a.x), DVec3::new(a.y, -a.x, 0.0));
    let outer = DMat3::from_cols(a * a.x, a * a.y, a * a.z);
    DMat3::from_diagonal(DVec3::splat(cos)) + cross * sin + outer * (1.0 - cos)
}

/// Moves the origin to `origin`, and turns +z towards `target` and +y towards `up`; if that is zero, anywhere.
pub(super) fn look_at(origin: DVec3, target: DVec3, up: DVec3) -> Result<DAffine3, &'static str> {
    let z = (target - origin).try_normalize().ok_or("\"origin\" and \"target\" are the same point")?;
    // Without `up`, Mitsuba takes the same vector as glam: Duff et al. 2017, "Building an Orthonormal Basis, Revisited".
    let up = if up == DVec3::ZERO { z.any_orthonormal_pair().0 } else { up };
    let x = up.cross(z).try_normalize().ok_or("\"up\" points along the line of sight")?;
    Ok(DAffine3 { matrix3: DMat3::from_cols(x, z.cross(x), z), translation: origin })
}

/// Gives the properties of an object from before version 2 their new names.
pub(super) fn upgrade(object: &mut Object) {
    for property in &mut object.properties {
        property.name = snake_case(&property.name);
        if object.plugin == "diffuse" && property.name == "diffuse_reflectance" {
            property.name = "reflectance".to_owned();
        }
    }
    let mut first = None;
    let mut take = |name: &str, default: f64| {
        let Some(at) = object.properties.iter().position(|p| p.name == name) else { return default };
        let property = object.properties.remove(at);
        first.get_or_insert(property.place);
        match property.value {
            Value::Float(x) => x,
            Value::Integer(i) => i as f64,
            _ => default,
        }
    };
    let scale = DVec3::new(take("uscale", 1.0), take("vscale", 1.0), 1.0);
    let offset = DVec3::new(take("uoffset", 0.0), take("voffset", 0.0), 0.0);
    let Some(place) = first else { return };
    let value = Value::Transform(DAffine3::from_scale(scale) * DAffine3::from_translation(offset));
    object.properties.push(super::tree::Property { name: "to_uv".to_owned(), place, value });
}

/// `toWorld` as `to_world`.
fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for c in name.chars() {
        if before.is_ascii_lowercase() && c.is_ascii_uppercase() {
            out.push('_');
        }
        let follows = before.is_ascii_alphabetic() && (out.contains('_') || before.is_ascii_lowercase());
        out.push(if follows { c.to_ascii_lowercase() } else { c });
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_snakes() {
        for (old, new) in
            [("toWorld", "to_world"), ("intIOR", "int_ior"), ("alpha", "alpha"), ("", ""), ("B", "B")]
        {
            assert_eq!(snake_case(old), new);
        }
    }

    /// As Mitsuba 3.9.1 has it without an `up`.
    #[test]
    fn looking_needs_no_up() {
        let t = look_at(DVec3::new(1.0, 2.0, 3.0), DVec3::ZERO, DVec3::ZERO).unwrap();
        assert!((t.matrix3.determinant() - 1.0).abs() < 1e-12);
        assert!((t.matrix3.z_axis + DVec3::new(1.0, 2.0, 3.0).normalize()).length() < 1e-12);
        assert!(look_at(DVec3::ONE, DVec3::ONE, DVec3::Y).is_err());
        assert!(look_at(DVec3::ZERO, DVec3::Y, DVec3::NEG_Y).is_err());
    }
}
