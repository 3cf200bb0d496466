//! Cameras to records of the device.

use device::camera::Camera as DeviceCamera;
use glam::{DVec2, DVec3, Vec3};
use torrance_scene::{Camera, FovAxis, Lens, Projection};

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
        FovAxis::Smaller if wide => half * aspect,
        FovAxis::Larger if !wide => half * aspect,
        FovAxis::Smaller | FovAxis::Larger => half,
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
    use glam::Vec2;
    use torrance_scene::Clip;

    const LENS: Lens = Lens { radius: 0.2, focus_distance: 3.0, blades: 0, rotation: 0.0 };

    fn perspective(fov_axis: FovAxis, principal_point: Vec2, lens: Option<Lens>) -> Projection {
        Projection::Perspective { fov: 50.0, fov_axis, principal_point, lens }
    }

    fn camera(projection: Projection) -> Camera {
        Camera {
            position: Vec3::new(1.0, 2.0, 3.0),
            target: Vec3::new(4.0, 1.0, -2.0),
            up: Vec3::new(0.1, 1.0, 0.2),
            mirrored: false,
            projection,
            clip: Clip::DEFAULT,
        }
    }

    /// A place in the image and on the lens, as parts, and the ray there: a point that it passes, and its direction.
    type Ray = (Projection, [u32; 2], [f32; 2], [f32; 2], [f32; 3], [f32; 3]);

    /// Rays that `sample_ray` of Mitsuba 3.9.1 yields for its `perspective`, `thinlens` and `orthographic` with the same
    /// `look_at`. Its `principal_point_offset_x` and `_y` give the centre of the image relative to the principal
    /// point, with the opposite sign. Its lens is seen from behind.
    fn rays_of_mitsuba() -> Vec<Ray> {
        vec![
            (
                perspective(FovAxis::X, Vec2::ZERO, None),
                [80, 60],
                [0.1, 0.2],
                [0.3, 0.9],
                [1.00003, 2.00001, 2.99989],
                [0.2314786, 0.09604096, -0.9680877],
            ),
            (
                perspective(FovAxis::X, Vec2::ZERO, None),
                [80, 60],
                [0.85, 0.6],
                [0.05, 0.45],
                [1.00008, 1.99997, 2.99993],
                [0.7198272, -0.283041, -0.6338269],
            ),
            (
                perspective(FovAxis::Y, Vec2::ZERO, None),
                [80, 60],
                [0.1, 0.2],
                [0.3, 0.9],
                [1.00002, 2.00002, 2.99989],
                [0.1447736, 0.169913, -0.9747668],
            ),
            (
                perspective(FovAxis::Y, Vec2::ZERO, None),
                [80, 60],
                [0.85, 0.6],
                [0.05, 0.45],
                [1.00008, 1.99997, 2.99994],
                [0.769977, -0.3120062, -0.5565856],
            ),
            (
                perspective(FovAxis::Diagonal, Vec2::ZERO, None),
                [80, 60],
                [0.1, 0.2],
                [0.3, 0.9],
                [1.00003, 2.00001, 2.9999],
                [0.2865197, 0.04708479, -0.9569166],
            ),
            (
                perspective(FovAxis::Diagonal, Vec2::ZERO, None),
                [80, 60],
                [0.85, 0.6],
                [0.05, 0.45],
                [1.00007, 1.99997, 2.99993],
                [0.6845295, -0.2632951, -0.6797758],
            ),
            (
                perspective(FovAxis::Smaller, Vec2::ZERO, None),
                [80, 60],
                [0.1, 0.2],
                [0.3, 0.9],
                [1.00002, 2.00002, 2.99989],
                [0.1447736, 0.169913, -0.9747668],
            ),
            (
                perspective(FovAxis::Smaller, Vec2::ZERO, None),
                [80, 60],
                [0.85, 0.6],
                [0.05, 0.45],
                [1.00008, 1.99997, 2.99994],
                [0.769977, -0.3120062, -0.5565856],
            ),
            (
                perspective(FovAxis::Larger, Vec2::ZERO, None),
                [80, 60],
                [0.1, 0.2],
                [0.3, 0.9],
                [1.00003, 2.00001, 2.99989],
                [0.2314786, 0.09604096, -0.9680877],
            ),
            (
                perspective(FovAxis::Larger, Vec2::ZERO, None),
                [80, 60],
                [0.85, 0.6],
                [0.05, 0.45],
                [1.00008, 1.99997, 2.99993],
                [0.7198272, -0.283041, -0.6338269],
            ),
            (
                perspective(FovAxis::X, Vec2::ZERO, None),
                [60, 80],
                [0.1, 0.2],
                [0.3, 0.9],
                [1.00003, 2.00003, 2.99989],
                [0.2587602, 0.2320307, -0.9376592],
            ),
            (
                perspective(FovAxis::X, Vec2::ZERO, None),
                [60, 80],
                [0.85, 0.6],
                [0.05, 0.45],
                [1.00007, 1.99996, 2.99993],
                [0.7035981, -0.3313853, -0.6285964],
            ),
            (
                perspective(FovAxis::Y, Vec2::ZERO, None),
                [60, 80],
                [0.1, 0.2],
                [0.3, 0.9],
                [1.00003, 2.00002, 2.9999],
                [0.3219117, 0.1436612, -0.9358068],
            ),
            (
                perspective(FovAxis::Y, Vec2::ZERO, None),
                [60, 80],
                [0.85, 0.6],
                [0.05, 0.45],
                [1.00007, 1.99997, 2.99993],
                [0.6633523, -0.295549, -0.6874697],
            ),
            (
                perspective(FovAxis::Diagonal, Vec2::ZERO, None),
                [60, 80],
                [0.1, 0.2],
                [0.3, 0.9],
                [1.00004, 2.00001, 2.9999],
                [0.3607334, 0.08560598, -0.9287319],
            ),
            (
                perspective(FovAxis::Diagonal, Vec2::ZERO, None),
                [60, 80],
                [0.85, 0.6],
                [0.05, 0.45],
                [1.00006, 1.99997, 2.99993],
                [0.636187, -0.2723081, -0.7218825],
            ),
            (
                perspective(FovAxis::Smaller, Vec2::ZERO, None),
                [60, 80],
                [0.1, 0.2],
                [0.3, 0.9],
                [1.00003, 2.00003, 2.99989],
                [0.2587602, 0.2320307, -0.9376592],
            ),
            (
                perspective(FovAxis::Smaller, Vec2::ZERO, None),
                [60, 80],
                [0.85, 0.6],
                [0.05, 0.45],
                [1.00007, 1.99996, 2.99993],
                [0.7035981, -0.3313853, -0.6285964],
            ),
            (
                perspective(FovAxis::Larger, Vec2::ZERO, None),
                [60, 80],
                [0.1, 0.2],
                [0.3, 0.9],
                [1.00003, 2.00002, 2.9999],
                [0.3219117, 0.1436612, -0.9358068],
            ),
            (
                perspective(FovAxis::Larger, Vec2::ZERO, None),
                [60, 80],
                [0.85, 0.6],
                [0.05, 0.45],
                [1.00007, 1.99997, 2.99993],
                [0.6633523, -0.295549, -0.6874697],
            ),
            (
                perspective(FovAxis::X, -Vec2::new(0.12, -0.3), None),
                [80, 60],
                [0.1, 0.2],
                [0.3, 0.9],
                [1.00004, 2.00003, 2.9999],
                [0.3554746, 0.256651, -0.8987592],
            ),
            (
                perspective(FovAxis::X, -Vec2::new(0.12, -0.3), None),
                [80, 60],
                [0.85, 0.6],
                [0.05, 0.45],
                [1.00009, 1.99999, 2.99994],
                [0.8208906, -0.1059002, -0.5611806],
            ),
            (
                perspective(FovAxis::X, Vec2::ZERO, Some(LENS)),
                [80, 60],
                [0.1, 0.2],
                [0.3, 0.9],
                [1.08746, 2.13142, 3.02607],
                [0.2049104, 0.05583151, -0.9771871],
            ),
            (
                perspective(FovAxis::X, Vec2::ZERO, Some(LENS)),
                [80, 60],
                [0.85, 0.6],
                [0.05, 0.45],
                [1.14407, 1.9509, 3.09614],
                [0.6855398, -0.2719853, -0.6753215],
            ),
            (
                Projection::Orthographic { size: 3.0, axis: FovAxis::X },
                [80, 60],
                [0.1, 0.2],
                [0.3, 0.9],
                [0.178805, 2.87976, 2.33121],
                [0.5070926, -0.1690309, -0.8451543],
            ),
            (
                Projection::Orthographic { size: 3.0, axis: FovAxis::X },
                [80, 60],
                [0.85, 0.6],
                [0.05, 0.45],
                [1.80998, 1.58385, 3.5691],
                [0.5070926, -0.1690309, -0.8451543],
            ),
        ]
    }

    /// By how far rays miss the points, and their directions, after a change to the camera.
    fn error((projection, [width, height], p, lens, o, d): &Ray, change: impl Fn(&mut Camera)) -> f32 {
        let mut camera = camera(*projection);
        change(&mut camera);
        let [x, y] = [p[0] * *width as f32, p[1] * *height as f32];
        let ray = record(&camera, *width, *height).ray_through(x, y, Vec2::new(1.0 - lens[0], lens[1]));
        let from = Vec3::from(*o) - ray.o;
        (from - from.dot(ray.d) * ray.d).length().max((ray.d - Vec3::from(*d)).length())
    }

    #[test]
    fn rays_are_those_of_another_renderer() {
        for ray in rays_of_mitsuba() {
            assert!(error(&ray, |_| {}) < 2e-5, "{ray:?}: {}", error(&ray, |_| {}));
            assert!(error(&ray, |c| c.mirrored = true) > 1e-2, "control: {ray:?} mirrored");
            let control = |c: &mut Camera| match &mut c.projection {
                Projection::Perspective { lens: Some(lens), .. } => lens.focus_distance *= 1.01,
                Projection::Perspective { fov, principal_point, .. } => {
                    *fov *= 1.001;
                    *principal_point *= -1.0;
                }
                Projection::Orthographic { size, .. } => *size *= 1.001,
                Projection::Equirectangular => {}
            };
            assert!(error(&ray, control) > 1e-4, "control: {ray:?} with other numbers");
        }
    }

    #[test]
    fn mirrored_images_are_mirrored() {
        let projections = [
            perspective(FovAxis::Larger, Vec2::ZERO, Some(LENS)),
            Projection::Orthographic { size: 2.0, axis: FovAxis::Diagonal },
            Projection::Equirectangular,
        ];
        for projection in projections {
            let plain = record(&camera(projection), 80, 60);
            let mirrored = record(&Camera { mirrored: true, ..camera(projection) }, 80, 60);
            for (x, y, lens) in [(3.0, 50.0, [0.1, 0.7]), (70.0, 9.0, [0.8, 0.4])] {
                let a = plain.ray_through(x, y, lens.into());
                let b = mirrored.ray_through(80.0 - x, y, Vec2::new(1.0 - lens[0], lens[1]));
                assert!((a.o - b.o).length() < 1e-6 && (a.d - b.d).length() < 1e-6, "{a:?} {b:?}");
                let control = mirrored.ray_through(x, y, lens.into());
                assert!((a.o - control.o).length() + (a.d - control.d).length() > 1e-2);
            }
        }
    }

    #[test]
    fn diagonals_and_sides_measure_the_same_image() {
        let extent = |axis| half_extents(1.0, axis, 1.6);
        assert!((extent(FovAxis::Diagonal).length() - 1.0).abs() < 1e-12);
        assert_eq!(extent(FovAxis::Larger), extent(FovAxis::X));
        assert_eq!(extent(FovAxis::Smaller), extent(FovAxis::Y));
        assert!(FovAxis::ALL.into_iter().all(|axis| {
            let [x, y] = extent(axis).to_array();
            (x / y - 1.6).abs() < 1e-12
        }));
    }

    #[test]
    fn small_numbers_do_not_underflow() {
        let mut tiny = Camera {
            position: Vec3::ZERO,
            target: Vec3::new(0.0, 0.0, -1e-25),
            up: Vec3::new(0.0, 1e-25, 0.0),
            mirrored: false,
            projection: Projection::pinhole(40.0, FovAxis::X),
            clip: Clip::DEFAULT,
        };
        let found = record(&tiny, 4, 3);
        (tiny.target.z, tiny.up.y) = (-1.0, 1.0);
        assert_eq!(found, record(&tiny, 4, 3));
        assert!(found.corner.is_finite());
    }
}
