//! Normal and bump maps against displaced surfaces in f64, and what keeps perturbed normals physical.

use std::f64::consts::{PI, TAU};

use device::features::Full;
use device::material::normal::{self, Parameterization, Terminator, bent};
use device::material::texture::{Channel, Filter, Format, Texture, Wrap};
use device::material::{At, Header};
use device::scene::SceneView;
use glam::{Vec2, Vec3};

use crate::common::vector::{DVec3, wide};
use crate::common::{Random, empty_scene, polar};

/// Has `look` look at a scene with one texture of floats, 0, that covers the unit square.
fn with<T>(width: u32, texels: &[Vec3], look: impl FnOnce(&SceneView) -> T) -> T {
    let words: Vec<u32> = texels.iter().flat_map(|t| t.to_array().map(f32::to_bits)).collect();
    let texture = Texture {
        image_from_uv: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        first: 0,
        width,
        height: texels.len() as u32 / width,
        kind: Texture::kind([Wrap::Clamp; 2], Format::RgbF32, Channel::Rgb),
        op: Texture::image_op(Filter::Linear, 0),
        reserved: 0,
    };
    let mut scene = empty_scene();
    (scene.textures, scene.texels) = (&raw const texture, words.as_ptr());
    look(&scene)
}

/// The normal after a map, at texture coordinates.
///
/// # Safety
/// As [`normal::perturbed`].
unsafe fn perturbed(
    scene: &SceneView,
    header: &Header,
    uv: Vec2,
    ns: Vec3,
    front: bool,
    by: &Parameterization,
) -> Vec3 {
    // SAFETY: as the caller promised.
    unsafe { normal::perturbed(&At { front, ..At::new(scene, uv) }, header, ns, by) }
}

/// Maps of texture 0.
fn header(flags: u32, scale: f32) -> Header {
    Header { flags, normal_map: 0, normal_scale: scale, ..Header::PLAIN }
}

/// A picture of 8 by 8 heights that grow by `slope` across it, and are 0 at `at`.
fn ramp(slope: [f64; 2], at: [f64; 2]) -> Vec<Vec3> {
    let texel = |i: u32| {
        let [u, v] = [f64::from(i % 8), f64::from(i / 8)].map(|x| (x + 0.5) / 8.0);
        Vec3::splat((slope[0] * (u - at[0]) + slope[1] * (v - at[1])) as f32)
    };
    (0..64).map(texel).collect()
}

/// How a surface lies around a point: normal, ∂p/∂u, ∂p/∂v.
#[derive(Clone, Copy)]
struct Patch {
    n: DVec3,
    du: DVec3,
    dv: DVec3,
}

impl Patch {
    /// Turned, sheared and mirrored by chance; a vertex normal may lean away from the plane.
    fn random(random: &mut Random) -> Self {
        let size = random.power_of_ten(-3.0, 3.0);
        let du = size * random.direction();
        let dv = size * random.power_of_ten(-1.0, 1.0) * random.direction();
        Self { n: random.direction(), du, dv }
    }

    /// Sine of the angle between the axes, times the cosine of that between their plane and the normal.
    fn flatness(&self) -> f64 {
        self.n.dot(self.du.cross(self.dv)).abs() / (self.du.length() * self.dv.length())
    }

    fn parameterization(&self) -> Parameterization {
        Parameterization { dp_du: self.du.to_f32(), dp_dv: self.dv.to_f32() }
    }

    /// Normal of the surface raised along `n` by heights that are 0 here and have the gradient `slope`: across both of
    /// its tangents, on the side of `n`. Where `n` leans away from the plane it stands for a smooth surface, whose
    /// tangents are across it.
    fn displaced(&self, slope: [f64; 2]) -> DVec3 {
        let raised = |d: DVec3, slope: f64| d - d.dot(self.n) * self.n + slope * self.n;
        let normal = raised(self.du, slope[0]).cross(raised(self.dv, slope[1]));
        let sign = self.n.dot(self.du.cross(self.dv)).signum();
        sign * normal.normalize()
    }
}

