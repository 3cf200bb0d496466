//! The formulas of the specification, in f64, and materials to try them on.

use std::f64::consts::{FRAC_1_PI, TAU};

use device::bsdf::{Film, Gltf, Lobe, Sheen, fresnel, sheen_albedo};
use glam::{Vec2, Vec3};

use crate::common::layers::{coat, dielectric, ggx, one_in, specular_brdf};
use crate::common::optics::{self, C};
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, integrate};

/// Plastic or metal of glTF's core, all extensions off.
pub(crate) fn plain(base_color: Vec3, metallic: f32, alpha: f32) -> Gltf {
    Gltf {
        base_color,
        metallic,
        microfacet: ggx(Vec2::splat(alpha)),
        rotation: Vec2::X,
        f0: Gltf::dielectric_f0(1.5, 1.0, Vec3::ONE),
        f90: 1.0,
        transmission: 0.0,
        film: Film { factor: 0.0, eta: 1.3, thickness: 400.0 },
        sheen: Sheen { color: Vec3::ZERO, alpha: 0.3 },
        coat: coat(1e-4, 1.5, 0.0),
    }
}

/// Any material, each parameter at an end of its range or within; alphas from `smoothest`.
pub(crate) fn any(random: &mut Random, smoothest: f32) -> Gltf {
    let unit = |random: &mut Random| match random.bits() % 4 {
        0 => 0.0,
        1 => 1.0,
        _ => random.f32(),
    };
    let color = |random: &mut Random| match random.bits() % 3 {
        0 => Vec3::ONE,
        1 => Vec3::new(unit(random), unit(random), unit(random)),
        _ => Vec3::splat(unit(random)),
    };
    let off = |random: &mut Random| if one_in(3, random) { unit(random) } else { 0.0 };
    let tint = if one_in(2, random) { 1.0 } else { 4.0 };
    let (specular, tint) = (unit(random), color(random) * tint);
    let ior = [1.5, 1.0, 0.0, 1.0 + 1.5 * random.f32()][(random.bits() % 4) as usize];
    let turn = random.within(0.0, TAU);
    let alpha = Gltf::alpha(unit(random), off(random)).max(Vec2::splat(smoothest));
    let coat_alpha = Gltf::alpha(unit(random), 0.0).x.max(smoothest);
    let coat_eta = if one_in(2, random) { 1.5 } else { 1.1 + 1.4 * random.f32() };
    Gltf {
        microfacet: ggx(alpha),
        rotation: Vec2::new(turn.cos() as f32, turn.sin() as f32),
        f0: Gltf::dielectric_f0(ior, specular, tint),
        f90: specular,
        transmission: off(random),
        film: Film {
            factor: off(random),
            eta: 1.0 + 1.5 * random.f32() * random.f32(),
            thickness: 1200.0 * random.f32(),
        },
        sheen: Sheen {
            color: if one_in(3, random) { color(random) } else { Vec3::ZERO },
            alpha: unit(random).max(smoothest),
        },
        coat: coat(coat_alpha, coat_eta, off(random)),
        ..plain(color(random), off(random), 0.5)
    }
}

/// Deliberate mistakes in the formulas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mistake {
    None,
    /// The tangent turns the other way.
    Rotation,
    /// The half vector weights the diffuse base, as the specification's text has it.
    HalfVector,
    /// The coat darkens only along wo.
    CoatOnce,
    /// Light is reflected by the coat as by its facets, but not taken from what is below.
    CoatFree,
    /// Masking and shadowing are separable.
    Masking,
    /// Metals transmit.
    Metal,
    /// The specular factor scales F0 only.
    F90,
    /// Nothing is taken from what is below the sheen.
    SheenFree,
}

pub(crate) fn map(a: DVec3, b: DVec3, f: impl Fn(f64, f64) -> f64) -> DVec3 {
    DVec3::new(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z))
}

pub(crate) fn splat(x: f64) -> DVec3 {
    DVec3::new(x, x, x)
}

pub(crate) fn mix(a: DVec3, b: DVec3, t: f64) -> DVec3 {
    map(a, b, |a, b| a * (1.0 - t) + b * t)
}

pub(crate) fn max3(v: DVec3) -> f64 {
    v.x.max(v.y).max(v.z)
}

pub(crate) fn schlick(cos: f64, f0: DVec3, f90: f64) -> DVec3 {
    mix(f0, splat(f90), (1.0 - cos).powi(5))
}

pub(crate) fn index(f0: f64) -> f64 {
    let r = f0.min(0.9999).sqrt();
    (1.0 + r) / (1.0 - r)
}

/// With the film, whose reflectance other tests prove.
pub(crate) fn film_over(g: &Gltf, cos: f64, bare: DVec3, f0: DVec3) -> DVec3 {
    let eta = f0.to_array().map(index);
    let eta = DVec3::new(eta[0], eta[1], eta[2]).to_f32();
    let film = fresnel::thin_film_conductor(cos as f32, g.film.eta, g.film.thickness, eta, Vec3::ZERO);
    mix(bare, wide(film), g.film.factor.into())
}

/// Transmittance of the dielectric's facets to the Lambertian base: for each direction, and averaged over all of them.
pub(crate) struct Passed {
    f0: f64,
    f90: f64,
    alpha: f64,
    floor: f64,
}

