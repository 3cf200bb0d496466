//! Lights, and the table that chooses among them by power.

use std::f64::consts::PI;
use std::ops::Range;

use bytemuck::Zeroable;
use device::color::luminance;
use device::features::Features;
use device::light::{EmissiveSurface, GuideEntry, Light, Slide as DeviceSlide};
use device::material::texture::NO_TEXTURE;
use device::sampling::{sample_uniform_disk_concentric, sample_uniform_triangle};
use device::shape::triangle::{TriangleUvs, area_normal};
use device::shape::{Kind, Primitive, disk};
use glam::{Vec2, Vec3};
use torrance_scene::{
    Color, Description, Environment, LightSelection, Material, PunctualKind, Shape, Slide, SpotFalloff,
};

use super::guide::{WORDS, firsts, guide_table};
use super::light_tree::{self, Cluster, Cone, LightTree};
use super::shapes::{Flat, ShapeOf};
use super::{Pictures, Swatches, sky};

/// The lights of a scene, those that are infinitely far and seen last.
#[derive(Debug, Clone)]
pub struct Lights {
    /// Lights: those that are infinitely far and seen last, and of them the environment.
    pub all: Vec<Light>,
    /// The distribution that chooses among the lights; where there is a tree, among that and the others.
    pub table: Vec<GuideEntry>,
    /// The tree that chooses among the first lights; empty if there is none.
    pub tree: LightTree,
    /// The probability with which the table chooses the tree.
    pub tree_pmf: f32,
    /// Index of the first that is infinitely far and seen.
    pub first_infinite: u32,
    /// The surface of each light, if the emission of any varies. Its primitive is one of the scene, and of leaves once these
    /// are known.
    pub emissive: Vec<EmissiveSurface>,
    /// The slides of lights that are points.
    pub slides: Vec<DeviceSlide>,
    /// What the lights come from, in their order: so many of each.
    pub(crate) sources: Vec<(usize, LightSource)>,
    /// Features that kernels need for the lights.
    pub(super) features: Features,
}

/// What a light comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LightSource {
    /// The shape of this index in the order of [`Description::all_shapes`].
    Shape(u32),
    /// The one of this index in [`Description::lights`].
    Punctual(u32),
    /// The sun of the environment.
    Sun,
    /// The environment, without a sun.
    Environment,
}

/// Primitives that emit light, in the order of their lights, which come first.
#[derive(Debug, Clone)]
pub(super) struct Emitters(Vec<Primitive>);

impl Emitters {
    /// Finds them, and says there which lights they are. `shapes` are all of the scene.
    pub(super) fn mark(flat: &mut Flat, shapes: &[&Shape]) -> Self {
        let mut emitters = Vec::new();
        for i in emitting(&flat.shape_of, shapes).flat_map(|(prims, _)| prims) {
            let prim = &mut flat.prims[i as usize];
            prim.light = emitters.len() as u32;
            emitters.push(*prim);
        }
        Self(emitters)
    }
}

/// The primitives of each shape that emits light, and its index.
fn emitting<'a>(shape_of: &'a ShapeOf, shapes: &'a [&'a Shape]) -> impl Iterator<Item = (Range<u32>, u32)> {
    shape_of.ranges().filter(|(_, shape)| shapes[*shape as usize].emits())
}

/// Surfaces of a scene.
#[derive(Clone, Copy)]
pub(super) struct Surfaces<'a> {
    /// All shapes of the scene.
    pub(super) shapes: &'a [&'a Shape],
    pub(super) shape_of: &'a ShapeOf,
    pub(super) emitters: &'a Emitters,
    /// As [`Flat::uvs`].
    pub(super) uvs: &'a [TriangleUvs],
}

/// A light, and the weight with which it is to be chosen.
struct Weighted {
    light: Light,
    power: f64,
    /// Where it is; `None` if it is infinitely far.
    place: Option<Cluster>,
    surface: EmissiveSurface,
    slide: Option<DeviceSlide>,
}

impl Weighted {
    fn new(light: Light, power: f64) -> Self {
        let surface = EmissiveSurface { prim: 0, texture: NO_TEXTURE, slide: 0, reserved: 0 };
        Self { light, power, place: None, surface, slide: None }
    }