/// Largest error of the normals that `bumped` yields of patches, slopes and sides by chance.
fn bump_error(bumped: impl Fn(&SceneView, f32, Vec2, Vec3, bool, &Parameterization) -> Vec3) -> f64 {
    let (mut random, mut worst, mut seen) = (Random::new(1), 0.0_f64, 0);
    for i in 0..20_000 {
        let patch = Patch::random(&mut random);
        if patch.flatness() < 0.05 {
            continue;
        }
        seen += 1;
        let at = [(); 2].map(|()| random.within(0.1, 0.9));
        let steepness = patch.du.length() * random.power_of_ten(-2.0, 0.7);
        let slope = [(); 2].map(|()| steepness * random.within(-1.0, 1.0));
        let (scale, front) = (if i % 2 == 0 { 1.0 } else { -0.5 }, i % 3 != 0);
        let side = if front { 1.0 } else { -1.0 };
        let uv = Vec2::new(at[0] as f32, at[1] as f32);
        let found = with(8, &ramp(slope, at), |scene| {
            bumped(scene, scale, uv, (side * patch.n).to_f32(), front, &patch.parameterization())
        });
        // From behind, the same surface has the opposite normal.
        let expected = side * patch.displaced(slope.map(|s| s * f64::from(scale)));
        worst = worst.max((wide(found) - expected).length());
    }
    assert!(seen > 10_000, "{seen} prove nothing");
    worst
}

#[test]
fn bump_maps_have_the_normals_of_displaced_surfaces() {
    // SAFETY: the scene has the texture.
    let worst = bump_error(|scene, scale, uv, ns, front, by| unsafe {
        perturbed(scene, &header(Header::BUMP, scale), uv, ns, front, by)
    });
    println!("off by {worst:e}");
    assert!(worst < 1e-3, "off by {worst}");
}

#[test]
fn control_other_bump_maps_are_rejected() {
    // SAFETY: the scene has the texture.
    let bumped = |scene: &SceneView, scale, uv, ns, front, by: &Parameterization| unsafe {
        perturbed(scene, &header(Header::BUMP, scale), uv, ns, front, by)
    };
    let hollow = bump_error(|scene, scale, uv, ns, front, by| bumped(scene, -scale, uv, ns, front, by));
    assert!(hollow > 0.1, "hollow for raised");
    let one_side = bump_error(|scene, scale, uv, ns, _, by| bumped(scene, scale, uv, ns, true, by));
    assert!(one_side > 0.1, "raised on both sides");
    let steeper =
        bump_error(|scene, scale, uv, ns, front, by| bumped(scene, 1.01 * scale, uv, ns, front, by));
    assert!(steeper > 3e-3, "1 % too high");
    let square = bump_error(|scene, scale, uv, ns, front, by| {
        let dp_dv = ns.cross(by.dp_du) * if ns.cross(by.dp_du).dot(by.dp_dv) < 0.0 { -1.0 } else { 1.0 };
        bumped(scene, scale, uv, ns, front, &Parameterization { dp_dv, ..*by })
    });
    assert!(square > 0.1, "∂p/∂v for a vector across ∂p/∂u");
}

