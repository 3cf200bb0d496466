//! Cameras, pixel filters and smaller versions of textures by what whole renders show.

use std::sync::Arc;

use glam::{Affine2, Affine3A, DVec3, Vec2, Vec3};
use renderer::assemble::SceneData;
use torrance_image::film::Film;
use torrance_scene::{
    Bitmap, Camera, Color, Description, DiffuseMaterial, Direct, Environment, Format, FovAxis, Geometry,
    Image, Lens, MaterialKind, PixelFilter, Projection, Sampler, Scalar, Shape, TexelFilter, Texture,
};
use torrance_tests::closed::{camera, description, shape};
use torrance_tests::{assembled, machines};

/// Sums over the pixels of what `of` says of its middle, times how bright it is.
fn moment(film: &Film, of: impl Fn(f64, f64) -> f64) -> f64 {
    let place = |i: usize| (i % film.width as usize, i / film.width as usize);
    let term = |(i, p): (usize, &torrance_image::film::Pixel)| {
        let (x, y) = place(i);
        p.mean()[0] * of(x as f64 + 0.5, y as f64 + 0.5)
    };
    film.pixels.iter().enumerate().map(term).sum()
}

/// A small sphere that shines, 3 m before a camera that is focused elsewhere.
fn point_through(lens: Lens) -> Description {
    let mut sphere = shape(Geometry::Sphere { center: Vec3::ZERO, radius: 0.02 }, 100.0);
    sphere.world_from_object = Affine3A::IDENTITY;
    let mut scene = description(64, camera(3.0 * Vec3::Z, Vec3::ZERO, Vec3::Y, 30.0), 1.0, vec![sphere]);
    scene.camera.projection = Projection::Perspective {
        fov: 30.0,
        fov_axis: FovAxis::X,
        principal_point: Vec2::new(0.05, -0.1),
        lens: Some(lens),
    };
    scene.render.max_depth = 1;
    scene
}

/// The image of a point out of focus is the aperture, r·|1 − z/f| wide at z: its second moment, in pixels², is that of a
/// disk, r²/4, or of a polygon, r²(2 + cos 2π/n)/12, and of the sphere's own image and the pixels beside.
fn blur(scene: &Description) -> [f64; 4] {
    let film = machines()[0].render(&assembled(scene), 4096);
    let total = moment(&film, |_, _| 1.0);
    let [x, y] = [moment(&film, |x, _| x) / total, moment(&film, |_, y| y) / total];
    let xx = moment(&film, |px, _| (px - x) * (px - x)) / total;
    let yy = moment(&film, |_, py| (py - y) * (py - y)) / total;
    [x, y, xx, yy]
}

#[test]
fn points_out_of_focus_have_the_image_of_the_aperture() {
    // Pixels of a metre at the sphere.
    let pixels = 64.0 / (2.0 * 3.0 * 15_f64.to_radians().tan());
    for (blades, moment) in [(0, 0.25), (6, (2.0 + 0.5) / 12.0)] {
        let lens = Lens { radius: 0.3, focus_distance: 2.0, blades, rotation: 20.0 };
        let [x, y, xx, yy] = blur(&point_through(lens));
        assert!((x - 64.0 * 0.55).abs() < 0.05 && (y - 64.0 * 0.4).abs() < 0.05, "the middle: {x} {y}");
        let confusion = f64::from(lens.radius) * (1.0 - 3.0 / f64::from(lens.focus_distance)).abs();
        let sphere = 0.02 * 0.02 / 4.0;
        let expected = pixels * pixels * (moment * confusion * confusion + sphere) + 1.0 / 12.0;
        println!("{blades} blades: {xx} {yy}, expected {expected}");
        assert!((xx / expected - 1.0).abs() < 0.01 && (yy / expected - 1.0).abs() < 0.01);
        let [_, _, control, _] = blur(&point_through(Lens { focus_distance: 2.05, ..lens }));
        assert!((control / expected - 1.0).abs() > 0.05, "control: another focus, {control}");
    }
    let sharp = Lens { radius: 0.3, focus_distance: 3.0, blades: 0, rotation: 0.0 };
    let [_, _, xx, _] = blur(&point_through(sharp));
    assert!(xx < 0.5, "in focus: {xx}");
}

/// The left of the image shines with radiance 1, up to 0.3 of a pixel beyond its middle; the right is black.
fn edge(filter: PixelFilter) -> Description {
    let mut quad = shape(Geometry::Quad, 1.0);
    // 1 m before the camera, the image is 1 m wide, and a pixel 1/16.
    let x = -2.0 + 0.3 / 16.0;
    quad.world_from_object =
        Affine3A::from_translation(Vec3::new(x, 0.0, 0.0)) * Affine3A::from_scale(Vec3::splat(2.0));
    let mut scene = description(16, camera(Vec3::Z, Vec3::ZERO, Vec3::Y, 45.0), 1.0, vec![quad]);
    scene.camera.projection = Projection::Orthographic { size: 1.0, axis: FovAxis::X };
    (scene.render.max_depth, scene.render.filter, scene.render.sampler) = (1, filter, Sampler::Sobol);
    scene
}

