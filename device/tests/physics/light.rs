//! Lights: whether densities are densities over solid angle, by solid angles and fluxes in closed form.

use std::f64::consts::{PI, TAU};

use device::light::{GuideEntry, Light, LightSample, Lighting, select};
use device::shape::triangle;
use glam::{Vec2, Vec3};

use crate::common::statistics::{Verdicts, chi2_uniform};
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, adversarial_u, empty_scene, turn};

const LE: Vec3 = Vec3::new(3.0, 2.0, 1.0);
const PMF: f32 = 0.25;

fn triangle_light([a, b, c]: [Vec3; 3], flags: u32) -> Light {
    let area = 0.5 * (wide(b) - wide(a)).cross(wide(c) - wide(a)).length();
    let extent = triangle::extent([a, b, c]);
    Light { a, kind_flags: Light::TRIANGLE | flags, b, pmf: PMF, c, area: area as f32, le: LE, extent }
}

fn sphere_light(center: Vec3, radius: f32, flags: u32) -> Light {
    Light {
        a: center,
        kind_flags: Light::SPHERE | flags,
        b: Vec3::new(radius, 0.0, 0.0),
        pmf: PMF,
        c: Vec3::ZERO,
        area: (2.0 * TAU * f64::from(radius).powi(2)) as f32,
        le: LE,
        extent: center.abs().max_element() + radius,
    }
}

const ENVIRONMENT: Light = Light {
    a: Vec3::ZERO,
    kind_flags: Light::ENVIRONMENT,
    b: Vec3::ZERO,
    pmf: PMF,
    c: Vec3::ZERO,
    area: 0.0,
    le: LE,
    extent: 0.0,
};

/// Solid angle of a triangle (Van Oosterom & Strackee 1983, eq. 8).
fn solid_angle(p: Vec3, vertices: [Vec3; 3]) -> f64 {
    let [a, b, c] = vertices.map(|v| (wide(v) - wide(p)).normalize());
    2.0 * a.dot(b.cross(c)).abs().atan2(1.0 + a.dot(b) + b.dot(c) + c.dot(a))
}

/// ∫ ω dω over a triangle: half the angle of every edge along the normal of its plane (Lambert 1760).
fn vector_flux(p: Vec3, vertices: [Vec3; 3]) -> DVec3 {
    let v = vertices.map(|v| (wide(v) - wide(p)).normalize());
    let edge = |a: DVec3, b: DVec3| 0.5 * a.cross(b).length().atan2(a.dot(b)) * a.cross(b).normalize();
    let sum = edge(v[0], v[1]) + edge(v[1], v[2]) + edge(v[2], v[0]);
    if sum.dot(v[0] + v[1] + v[2]) < 0.0 { -sum } else { sum }
}

/// 1 − cos of the cone that a sphere fills, and ∫ ω dω over it.
fn cone(p: Vec3, center: Vec3, radius: f32) -> (f64, DVec3) {
    let to_center = wide(center) - wide(p);
    let sin2 = (f64::from(radius) / to_center.length()).powi(2);
    (sin2 / (1.0 + (1.0 - sin2).sqrt()), PI * sin2 * to_center.normalize())
}

/// Samples on a grid with a random point in every stratum.
fn samples(light: &Light, p: Vec3, n: usize) -> impl Iterator<Item = Option<LightSample>> {
    let mut random = Random::new(3);
    (0..n * n).map(move |k| {
        let u = Vec2::new((k / n) as f32 + random.f32(), (k % n) as f32 + random.f32()) / n as f32;
        light.sample_li(p, u.min(Vec2::splat(1.0 - 6e-8)))
    })
}

/// E[1/pdf] and E[wi/pdf], the choice of the light left out: its solid angle, and ∫ ω dω over it.
fn moments(light: &Light, p: Vec3) -> (f64, DVec3) {
    const N: usize = 256;
    let (mut angle, mut flux) = (0.0, DVec3::ZERO);
    for s in samples(light, p, N).flatten() {
        let weight = f64::from(light.pmf) / f64::from(s.pdf) / (N * N) as f64;
        assert!(s.pdf > 0.0 && weight.is_finite() && s.li == LE, "{s:?}");
        assert!((wide(s.wi).length() - 1.0).abs() < 3e-7, "{s:?}");
        angle += weight;
        flux = flux + weight * wide(s.wi);
    }
    (angle, flux)
}

