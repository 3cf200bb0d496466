//! Environments against figures of Mitsuba 3.9.1, quadrature and counts.

use std::f64::consts::TAU;

use device::features::Full;
use device::light::{Light, LightSample};
use device::rng::pcg4d;
use device::scene::SceneView;
use glam::Vec2;

use super::*;

/// An environment in a scene of nothing else.
fn view(environment: &ImageEnvironment) -> SceneView {
    // SAFETY: it is made of pointers, which may be null, and numbers.
    let mut scene: SceneView = unsafe { std::mem::zeroed() };
    scene.environment = &raw const environment.record;
    scene.sky = environment.sky.as_ptr();
    scene.portals = environment.portals.as_ptr();
    scene.tables = environment.tables.as_ptr();
    scene
}

fn light() -> Light {
    Light { kind_flags: Light::IMAGE, pmf: 1.0, ..bytemuck::Zeroable::zeroed() }
}

fn radiance_from(environment: &ImageEnvironment, d: Vec3) -> Vec3 {
    // SAFETY: the scene has the environment.
    unsafe { light().le_from::<Full>(&view(environment), d) }
}

fn pdf(environment: &ImageEnvironment, p: Vec3, d: Vec3) -> f64 {
    // SAFETY: the scene has the environment.
    unsafe { light().pdf_from::<Full>(&view(environment), p, d) }.into()
}

fn sample(environment: &ImageEnvironment, p: Vec3, bits: [u32; 3]) -> Option<LightSample> {
    // SAFETY: the scene has the environment.
    unsafe { light().sample::<Full>(&view(environment), 0, p, bits) }
}

/// Words of random bits.
fn random_words(n: u32) -> impl Iterator<Item = [u32; 3]> {
    (0..n).map(|i| {
        let [x, y, z, _] = pcg4d([i, 1, 2, 3]);
        [x, y, z]
    })
}

fn grey(pixels: &[f32], width: u32, portals: &[Portal]) -> ImageEnvironment {
    let radiance: Vec<Vec3> = pixels.iter().map(|x| Vec3::splat(*x)).collect();
    summed(ImageEnvironment::new(radiance, width, turned(), portals).unwrap())
}

/// The environment with the entries of tables of portals where their weights were.
fn summed(mut environment: ImageEnvironment) -> ImageEnvironment {
    for portal in &environment.portals {
        integrate(&mut environment.tables, portal.table);
    }
    environment
}

/// Makes the entries of a table of its weights.
fn integrate(entries: &mut [u64], table: Table) {
    let columns = table.width as usize + 1;
    let entries = &mut entries[table.first as usize..][..columns * (table.height as usize + 1)];
    for i in 1..entries.len() {
        entries[i] += if i % columns == 0 { 0 } else { entries[i - 1] };
    }
    for i in columns..entries.len() {
        entries[i] += entries[i - columns];
    }
}

/// A rotation by 50° around (2, 3, 6)/7.
fn turned() -> Mat3 {
    Mat3::from_axis_angle(Vec3::new(2.0, 3.0, 6.0) / 7.0, 50_f32.to_radians())
}

/// An uneven image of 16 × 8 with a sun of one texel, `sun` times the rest.
fn uneven(sun: f32) -> Vec<f32> {
    let mut pixels: Vec<f32> = (0..128).map(|i| 0.5 + (i * 7 % 11) as f32 / 10.0).collect();
    pixels[5 * 16 + 3] = sun;
    pixels[40..44].fill(0.0);
    pixels
}

/// A window of a room whose outside is where the sun of [`uneven`] is.
fn window() -> Portal {
    let d = turned() * direction_in_image(3.5 / 16.0, 5.0 / 7.0);
    let (x, y) = d.any_orthonormal_pair();
    // y × x = d: out of the room.
    let (x, y) = if y.cross(x).dot(d) > 0.0 { (x, y) } else { (y, x) };
    Portal { corner: 2.0 * d - 0.7 * x - 0.4 * y, edges: [1.5 * x, y] }
}