/// Pixels around an edge are the integral of the filter over the bright side: ∫f by Simpson's rule.
#[test]
fn filters_blur_edges_as_they_should() {
    type Profile = fn(f64) -> f64;
    let gaussian: Profile = |x| ((-2.0 * x * x).exp() - (-8.0_f64).exp()).max(0.0);
    let mitchell: Profile = |x| match x.abs() {
        x @ ..1.0 => 7.0 * x * x * x - 12.0 * x * x + 16.0 / 3.0,
        x @ ..2.0 => -7.0 / 3.0 * x * x * x + 12.0 * x * x - 20.0 * x + 32.0 / 3.0,
        _ => 0.0,
    };
    let tent: Profile = |x| (1.0 - x.abs()).max(0.0);
    let third = 1.0 / 3.0;
    let filters = [
        (PixelFilter::Gaussian { radius: 2.0, sigma: 0.5 }, gaussian),
        (PixelFilter::Mitchell { radius: 2.0, b: third, c: third }, mitchell),
        (PixelFilter::Tent { radius: 1.0 }, tent),
    ];
    let integral = |f: Profile, from: f64, to: f64| {
        let (n, h) = (2000, (to - from) / 4000.0);
        let term = |i: i32| {
            let x = from + 2.0 * h * f64::from(i);
            (f(x) + 4.0 * f(x + h) + f(x + 2.0 * h)) * h / 3.0
        };
        (0..n).map(term).sum::<f64>()
    };
    let expected = |f: Profile, column: usize| {
        // From the middle of the pixel to the edge.
        let to = (8.3 - (column as f64 + 0.5)).clamp(-2.0, 2.0);
        integral(f, -2.0, to) / integral(f, -2.0, 2.0)
    };
    for machine in machines() {
        for (filter, f) in filters {
            let film = machine.render(&assembled(&edge(filter)), 4096);
            let mean = |column: usize| {
                (0..16).map(|row| film.pixels[16 * row + column].mean()[0]).sum::<f64>() / 16.0
            };
            let error = |f: Profile| (2..14).map(|c| (mean(c) - expected(f, c)).abs()).fold(0.0, f64::max);
            println!("{filter:?}: {:.1e}", error(f));
            assert!(error(f) < 1e-3, "{filter:?}: {}", error(f));
            for other in [gaussian, mitchell, tent] {
                assert!(std::ptr::fn_addr_eq(f, other) || error(other) > 0.01, "control: {filter:?}");
            }
            // The standard errors of pixels within are those of weights alone: none where these are 1.
            let inside = film.pixels[3].stderr()[0];
            assert_eq!(inside > 1e-6, matches!(filter, PixelFilter::Mitchell { .. }), "{inside}");
        }
    }
}

/// A floor that reflects `texture` and nothing else, under a sky of radiance 1, seen at a slant from `height`.
fn floor(size: u32, height: f32, images: Vec<Image>, textures: Vec<Texture>, texture: u32) -> Description {
    let mut quad = shape(Geometry::Quad, 0.0);
    quad.world_from_object = Affine3A::from_rotation_x(-std::f32::consts::FRAC_PI_2)
        * Affine3A::from_scale(Vec3::new(1000.0, 1000.0, 1.0));
    let eye = Vec3::new(0.0, height, height);
    let mut scene = description(size, camera(eye, Vec3::ZERO, Vec3::Y, 20.0), 1.0, vec![quad]);
    scene.environment = Some(Environment::Constant(Vec3::ONE));
    (scene.images, scene.textures) = (images, textures);
    scene.materials[0].kind = MaterialKind::Diffuse(DiffuseMaterial {
        reflectance: Color { value: Vec3::ONE, texture },
        roughness: Scalar::new(0.0),
        reserved: [0; 2],
    });
    // What a diffuse surface reflects of a constant sky is without noise then.
    (scene.render.max_depth, scene.render.direct) = (2, Direct::Bsdf);
    scene
}

/// An image of `side` by `side` floats, once every 8 m of the floor, which is 2000 m wide.
fn tiled(side: u32, filter: TexelFilter, texel: impl Fn(u32, u32) -> f32) -> (Image, Texture) {
    let texels: Arc<[u32]> =
        (0..side * side).flat_map(|i| [texel(i % side, i / side).to_bits(); 3]).collect();
    let image_from_uv = Affine2::from_scale(Vec2::splat(2000.0 / 8.0));
    (
        Image::new(side, side, Format::RgbF32, texels),
        Texture::Bitmap(Bitmap { filter, image_from_uv, ..Bitmap::new(0) }),
    )
}

/// Makes the reflectance of every version of the only image say which it is: its number by 16.
fn number_versions(scene: &mut SceneData, side: u32) {
    let (mut start, mut side, mut number) = (0, side as usize, 0.0_f32);
    while start < scene.pictures.swatches.texels.len() {
        let end = start + 3 * side * side;
        scene.pictures.swatches.texels[start..end].fill((number / 16.0).to_bits());
        (start, side, number) = (end, (side / 2).max(1), number + 1.0);
    }
}