    /// The same light, which is a point.
    fn at_point(self, cone: Cone) -> Self {
        let Light { a, le, .. } = self.light;
        let place = Cluster { bounds: [a; 2], radius: 0.0, cone, intensity: luminance(le), lights: 1 };
        Self { place: Some(place), ..self }
    }

    /// The same light through a slide.
    fn through(self, slide: DeviceSlide, swatches: &Swatches) -> Self {
        let picture = Color { texture: slide.texture, ..Color::new(Vec3::ONE) };
        let mean = spread().map(|uv| swatches.color_at(&picture, uv)).sum::<Vec3>() / POINTS as f32;
        let light = Light { kind_flags: self.light.kind_flags | Light::VARYING, ..self.light };
        let mean = luminance(mean);
        let place = self.place.map(|place| Cluster { intensity: place.intensity * mean, ..place });
        Self { light, power: self.power * f64::from(mean), place, slide: Some(slide), ..self }
    }
}

impl Flat {
    /// The surfaces, if they are all of the scene.
    pub(super) fn surfaces<'a>(&'a self, shapes: &'a [&'a Shape], emitters: &'a Emitters) -> Surfaces<'a> {
        Surfaces { shapes, shape_of: &self.shape_of, emitters, uvs: &self.uvs }
    }
}

/// Collects the lights of a scene.
pub(super) fn collect(surfaces: Surfaces<'_>, description: &Description, pictures: &Pictures) -> Lights {
    let (mut all, mut sources) = (Vec::new(), Vec::new());
    for (prims, index) in emitting(surfaces.shape_of, surfaces.shapes) {
        sources.push((prims.len(), LightSource::Shape(index)));
        let shape = surfaces.shapes[index as usize];
        let material = &description.materials[shape.material];
        for i in prims {
            let prim = &surfaces.emitters.0[all.len()];
            let uvs = surfaces.uvs.get(prim.normals as usize);
            all.push(Emitter { prim, uvs, shape, material }.light(i, &pictures.swatches));
        }
    }
    let sun = sun(description).map(|sun| (LightSource::Sun, sun));
    let punctual_lights =
        (0..).map(LightSource::Punctual).zip(description.lights.iter().map(|light| light.kind));
    let kinds: Vec<_> = punctual_lights.chain(sun).collect();
    let is_directional = |(_, kind): &(_, PunctualKind)| matches!(kind, PunctualKind::Directional { .. });
    // To look at all vertices takes long.
    let radius = if kinds.iter().any(is_directional) { radius(description) } else { 1.0 };
    let lights = kinds.into_iter().map(|(source, kind)| (source, punctual(kind, radius, &pictures.swatches)));
    let (disks, unseen): (Vec<_>, Vec<_>) = lights.partition(|(_, light)| is_seen(light));
    let (points, directions): (Vec<_>, Vec<_>) =
        unseen.into_iter().partition(|(_, light)| light.place.is_some());
    sources.extend(points.iter().chain(&directions).chain(&disks).map(|(source, _)| (1, *source)));
    all.extend(points.into_iter().chain(directions).map(|(_, light)| light));
    let first_infinite = all.len() as u32;
    all.extend(disks.into_iter().map(|(_, light)| light));
    let environment = environment(description, pictures);
    // The power of an environment through the scene's bounding sphere would say little of what reaches a point, and drown
    // small lights in a large scene: it gets as many samples as all others together.
    let others: f64 = all.iter().map(|w| w.power).sum();
    sources.extend(environment.map(|_| (1, LightSource::Environment)));
    all.extend(environment.map(|light| Weighted::new(light, if others > 0.0 { others } else { 1.0 })));
    mix(&mut all, &sources);
    finish(all, sources, first_infinite, description.render.lights)
}

/// Radius of the scene, metres.
fn radius(description: &Description) -> f64 {
    match description.bounds() {
        bounds if bounds.is_empty() => 1.0,
        bounds => f64::from(bounds.radius()),
    }
}

/// Gives every source, that is every shape that shines and every other light, an equal part of half of the samples. By power
/// alone, a light that is weak, but near to much of what is seen, would hardly be drawn beside a strong one far away.
/// `sources` have the numbers of lights of each, in their order.
fn mix(all: &mut [Weighted], sources: &[(usize, LightSource)]) {
    let total: f64 = all.iter().map(|w| w.power).sum();
    let mut rest = all;
    for (lights, _) in sources {
        let (of_source, others) = rest.split_at_mut(*lights);
        rest = others;
        let power: f64 = of_source.iter().map(|w| w.power).sum();
        for light in of_source {
            let part = if power > 0.0 { light.power / power } else { 1.0 / *lights as f64 };
            light.power += part * total / sources.len() as f64;
        }
    }
}