/// Another, which overlaps the first as seen from the origin.
fn beside() -> Portal {
    let Portal { corner, edges } = window();
    Portal { corner: 1.2 * corner + 0.6 * edges[0], edges }
}

fn direction_in_image(u: f32, v: f32) -> Vec3 {
    let (phi, theta) = ((u - 0.5) * TAU as f32, v * PI as f32);
    Vec3::new(theta.sin() * phi.sin(), theta.cos(), -theta.sin() * phi.cos())
}

/// Directions, and what Mitsuba's `envmap` says of them, of an image of 16 × 8 whose texel (x, y) is (1 + (7x + 3y) mod 11,
/// ½ (5x + 13y mod 7), x + 2y mod 5), turned by 50° around (2, 3, 6)/7. Its middle column is +z.
const MITSUBA: [([f32; 3], [f32; 3]); 32] = [
    ([0.2480392, 0.96875, 0.0], [4.51294, 2.32302, 2.36579]),
    ([-0.3117169, 0.90625, 0.2855582], [8.7127, 2.21751, 1.39023]),
    ([0.0469246, 0.84375, -0.5346813], [4.97387, 0.27004, 2.17078]),
    ([0.3797987, 0.78125, 0.4953801], [6.17898, 0.86939, 2.50616]),
    ([-0.6846403, 0.71875, -0.1211032], [4.7359, 2.86409, 2.14517]),
    ([0.6366501, 0.65625, -0.4049847], [4.09085, 2.08383, 1.98254]),
    ([-0.2088905, 0.59375, 0.7770622], [6.14882, 2.71767, 2.7015]),
    ([-0.3904874, 0.53125, -0.7518597], [7.87468, 1.84683, 1.75151]),
    ([0.8297315, 0.46875, 0.3030166], [3.492, 0.35768, 2.38832]),
    ([-0.8446318, 0.40625, 0.3486517], [10.47615, 1.58529, 3.69527]),
    ([0.3980173, 0.34375, -0.8505399], [6.25553, 2.03285, 1.44969]),
    ([0.2872031, 0.28125, 0.9156488], [3.41991, 2.10301, 2.47407]),
    ([-0.8442566, 0.21875, -0.489264], [4.55069, 1.72453, 2.61866]),
    ([0.9646798, 0.15625, -0.2120821], [10.01611, 0.78536, 3.30409]),
    ([-0.5725964, 0.09375, 0.8144595], [7.22336, 1.55857, 3.09049]),
    ([-0.1284479, 0.03125, -0.9912238], [2.40007, 1.43332, 2.83746]),
    ([0.7642756, -0.03125, 0.6441323], [8.48636, 1.85906, 1.62774]),
    ([-0.9947456, -0.09375, 0.0411359], [6.89546, 0.66566, 2.03403]),
    ([0.7001233, -0.15625, -0.6967161], [9.14565, 2.15312, 2.86982]),
    ([-0.0450727, -0.21875, 0.9747394], [8.47166, 0.40665, 1.49604]),
    ([-0.6148466, -0.28125, -0.7367917], [4.80394, 1.3038, 1.71507]),
    ([0.9306749, -0.34375, 0.125221], [4.37563, 1.77091, 1.91669]),
    ([-0.7500691, -0.40625, 0.5218785], [8.93865, 1.69209, 1.40517]),
    ([0.1938747, -0.46875, -0.8617923], [6.9445, 0.98343, 0.79672]),
    ([0.4212191, -0.53125, 0.7350836], [4.81612, 0.92408, 1.96527]),
    ([-0.7665839, -0.59375, -0.2445612], [4.54604, 2.20781, 2.05589]),
    ([0.6849679, -0.65625, -0.3164726], [4.16173, 2.00627, 3.28274]),
    ([-0.2684161, -0.71875, 0.6413667], [5.21795, 2.05595, 2.5965]),
    ([-0.2112681, -0.78125, -0.5873791], [6.02059, 1.48334, 3.4556]),
    ([0.4751134, -0.84375, 0.2497063], [3.72404, 2.21304, 2.28278]),
    ([-0.408779, -0.90625, 0.1077528], [4.66653, 0.88069, 1.89436]),
    ([0.134149, -0.96875, -0.2086324], [4.27557, 1.95426, 3.18409]),
];

