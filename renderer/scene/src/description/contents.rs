//! The contents of a scene, counted.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::f32::consts::PI;
use std::mem::size_of;
use std::sync::Arc;

use glam::Vec3;
use serde::Serialize;

use super::{
    Description, Environment, Geometry, Instance, Projection, PunctualKind, Shape, SpotFalloff, TriangleMesh,
};

/// The contents of a scene. Fields are added, never renamed.
#[derive(Debug, Clone, Serialize)]
pub struct Contents {
    /// Width and height, pixels.
    pub image: [u32; 2],
    /// Samples per pixel.
    pub spp: u32,
    /// Longest path.
    pub max_depth: u32,
    /// The camera.
    pub camera: CameraContents,
    /// Least and greatest coordinates of shapes, instances included, metres; `None` without shapes.
    pub bounds: Option<[[f32; 3]; 2]>,
    /// Numbers of shapes by kind, those of groups once.
    pub shapes: BTreeMap<&'static str, usize>,
    /// Number of groups.
    pub groups: usize,
    /// Number of places of groups.
    pub instances: usize,
    /// Triangles.
    pub triangles: Triangles,
    /// Numbers of materials by kind.
    pub materials: BTreeMap<&'static str, usize>,
    /// Number of textures.
    pub textures: usize,
    /// Number of images.
    pub images: usize,
    /// Bytes of the description by part; the device data takes as much again, plus the BVH.
    pub memory: BTreeMap<&'static str, u64>,
    /// Lights, the strongest first, then those of unknown power.
    pub lights: Vec<LightContents>,
}

/// A camera.
#[derive(Debug, Clone, Serialize)]
pub struct CameraContents {
    /// `perspective` and so on.
    pub kind: &'static str,
    /// Where it stands, metres.
    pub position: [f32; 3],
    /// The point in the middle of its image, metres.
    pub target: [f32; 3],
}

/// Numbers of triangles.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Triangles {
    /// Triangles of meshes, each mesh counted once.
    pub stored: u64,
    /// Triangles of meshes in all their instances.
    pub placed: u64,
}

/// A light.
#[derive(Debug, Clone, Serialize)]
pub struct LightContents {
    /// Its name.
    pub name: String,
    /// `shape`, `point`, `environment` and so on.
    pub kind: &'static str,
    /// Emitted power, W, the mean of the channels; unknown if textured. For infinitely distant lights, the power that
    /// reaches the scene's bounding sphere.
    pub power: Option<f32>,
}

impl Contents {
    /// Counts the contents of `d`.
    pub fn new(d: &Description) -> Self {
        let bounds = d.bounds();
        let mut lights = lights(d);
        let rank = |light: &LightContents| light.power.unwrap_or(f32::NEG_INFINITY);
        lights.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        Self {
            image: [d.render.width, d.render.height],
            spp: d.render.spp,
            max_depth: d.render.max_depth,
            camera: CameraContents {
                kind: match d.camera.projection {
                    Projection::Perspective { lens: None, .. } => "perspective",
                    Projection::Perspective { lens: Some(_), .. } => "thin lens",
                    Projection::Orthographic { .. } => "orthographic",
                    Projection::Equirectangular => "equirectangular",
                },
                position: d.camera.position.to_array(),
                target: d.camera.target.to_array(),
            },
            bounds: (!bounds.is_empty()).then(|| [bounds.lo.to_array(), bounds.hi.to_array()]),
            shapes: counted(d.all_shapes().map(|shape| shape.geometry.name())),
            groups: d.groups.len(),
            instances: d.instances.len(),
            triangles: triangles(d),
            materials: counted(d.materials.iter().map(|material| material.kind.name())),
            textures: d.textures.len(),
            images: d.images.len(),
            memory: memory(d),
            lights,
        }
    }
}

fn counted(names: impl Iterator<Item = &'static str>) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_insert(0) += 1);
    counts
}

/// The meshes of a scene, each once.
fn meshes(d: &Description) -> Vec<&TriangleMesh> {
    let mut seen = HashSet::new();
    let new = d.all_shapes().filter_map(|shape| match &shape.geometry {
        Geometry::Mesh(mesh) if seen.insert(Arc::as_ptr(mesh)) => Some(&**mesh),
        _ => None,
    });
    new.collect()
}

fn triangles(d: &Description) -> Triangles {
    let of = |shape: &Shape| match &shape.geometry {
        Geometry::Mesh(mesh) => mesh.triangles.len() as u64,
        _ => 0,
    };
    let sum = |shapes: &[Shape]| shapes.iter().map(of).sum::<u64>();
    let groups: Vec<_> = d.groups.iter().map(|group| sum(&group.shapes)).collect();
    Triangles {
        stored: meshes(d).iter().map(|mesh| mesh.triangles.len() as u64).sum(),
        placed: d.instances.iter().map(|i| groups[i.group as usize]).sum::<u64>() + sum(&d.shapes),
    }
}

fn memory(d: &Description) -> BTreeMap<&'static str, u64> {
    let bytes = |mesh: &&TriangleMesh| {
        let vectors = mesh.positions.len() + mesh.normals.len() + mesh.colors.len() + mesh.triangles.len();
        12 * vectors as u64 + 8 * mesh.uvs.len() as u64
    };
    let meshes = meshes(d).iter().map(bytes).sum();
    let images = d.images.iter().map(|image| 4 * image.texels.len() as u64).sum();
    let instances = (d.instances.len() * size_of::<Instance>()) as u64;
    let materials = d.materials.iter().map(|m| (size_of_val(m) + m.name.len()) as u64).sum();
    let parts = [("meshes", meshes), ("images", images), ("instances", instances), ("materials", materials)];
    parts.into_iter().filter(|(_, bytes)| *bytes > 0).collect()
}