fn assert_moments(what: &str, light: &Light, p: Vec3, angle: f64, flux: DVec3, tolerance: f64) {
    let (a, f) = moments(light, p);
    assert!((a / angle - 1.0).abs() < tolerance, "{what}: solid angle {a}, not {angle}");
    assert!((f - flux).length() < tolerance.max(1e-4) * angle, "{what}: flux {f:?}, not {flux:?}");
}

/// Triangles around points they are seen from: (vertices, p).
fn triangles() -> Vec<([Vec3; 3], Vec3)> {
    let mut random = Random::new(4);
    let mut vertex = |size: f64| (size * random.in_cube()).to_f32();
    let mut all: Vec<_> = (0..20).map(|_| ([vertex(1.0), vertex(1.0), vertex(1.0)], vertex(3.0))).collect();
    all.extend((0..5).map(|_| ([vertex(1e-3), vertex(1e-3), vertex(1e-3)], vertex(10.0))));
    // At a twentieth of its size above the middle of one.
    all.push(([Vec3::ZERO, Vec3::X, Vec3::Y], Vec3::new(0.3, 0.3, 0.05)));
    all
}

#[test]
fn triangles_have_their_solid_angle_and_flux() {
    for (vertices, p) in triangles() {
        let light = triangle_light(vertices, Light::TWO_SIDED);
        let angle = solid_angle(p, vertices);
        assert_moments("triangle", &light, p, angle, vector_flux(p, vertices), 2e-3);
    }
}

/// Spheres from outside: (centre, radius, p).
fn spheres() -> Vec<(Vec3, f32, Vec3)> {
    let c = Vec3::new(0.3, -0.2, 0.5);
    let axis = Vec3::new(0.48, 0.6, -0.64);
    let mut all: Vec<_> = [1.01, 1.1, 2.0, 10.0, 1000.0].map(|r| (c, 1.0, c + r * axis)).to_vec();
    all.extend([1.001, 1.0001].map(|r| (Vec3::ZERO, 1.0, r * axis)));
    all.extend([
        (Vec3::ZERO, 1e-3, 1e3 * axis),
        (Vec3::ZERO, 1e-3, 30.0 * axis),
        (1e3 * axis, 0.1, Vec3::ZERO),
    ]);
    all
}

#[test]
fn spheres_have_the_solid_angle_and_flux_of_their_cone() {
    for (center, radius, p) in spheres() {
        let (one_minus_cos, flux) = cone(p, center, radius);
        let light = sphere_light(center, radius, 0);
        // Next to the surface the cone's width follows from 1 − sin², of which f32 has few digits.
        let close = f64::from(radius) / ((wide(p) - wide(center)).length() - f64::from(radius));
        let what = format!("sphere of {radius} at {p}");
        assert_moments(&what, &light, p, TAU * one_minus_cos, flux, 2e-5 + 1e-7 * close);
        assert!(samples(&light, p, 64).all(|s| s.is_some()), "{what}: all of the cone sees it");
    }
}

#[test]
fn spheres_fill_the_sphere_of_directions_from_inside() {
    for (offset, tolerance) in [(0.0, 1e-6), (0.5, 1e-3), (0.9, 2e-2)] {
        for flags in [Light::FLIPPED, Light::TWO_SIDED] {
            let light = sphere_light(Vec3::ONE, 2.0, flags);
            let p = Vec3::ONE + 2.0 * offset * Vec3::new(0.6, 0.0, 0.8);
            assert_moments("inside", &light, p, 2.0 * TAU, DVec3::ZERO, tolerance);
        }
    }
}

#[test]
fn the_environment_is_all_directions() {
    assert_moments("environment", &ENVIRONMENT, Vec3::ONE, 2.0 * TAU, DVec3::ZERO, 1e-5);
    assert!(samples(&ENVIRONMENT, Vec3::ONE, 8).flatten().all(|s| s.target.is_none()));
    let pdf = f64::from(ENVIRONMENT.pdf_li(Vec3::ONE, f32::INFINITY, 1.0));
    assert!((pdf * 2.0 * TAU - f64::from(PMF)).abs() < 1e-7);
}