#[test]
fn radiance_is_that_of_the_field() {
    let texel = |x: u32, y: u32| {
        let rgb = [1 + (7 * x + 3 * y) % 11, (5 * x + 13 * y) % 7, (x + 2 * y) % 5].map(|c| c as f32);
        Vec3::from_array(rgb) * Vec3::new(1.0, 0.5, 1.0)
    };
    let pixels: Vec<Vec3> = (0..128).map(|i| texel(i % 16, i / 16)).collect();
    // Mitsuba's half turn, and ours.
    let half_turn = Mat3::from_rotation_y(PI as f32);
    let new = |pixels, rotation| summed(ImageEnvironment::new(pixels, 16, rotation, &[]).unwrap());
    let environment = new(pixels.clone(), turned() * half_turn);
    let other = new(pixels, turned().transpose() * half_turn);
    let error = |environment: &ImageEnvironment| {
        let errors = MITSUBA.iter().map(|(d, expected)| {
            (radiance_from(environment, Vec3::from(*d)) - Vec3::from(*expected)).abs().max_element()
        });
        errors.fold(0.0, f32::max)
    };
    assert!(error(&environment) < 2e-4, "{}", error(&environment));
    assert!(error(&other) > 1.0, "control: turned the other way");
}

/// ∫ f over the sphere, by the midpoint rule on `n` points in every cell between texel rows and columns of [`uneven`]: the
/// integrand is smooth in each.
fn over_the_sphere(n: u32, f: impl Fn(Vec3) -> f64 + Sync) -> f64 {
    let (columns, rows) = (32 * n, 7 * n);
    let row = |j: u32| {
        let v = (f64::from(j) + 0.5) / f64::from(rows);
        let sin = (PI * v).sin();
        let at = |i: u32| {
            let u = (f64::from(i) + 0.5) / f64::from(columns);
            f(turned() * direction_in_image(u as f32, v as f32))
        };
        sin * (0..columns).map(at).sum::<f64>()
    };
    let area = PI * TAU / (f64::from(columns) * f64::from(rows));
    area * (0..rows).into_par_iter().map(row).sum::<f64>()
}

/// The same image with black rows at either end.
fn between_black_rows(sun: f32) -> Vec<f32> {
    let mut pixels = uneven(sun);
    pixels[..32].fill(0.0);
    pixels[96..].fill(0.0);
    pixels
}

#[test]
fn densities_integrate_to_1() {
    for (name, pixels) in [
        ("no sun", uneven(1.0)),
        ("a sun", uneven(1e6)),
        ("all sun", uneven(1e15)),
        ("black rows", between_black_rows(1e3)),
    ] {
        let environment = grey(&pixels, 16, &[]);
        let total = over_the_sphere(96, |d| pdf(&environment, Vec3::ZERO, d));
        println!("{name}: {total:.7}");
        assert!((total - 1.0).abs() < 1e-4, "{name}: {total}");
    }
}

/// Beside a sun 10¹⁵ times as bright, the sky of its row keeps its density: they are as their luminances.
#[test]
fn densities_are_kept_over_fifteen_decades() {
    let environment = grey(&uneven(1e15), 16, &[]);
    let at = |column: f32| {
        let d = turned() * direction_in_image((column + 0.5) / 16.0, 5.0 / 7.0);
        (pdf(&environment, Vec3::ZERO, d), f64::from(radiance_from(&environment, d).x))
    };
    let ((sun, bright), (sky, dark)) = (at(3.0), at(12.3));
    assert!(bright > 1e14 && dark < 2.0);
    assert!((sky / sun / (dark / bright) - 1.0).abs() < 1e-4, "{} : {}", sky / sun, dark / bright);
}