/// Everything that shines.
fn lights(d: &Description) -> Vec<LightContents> {
    let bounds = d.bounds();
    let radius = if bounds.is_empty() { 0.0 } else { bounds.radius() };
    let shapes = d.shapes.iter().filter(|shape| shape.emits()).map(|shape| LightContents {
        name: shape.name.clone(),
        kind: "shape",
        power: shape_power(shape),
    });
    let punctual = d.lights.iter().map(|light| {
        let power = Some(mean(punctual_power(&light.kind, radius)));
        LightContents { name: light.name.clone(), kind: light.kind.name(), power }
    });
    let environment = d.environment.as_ref().map(|environment| LightContents {
        name: "environment".to_owned(),
        kind: "environment",
        power: match environment {
            // π through each square metre of the disk across each direction: 4π²r² L in all.
            Environment::Constant(radiance) => Some(mean(*radiance) * 4.0 * PI * PI * radius * radius),
            Environment::Image { .. } | Environment::SunSky(_) | Environment::Studio(_) => None,
        },
    });
    shapes.chain(punctual).chain(environment).collect()
}

pub(crate) fn mean(c: Vec3) -> f32 {
    c.element_sum() / 3.0
}

/// π L A of each side that emits.
fn shape_power(shape: &Shape) -> Option<f32> {
    if shape.emission.texture != device::material::texture::NO_TEXTURE {
        return None;
    }
    Some(power_of(shape, shape.emission.value))
}

/// The power of a shape that emits a radiance, W, the mean of the channels.
pub(crate) fn power_of(shape: &Shape, radiance: Vec3) -> f32 {
    let sides = if shape.emission_two_sided { 2.0 } else { 1.0 };
    mean(radiance) * PI * sides * shape.geometry.area(&shape.world_from_object)
}

/// The power of a light, W per channel, as if pictures before it were white; of directional light, the power on a sphere of
/// radius `radius`.
fn punctual_power(kind: &PunctualKind, radius: f32) -> Vec3 {
    match kind {
        PunctualKind::Point { intensity, .. } => 4.0 * PI * intensity,
        PunctualKind::Spot { intensity, inner, outer, falloff, .. } => {
            intensity * spot_solid_angle(*inner, *outer, *falloff)
        }
        // The area of the picture at distance 1, which gets as much of it everywhere.
        PunctualKind::Projector { intensity, fov, aspect, .. } => {
            let width = 2.0 * (0.5 * fov.to_radians()).tan();
            intensity * width * (width / aspect)
        }
        PunctualKind::Directional { irradiance, .. } => irradiance * PI * radius * radius,
    }
}

/// The integral of a spot light's falloff over all directions, sr.
fn spot_solid_angle(inner: f32, outer: f32, falloff: SpotFalloff) -> f32 {
    let [inner, outer] = [inner, outer].map(f32::to_radians);
    let (cos_inner, cos_outer) = (inner.cos(), outer.cos());
    let whole = 1.0 - cos_inner;
    let part = match falloff {
        // ∫ ((c − cₒ)/(cᵢ − cₒ))² dc over the cosines c between the two.
        SpotFalloff::Smooth => (cos_inner - cos_outer) / 3.0,
        // ∫ (θₒ − θ)/(θₒ − θᵢ) sin θ dθ between the two.
        SpotFalloff::Linear => cos_inner - (outer.sin() - inner.sin()) / (outer - inner),
    };
    2.0 * PI * (whole + part)
}

#[cfg(test)]
mod tests {
    use glam::Affine3A;

    use super::*;

    #[test]
    fn falloffs_integrate_to_their_solid_angles() {
        for (inner, outer) in [(0.0, 45.0), (10.0, 30.0), (60.0, 170.0), (29.0, 30.0)] {
            for falloff in [SpotFalloff::Smooth, SpotFalloff::Linear] {
                let n = 200_000;
                let sum: f64 = (0..n)
                    .map(|i| {
                        let theta = (f64::from(i) + 0.5) / f64::from(n) * std::f64::consts::PI;
                        let [inner, outer] = [f64::from(inner), f64::from(outer)].map(f64::to_radians);
                        let f = match falloff {
                            SpotFalloff::Smooth => ((theta.cos() - outer.cos())
                                / (inner.cos() - outer.cos()))
                            .clamp(0.0, 1.0)
                            .powi(2),
                            SpotFalloff::Linear => ((outer - theta) / (outer - inner)).clamp(0.0, 1.0),
                        };
                        f * theta.sin() * 2.0 * std::f64::consts::PI * std::f64::consts::PI / f64::from(n)
                    })
                    .sum();
                let found = f64::from(spot_solid_angle(inner, outer, falloff));
                assert!(
                    (found - sum).abs() < 1e-4 * sum.max(0.1),
                    "{inner} {outer} {falloff:?}: {found}, not {sum}"
                );
            }
        }
    }

    #[test]
    fn areas() {
        let t = Affine3A::from_scale(Vec3::splat(2.0));
        let near = |geometry: Geometry, expected: f32| {
            let found = geometry.area(&t);
            assert!((found - expected).abs() < 1e-4 * expected, "{geometry:?}: {found}, not {expected}");
        };
        near(Geometry::Quad, 16.0);
        near(Geometry::Box, 96.0);
        near(Geometry::Disk, 4.0 * PI);
        near(Geometry::Sphere { center: Vec3::ONE, radius: 0.5 }, 4.0 * PI);
        near(Geometry::Cylinder { from: Vec3::ZERO, to: Vec3::Y, radius: 1.0 }, 8.0 * PI);
    }
}
