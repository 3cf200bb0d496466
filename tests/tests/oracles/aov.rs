//! Layers beside the image against closed forms.

use std::collections::BTreeSet;
use std::f64::consts::PI;

use glam::{Affine2, Affine3A, DVec3, Vec2, Vec3};
use renderer::assemble::texture_coordinates;
use renderer::render::aov::{Aov, FAR, Names, layers};
use renderer::render::{Budget, Control, Options};
use torrance_image::film::{Film, Layers};
use torrance_scene::{
    Bitmap, Channel, Color, Description, DielectricMaterial, DiffuseMaterial, Facets, Format, Geometry,
    Image, Material, MaterialKind, Sampler, Scalar, TexelFilter, Texture, Wrap,
};
use torrance_tests::closed::{camera, closed_surface, description, shape};
use torrance_tests::{assembled, gallery_scene, machines};

/// Renders a scene on every machine with all layers, and checks these.
fn for_each_machine(scene: &Description, spp: u32, check: impl Fn(&Layers)) {
    let data = assembled(scene);
    let uvs = texture_coordinates(scene);
    let options = Options { shorter: true, first_hits: Some(&uvs), ..Options::default() };
    let all: BTreeSet<Aov> = Aov::ALL.into_iter().map(|(_, aov)| aov).collect();
    for machine in machines() {
        let rendered = machine.render_with(&data, spp, options);
        println!("on {machine:?}");
        check(&layers(&rendered, &data, &Names::from(scene), &all));
    }
}

/// Channels of a layer at pixel (x, y).
fn at<const N: usize>(layers: &Layers, names: [&str; N], [x, y]: [u32; 2]) -> [f64; N] {
    let i = (y * layers.width + x) as usize;
    names.map(|name| layers.channel(name).expect(name).samples.get_f64(i))
}

fn vector(layers: &Layers, layer: &str, pixel: [u32; 2]) -> DVec3 {
    let [x, y, z] = ["X", "Y", "Z"].map(|c| format!("{layer}.{c}"));
    at(layers, [&x, &y, &z], pixel).into()
}

fn color(layers: &Layers, layer: &str, pixel: [u32; 2]) -> DVec3 {
    let dot = if layer.is_empty() { "" } else { "." };
    let [r, g, b] = ["R", "G", "B"].map(|c| format!("{layer}{dot}{c}"));
    at(layers, [&r, &g, &b], pixel).into()
}

#[track_caller]
fn near(a: DVec3, b: impl Into<DVec3>, tolerance: f64) {
    let b = b.into();
    assert!((a - b).length() <= tolerance, "{a}, not {b}");
}

/// A sphere and nothing else, and the camera that looks at its nearest point.
fn sphere(center: Vec3, radius: f32, target: Vec3) -> Description {
    let eye = camera(Vec3::new(-0.5, 0.5, 1.0), target, Vec3::Y, 60.0);
    let mut scene = description(129, eye, 0.3, vec![shape(Geometry::Sphere { center, radius }, 0.0)]);
    scene.render.sampler = Sampler::Sobol;
    scene
}

/// Whether the middle of the image is the nearest point of a sphere. The pixel is 4 cm wide there, and the sphere bends
/// by less than ½ mm within it.
fn shows_nearest_point(layers: &Layers, center: Vec3, radius: f32) -> [bool; 4] {
    let (eye, middle) = (Vec3::new(-0.5, 0.5, 1.0), [64, 64]);
    let toward = (eye - center).normalize().as_dvec3();
    let p = center.as_dvec3() + f64::from(radius) * toward;
    let [z] = at(layers, ["Z"], middle);
    let is_near = |layer, expected: DVec3| (vector(layers, layer, middle) - expected).length() < 2e-3;
    [
        is_near("N", toward),
        is_near("Ng", toward),
        is_near("P", p),
        (z - f64::from(eye.distance(center) - radius)).abs() < 5e-4,
    ]
}

