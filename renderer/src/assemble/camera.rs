//! Cameras to records of the device.

use device::camera::Camera as DeviceCamera;
use glam::{DVec2, DVec3, Vec3};

use crate::scene::{Camera, FovAxis, Lens, Projection};

/// In f64: what is far from degenerate there may underflow in f32.
pub(super) fn record(camera: &Camera, width: u32, height: u32) -> DeviceCamera {
    let forward = (camera.target.as_dvec3() - camera.position.as_dvec3()).normalize();
    let right = forward.cross(camera.up.as_dvec3().normalize()).normalize();
    let up = right.cross(forward);
    let right = if camera.mirrored { -right } else { right };
    let axes = [right, up, forward].map(|axis| axis.as_vec3());
    let (position, size) = (camera.position, [width, height]);
    let aspect = f64::from(width) / f64::from(height);
    match camera.projection {
        Projection::Perspective { fov, fov_axis, principal_point, lens } => {
            let half = (f64::from(fov).to_radians() * 0.5).tan();
            let half = half_extents(half, fov_axis, aspect).as_vec2();
            let pinhole = DeviceCamera::perspective_through(principal_point, position, axes, half, size);
            lens.map_or(pinhole, |lens| {
                pinhole.with_lens(lens_axes(&lens, right, up), lens.focus_distance, lens.blades)
            })
        }
        Projection::Orthographic { size: extent, axis } => {
            let half = half_extents(0.5 * f64::from(extent), axis, aspect).as_vec2();
            DeviceCamera::orthographic(position, axes, half, size)
        }
        Projection::Equirectangular => DeviceCamera::panorama(position, axes, size),
    }
}

/// Half the width and half the height, if that along `axis` is `half`.
fn half_extents(half: f64, axis: FovAxis, aspect: f64) -> DVec2 {
    let wide = aspect > 1.0;
    let x = match axis {
        FovAxis::X => return DVec2::new(half, half / aspect),
        FovAxis::Y => half * aspect,
        FovAxis::Diagonal => half * aspect / aspect.hypot(1.0),
        FovAxis::Smaller => {
            if wide {
                half * aspect
            } else {
                half
            }
        }
        FovAxis::Larger => {
            if wide {
                half
            } else {
                half * aspect
            }
        }
    };
    let y = if axis == FovAxis::Y { half } else { x / aspect };
    DVec2::new(x, y)
}

/// To the right and upwards in the image, turned counter-clockwise with the blades, as long as the radius.
fn lens_axes(lens: &Lens, right: DVec3, up: DVec3) -> [Vec3; 2] {
    let (sin, cos) = f64::from(lens.rotation).to_radians().sin_cos();
    let radius = f64::from(lens.radius);
    [cos * right + sin * up, cos * up - sin * right].map(|axis| (radius * axis).as_vec3())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_do_not_underflow() {
        let mut tiny = Camera {
            position: Vec3::ZERO,
            target: Vec3::new(0.0, 0.0, -1e-25),
            up: Vec3::new(0.0, 1e-25, 0.0),
            mirrored: false,
            projection: Projection::pinhole(40.0, FovAxis::X),
        };
        let found = record(&tiny, 4, 3);
        (tiny.target.z, tiny.up.y) = (-1.0, 1.0);
        assert_eq!(found, record(&tiny, 4, 3));
        assert!(found.corner.is_finite());
    }
}