/// A sphere raised by a·sin and b·cos of its coordinates where that is 0, and its normal by finite differences of the
/// displaced points. The picture holds the heights themselves, so that what is between texels counts as well.
#[test]
fn bumped_spheres_have_the_normals_of_displaced_spheres() {
    const N: u32 = 512;
    let (r, waves, high) = (1.3, [3.0, 2.0], 0.02);
    let height = |u: f64, v: f64| high * (TAU * waves[0] * u).sin() * (TAU * waves[1] * v).cos();
    let texel = |i: u32| {
        let [u, v] = [i % N, i / N].map(|x| (f64::from(x) + 0.5) / f64::from(N));
        Vec3::splat(height(u, v) as f32)
    };
    let texels: Vec<_> = (0..N * N).map(texel).collect();
    let point = |u: f64, v: f64| (r + height(u, v)) * polar((PI * v).cos(), TAU * u);
    let mut worst = 0.0_f64;
    with(N, &texels, |scene| {
        for i in 1..6 {
            for v in [0.2, 0.35, 0.5, 0.7, 0.8] {
                // Where the height is 0, nothing is left out by having the base's tangents for those of the surface.
                let u = f64::from(i) / (2.0 * waves[0]);
                let h = 1e-5;
                let by_u = (point(u + h, v) - point(u - h, v)) / (2.0 * h);
                let by_v = (point(u, v + h) - point(u, v - h)) / (2.0 * h);
                let expected = by_v.cross(by_u).normalize();
                let n = polar((PI * v).cos(), TAU * u);
                let theta = PI * v;
                let dp_du = (TAU * r * theta.sin()) * DVec3::new(-(TAU * u).sin(), (TAU * u).cos(), 0.0);
                let dp_dv = (PI * r)
                    * DVec3::new(theta.cos() * (TAU * u).cos(), theta.cos() * (TAU * u).sin(), -theta.sin());
                let by = Parameterization { dp_du: dp_du.to_f32(), dp_dv: dp_dv.to_f32() };
                let uv = Vec2::new(u as f32, v as f32);
                // SAFETY: the scene has the texture.
                let found =
                    unsafe { perturbed(scene, &header(Header::BUMP, 1.0), uv, n.to_f32(), true, &by) };
                let expected = if expected.dot(n) < 0.0 { -expected } else { expected };
                worst = worst.max((wide(found) - expected).length());
                assert!((expected - n).length() > 0.01, "hardly a bump");
            }
        }
    });
    println!("off by {worst:e}");
    assert!(worst < 2e-3, "off by {worst}");
}

/// Largest error of normals by maps that are made of heights the way that tools make them, with green up or down in the
/// image or across the surface, on patches whose axes are square; if the map is taken for one of the kind `taken_for`
/// its own.
fn map_error(taken_for: impl Fn(u32) -> u32) -> f64 {
    let (mut random, mut worst) = (Random::new(2), 0.0_f64);
    for i in 0..5000 {
        let n = random.direction();
        let x = n.any_orthonormal();
        let (s, c) = random.within(0.0, TAU).sin_cos();
        let across = c * x + s * n.cross(x);
        // The image may be seen in a mirror on the surface.
        let mirrored = if i % 2 == 0 { -1.0 } else { 1.0 };
        let size = random.power_of_ten(-3.0, 3.0);
        let patch = Patch { n, du: size * across, dv: (-mirrored * size) * n.cross(across) };
        let slope = [(); 2].map(|()| random.within(-2.0, 2.0));
        let expected = patch.displaced(slope.map(|s| s * size));
        // v, and with it the slope along v, grows downwards in the image.
        for (flags, green) in
            [(0, slope[1]), (Header::Y_DOWN, -slope[1]), (Header::Y_ACROSS, mirrored * slope[1])]
        {
            let normal = DVec3::new(-slope[0], green, 1.0).normalize();
            let texel = (0.5 * (normal + DVec3::new(1.0, 1.0, 1.0))).to_f32();
            let header = header(taken_for(flags), 1.0);
            for (front, side) in [(true, 1.0), (false, -1.0)] {
                let (ns, by) = ((side * n).to_f32(), patch.parameterization());
                // SAFETY: the scene has the texture.
                let found = with(1, &[texel], |scene| unsafe {
                    perturbed(scene, &header, Vec2::ZERO, ns, front, &by)
                });
                worst = worst.max((wide(found) - side * expected).length());
            }
        }
    }
    worst
}

#[test]
fn normal_maps_turn_normals_as_the_heights_that_they_are_made_of() {
    let worst = map_error(|flags| flags);
    println!("off by {worst:e}");
    assert!(worst < 1e-5, "off by {worst}");
}

#[test]
fn control_other_ways_of_green_are_rejected() {
    for wrong in [0, Header::Y_DOWN, Header::Y_ACROSS] {
        assert!(map_error(|_| wrong) > 1.0);
    }
}