fn finish(
    mut all: Vec<Weighted>,
    sources: Vec<(usize, LightSource)>,
    first_infinite: u32,
    selection: LightSelection,
) -> Lights {
    let mut slides = Vec::new();
    for light in &mut all {
        light.surface.slide = slides.len() as u32;
        slides.extend(light.slide);
    }
    let powers: Vec<f64> = all.iter().map(|w| w.power).collect();
    let mut firsts = selection_firsts(&powers);
    let pmf = probabilities(&firsts);
    // Those with a place come first.
    let placed: Vec<Cluster> = all.iter().map_while(|light| light.place).collect();
    let is_by_tree = match selection {
        LightSelection::Auto => light_tree::pays(&placed, &powers),
        LightSelection::Tree => !placed.is_empty(),
        LightSelection::Power => false,
    };
    let (mut tree, mut tree_pmf) = (LightTree::default(), 0.0);
    if is_by_tree {
        tree = LightTree::new(&placed);
        // The words of all of them choose the tree.
        firsts.drain(1..placed.len());
        tree_pmf = probabilities(&firsts)[0] as f32;
    }
    let table = if firsts.is_empty() { Vec::new() } else { guide_table(&firsts).collect() };
    let lights: Vec<Light> = all.iter().zip(pmf).map(|(w, p)| Light { pmf: p as f32, ..w.light }).collect();
    let varies = lights.iter().any(|light| light.kind_flags & Light::VARYING != 0);
    let emissive = if varies { all.iter().map(|w| w.surface).collect() } else { Vec::new() };
    // What varies is a texture's, or has holes that one makes.
    let textures = Features::TEXTURES.when(varies);
    let features = lights.iter().map(Light::features).fold(textures, Features::and);
    let features = features.and(Features::LIGHT_TREE.when(is_by_tree));
    Lights { all: lights, table, tree, tree_pmf, first_infinite, emissive, slides, sources, features }
}

/// The light of the environment; `None` if that is black.
fn environment(description: &Description, pictures: &Pictures) -> Option<Light> {
    let light = |kind, le| Light { kind_flags: kind, le, ..Light::zeroed() };
    match description.environment {
        Some(Environment::Constant(radiance)) => {
            (radiance != Vec3::ZERO).then(|| light(Light::ENVIRONMENT, radiance))
        }
        _ => pictures.environment.is_some().then(|| light(Light::IMAGE, Vec3::ONE)),
    }
}

/// The sun of the environment, as one of the lights.
fn sun(description: &Description) -> Option<PunctualKind> {
    let Some(Environment::SunSky(sky)) = &description.environment else { return None };
    sky::sun(sky)
}

/// Whether rays that leave the scene meet the light.
fn is_seen(Weighted { light, .. }: &Weighted) -> bool {
    light.kind_flags & 0xff == Light::DIRECTIONAL && light.b.x > 0.0
}