#[test]
fn the_nearest_point_of_a_sphere() {
    let (center, radius) = (Vec3::new(1.5, -0.5, -4.0), 0.75);
    for_each_machine(&sphere(center, radius, center), 64, |layers| {
        let shown = shows_nearest_point(layers, center, radius);
        assert_eq!(shown, [true; 4], "N, Ng, P, Z");
        near(color(layers, "albedo", [64, 64]), [0.3; 3], 1e-5);
        assert_eq!(at(layers, ["id.shape", "id.material"], [64, 64]), [1.0; 2]);
        let corner = [0, 0];
        assert_eq!(vector(layers, "N", corner), DVec3::ZERO);
        assert_eq!(vector(layers, "P", corner), DVec3::ZERO);
        assert_eq!(color(layers, "albedo", corner), DVec3::ZERO);
        let nothing = at(layers, ["Z", "id.shape", "id.material", "uv.U", "uv.V"], corner);
        assert_eq!(nothing, [f64::from(FAR), 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(at(layers, ["samples"], corner), [64.0]);
    });
}

#[test]
fn control_a_sphere_one_per_cent_larger_or_a_centimetre_aside() {
    let (center, radius) = (Vec3::new(1.5, -0.5, -4.0), 0.75);
    for_each_machine(&sphere(center, 1.01 * radius, center), 64, |layers| {
        assert_eq!(shows_nearest_point(layers, center, radius), [true, true, false, false]);
    });
    for_each_machine(&sphere(center + 0.01 * Vec3::X, radius, center), 64, |layers| {
        assert_eq!(shows_nearest_point(layers, center, radius)[..3], [false; 3]);
    });
}

/// A square across the view, seen from its back: depth is that along the axis, not along the rays.
#[test]
fn a_wall_has_one_depth_and_its_texture_coordinates() {
    const SIZE: u32 = 24;
    let eye = camera(Vec3::new(0.0, 0.0, -2.0), Vec3::ZERO, Vec3::Y, 80.0);
    let mut wall = shape(Geometry::Quad, 0.0);
    wall.world_from_object = Affine3A::from_scale(Vec3::splat(3.0));
    let mut scene = description(SIZE, eye, 0.5, vec![wall]);
    scene.render.sampler = Sampler::Sobol;
    let half = 2.0 * f64::from(40.0_f32).to_radians().tan();
    for_each_machine(&scene, 256, |layers| {
        let mut along_rays = 0.0_f64;
        for [x, y] in (0..SIZE * SIZE).map(|i| [i % SIZE, i / SIZE]) {
            // Looking along +z, x grows to the left.
            let [px, py] = [x, y].map(|k| half * (1.0 - (f64::from(k) + 0.5) / f64::from(SIZE / 2)));
            near(vector(layers, "P", [x, y]), [px, py, 0.0], 3e-3);
            near(vector(layers, "N", [x, y]), DVec3::NEG_Z, 1e-6);
            let [u, v, z] = at(layers, ["uv.U", "uv.V", "Z"], [x, y]);
            near(DVec3::new(u, v, 0.0), [0.5 + px / 6.0, 0.5 + py / 6.0, 0.0], 6e-4);
            assert!((z - 2.0).abs() < 1e-6, "{z}");
            along_rays = along_rays.max((px * px + py * py + 4.0).sqrt());
        }
        assert!(along_rays > 2.9, "the other depth would differ");
    });
}

/// First-hit albedos of materials whose albedo is known.
#[test]
fn albedos_of_known_materials() {
    let mut scene =
        description(10, camera(Vec3::new(0.0, 0.0, 9.0), Vec3::ZERO, Vec3::Y, 53.13), 0.25, Vec::new());
    let texel = |r: u32, g: u32, b: u32| r | g << 8 | b << 16 | 0xff << 24;
    // Half of it red, half green, so that a pixel that sees all of it is both by halves.
    let texels = vec![texel(255, 0, 0), texel(0, 255, 0)].into();
    scene.images.push(Image::new(2, 1, Format::Rgba8, texels));
    scene.textures.push(Texture::Bitmap(Bitmap {
        image: 0,
        image_from_uv: Affine2::from_scale(Vec2::new(50.0, 50.0)),
        wrap: [Wrap::Repeat; 2],
        channel: Channel::Rgb,
        filter: TexelFilter::Nearest,
    }));
    let textured = Color { texture: 0, ..Color::new(Vec3::ONE) };
    let glass = |alpha| {
        let facets = Facets::new(Vec2::splat(alpha), torrance_scene::Distribution::Ggx);
        MaterialKind::Dielectric(DielectricMaterial::new(1.5, facets))
    };
    let mut holes = Material::new("holes", MaterialKind::diffuse(Vec3::splat(0.8)));
    holes.opacity = Scalar::new(0.25);
    scene.materials.extend([
        Material::new("texture", MaterialKind::Diffuse(DiffuseMaterial::new(textured))),
        Material::new("glass", glass(0.0)),
        holes,
    ]);
    // A row of squares, each over a pixel and the edges of its neighbours: grey, textured, glass, and holes before
    // nothing; the last shines. At their distance, a pixel is this wide.
    const PIXEL: f32 = 0.9;
    for (i, material) in [0, 1, 2, 3, 0].into_iter().enumerate() {
        let mut square = shape(Geometry::Quad, if i == 4 { 2.0 } else { 0.0 });
        square.material = material;
        let place = Vec3::new(2.0 * i as f32 - 4.5, 0.5, 0.0) * PIXEL;
        square.world_from_object =
            Affine3A::from_translation(place) * Affine3A::from_scale(Vec3::splat(0.6 * PIXEL));
        scene.shapes.push(square);
    }
    for_each_machine(&scene, 4096, |layers| {
        let pixel = |i: u32| [2 * i, 4];
        let albedo = |i| color(layers, "albedo", pixel(i));
        near(albedo(0), [0.25; 3], 1e-5);
        near(albedo(1), [0.5, 0.5, 0.0], 0.03);
        near(albedo(2), [1.0; 3], 1e-5);
        near(albedo(3), [0.2; 3], 5.0 * 0.8 * (0.25 * 0.75 / 4096_f64).sqrt() * 1.74);
        near(albedo(4), [0.25; 3], 1e-5);
        near(color(layers, "emission", pixel(4)), [2.0; 3], 1e-5);
        let [nz, z] = at(layers, ["N.Z", "Z"], pixel(3));
        assert!((nz - 0.25).abs() < 0.035, "{nz}: a mean over all samples");
        assert!((z - 9.0).abs() < 1e-5, "{z}: a mean over those that meet something");
        let ids = |name| (0..5).map(|i| at(layers, [name], pixel(i))[0]).collect::<Vec<_>>();
        assert_eq!(ids("id.shape"), [1.0, 2.0, 3.0, 0.0, 5.0], "what is mostly hole is none");
        assert_eq!(ids("id.material"), [1.0, 2.0, 3.0, 0.0, 1.0]);
        assert!(layers.attributes["materialNames"].starts_with(r#"["diffuse","texture","glass","#));
    });
}

/// Inside a closed surface with Kd = ½ and Le = ½, light that has scattered n times is 2⁻ⁿ⁻¹.
#[test]
fn light_by_how_often_it_has_scattered() {
    for rr_depth in [None, Some(0)] {
        let mut scene = closed_surface(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
        scene.render.rr_depth = rr_depth;
        for_each_machine(&scene, 1024, |layers| {
            let mut means = [DVec3::ZERO; 3];
            for [x, y] in (0..256).map(|i| [i % 16, i / 16]) {
                let parts = ["emission", "direct", "indirect"].map(|layer| color(layers, layer, [x, y]));
                let image = color(layers, "", [x, y]);
                near(parts.iter().sum(), image, 3e-7 * image.length());
                near(parts[0], [0.5; 3], 1e-6);
                for (mean, part) in means.iter_mut().zip(parts) {
                    *mean += part / 256.0;
                }
            }
            near(means[1], [0.25; 3], 1e-3);
            near(means[2], [0.25; 3], 2e-3);
        });
    }
}

/// Largest part by which a component of light is below zero, of the image there: none is if all parts are of the same
/// samples.
fn most_negative(layers: &Layers) -> f64 {
    let pixels = (0..layers.width * layers.height).map(|i| [i % layers.width, i / layers.width]);
    let below = pixels.flat_map(|pixel| {
        let image = color(layers, "", pixel).length();
        let parts = ["emission", "direct", "indirect"].map(|layer| color(layers, layer, pixel));
        let all: f64 = parts.iter().map(|part| part.length()).sum();
        near(parts.iter().sum(), color(layers, "", pixel), 1e-6 * all);
        parts.map(|part| -part.min_element() / image.max(1e-30))
    });
    below.fold(0.0, f64::max)
}

/// Holes, blends, glass and roulette. What is kept beside the image changes nothing of it.
#[test]
fn parts_are_of_the_samples_of_the_image() {
    let mut scene = gallery_scene("materials");
    (scene.render.width, scene.render.height) = (96, 40);
    scene.render.rr_depth = Some(1);
    let data = assembled(&scene);
    scene.render.seed = 1;
    let reseeded = assembled(&scene);
    let (uvs, names) = (texture_coordinates(&scene), Names::from(&scene));
    let options = Options { shorter: true, first_hits: Some(&uvs), ..Options::default() };
    let parts = [Aov::Emission, Aov::Direct, Aov::Indirect].into();
    for machine in machines() {
        let mut rendered = machine.render_with(&data, 8, options);
        assert_eq!(rendered.film, machine.render(&data, 8), "{machine:?}");
        let most = most_negative(&layers(&rendered, &data, &names, &parts));
        assert!(most < 1e-6, "{machine:?}: {most}");

        let control = machine.render_with(&reseeded, 8, options);
        assert_ne!(rendered.film, control.film);
        rendered.shorter = control.shorter;
        let most = most_negative(&layers(&rendered, &data, &names, &parts));
        assert!(most > 0.01, "control: {machine:?}: {most}");
    }
}

/// Stopped in the middle of a pass, when pixels differ in how many samples they have, all films have the same.
#[test]
fn an_interrupted_render_is_consistent() {
    let mut scene = closed_surface(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    (scene.render.width, scene.render.height) = (64, 64);
    let data = assembled(&scene);
    let (budget, options) =
        (Budget::of_samples(1 << 20), Options { shorter: true, first_hits: Some(&[]), ..Options::default() });
    let mut launches = 0;
    let mut stop = |_: &_| {
        launches += 1;
        if launches == 3 { Control::Stop } else { Control::Continue }
    };
    let mut cpu = renderer::Machine::cpu(Some(2)).expect("threads start");
    let rendered = cpu.render(&data, budget, options, &mut stop).expect("it renders");
    assert!(rendered.interrupted);
    let counts = |film: &Film| film.pixels.iter().map(|p| p.count).collect::<Vec<_>>();
    let taken = counts(&rendered.film);
    assert!(taken.contains(&0) && taken.iter().any(|n| *n > 0), "in the middle of a pass");
    for film in rendered.shorter.as_ref().expect("films") {
        assert_eq!(counts(film), taken);
    }
    let aovs = [Aov::Samples, Aov::Albedo, Aov::Emission].into();
    let layers = layers(&rendered, &data, &Names::from(&scene), &aovs);
    for (i, n) in taken.into_iter().enumerate() {
        let pixel = [i as u32 % 64, i as u32 / 64];
        let half = if n > 0 { 0.5 } else { 0.0 };
        near(color(&layers, "albedo", pixel), [half; 3], 1e-6);
        near(color(&layers, "emission", pixel), [half; 3], 1e-6);
        assert_eq!(at(&layers, ["samples"], pixel), [n as f64]);
    }
}

/// Few pixels are spread over several films, whose sums are merged.
#[test]
fn one_pixel_is_as_good_as_many() {
    let eye = camera(Vec3::new(0.0, 0.0, 3.0), Vec3::ZERO, Vec3::Y, 90.0);
    let mut scene =
        description(1, eye, 0.5, vec![shape(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 }, 0.0)]);
    scene.render.sampler = Sampler::Sobol;
    // The sphere's outline is a circle of this radius on the image plane, which is 2 by 2.
    let radius = (1.0_f64 / 3.0).asin().tan();
    let covered = PI * radius * radius / 4.0;
    for_each_machine(&scene, 1 << 14, |layers| {
        let [albedo, z, shape] = at(layers, ["albedo.R", "Z", "id.shape"], [0, 0]);
        assert!((albedo / (0.5 * covered) - 1.0).abs() < 0.01, "{albedo}, not {}", 0.5 * covered);
        assert!(z > 2.0 && z < 3.0 && shape == 1.0, "{z} {shape}");
    });
}