/// Strength scales the slopes; nothing, where it is 0.
#[test]
fn strength_scales_the_slopes_of_normal_maps() {
    let texel = 0.5 * (Vec3::new(0.48, -0.64, 0.6) + Vec3::ONE);
    let by = Parameterization { dp_du: Vec3::X, dp_dv: -Vec3::Y };
    for scale in [-2.0, 0.0, 0.5, 1.0, 3.0_f32] {
        // SAFETY: the scene has the texture.
        let found = with(1, &[texel], |scene| unsafe {
            perturbed(scene, &header(0, scale), Vec2::ZERO, Vec3::Z, true, &by)
        });
        let slope = Vec2::new(found.x, found.y) / found.z;
        assert!((slope - scale * Vec2::new(0.8, -0.64 / 0.6)).length() < 1e-5, "{slope} at {scale}");
    }
}

/// Patches and texels beyond what makes sense: the normal is of unit length all the same.
#[test]
fn perturbed_normals_are_of_unit_length() {
    let sizes = [0.0, 1e-30, 1e-12, 1.0, 1e12, 1e25, f32::INFINITY, f32::NAN];
    let directions = [Vec3::X, -Vec3::Y, Vec3::Z, Vec3::new(0.6, 0.8, 0.0)];
    let texels = [Vec3::ZERO, Vec3::splat(0.5), Vec3::ONE, Vec3::splat(1e9), Vec3::new(0.5, 0.5, 1.0)];
    for (texel, other) in texels.iter().flat_map(|a| texels.map(|b| (*a, b))) {
        with(2, &[texel, other], |scene| {
            for flags in [0, Header::Y_DOWN, Header::Y_ACROSS, Header::BUMP] {
                for (su, du) in sizes.iter().flat_map(|s| directions.map(|d| (*s, d))) {
                    for (sv, dv) in sizes.iter().flat_map(|s| directions.map(|d| (*s, d))) {
                        for scale in [1.0, 1e6] {
                            let by = Parameterization { dp_du: su * du, dp_dv: sv * dv };
                            let header = header(flags, scale);
                            // SAFETY: the scene has the texture.
                            let n =
                                unsafe { perturbed(scene, &header, Vec2::splat(0.5), Vec3::Z, true, &by) };
                            assert!((n.length() - 1.0).abs() < 1e-5, "{n}: {texel} {other} {by:?} {flags}");
                        }
                    }
                }
            }
        });
    }
}

/// (ns, ng, wo) by chance, some of them grazing.
fn situation(random: &mut Random) -> [DVec3; 3] {
    let ng = random.direction();
    let x = ng.any_orthonormal();
    let above = |z: f64, phi: f64| {
        let p = polar(z, phi);
        (p.x * x + p.y * ng.cross(x) + p.z * ng).normalize()
    };
    let z = if random.f64() < 0.5 { random.f64() } else { random.power_of_ten(-5.0, -1.0) };
    let wo = above(z, random.within(0.0, TAU));
    [above(random.within(-0.2, 1.0), random.within(0.0, TAU)), ng, wo]
}

#[test]
fn bent_normals_reflect_above_the_surface() {
    let mut random = Random::new(3);
    let (mut lowest, mut changed) = (f32::INFINITY, 0);
    for _ in 0..1_000_000 {
        let [ns, ng, wo] = situation(&mut random).map(DVec3::to_f32);
        let n = bent(ns, ng, wo);
        assert!((n.length() - 1.0).abs() < 1e-5 && n.dot(wo) > 0.0, "{n} for {ns}, {ng}, {wo}");
        let height = (2.0 * wo.dot(n) * n - wo).dot(ng);
        // The lower wo is, the more of the bisector cancels: n is off by some 10⁻⁷ over the sine of its height.
        assert!(height > -1e-3, "{height} below the surface");
        lowest = if wo.dot(ng) > 1e-2 { lowest.min(height / wo.dot(ng).min(0.01)) } else { lowest };
        let keeps = (2.0 * wo.dot(ns) * ns - wo).dot(ng) > 0.01 && wo.dot(ns) > 0.0;
        assert!(!keeps || n == ns, "{ns} reflects above the surface, and becomes {n}");
        changed += u32::from(n != ns);
    }
    println!("lowest {lowest}, {changed} changed");
    assert!(lowest > 0.8, "a reflection is {lowest} times as high as it should be");
    assert!(changed > 100_000, "{changed} prove nothing");
}