#[test]
fn control_wrong_densities_are_rejected() {
    let (vertices, p) = triangles()[0];
    let angle = solid_angle(p, vertices);
    // A triangle that is larger by one percent, and a density over area instead of solid angle.
    let corner = vertices[0];
    let light = triangle_light(vertices.map(|v| corner + 1.01 * (v - corner)), Light::TWO_SIDED);
    assert!((moments(&light, p).0 / angle - 1.0).abs() > 5e-3);
    assert!((f64::from(light.area) / angle - 1.0).abs() > 5e-3);
    // A cone through the sphere's outline as seen from the wrong distance.
    let light = sphere_light(Vec3::ZERO, 1.001, 0);
    let expected = TAU * cone(Vec3::X * 3.0, Vec3::ZERO, 1.0).0;
    assert!((moments(&light, Vec3::X * 3.0).0 / expected - 1.0).abs() > 1e-3);
}

/// Following a ray agrees with sampling: same light, same direction, same density.
#[test]
fn density_of_a_direction_is_that_of_its_sample() {
    let mut lights: Vec<(Light, Vec3)> =
        triangles().into_iter().map(|(v, p)| (triangle_light(v, Light::TWO_SIDED), p)).collect();
    lights.extend(spheres().into_iter().map(|(c, r, p)| (sphere_light(c, r, 0), p)));
    lights.push((sphere_light(Vec3::ONE, 2.0, Light::FLIPPED), Vec3::new(1.0, 2.0, 0.0)));
    for (light, p) in lights {
        for s in samples(&light, p, 40).flatten() {
            let target = s.target.expect("it is a surface");
            let (to_light, n) = (wide(target.p) - wide(p), wide(target.n));
            let cos = n.dot(to_light.normalize());
            let what = format!("{light:?} from {p}: {s:?}");
            assert!((n.length() - 1.0).abs() < 3e-7, "{what}");
            // Directions in f32, and the place on tiny spheres far away, have an error of an ulp of the distance.
            let ulp = 3e-7 * (to_light.length() + f64::from(light.a.length()));
            assert!(
                (to_light - to_light.length() * wide(s.wi)).length() < ulp + 1e-6 / cos.abs().max(1e-3),
                "{what}"
            );
            assert!(cos < ulp / extent(&light), "n is on the side looked at: {what}");
            if cos.abs() > 0.01 {
                let pdf = light.pdf_li(p, to_light.length() as f32, cos as f32);
                assert!((f64::from(pdf) / f64::from(s.pdf) - 1.0).abs() < 1e-4, "{pdf} {what}");
            }
        }
    }
}

fn extent(light: &Light) -> f64 {
    if light.kind_flags & 0xff == Light::SPHERE { light.b.x.into() } else { f64::from(light.area).sqrt() }
}

/// A small light far away still is where it is, as precisely as f32 can say.
#[test]
fn tiny_spheres_far_away_are_hit_at_their_surface() {
    let light = sphere_light(Vec3::ZERO, 1e-3, 0);
    let p = Vec3::new(480.0, 600.0, -640.0);
    let mut turns = vec![0; 16];
    for s in samples(&light, p, 200).flatten() {
        let target = wide(s.target.expect("it is a surface").p);
        assert!((target.length() / 1e-3 - 1.0).abs() < 1e-5, "{target:?}");
        let axis = (-wide(p)).normalize();
        let (x, y) = (axis.any_orthonormal(), axis.cross(axis.any_orthonormal()));
        turns[(turn(target.dot(x), target.dot(y)) * 16.0) as usize] += 1;
        let expected = f64::from(PMF) / (TAU * cone(p, Vec3::ZERO, 1e-3).0);
        assert!((f64::from(s.pdf) / expected - 1.0).abs() < 1e-6);
    }
    let mean = 40_000.0 / 16.0;
    assert!(
        turns.iter().all(|&n| (f64::from(n) / mean - 1.0).abs() < 0.2),
        "all around its outline: {turns:?}"
    );
}