impl Passed {
    pub(crate) fn new(g: &Gltf) -> Self {
        let [x, y] = g.microfacet.alpha.to_array().map(f64::from);
        let ratio = x.min(y) / x.max(y);
        let floor = 0.0012 + 0.0035 * (1.0 - ratio);
        Self { f0: max3(wide(g.f0)), f90: g.f90.into(), alpha: x.min(y) * ratio.sqrt(), floor }
    }

    pub(crate) fn b(&self, cos: f64) -> f64 {
        let a2 = self.alpha * self.alpha;
        let scale = 1.0 / (1.0 + 24.0 * a2 / (self.alpha + 0.17));
        let exponent = 5.0 - 2.07 * a2 / (a2 + 0.0077) + 1.28 * a2;
        self.floor + (1.0 - self.floor) * scale * (1.0 - cos).powf(exponent)
    }

    pub(crate) fn at(&self, cos: f64) -> f64 {
        1.0 - self.f0 - (self.f90 - self.f0) * self.b(cos)
    }

    pub(crate) fn average(&self) -> f64 {
        integrate(0.0, 1.0, 8, |cos| 2.0 * cos * self.at(cos))
    }

    /// Through a film of the worst phases for each polarisation, and the swing of red around them.
    pub(crate) fn film(&self, g: &Gltf, cos: f64) -> f64 {
        let b = self.b(cos);
        let (cos, film) = (1.0 - b.powf(0.2), f64::from(g.film.eta));
        let inside = (1.0 - (1.0 - cos * cos) / (film * film)).sqrt();
        let outer = optics::boundary(cos, C(film, 0.0));
        let bases = [g.f0.min_element(), g.f0.max_element()].map(|f0| index(f0.into()));
        let inner = bases.map(|base| optics::boundary(inside, C(base / film, 0.0)));
        let polarised = |p: usize| {
            let (a, b) = (outer[p].sqrt(), inner[0][p].max(inner[1][p]).sqrt());
            let passed = |phase: f64| 1.0 - ((a + phase * b) / (1.0 + phase * a * b)).powi(2);
            1.3 * passed(1.0) - 0.3 * passed(-1.0)
        };
        0.998 * (0.5 * (polarised(0) + polarised(1))).clamp(0.0, 1.0 - b)
    }
}

/// The direction of the first alpha.
pub(crate) fn rotation(g: &Gltf, turn: f64) -> DVec3 {
    DVec3::new(g.rotation.x.into(), turn * f64::from(g.rotation.y), 0.0)
}

/// f(wo, wi).
pub(crate) fn expected(g: &Gltf, wo: DVec3, wi: DVec3, mistake: Mistake) -> DVec3 {
    let t = rotation(g, if mistake == Mistake::Rotation { -1.0 } else { 1.0 });
    let up = DVec3::new(wi.x, wi.y, wi.z.abs());
    let cos = wo.dot((wo + up).normalize()).min(1.0);
    let specular = specular_brdf(g.microfacet.alpha, t, wo, up, mistake == Mistake::Masking);
    let (base, f0, metallic) = (wide(g.base_color), wide(g.f0), f64::from(g.metallic));
    let f90 = if mistake == Mistake::F90 { 1.0 } else { g.f90.into() };
    let dielectric_f = film_over(g, cos, schlick(cos, f0, f90), f0);
    let metal_f = film_over(g, cos, schlick(cos, base, 1.0), base);

    let coated = |cos: f64| f64::from(g.coat.factor) * dielectric(cos, g.coat.eta.into());
    let below_coat = match mistake {
        Mistake::CoatOnce => 1.0 - coated(wo.z),
        Mistake::CoatFree => 1.0,
        _ => (1.0 - coated(wo.z)) * (1.0 - coated(up.z)),
    };
    let sheen = wide(g.sheen.color);
    // The albedo, and the lobe, are proved by other tests.
    let fibres = |cos: f64| {
        let albedo = f64::from(sheen_albedo(cos as f32, g.sheen.alpha)) + 0.002;
        if mistake == Mistake::SheenFree { 1.0 } else { 1.0 - max3(sheen) * albedo.min(1.0) }
    };
    let below = below_coat * fibres(wo.z).min(fibres(up.z));
    let transmission = f64::from(g.transmission);
    if wi.z < 0.0 {
        let rest = if mistake == Mistake::Metal { 1.0 } else { 1.0 - metallic };
        return (below * rest * transmission * (1.0 - max3(dielectric_f)) * specular) * base;
    }
    let passed = Passed::new(g);
    let bare = passed.at(wo.z) * passed.at(wi.z) / passed.average().max(1e-6);
    let film = passed.film(g, wo.z) * passed.film(g, wi.z);
    let weight = match mistake {
        Mistake::HalfVector => 1.0 - max3(dielectric_f),
        _ => bare + (film - bare) * f64::from(g.film.factor),
    };
    let diffuse = ((1.0 - metallic) * (1.0 - transmission) * weight * FRAC_1_PI) * base;
    let facets = map(mix(dielectric_f, metal_f, metallic), splat(specular), |f, s| f * s);
    let coat_t = DVec3::new(1.0, 0.0, 0.0);
    let coat_f = specular_brdf(g.coat.microfacet.alpha, coat_t, wo, up, false);
    let sheen_f = wide(g.sheen.eval(wo.to_f32(), wi.to_f32()));
    splat(coated(cos) * coat_f) + below_coat * sheen_f + below * (facets + diffuse)
}