/// The version of an image that a floor shows is that whose texels are as long as what a pixel sees of it, along the longer
/// axis of the ellipse.
#[test]
fn versions_are_chosen_by_what_pixels_see() {
    for height in [20.0, 60.0] {
        let (image, texture) = tiled(256, TexelFilter::Mipmap, |_, _| 0.5);
        let description = floor(9, height, vec![image], vec![texture], 0);
        let mut scene = assembled(&description);
        number_versions(&mut scene, 256);
        for machine in machines() {
            let film = machine.render(&scene, 256);
            for row in [1, 4, 7] {
                let found = 16.0 * film.pixels[9 * row + 4].mean()[0];
                // Rays half a pixel above and below the middle of the pixel, and where they meet the floor.
                let eye = DVec3::new(0.0, height.into(), height.into());
                let meets = |y: f64| {
                    let up = (1.0 - y / 4.5) * 10_f64.to_radians().tan();
                    let d =
                        DVec3::new(0.0, -1.0, -1.0).normalize() + up * DVec3::new(0.0, 1.0, -1.0).normalize();
                    eye - d * (eye.y / d.y)
                };
                let length = (meets(row as f64) - meets(row as f64 + 1.0)).length();
                let expected = (length * 256.0 / 8.0).log2();
                println!("row {row} from {height}: {found}, expected {expected}");
                assert!((found - expected).abs() < 0.02, "row {row} from {height}: {found}, not {expected}");
                assert!((found - expected - 0.5).abs() > 0.2, "control: the mean of the axes at 45°");
            }
        }
    }
}

/// Chance texels far away: smaller versions have less noise, and no other mean.
#[test]
fn smaller_versions_are_smoother_and_as_bright() {
    let chance = |x: u32, y: u32| {
        let hash = (x * 0x9e37_79b9).wrapping_add(y * 0x85eb_ca6b).wrapping_mul(0xc2b2_ae35);
        f32::from(u8::from(hash >> 16 & 1 == 1))
    };
    let render = |filter| {
        let (image, texture) = tiled(256, filter, chance);
        let scene = floor(32, 20.0, vec![image], vec![texture], 0);
        let film = machines()[0].render(&assembled(&scene), 64);
        let n = film.pixels.len() as f64;
        let mean = film.pixels.iter().map(|p| p.mean()[0]).sum::<f64>() / n;
        (mean, film.pixels.iter().map(|p| p.stderr()[0].powi(2)).sum::<f64>() / n)
    };
    let ((linear, noise), (smooth, less)) = (render(TexelFilter::Linear), render(TexelFilter::Mipmap));
    println!("linear: {linear} ± {noise:.1e}; smaller versions: {smooth} ± {less:.1e}");
    assert!((smooth - linear).abs() < 0.005 * linear, "{smooth}, not {linear}");
    assert!(less < 0.1 * noise, "{less:e}, not well below {noise:e}");
    let (_, as_noisy) = render(TexelFilter::Nearest);
    assert!(as_noisy > 0.5 * noise, "control: {as_noisy:e}");
}

/// Colours of vertices shade a triangle from corner to corner.
#[test]
fn colours_of_vertices_are_interpolated() {
    let mesh = torrance_scene::TriangleMesh {
        positions: [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(x, y)| Vec3::new(x, y, 0.0))
            .into(),
        colors: [0.0, 1.0, 1.0, 0.0].map(|r| Vec3::new(r, 0.5, 1.0 - r)).into(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        ..Default::default()
    };
    let colored: Shape = shape(Geometry::Mesh(mesh.into()), 0.0);
    let mut scene = description(16, camera(Vec3::Z, Vec3::ZERO, Vec3::Y, 45.0), 1.0, vec![colored]);
    scene.camera =
        Camera { projection: Projection::Orthographic { size: 2.0, axis: FovAxis::X }, ..scene.camera };
    scene.environment = Some(Environment::Constant(Vec3::ONE));
    scene.textures = vec![Texture::VertexColor { channel: torrance_scene::Channel::Rgb }];
    scene.materials[0].kind = MaterialKind::Diffuse(DiffuseMaterial {
        reflectance: Color { value: Vec3::new(0.8, 0.8, 0.4), texture: 0 },
        roughness: Scalar::new(0.0),
        reserved: [0; 2],
    });
    (scene.render.max_depth, scene.render.direct) = (2, Direct::Bsdf);
    for machine in machines() {
        let film = machine.render(&assembled(&scene), 256);
        for column in 0..16 {
            let r = (column as f64 + 0.5) / 16.0;
            for row in [0, 5, 15] {
                let [a, b, c] = film.pixels[16 * row + column].mean();
                let error = (a - 0.8 * r).abs() + (b - 0.4).abs() + (c - 0.4 * (1.0 - r)).abs();
                assert!(error < 6e-3, "column {column}: {a} {b} {c}");
                assert!((a - 0.8 * (1.0 - r)).abs() > 0.02, "control: the other way around");
            }
        }
    }
}