#[test]
fn only_the_sides_that_emit_are_seen() {
    let vertices = [Vec3::ZERO, Vec3::X, Vec3::Y]; // its front is +z
    let (front, back) = (Vec3::new(0.2, 0.2, 1.0), Vec3::new(0.2, 0.2, -1.0));
    let u = Vec2::splat(0.3);
    for (flags, from_front, from_back) in
        [(0, true, false), (Light::FLIPPED, false, true), (Light::TWO_SIDED, true, true)]
    {
        let light = triangle_light(vertices, flags);
        assert_eq!(light.sample_li(front, u).is_some(), from_front);
        assert_eq!(light.sample_li(back, u).is_some(), from_back);
        let radiance = |emits| if emits { LE } else { Vec3::ZERO };
        let ng = triangle::area_normal(vertices).normalize();
        assert_eq!(light.le(ng, front.normalize()), radiance(from_front));
        assert_eq!(light.le(ng, back.normalize()), radiance(from_back));
        let sphere = sphere_light(Vec3::ZERO, 1.0, flags);
        assert_eq!(sphere.sample_li(2.0 * Vec3::Z, u).is_some(), from_front);
        assert_eq!(sphere.sample_li(0.5 * Vec3::Z, u).is_some(), from_back);
    }
    // Within its plane there is nothing to be seen of a triangle.
    let light = triangle_light(vertices, Light::TWO_SIDED);
    assert!(light.sample_li(Vec3::new(3.0, 2.0, 0.0), u).is_none());
}

#[test]
fn samples_are_finite_for_all_uniforms() {
    let mut lights: Vec<(Light, Vec3)> =
        triangles().into_iter().map(|(v, p)| (triangle_light(v, Light::TWO_SIDED), p)).collect();
    lights.extend(spheres().into_iter().map(|(c, r, p)| (sphere_light(c, r, 0), p)));
    // On the surface itself, and at a vertex.
    lights.push((sphere_light(Vec3::ZERO, 1.0, Light::TWO_SIDED), Vec3::X));
    lights.push((triangle_light([Vec3::ZERO, Vec3::X, Vec3::Y], Light::TWO_SIDED), Vec3::ZERO));
    for (light, p) in lights {
        for s in adversarial_u().into_iter().filter_map(|u| light.sample_li(p, u)) {
            let target = s.target.expect("it is a surface");
            assert!(s.wi.is_finite() && s.pdf > 0.0 && s.pdf.is_finite(), "{light:?} from {p}: {s:?}");
            assert!(target.p.is_finite() && target.n.is_finite(), "{light:?} from {p}: {s:?}");
        }
    }
}

/// The scene that a table chooses lights for.
fn with_table(table: &[GuideEntry]) -> Lighting {
    let mut scene = empty_scene().lighting;
    (scene.light_table, scene.light_count) = (table.as_ptr(), table.len() as u32 - 1);
    scene
}

/// The light that a word chooses, and the word that is random once more, with a filler of ones.
fn choice(scene: &Lighting, bits: u32) -> (usize, u32) {
    // SAFETY: the table has as many slots as the scene says, and nothing else of the scene is read.
    let (light, rest) = unsafe { select::sample_by_power(scene, scene.light_count, bits, u32::MAX) };
    (light as usize, rest)
}

/// Five lights with the odds 1 : 2 : 3 : 4, and one that a single word chooses, the third. Guides are the lights of the words 0,
/// 1/5, 2/5, 3/5 and 4/5 of all, and of the last.
const TABLE: [GuideEntry; 6] = [
    GuideEntry { first: 0, guide: 0 },
    GuideEntry { first: 0x1999_999a, guide: 1 },
    GuideEntry { first: 0x4ccc_cccd, guide: 3 },
    GuideEntry { first: 0x4ccc_ccce, guide: 3 },
    GuideEntry { first: 0x9999_999a, guide: 4 },
    GuideEntry { first: 0, guide: 4 },
];
const LIGHTS: usize = TABLE.len() - 1;

/// Words by which lights are chosen: evenly spread, and where one light ends and another begins.
fn words() -> impl Iterator<Item = u32> {
    let ends = TABLE.iter().flat_map(|slot| [slot.first.wrapping_sub(1), slot.first, slot.first + 1]);
    (0..1 << 20).map(|i| i << 12).chain(ends)
}

