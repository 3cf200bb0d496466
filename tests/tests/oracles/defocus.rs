//! Blur after rendering, on the host and on a GPU if there is one: against convolution by hand, against the camera's own
//! lens, and against what must not change.

use std::collections::BTreeSet;

use renderer::defocus::{Blur, Defocused, Lens, Shape, defocus};
use renderer::render::Options;
use renderer::render::aov::{Aov, FAR, FOV, Names, layers, of_camera};
use torrance_image::film::{Image, Layers};
use torrance_scene::{self as scene, Description, Projection};
use torrance_tests::{Machine, assembled, for_each_backend, reference_scene};

/// Numbers in [0, 1): SplitMix64 (Steele, Lea & Flood 2014).
fn random(i: usize) -> f32 {
    let mut z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 40) as f32 / (1 << 24) as f32
}

/// An image of noise with a few pixels that are a thousand times as bright.
fn noise(width: u32, height: u32) -> Image {
    let bright = |i: usize| if random(i ^ 0x5555).fract() < 0.002 { 1000.0 } else { 1.0 };
    let pixel = |i: usize| [0, 1, 2].map(|c| bright(i) * random(3 * i + c));
    Image { width, height, pixels: (0..(width * height) as usize).map(pixel).collect() }
}

/// A lens that is in focus at 2 m, and blurs what is infinitely far by `radius` pixels.
fn lens(radius: f32, height: u32) -> Lens {
    // A field of view of 90° is twice as high as it is far away.
    Lens { radius: radius * 2.0 * 2.0 / height as f32, focus_distance: 2.0, fov: 90.0 }
}

/// Depth at which that lens has a circle of confusion of the part `part`, below 0 before the focus.
fn depth_of(part: f32) -> f32 {
    2.0 / (1.0 - part)
}

/// The largest difference of two images, in parts of the largest value.
fn difference(a: &Image, b: &Image) -> f32 {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let most = b.pixels.iter().flatten().fold(0.0_f32, |m, x| m.max(x.abs()));
    let pairs = a.pixels.iter().flatten().zip(b.pixels.iter().flatten());
    // A NaN is a difference, too.
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, |m, d| if d <= m { m } else { d }) / most
}

/// The mean over all pixels around each one that `is_within` takes, by their distances along x and y, as far as they are
/// in the image.
fn convolved(image: &Image, reach: i32, is_within: impl Fn(i32, i32) -> bool) -> Image {
    let (width, height) = (image.width as i32, image.height as i32);
    let around = (-reach..=reach).flat_map(|dy| (-reach..=reach).map(move |dx| (dx, dy)));
    let around: Vec<_> = around.filter(|&(dx, dy)| is_within(dx, dy)).collect();
    let pixel = |i: i32| {
        let (mut sum, mut count) = ([0.0_f64; 3], 0);
        for (dx, dy) in &around {
            let (x, y) = (i % width + dx, i / width + dy);
            if (0..width).contains(&x) && (0..height).contains(&y) {
                let other = image.pixels[(y * width + x) as usize];
                sum = [0, 1, 2].map(|c| sum[c] + f64::from(other[c]));
                count += 1;
            }
        }
        sum.map(|x| (x / f64::from(count)) as f32)
    };
    Image { pixels: (0..width * height).map(pixel).collect(), ..*image }
}

/// The radius of the circle whose second moment is that of all pixels that are not farther than `radius`.
fn moment_radius(radius: i32) -> f32 {
    let around = (-radius..=radius).flat_map(|dy| (-radius..=radius).map(move |dx| (dx, dy)));
    let squares: Vec<_> =
        around.filter(|(dx, dy)| dx * dx + dy * dy <= radius * radius).map(|(dx, _)| dx * dx).collect();
    let mean = f64::from(squares.iter().sum::<i32>()) / squares.len() as f64;
    (2.0 * mean.sqrt()) as f32
}

fn even(radius: f32, shape: Shape) -> Blur<'static> {
    Blur::Even { radius, shape }
}