/// A light without a surface, in a scene of a radius.
fn punctual(kind: PunctualKind, radius: f64, swatches: &Swatches) -> Weighted {
    let power = |solid_angle: f64, intensity: Vec3| solid_angle * f64::from(luminance(intensity));
    match kind {
        PunctualKind::Point { position, intensity } => {
            let light = Light { a: position, kind_flags: Light::POINT, le: intensity, ..Light::zeroed() };
            Weighted::new(light, power(4.0 * PI, intensity)).at_point(Cone::ALL)
        }
        PunctualKind::Spot { position, direction, intensity, inner, outer, falloff, slide } => {
            let half = outer.to_radians().tan();
            let slide = slide.map(|slide| before(slide, direction, [half; 2], false));
            let [inner, outer] = [inner, outer].map(|angle| f64::from(angle).to_radians());
            let (flag, c) = match falloff {
                SpotFalloff::Linear => (Light::LINEAR_FALLOFF, [outer, outer - inner]),
                SpotFalloff::Smooth => (0, [outer.cos(), inner.cos() - outer.cos()]),
            };
            // A hard edge is as steep as f32 has it.
            let c = Vec3::new(c[0] as f32, (1.0 / c[1].max(1e-6)) as f32, 0.0);
            let solid_angle = 2.0 * PI * (1.0 - 0.5 * (inner.cos() + outer.cos()));
            let light = Light {
                a: position,
                kind_flags: Light::SPOT | flag,
                b: direction.normalize(),
                c,
                le: intensity,
                ..Light::zeroed()
            };
            let cone = Cone { axis: light.b, theta_o: 0.0, theta_e: outer as f32 };
            let whole = Weighted::new(light, power(solid_angle, intensity)).at_point(cone);
            match slide {
                Some(slide) => whole.through(slide, swatches),
                None => whole,
            }
        }
        PunctualKind::Projector { position, direction, intensity, fov, aspect, slide } => {
            let half = (0.5 * fov.to_radians()).tan();
            let half = [half, half / aspect];
            let light = Light { a: position, kind_flags: Light::POINT, le: intensity, ..Light::zeroed() };
            // The picture at distance 1 gets as much of it everywhere.
            let area = 4.0 * f64::from(half[0] * half[1]);
            let whole = Weighted::new(light, power(area, intensity)).at_point(Cone::ALL);
            whole.through(before(slide, direction, half, true), swatches)
        }
        PunctualKind::Directional { direction, irradiance, diameter } => {
            let half = 0.5 * f64::from(diameter).to_radians();
            let one_minus_cos = 2.0 * (0.5 * half).sin().powi(2);
            // Irradiance of a surface across a disk of radiance 1 is π sin² of its angular radius.
            let flux = PI * half.sin().powi(2);
            let le = if one_minus_cos > 0.0 { irradiance / flux as f32 } else { irradiance };
            let light = Light {
                a: -direction.normalize(),
                kind_flags: Light::DIRECTIONAL,
                b: Vec3::new(one_minus_cos as f32, 0.0, 0.0),
                le,
                ..Light::zeroed()
            };
            Weighted::new(light, power(PI * radius * radius, irradiance))
        }
    }
}

/// A slide before a light that shines along `direction`, whose halves are the tangents of angles.
fn before(Slide { texture, up }: Slide, direction: Vec3, half: [f32; 2], is_projected: bool) -> DeviceSlide {
    let axis = direction.normalize();
    let right = axis.cross(up).normalize();
    let down = axis.cross(right);
    DeviceSlide {
        right: right * (0.5 / half[0]),
        texture,
        down: down * (0.5 / half[1]),
        is_projected: is_projected.into(),
        axis,
        reserved: 0,
    }
}

/// Number of the points of [`spread`].
const POINTS: u32 = 64;

/// Points spread evenly over the unit square: multiples of the inverse powers of the root of x³ = x + 1 (Roberts 2018).
fn spread() -> impl Iterator<Item = Vec2> {
    let at = |k: u32, step: f64| (0.5 + f64::from(k) * step).fract() as f32;
    (0..POINTS).map(move |k| Vec2::new(at(k, 0.754_877_666_246_692_7), at(k, 0.569_840_290_998_053_3)))
}

/// A primitive that emits light.
struct Emitter<'a> {
    prim: &'a Primitive,
    /// Its texture coordinates, if it has any.
    uvs: Option<&'a TriangleUvs>,
    shape: &'a Shape,
    material: &'a Material,
}