/// Images of one row or column, or both: 1/(2π² sin θ) where all is alike, and samples with the density of their direction.
#[test]
fn the_smallest_images_are_sampled() {
    for (pixels, width) in [
        (&[1.0][..], 1),
        (&[2.0, 2.0, 2.0], 3),
        (&[3.0, 3.0, 3.0], 1),
        (&[1.0, 5.0, 2.0], 3),
        (&[1.0, 0.0, 4.0], 1),
    ] {
        let environment = grey(pixels, width, &[]);
        let is_even = pixels.iter().all(|x| *x == pixels[0]);
        for s in random_words(2000).filter_map(|bits| sample(&environment, Vec3::ZERO, bits)) {
            let density = pdf(&environment, Vec3::ZERO, s.wi);
            assert!((density / f64::from(s.pdf) - 1.0).abs() < 1e-2, "{pixels:?}: {s:?}, not {density}");
            let local = turned().transpose() * s.wi;
            let sin = f64::from(local.x).hypot(local.z.into());
            let rows = (pixels.len() as f64 / f64::from(width) - 1.0).max(1.0);
            // Within each row of cells, points are drawn evenly in θ, and the row by its solid angle.
            let row = (f64::from(local.y).acos() / PI * rows).floor().min(rows - 1.0);
            let solid_angle = (PI * row / rows).cos() - (PI * (row + 1.0) / rows).cos();
            let expected = solid_angle * rows / (4.0 * PI * PI * sin);
            let error = (density / expected - 1.0).abs();
            assert!(!is_even || sin < 0.01 || error < 1e-4, "{pixels:?}: {density}, not {expected}");
        }
    }
}

/// From where to where a window reaches along an axis, as cells and parts of them: where its edges and those of cells cut
/// the axis, in between of which densities over rectified angles are constant.
fn cuts(from: f64, size: f64, distance: f64) -> Vec<f64> {
    const CELLS: f64 = MIN_PORTAL_CELLS as f64;
    let parts = |x: f64| ((x / distance).atan() / PI + 0.5) * CELLS * 256.0;
    let (first, last) = (parts(from).floor() / 256.0, parts(from + size).ceil() / 256.0);
    let between = (first.floor() as u32 + 1..last.ceil() as u32).map(f64::from);
    [first].into_iter().chain(between).chain([last]).map(|x| PI * (x / CELLS - 0.5)).collect()
}

/// The same through a portal, whose part of the density is what is left without the part that ignores portals.
#[test]
fn densities_through_portals_integrate_to_1() {
    let portal = window();
    let (plain, environment) = (grey(&uneven(1e6), 16, &[]), grey(&uneven(1e6), 16, &[portal]));
    let [x, y, z] = axes(&portal);
    let through = |p: Vec3, a: f64, b: f64| {
        let w = DVec3::new(a.tan(), b.tan(), 1.0).normalize();
        let wi = (w.x * x.as_dvec3() + w.y * y.as_dvec3() + w.z * z.as_dvec3()).as_vec3();
        let defensive = f64::from(device::light::portal::DEFENSIVE);
        let density = (pdf(&environment, p, wi) - defensive * pdf(&plain, p, wi)) / (1.0 - defensive);
        density * (1.0 - w.x * w.x) * (1.0 - w.y * w.y) / w.z
    };
    for p in [Vec3::ZERO, 0.9 * x - 0.3 * y, 1.9 * z + 0.2 * x] {
        let corner = portal.corner - p;
        let cuts = |axis: Vec3, edge: Vec3| {
            cuts(corner.dot(axis).into(), edge.length().into(), corner.dot(z).into())
        };
        let (a, b) = (cuts(x, portal.edges[0]), cuts(y, portal.edges[1]));
        let mut total = 0.0;
        for a in a.windows(2) {
            for b in b.windows(2) {
                // Two points, to see that it is constant.
                let at = |t: f64| through(p, a[0] + t * (a[1] - a[0]), b[0] + t * (b[1] - b[0]));
                total += 0.5 * (at(0.3) + at(0.7)) * (a[1] - a[0]) * (b[1] - b[0]);
            }
        }
        println!("from {p}: {total:.7}");
        assert!((total - 1.0).abs() < 1e-4, "from {p}: {total}");
        for (s, t) in [(-0.01, 0.5), (1.01, 0.5), (0.5, -0.01), (0.5, 1.01)] {
            let beyond = |cuts: &[f64], t: f64| cuts[0] + t * (cuts[cuts.len() - 1] - cuts[0]);
            let outside = through(p, beyond(&a, s), beyond(&b, t));
            assert!(outside.abs() < 1e-6, "{outside} outside");
        }
    }
    // Behind the window there are no portals.
    let (behind, d) = (3.0 * z, Vec3::new(0.6, 0.0, 0.8));
    assert_eq!(pdf(&environment, behind, d), pdf(&plain, behind, d));
}