#[test]
fn what_is_the_same_everywhere_stays_so() {
    let (width, height) = (131, 77);
    let image = Image { pixels: vec![[0.3, 7.0, 1e4]; (width * height) as usize], width, height };
    let flat = vec![depth_of(0.4); image.pixels.len()];
    let rough: Vec<_> = (0..image.pixels.len()).map(|i| 0.5 + 20.0 * random(i).powi(3)).collect();
    let boxes: Vec<_> = (0..image.pixels.len())
        .map(|i| [1.0, 2.0, 5.0, FAR][(i % width as usize / 40 + i / width as usize / 30) % 4])
        .collect();
    for_each_backend!(|backend, is_gpu| {
        for (name, depths) in [("flat", &flat), ("rough", &rough), ("boxes", &boxes)] {
            let blur = Blur::Lens { lens: lens(20.0, height), depths };
            let Defocused { image: blurred, layers, .. } =
                defocus(&mut backend, &image, blur, &mut |_| ()).unwrap();
            assert!(layers > 1, "{name}");
            let off = difference(&blurred, &image);
            assert!(off < 2e-6, "{name}, GPU {is_gpu}: {off}");
        }
    });
}

/// A plane that is parallel to the image is convolved with a disc; with another one the difference is large.
#[test]
fn a_plane_is_convolved() {
    let image = noise(150, 90);
    let radius = 4;
    let circle = moment_radius(radius);
    let disc = |radius: i32| move |dx: i32, dy: i32| dx * dx + dy * dy <= radius * radius;
    let expected = convolved(&image, radius, disc(radius));
    let square = convolved(&image, 6, |_, _| true);
    for_each_backend!(|backend, is_gpu| {
        let mut run = |blur: Blur<'_>| defocus(&mut backend, &image, blur, &mut |_| ()).unwrap().image;
        for part in [0.25, -0.5] {
            let depths = vec![depth_of(part); image.pixels.len()];
            let lens = lens(circle / part.abs(), image.height);
            let blurred = run(Blur::Lens { lens, depths: &depths });
            let off = difference(&blurred, &expected);
            assert!(off < 1e-5, "{part}, GPU {is_gpu}: {off}");
        }
        assert!(difference(&run(even(circle, Shape::Disc)), &expected) < 1e-5, "GPU {is_gpu}");
        assert!(difference(&run(even(6.0, Shape::Box)), &square) < 1e-5, "GPU {is_gpu}");
        assert!(difference(&run(even(circle + 0.5, Shape::Disc)), &expected) > 1e-3, "GPU {is_gpu}");
    });
}

/// A point becomes a round disc of the circle's size with the same energy.
#[test]
fn a_point_becomes_a_circle() {
    let (width, height) = (301, 301);
    let mut image = Image { width, height, pixels: vec![[0.0; 3]; (width * height) as usize] };
    image.pixels[150 * 301 + 150] = [1e6, 1.0, 1e-3];
    for_each_backend!(|backend, is_gpu| {
        for radius in [0.3, 0.9, 2.2, 7.7, 23.4, 61.0, 70.0_f32] {
            let blur = even(radius, Shape::Disc);
            let blurred = defocus(&mut backend, &image, blur, &mut |_| ()).unwrap().image;
            for (c, light) in [(0, 1e6), (1, 1.0), (2, 1e-3)] {
                let (mut sum, mut moment, mut reach) = (0.0, 0.0, 0.0_f64);
                for (i, pixel) in blurred.pixels.iter().enumerate() {
                    let (x, y) = ((i % 301) as f64 - 150.0, (i / 301) as f64 - 150.0);
                    let value = f64::from(pixel[c]);
                    sum += value;
                    moment += value * (x * x + y * y) / 2.0;
                    reach = if value > 0.0 { reach.max(x.hypot(y)) } else { reach };
                }
                assert!((sum / light - 1.0).abs() < 1e-5, "{radius}, GPU {is_gpu}: {sum} of {light}");
                let wide = 2.0 * (moment / sum).sqrt();
                let radius = f64::from(radius);
                assert!((wide / radius - 1.0).abs() < 1e-3, "GPU {is_gpu}: {wide}, not {radius}");
                assert!(reach < 1.2 * radius + 1.5, "{radius}, GPU {is_gpu}: {reach}");
            }
        }
    });
}