/// No jumps: where the normal turns by a thousandth, what it becomes turns by little, but near where it sends light
/// straight down, and could be bent to any side.
#[test]
fn bent_normals_are_continuous() {
    let mut random = Random::new(4);
    for _ in 0..300_000 {
        let [ns, ng, wo] = situation(&mut random);
        let other = (ns + 1e-4 * random.direction()).normalize();
        let reflected = 2.0 * wo.dot(ns) * ns - wo;
        let from_pole = reflected.cross(ng).length();
        if from_pole < 0.1 || wo.dot(ng) < 0.01 {
            continue;
        }
        let step = (bent(ns.to_f32(), ng.to_f32(), wo.to_f32())
            - bent(other.to_f32(), ng.to_f32(), wo.to_f32()))
        .length();
        // Opposite directions have no bisector to speak of: it turns faster the lower both are.
        let bound = 1e-4 * 40.0 / (from_pole * wo.dot(ng));
        assert!(f64::from(step) < bound, "{step} > {bound}: {ns:?} {other:?} {ng:?} {wo:?}");
    }
}

#[test]
fn what_is_flat_stays_flat() {
    let mut random = Random::new(5);
    for _ in 0..100_000 {
        let [_, ng, wo] = situation(&mut random).map(DVec3::to_f32);
        assert_eq!(bent(ng, ng, wo), ng, "{wo}");
    }
}

/// G1 of GGX, 1/(1 + Λ), from tan θ.
fn shadowing(tan_d: f64, tan_i: f64) -> f64 {
    let alpha = (0.125_f64.sqrt() * tan_d).min(1.0);
    let lambda = 0.5 * ((1.0 + (alpha * tan_i).powi(2)).sqrt() - 1.0);
    1.0 / (1.0 + lambda)
}

#[test]
fn terminators_are_the_shadowing_of_microfacets() {
    let mut random = Random::new(6);
    for _ in 0..100_000 {
        let n = random.direction();
        let x = n.any_orthonormal();
        let about = |cos: f64, phi: f64| {
            let p = polar(cos, phi);
            p.x * x + p.y * n.cross(x) + p.z * n
        };
        let (cos_d, cos_i) = (random.within(0.05, 1.0), random.within(0.01, 1.0));
        let tan = |c: f64| (1.0 - c * c).sqrt() / c;
        let ns = about(cos_d, random.within(0.0, TAU)).to_f32();
        let wi = about(cos_i, random.within(0.0, TAU)).to_f32();
        let found = Terminator::new(n.to_f32(), ns).shadowing::<Full>(wi);
        let expected = shadowing(tan(cos_d), tan(cos_i));
        assert!((f64::from(found) - expected).abs() < 1e-4, "{found}, not {expected} at {cos_d} {cos_i}");
        let wrong = shadowing(1.1 * tan(cos_d), tan(cos_i));
        let tells = (0.35..0.9).contains(&cos_d) && cos_i < 0.3;
        assert!(!tells || (expected - wrong).abs() > 1e-4, "control");
    }
}

#[test]
fn terminators_let_everything_pass_where_nothing_is_perturbed_and_are_the_same_on_both_sides() {
    let flat = Terminator::new(Vec3::Z, Vec3::Z);
    let bumpy = Terminator::new(Vec3::Z, Vec3::new(0.6, 0.0, 0.8));
    for cos in [-1.0, -0.1, -1e-6, 0.0, 1e-20, 1e-6, 0.1, 1.0] {
        let wi = crate::common::in_plane(cos, 1.0);
        assert_eq!(flat.shadowing::<Full>(wi), 1.0);
        assert_eq!(Terminator::NONE.shadowing::<Full>(wi), 1.0);
        let passes = bumpy.shadowing::<Full>(wi);
        assert!(if cos == 0.0 { passes == 0.0 } else { (0.0..=1.0).contains(&passes) }, "{passes} at {cos}");
        assert_eq!(passes, bumpy.shadowing::<Full>(-wi), "{cos}");
    }
}