impl Emitter<'_> {
    /// Primitive `i` as a light.
    fn light(&self, i: u32, swatches: &Swatches) -> Weighted {
        let Self { prim, shape, material, .. } = self;
        let area = prim.area();
        let varies =
            shape.emission.texture != NO_TEXTURE || !(material.opacity.is(1.0) || material.holes_emit);
        let both = shape.emission_two_sided && !material.cull_backfaces;
        let flag = |flag: u32, holds: bool| if holds { flag } else { 0 };
        let flags = flag(Light::FLIPPED, shape.flip_normals)
            | flag(Light::TWO_SIDED, both)
            | flag(Light::VARYING, varies);
        let light = Light {
            a: prim.a,
            kind_flags: Light::of_shape(prim.kind()) | flags,
            b: prim.b,
            pmf: 0.0,
            c: prim.c,
            area,
            le: shape.emission.value,
            extent: prim.extent(),
        };
        let mean = if varies { self.mean_emission(swatches) } else { shape.emission.value };
        let sides = if both { 2.0 } else { 1.0 };
        let power = PI * f64::from(area) * sides * f64::from(luminance(mean));
        let surface = EmissiveSurface { prim: i, texture: shape.emission.texture, slide: 0, reserved: 0 };
        let place = Some(self.place(&light, both, luminance(mean)));
        Weighted { light, power, place, surface, slide: None }
    }

    /// Where it is as a light of a mean radiance, and where it shines.
    fn place(&self, light: &Light, both: bool, radiance: f32) -> Cluster {
        let Self { prim, shape, .. } = self;
        let bounds = prim.bounds();
        let half = 0.5 * (bounds[1] - bounds[0]);
        // Its shadow, at most.
        let across = match prim.kind() {
            Kind::Sphere => 0.25 * light.area,
            Kind::Cylinder => light.area / PI as f32,
            Kind::Triangle | Kind::Disk => light.area,
        };
        let radius = if prim.kind() == Kind::Sphere { half.x } else { half.length() };
        let normal = match prim.kind() {
            Kind::Triangle => Some(area_normal([prim.a, prim.b, prim.c])),
            Kind::Disk => Some(prim.b.cross(prim.c)),
            Kind::Sphere | Kind::Cylinder => None,
        };
        let normal = normal.filter(|_| !both).and_then(Vec3::try_normalize);
        let flip = if shape.flip_normals { -1.0 } else { 1.0 };
        let cone = normal.map_or(Cone::ALL, |normal| Cone::of_normal(flip * normal));
        Cluster { bounds, radius, cone, intensity: across * radiance, lights: 1 }
    }

    /// Its radiance, if that varies, in the mean over some points spread evenly over it.
    fn mean_emission(&self, swatches: &Swatches) -> Vec3 {
        let Self { prim, uvs, shape, material } = self;
        let uv_at = |u: Vec2| match prim.kind() {
            Kind::Sphere => Vec2::new(u.x, (1.0 - 2.0 * u.y).acos() / PI as f32),
            Kind::Disk => disk::uv(prim, sample_uniform_disk_concentric(u).to_array()),
            Kind::Cylinder => u,
            Kind::Triangle => uvs.map_or(Vec2::ZERO, |uvs| {
                let b = sample_uniform_triangle(u);
                uvs.at([b.x, b.y])
            }),
        };
        let radiance = |u| {
            let uv = uv_at(u);
            let part = if material.holes_emit { 1.0 } else { swatches.scalar_at(&material.opacity, uv) };
            swatches.color_at(&shape.emission, uv) * part.clamp(0.0, 1.0)
        };
        spread().map(radiance).sum::<Vec3>() / POINTS as f32
    }
}

/// The first word of each choice of a table that chooses with probabilities proportional to `weights`. Every light keeps a chance.
fn selection_firsts(weights: &[f64]) -> Vec<u64> {
    let n = weights.len() as u64;
    if n == 0 {
        return Vec::new();
    }
    let mut firsts = firsts(weights);
    let mut least = 0;
    for (i, first) in (0..).zip(&mut firsts) {
        *first = (*first).clamp(least, WORDS - (n - i));
        least = *first + 1;
    }
    firsts
}

/// The probabilities that such a table really has: whatever is rounded, light sampling divides by what it did.
fn probabilities(firsts: &[u64]) -> Vec<f64> {
    let ends = firsts.iter().skip(1).copied().chain([WORDS]);
    firsts.iter().zip(ends).map(|(first, end)| (end - first) as f64 / WORDS as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_probabilities_it_says() {
        let weights = [3.0, 1e-12, 1.0, 1e-3, 0.0, 7.5, 2.0, 2.0];
        let firsts = selection_firsts(&weights);
        let pmf = probabilities(&firsts);
        let total: f64 = weights.iter().sum();
        for (p, w) in pmf.iter().zip(weights) {
            assert!((p - w / total).abs() < 1e-9 && *p > 0.0, "{p} {w}");
        }
        assert!((pmf.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(guide_table(&firsts).next().map(|entry| entry.first), Some(0));
    }

    #[test]
    fn equal_weights_are_chosen_equally() {
        let pmf = probabilities(&selection_firsts(&[0.0; 5]));
        assert!(pmf.iter().all(|p| (p - 0.2).abs() < 1e-9), "{pmf:?}");
    }
}