#[test]
fn what_is_in_focus_keeps_every_bit() {
    let image = noise(97, 65);
    let n = image.pixels.len();
    // A plane in focus before one that is not.
    let depths: Vec<_> = (0..n).map(|i| if i % 97 < 50 { 2.0 } else { 9.0 }).collect();
    for_each_backend!(|backend, is_gpu| {
        let blur = Blur::Lens { lens: lens(15.0, 65), depths: &depths };
        let blurred = defocus(&mut backend, &image, blur, &mut |_| ()).unwrap().image;
        for i in 0..n {
            let is_same = blurred.pixels[i] == image.pixels[i];
            assert_eq!(is_same, i % 97 < 50, "pixel {i}, GPU {is_gpu}");
        }
    });
}

/// A silhouette that is in focus stays nearly as it is, at any angle, though depths at it are means: of what is behind it a
/// lens sees more or less, but no pixel of it is lost. With the focus on what is behind, they are.
#[test]
fn silhouettes_in_focus_stay_sharp() {
    const SIZE: usize = 96;
    for degrees in [0.0_f64, 2.0, 10.0, 30.0, 45.0, 90.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        // How much of pixels is below a line, of 16 × 16 points each.
        let cover = |i: usize| {
            let is_below = |k: usize| {
                let x = (i % SIZE) as f64 + (k % 16) as f64 / 16.0 - 48.05;
                let y = (i / SIZE) as f64 + (k / 16) as f64 / 16.0 - 48.05;
                y * cos > x * sin
            };
            (0..256).filter(|k| is_below(*k)).count() as f32 / 256.0
        };
        let covers: Vec<_> = (0..SIZE * SIZE).map(cover).collect();
        let between = |near: f32, far: f32| covers.iter().map(move |c| c * near + (1.0 - c) * far);
        let pixels = between(1.0, 0.1).map(|x| [x; 3]).collect();
        let image = Image { width: SIZE as u32, height: SIZE as u32, pixels };
        let depths: Vec<_> = between(2.0, 20.0).collect();
        for_each_backend!(|backend, is_gpu| {
            // The largest differences of pixels that are covered by no more than a sliver, by more, and but for a sliver.
            let mut off = |focus_distance: f32| {
                let lens = Lens { focus_distance, ..lens(10.0, SIZE as u32) };
                let blur = Blur::Lens { lens, depths: &depths };
                let blurred = defocus(&mut backend, &image, blur, &mut |_| ()).unwrap().image;
                let mut most = [0.0_f32; 3];
                for (i, cover) in covers.iter().enumerate() {
                    let kind = if *cover <= 0.125 { 0 } else { 1 + usize::from(*cover >= 0.875) };
                    most[kind] = most[kind].max((blurred.pixels[i][0] - image.pixels[i][0]).abs());
                }
                most
            };
            let (right, wrong) = (off(2.0), off(20.0));
            println!("{degrees}°, GPU {is_gpu}: {right:?}, with a wrong focus {wrong:?}");
            assert!(
                right[0] < 0.12 && right[1] < 0.15 && right[2] < 1e-6,
                "{degrees}°, GPU {is_gpu}: {right:?}"
            );
            assert!(wrong[2] > 0.3, "{degrees}°, GPU {is_gpu}: {wrong:?}");
        });
    }
}