#[test]
fn samples_have_the_density_and_the_radiance_of_their_direction() {
    let pixels = uneven(1e5);
    for portals in [vec![], vec![window()], vec![window(), beside()]] {
        let environment = grey(&pixels, 16, &portals);
        for p in [Vec3::ZERO, Vec3::new(0.3, -0.2, 0.1)] {
            let mut found = 0;
            for s in random_words(20_000).filter_map(|bits| sample(&environment, p, bits)) {
                found += 1;
                assert!((s.wi.length() - 1.0).abs() < 1e-6 && s.pdf > 0.0 && s.pdf.is_finite());
                let (radiance, pdf) = (radiance_from(&environment, s.wi), pdf(&environment, p, s.wi));
                // Next to where it is black, or the edge of a window, rounding of the direction shows.
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-3 * b.abs().max(a.abs()) + 1e-4;
                assert!(near(radiance.x.into(), s.li.x.into()), "{s:?}, not {radiance}");
                let is_at_an_edge = !portals.is_empty() && pdf < 0.2 * f64::from(s.pdf);
                assert!(near(pdf, s.pdf.into()) || is_at_an_edge, "{s:?}, not {pdf}");
            }
            assert!(found > 19_900, "{found}");
        }
    }
}

/// Counts of directions over cells of the image, half a texel wide and high.
fn counted(n: u32, direction: impl Fn([u32; 3]) -> Option<Vec3>) -> Vec<f64> {
    let mut counts = vec![0.0; 32 * 16];
    for d in random_words(n).filter_map(direction) {
        let local = turned().transpose() * d;
        let u = 0.5 + f64::from(local.x).atan2(-f64::from(local.z)) / TAU;
        let v = f64::from(local.y).clamp(-1.0, 1.0).acos() / PI;
        counts[((v * 16.0) as usize).min(15) * 32 + ((u * 32.0) as usize).min(31)] += 1.0;
    }
    counts
}

/// Probabilities of these cells, by quadrature of the density.
fn probabilities(pdf: impl Fn(Vec3) -> f64 + Sync) -> Vec<f64> {
    const N: u32 = 24;
    let cell = |i: usize| {
        let (column, row) = ((i % 32) as f64, (i / 32) as f64);
        let mut sum = 0.0;
        for k in 0..N * N {
            let [x, y] = [k % N, k / N].map(|k| (f64::from(k) + 0.5) / f64::from(N));
            let (u, v) = ((column + x) / 32.0, (row + y) / 16.0);
            sum += (PI * v).sin() * pdf(turned() * direction_in_image(u as f32, v as f32));
        }
        sum * TAU * PI / (512.0 * f64::from(N * N))
    };
    (0..512).into_par_iter().map(cell).collect()
}

/// χ² over its degrees of freedom of counts against probabilities, cells of few pooled.
fn reduced_chi2(counts: &[f64], probabilities: &[f64]) -> f64 {
    let (n, total) = (counts.iter().sum::<f64>(), probabilities.iter().sum::<f64>());
    let (mut chi2, mut cells, mut pool) = (0.0, -1.0, (0.0, 0.0));
    for (count, p) in counts.iter().zip(probabilities) {
        pool = (pool.0 + count, pool.1 + p / total * n);
        if pool.1 >= 10.0 {
            chi2 += (pool.0 - pool.1).powi(2) / pool.1;
            cells += 1.0;
            pool = (0.0, 0.0);
        }
    }
    chi2 / cells
}

