//! Placement of shapes: in the world, or in groups that have instances.

use std::ops::Range;

use device::bvh::Instance as Record;
use device::material::texture::NO_TEXTURE;
use glam::{Affine3A, DAffine3, DMat3, DVec3, Vec3};
use torrance_scene::{Description, Geometry, Instance, Shape, is_similarity};

use super::materials::VertexAttributes;
use super::shapes::Flat;
use super::{BUILD_BYTES, Error, MAX_COPIES};

/// Which shapes are flattened, and to where. With the shapes themselves and what materials want of them, this is all that
/// geometry depends on.
#[derive(Debug)]
pub(super) struct Plan {
    /// Shapes in the world.
    pub(super) world: Vec<PlacedShape>,
    /// Shapes in each group, in its own space; none in groups without instances.
    pub(super) groups: Vec<Vec<PlacedShape>>,
    /// Instances, in the order of the scene. `root` is still to be set.
    pub(super) instances: Vec<Record>,
}

/// A shape, by its index in the order of [`Description::all_shapes`], at the end of a transform.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlacedShape {
    pub(super) shape: u32,
    /// Index of the instance that it is a copy for.
    instance: Option<u32>,
    to_world: Affine3A,
}

impl PlacedShape {
    fn new((shape, of): (u32, &Shape)) -> Self {
        Self { shape, instance: None, to_world: of.world_from_object }
    }
}

impl Plan {
    /// Plans all that is to be seen. Instances of a shape that emits light are copied into the world, where lights are
    /// sampled, and so is what has but one: it costs nothing there.
    pub(super) fn new(description: &Description) -> Result<Self, Error> {
        let mut counts = vec![0_usize; description.groups.len()];
        let instances: Vec<_> =
            (0_u32..).zip(&description.instances).filter(|(_, i)| is_regular(i)).collect();
        for (_, instance) in &instances {
            counts[instance.group as usize] += 1;
        }
        let firsts = first_shapes(description);
        let shapes = |group: usize| (firsts[group]..).zip(&description.groups[group].shapes);
        let mut world: Vec<_> = (0..).zip(&description.shapes).map(PlacedShape::new).collect();
        let emitting: Vec<u64> = (description.groups.iter())
            .map(|group| {
                group
                    .shapes
                    .iter()
                    .filter(|shape| shape.emits())
                    .map(|shape| primitives(&shape.geometry))
                    .sum()
            })
            .collect();
        let copies = emitting.iter().zip(&counts).map(|(of_one, count)| of_one * *count as u64).sum();
        if copies > MAX_COPIES {
            return Err(Error::TooManyCopies(copies));
        }
        for (source, instance) in &instances {
            let group = instance.group as usize;
            for (index, shape) in shapes(group).filter(|(_, shape)| is_copied(shape, counts[group])) {
                let to_world = copied(shape, instance)?;
                world.push(PlacedShape { shape: index, instance: Some(*source), to_world });
            }
        }
        let rest = |(group, count): (usize, &usize)| match *count {
            0 => Vec::new(),
            n => shapes(group).filter(|(_, shape)| !is_copied(shape, n)).map(PlacedShape::new).collect(),
        };
        Ok(Self {
            world,
            groups: counts.iter().enumerate().map(rest).collect(),
            instances: instances.iter().map(|(source, i)| record(*source, i)).collect(),
        })
    }
}

impl Plan {
    /// Checks, before anything is flattened, that there is memory for it, as far as that is known.
    pub(super) fn check_memory(&self, shapes: &[&Shape], available: Option<u128>) -> Result<(), Error> {
        let of = |placed: &[PlacedShape]| -> u64 {
            placed.iter().map(|placed| primitives(&shapes[placed.shape as usize].geometry)).sum()
        };
        let all = of(&self.world) + self.groups.iter().map(|group| of(group)).sum::<u64>();
        match available {
            Some(bytes) if u128::from(all) * BUILD_BYTES > bytes => {
                Err(Error::NoMemory { primitives: all, available: bytes })
            }
            _ => Ok(()),
        }
    }
}

/// How many primitives a shape becomes, about.
fn primitives(geometry: &Geometry) -> u64 {
    match geometry {
        Geometry::Mesh(mesh) => mesh.triangles.len() as u64,
        _ => 1,
    }
}

/// Primitives of a scene.
#[derive(Debug, Default)]
pub(super) struct Placement {
    /// Primitives of the world, and then of each group.
    pub(super) flat: Flat,
    /// Ends of the world's primitives, where those of groups begin.
    pub(super) world: Ends,
    /// Ranges of the primitives of groups.
    pub(super) groups: Vec<Range<usize>>,
}

/// Numbers of primitives, and of those of them that have normals.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ends {
    pub(super) prims: usize,
    pub(super) normals: usize,
}