/// They are left out: what is around them is what it would be if they were not there, and blurs over them.
#[test]
fn pixels_that_are_no_numbers_do_not_spread() {
    let (width, height) = (64, 64);
    let mut image = Image { width, height, pixels: vec![[2.0; 3]; 64 * 64] };
    let mut depths = vec![4.0; 64 * 64];
    image.pixels[64 * 20 + 20] = [f32::NAN, 1.0, 1.0];
    image.pixels[64 * 40 + 20] = [1.0, f32::INFINITY, 1.0];
    depths[64 * 30 + 40] = f32::NAN;
    depths[64 * 50 + 40] = -1.0;
    depths[64 * 50 + 50] = f32::INFINITY;
    for_each_backend!(|backend, is_gpu| {
        let blur = Blur::Lens { lens: lens(12.0, 64), depths: &depths };
        let Defocused { image: blurred, missing, .. } =
            defocus(&mut backend, &image, blur, &mut |_| ()).unwrap();
        assert_eq!(missing, 4);
        for (i, pixel) in blurred.pixels.iter().enumerate() {
            assert!(pixel.iter().all(|x| (x - 2.0).abs() < 1e-5), "pixel {i}, GPU {is_gpu}: {pixel:?}");
        }
        // Where nothing is blurred, they stay as they are.
        let sharp = defocus(&mut backend, &image, even(0.0, Shape::Disc), &mut |_| ()).unwrap();
        assert_eq!(sharp.missing, 2);
        assert!(sharp.radii.iter().all(|r| *r == 0.0 && r.is_sign_positive()), "{:?}", sharp.radii);
        let is_same = |(a, b): (&[f32; 3], &[f32; 3])| a.map(f32::to_bits) == b.map(f32::to_bits);
        assert!(sharp.image.pixels.iter().zip(&image.pixels).all(is_same));
    });
}

#[test]
fn images_that_do_not_fit_are_refused() {
    let image = noise(4, 4);
    for_each_backend!(|backend, _is_gpu| {
        let blur = Blur::Lens { lens: lens(1.0, 4), depths: &[1.0; 15] };
        let error = defocus(&mut backend, &image, blur, &mut |_| ()).unwrap_err();
        assert_eq!(error.reason, "15 depths of 16 pixels");
        for (width, height, reason) in [
            (4000, 4000, "16 pixels in an image of 4000 × 4000"),
            (4, 3, "16 pixels in an image of 4 × 3"),
            (1 << 15, 1 << 14, "32768 × 16384 pixels of 4 numbers are more than 2147483647 numbers"),
            (1 << 16, 1 << 16, "65536 × 65536 pixels of 4 numbers are more than 2147483647 numbers"),
        ] {
            let image = Image { width, height, ..image.clone() };
            for blur in [even(1.0, Shape::Disc), Blur::Lens { lens: lens(1.0, 4), depths: &[1.0; 16] }] {
                let error = defocus(&mut backend, &image, blur, &mut |_| ()).unwrap_err();
                assert_eq!(error.reason, reason);
            }
        }
    });
}

/// The box of Cornell through a pinhole, or a lens.
fn cornell(lens: Option<Lens>) -> Description {
    let mut scene = reference_scene("cornell-diffuse");
    (scene.render.width, scene.render.height) = (160, 160);
    let Projection::Perspective { lens: of_camera, .. } = &mut scene.camera.projection else {
        panic!("the camera of the box is a perspective one");
    };
    *of_camera = lens.map(|Lens { radius, focus_distance, .. }| scene::Lens {
        radius,
        focus_distance,
        blades: 0,
        rotation: 0.0,
    });
    scene
}

/// A render: the image, its depths, its standard errors, and the field of view.
struct Rendered {
    image: Image,
    depths: Vec<f32>,
    stderr: Vec<[f32; 3]>,
    fov: f32,
}

fn rendered(description: &Description, spp: u32) -> Rendered {
    let scene = assembled(description);
    let rendered = Machine::Cpu.render_with(
        &scene,
        spp,
        Options { shorter: false, first_hits: Some(&[]), ..Options::default() },
    );
    let aovs = BTreeSet::from([Aov::Z, Aov::Stderr]);
    let layers: Layers = layers(&rendered, &scene, &Names::from(description), &aovs);
    let depths = layers.channel("Z").unwrap();
    let depths = (0..layers.pixels()).map(|i| depths.samples.get(i)).collect();
    let said = of_camera(&scene.camera, scene.height);
    let (_, fov) = said.iter().find(|(name, _)| *name == FOV).unwrap();
    Rendered {
        image: layers.image().unwrap(),
        depths,
        stderr: layers.rgb("stderr").unwrap(),
        fov: fov.parse().unwrap(),
    }
}