#[test]
fn lights_are_chosen_with_their_probabilities() {
    const N: u32 = 1 << 20;
    let scene = with_table(&TABLE);
    let mut counts = [0_u32; LIGHTS];
    for i in 0..N {
        counts[choice(&scene, i << 12).0] += 1;
    }
    for (count, odds) in counts.iter().zip([1.0, 2.0, 0.0, 3.0, 4.0]) {
        assert!((f64::from(*count) - odds / 10.0 * f64::from(N)).abs() <= 3.0, "{counts:?}");
    }
    for word in words() {
        let expected = TABLE[..LIGHTS].iter().rposition(|slot| slot.first <= word);
        assert_eq!(Some(choice(&scene, word).0), expected, "{word:#x}");
    }
    // Control: probabilities of another order are rejected.
    let mut verdicts = Verdicts::default();
    verdicts.add(chi2_uniform(&counts.map(u64::from)), "uniform");
    verdicts.assert_all_rejected();
}

/// What is left of the word that chose a light is as evenly spread as the word was, and in the same order: points that were
/// stratified are so on every light.
#[test]
fn the_word_that_chose_a_light_is_random_once_more() {
    let scene = with_table(&TABLE);
    let mut rests = [const { Vec::new() }; LIGHTS];
    for i in 0..1 << 20 {
        let (light, rest) = choice(&scene, i << 12);
        rests[light].push(rest);
    }
    for rests in rests.iter().filter(|rests| !rests.is_empty()) {
        let n = rests.len() as f64;
        for (i, rest) in rests.iter().enumerate() {
            let place = (i as f64 + 0.5) / n * 4_294_967_296.0;
            assert!((f64::from(*rest) - place).abs() <= 2.0 / n * 4_294_967_296.0, "{i} of {n}: {rest}");
        }
    }
    // The lowest byte is the filler's; and a single light leaves the word as it was.
    assert!(rests.iter().flatten().all(|rest| rest & 0xff == 0xff));
    let one = with_table(&[GuideEntry { first: 0, guide: 0 }; 2]);
    assert_eq!(choice(&one, 0x1234_5678), (0, 0x1234_5678));
}

/// Side by side, words choose what they choose alone.
#[test]
fn words_side_by_side_choose_as_alone() {
    let scene = with_table(&TABLE);
    for word in words() {
        let mut bits = [word, !word, word.rotate_left(7), word.wrapping_mul(0x9e37_79b9)];
        let alone = bits.map(|bits| choice(&scene, bits));
        // SAFETY: as in `choice`.
        let lights = unsafe { select::sample_few(&scene, &mut bits, &[u32::MAX; 4]) };
        assert_eq!([0, 1, 2, 3].map(|i| (lights[i] as usize, bits[i])), alone);
    }
}

/// What has no words is never chosen, be it the first, in between or the last: of the odds 0 : 1 : 0 : 3 : 0.
#[test]
fn what_has_no_words_is_never_chosen() {
    let entries = [(0, 1), (0, 1), (0x4000_0000, 3), (0x4000_0000, 3), (0, 3), (0, 3)];
    let table = entries.map(|(first, guide)| GuideEntry { first, guide });
    let scene = with_table(&table);
    for (word, light) in [(0, 1), (0x3fff_ffff, 1), (0x4000_0000, 3), (0x8000_0000, 3), (u32::MAX, 3)] {
        assert_eq!(choice(&scene, word).0, light, "{word:#x}");
    }
    // What is left of a word goes up to the last, though nothing begins after it.
    assert!(choice(&scene, u32::MAX).1 > 0xffff_0000);
}

/// However many lights there are, the first and the last are drawn, and nothing beyond.
#[test]
fn the_last_of_many_lights_is_in_range() {
    for n in [2, 3, 1000, 1 << 20_u64] {
        // All lights are alike: the first word of every part chooses the light of the same number.
        let entry = |i: u64| GuideEntry { first: (i << 32).div_ceil(n) as u32, guide: i.min(n - 1) as u32 };
        let table: Vec<_> = (0..=n).map(entry).collect();
        let scene = with_table(&table);
        let (last, rest) = choice(&scene, u32::MAX);
        assert_eq!((choice(&scene, 0).0, last), (0, n as usize - 1));
        assert!(rest > u32::MAX / 2);
    }
}