/// Of 511 degrees of freedom or so, χ² over them has a standard deviation of 0.06.
#[test]
fn samples_are_distributed_as_the_density_says() {
    for (name, environment, p) in [
        ("plain", grey(&uneven(20.0), 16, &[]), Vec3::ZERO),
        ("black rows", grey(&between_black_rows(20.0), 16, &[]), Vec3::ZERO),
        ("portal", grey(&uneven(20.0), 16, &[window()]), Vec3::ZERO),
        ("two portals", grey(&uneven(20.0), 16, &[window(), beside()]), Vec3::ZERO),
    ] {
        let counts = counted(400_000, |bits| Some(sample(&environment, p, bits)?.wi));
        let expected = probabilities(|d| pdf(&environment, p, d));
        let found = reduced_chi2(&counts, &expected);
        // The edges of a window cross cells, which midpoints see only roughly.
        let most = if environment.portals.is_empty() { 1.3 } else { 2.0 };
        println!("{name}: {found:.3}");
        assert!(found < most, "{name}: {found}");
        let uniform = probabilities(|_| 0.25 / PI);
        assert!(reduced_chi2(&counts, &uniform) > 20.0, "control: uniform");
    }
}

/// E[x] and its variance for one sample, of x = f·|cos|/pdf on a floor that faces +z in the frame of the image.
fn estimate(n: u32, f: impl Fn([u32; 3]) -> f64) -> [f64; 2] {
    let (mut sum, mut sum2) = (0.0, 0.0);
    for bits in random_words(n) {
        let x = f(bits);
        (sum, sum2) = (sum + x, sum2 + x * x);
    }
    let mean = sum / f64::from(n);
    [mean, sum2 / f64::from(n) - mean * mean]
}

/// Irradiance of a floor that faces the sun, of one texel and 10⁵ times the sky: the variance of one sample, over the
/// square of the mean, of uniform directions and of ours.
#[test]
fn a_sun_is_found() {
    const WIDTH: u32 = 512;
    let mut pixels = vec![1.0; (WIDTH * WIDTH / 2) as usize];
    pixels[(60 * WIDTH + 100) as usize] = 1e5;
    let environment = grey(&pixels, WIDTH, &[]);
    let n = turned() * direction_in_image(130.5 / WIDTH as f32, 70.0 / 255.0);
    let weighed = |li: Vec3, wi: Vec3, pdf: f32| f64::from(li.x * wi.dot(n).max(0.0) / pdf);
    let [mean, variance] = estimate(200_000, |bits| {
        sample(&environment, Vec3::ZERO, bits).map_or(0.0, |s| weighed(s.li, s.wi, s.pdf))
    });
    let [uniform_mean, uniform_variance] = estimate(2_000_000, |[x, y, _]| {
        let u = Vec2::new(device::rng::uniform(x), device::rng::uniform(y));
        let wi = device::sampling::sample_uniform_sphere(u);
        weighed(radiance_from(&environment, wi), wi, 0.25 / PI as f32)
    });
    let relative = |variance: f64, mean: f64| variance / (mean * mean);
    println!(
        "mean {mean:.3}, uniformly {uniform_mean:.3}; variance of one sample over mean²: {:.3}, uniformly {:.0}",
        relative(variance, mean),
        relative(uniform_variance, uniform_mean)
    );
    // By integration: the sky gives π, and the tent of the sun the area of one texel.
    let sin = (PI * 60.0 / 255.0).sin();
    let sun = (1e5 - 1.0) * TAU / f64::from(WIDTH) * PI / 255.0 * sin;
    let d = turned() * direction_in_image(100.5 / WIDTH as f32, 60.0 / 255.0);
    let expected = PI + sun * f64::from(d.dot(n));
    assert!((mean / expected - 1.0).abs() < 0.01, "{mean}, not {expected}");
    assert!(relative(variance, mean) < 1.0 && relative(uniform_variance, uniform_mean) > 1000.0);
}