/// How far an image is from a render, without what the noise of that adds: the root of the mean square. The border is left
/// out, where a lens sees what is not in the image, and so is what is brighter than white, which would outshine all else.
fn distance(image: &Image, expected: &Rendered) -> f64 {
    const BORDER: usize = 12;
    let (width, height) = (image.width as usize, image.height as usize);
    let (mut sum, mut count) = (0.0, 0.0);
    for (x, y) in (BORDER..height - BORDER).flat_map(|y| (BORDER..width - BORDER).map(move |x| (x, y))) {
        let i = y * width + x;
        for c in 0..3 {
            let [a, b, noise] =
                [image.pixels[i][c], expected.image.pixels[i][c], expected.stderr[i][c]].map(f64::from);
            if b < 1.0 {
                sum += (a.min(1.0) - b).powi(2) - noise * noise;
                count += 1.0;
            }
        }
    }
    f64::max(sum / count, 0.0).sqrt()
}

/// The image of a pinhole becomes that of a lens, or nearly: some of what a lens sees is not in it. With another focus, or
/// with the same circles without depth, it does not.
#[test]
fn a_pinhole_becomes_a_lens() {
    let sharp = rendered(&cornell(None), tier::choose(64, 128));
    // On the wall behind, and just before the boxes.
    for focus_distance in [4.9, 3.0] {
        let lens = Lens { radius: 0.3, focus_distance, fov: sharp.fov };
        let expected = rendered(&cornell(Some(lens)), tier::choose(96, 256));
        for_each_backend!(|backend, is_gpu| {
            let mut off = |blur: Blur<'_>| {
                let blurred = defocus(&mut backend, &sharp.image, blur, &mut |_| ()).unwrap();
                (distance(&blurred.image, &expected), blurred.radii)
            };
            let before = distance(&sharp.image, &expected);
            let (blurred, [near, far]) = off(Blur::Lens { lens, depths: &sharp.depths });
            let lens = Lens { focus_distance: 0.8 * focus_distance, ..lens };
            let (wrong, _) = off(Blur::Lens { lens, depths: &sharp.depths });
            let (even, _) = off(even(0.5 * near.max(far), Shape::Disc));
            println!(
                "GPU {is_gpu}, focus at {focus_distance} m: {before:.4} before, {blurred:.4} blurred, {wrong:.4} with a \
                 wrong focus, {even:.4} evenly"
            );
            assert!(blurred * 4.0 < before, "{before} before, {blurred} blurred");
            assert!(blurred * 3.0 < wrong, "{wrong} with a wrong focus, {blurred} blurred");
            assert!(blurred * 3.0 < even, "{even} evenly, {blurred} by depth");
        });
    }
}

/// Both machines blur alike, to rounding.
#[test]
fn machines_agree() {
    let image = noise(317, 203);
    let depth = |i: usize| {
        let (x, y) = (i % 317, i / 317);
        if (x / 37 + y / 29) % 5 == 0 {
            FAR
        } else {
            0.7 + 0.9 * ((x / 23 + 3 * (y / 31)) % 7) as f32 + x as f32 / 300.0
        }
    };
    let depths: Vec<_> = (0..image.pixels.len()).map(depth).collect();
    let mut first: Option<Image> = None;
    for_each_backend!(|backend, is_gpu| {
        let blur = Blur::Lens { lens: lens(25.0, 203), depths: &depths };
        let blurred = defocus(&mut backend, &image, blur, &mut |_| ()).unwrap().image;
        assert!(difference(&blurred, &image) > 0.1);
        let off = difference(&blurred, first.get_or_insert_with(|| blurred.clone()));
        println!("GPU {is_gpu}: {off}");
        assert!(off < 1e-5, "GPU {is_gpu}: {off}");
    });
}