/// Flattens what is planned to be in the world and in groups, of all shapes of a scene.
pub(super) fn place(
    shapes: &[&Shape],
    world: &[PlacedShape],
    groups: &[Vec<PlacedShape>],
    wants: &[VertexAttributes],
) -> Placement {
    let mut placement = Placement::default();
    let flat = &mut placement.flat;
    flat.add_all(shapes, world, wants);
    placement.world = Ends { prims: flat.len(), normals: flat.normals.len() };
    for group in groups {
        let first = flat.len();
        flat.add_all(shapes, group, wants);
        placement.groups.push(first..flat.len());
    }
    flat.finish(wants, varies(shapes));
    placement
}

/// Whether the emission of any shape varies over it, which takes texture coordinates.
pub(super) fn varies(shapes: &[&Shape]) -> bool {
    shapes.iter().any(|shape| shape.emission.texture != NO_TEXTURE)
}

impl Flat {
    fn add_all(&mut self, shapes: &[&Shape], placed: &[PlacedShape], wants: &[VertexAttributes]) {
        for PlacedShape { shape, instance, to_world } in placed {
            self.add(shapes[*shape as usize], (*shape, *instance), to_world, wants);
        }
    }
}

/// Index of the first shape of each group, where those of the world come first: see [`Description::all_shapes`].
fn first_shapes(description: &Description) -> Vec<u32> {
    let mut next = description.shapes.len() as u32;
    let mut first = |shapes: usize| {
        next += shapes as u32;
        next - shapes as u32
    };
    description.groups.iter().map(|group| first(group.shapes.len())).collect()
}

/// Whether there is a way back: what is flattened cannot be seen.
fn is_regular(instance: &Instance) -> bool {
    let inverse = object_from_world(instance);
    let determinant = inverse.matrix3.determinant();
    inverse.is_finite() && determinant.is_finite() && determinant != 0.0
}

/// The way into the group, in the precision of rendering, as numbers of more.
fn object_from_world(instance: &Instance) -> DAffine3 {
    let exact = instance.world_from_group.as_daffine3().inverse();
    let rounded = |v: DVec3| v.as_vec3().as_dvec3();
    let m = exact.matrix3;
    DAffine3 {
        matrix3: DMat3::from_cols(rounded(m.x_axis), rounded(m.y_axis), rounded(m.z_axis)),
        translation: rounded(exact.translation),
    }
}

fn record(source: u32, instance: &Instance) -> Record {
    let DAffine3 { matrix3: m, translation } = object_from_world(instance);
    let row = |i: usize| [m.x_axis[i], m.y_axis[i], m.z_axis[i], translation[i]].map(|x| x as f32);
    Record {
        object_from_world: [row(0), row(1), row(2)],
        root: 0,
        source,
        group: instance.group,
        reserved: 0,
    }
}

/// Whether a shape of a group of which there are so many instances is copied into the world.
fn is_copied(shape: &Shape, instances: usize) -> bool {
    shape.emits() || (instances == 1 && !shape.geometry.is_round())
}

/// Where an instance of a shape is, if it may be copied to there.
fn copied(shape: &Shape, instance: &Instance) -> Result<Affine3A, Error> {
    let world_from_object = instance.world_from_group * shape.world_from_object;
    if shape.geometry.is_round() && !is_similarity(&world_from_object.matrix3.as_dmat3()) {
        return Err(Error::RoundLight(shape.name.clone()));
    }
    Ok(world_from_object)
}

/// The box in the world of an instance of a group with the box `lo` to `hi`, larger by all that rounding can move a ray on
/// its way into the group.
pub(super) fn world_box(instance: &Record, lo: Vec3, hi: Vec3) -> [Vec3; 2] {
    let rows = instance.object_from_world.map(|row| row.map(f64::from));
    let column = |j: usize| DVec3::new(rows[0][j], rows[1][j], rows[2][j]);
    let into =
        DAffine3 { matrix3: DMat3::from_cols(column(0), column(1), column(2)), translation: column(3) };
    let out = into.inverse();
    let (lo, hi) = (lo.as_dvec3(), hi.as_dvec3());
    let (center, half) = (out.transform_point3(0.5 * (lo + hi)), out.matrix3.abs() * (0.5 * (hi - lo)));
    let farthest = center.abs() + half;
    let rounded = into.matrix3.abs() * farthest + into.translation.abs() + lo.abs().max(hi.abs());
    const ROUNDING: f64 = 1.0 / (1 << 20) as f64;
    let half = half + ROUNDING * (farthest + out.matrix3.abs() * rounded);
    [(center - half).as_vec3(), (center + half).as_vec3()]
}

#[cfg(test)]
mod tests;