/// Irradiance at a point of a room that is lit through a window alone: the variance of one sample, over the square of the
/// mean, of directions drawn uniformly, by the image, and through the portal.
#[test]
fn portals_find_windows() {
    let portal = window();
    let [x, y, z] = axes(&portal);
    let (plain, windowed) = (grey(&uneven(1e3), 16, &[]), grey(&uneven(1e3), 16, &[portal]));
    let p = -1.5 * z + 0.8 * x - 0.5 * y;
    let is_seen = |wi: Vec3| {
        let t = (portal.corner - p).dot(z) / wi.dot(z);
        let at = p + t * wi - portal.corner;
        let within = |axis: Vec3, edge: Vec3| (0.0..=edge.length()).contains(&at.dot(axis));
        t > 0.0 && within(x, portal.edges[0]) && within(y, portal.edges[1])
    };
    let n = (z + 0.5 * y).normalize();
    let weighed = |li: Vec3, wi: Vec3, pdf: f32| {
        if is_seen(wi) { f64::from(li.x * wi.dot(n).max(0.0) / pdf) } else { 0.0 }
    };
    let of = |environment: &ImageEnvironment| {
        estimate(200_000, |bits| sample(environment, p, bits).map_or(0.0, |s| weighed(s.li, s.wi, s.pdf)))
    };
    let uniform = estimate(2_000_000, |[x, y, _]| {
        let u = Vec2::new(device::rng::uniform(x), device::rng::uniform(y));
        let wi = device::sampling::sample_uniform_sphere(u);
        weighed(radiance_from(&plain, wi), wi, 0.25 / PI as f32)
    });
    let [plain, windowed] = [of(&plain), of(&windowed)];
    let relative = |[mean, variance]: [f64; 2]| variance / (mean * mean);
    println!(
        "means {:.4}, {:.4}, {:.4}; variance of one sample over mean²: {:.2} uniformly, {:.2} by the image, {:.2} through the portal",
        uniform[0],
        plain[0],
        windowed[0],
        relative(uniform),
        relative(plain),
        relative(windowed)
    );
    for ([a, variance_a], n) in [(uniform, 2e6), (plain, 2e5)] {
        let error = (variance_a / n + windowed[1] / 2e5).sqrt();
        assert!((a - windowed[0]).abs() < 4.0 * error, "{a}, not {}, ± {error}", windowed[0]);
    }
    assert!(relative(plain) > 2.0 * relative(windowed) && relative(uniform) > 20.0 * relative(windowed));
}

#[test]
fn black_images_are_no_light() {
    assert!(ImageEnvironment::new(vec![Vec3::ZERO; 8], 4, Mat3::IDENTITY, &[]).is_none());
    assert!(ImageEnvironment::new(vec![Vec3::X; 8], 4, Mat3::IDENTITY, &[]).is_some(), "control");
}

/// One bright cell of the table of a portal beside the darkest: each has the weight it should, exactly.
#[test]
fn weights_of_portals_are_kept_over_fifteen_decades() {
    let mut entries = Vec::new();
    let weight = |x: u32, y: u32| if [x, y] == [700, 300] { 1e15 } else { 1.0 };
    let (table, total) = weigh(&mut entries, 1024, 512, weight).unwrap();
    integrate(&mut entries, table);
    // SAFETY: the entries are the table's.
    let found = unsafe { table.entries(entries.as_ptr()) };
    let unit = total / 2_f64.powi(53);
    for cell in [[0, 0], [1023, 511], [700, 299], [700, 300], [701, 300]] {
        let expected = weight(cell[0], cell[1]);
        assert!((found.weight(cell) as f64 * unit / expected - 1.0).abs() < 0.1, "{cell:?}");
    }
}
