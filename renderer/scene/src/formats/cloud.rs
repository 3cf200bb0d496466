//! Clouds of points as scenes: each is a small sphere.
//!
//! The spheres of one colour are instances of a group, so that a point takes 80 bytes here, and on a device 64 and its part of
//! the tree. That asks for few colours: of more than 4096 those next to each other become their mean.

use std::collections::{HashMap, HashSet};

use glam::{Affine3A, Vec3};
use rayon::prelude::*;
use torrance_image::film::develop::{srgb_decode, srgb_encode};

use crate::description::limits::{MAX_INSTANCES, MIN_LENGTH};
use crate::description::{
    Color, Description, Geometry, Group, Instance, Material, MaterialKind, Shape, TriangleMesh,
};
use crate::formats::model::GREY;

/// How often colours are halved.
const LEVELS: u32 = 12;

/// Most distances that are computed to estimate how dense a cloud is.
const MOST_DISTANCES: usize = 1 << 28;
/// Most points whose neighbours are looked for.
const MOST_SAMPLES: usize = 512;
/// Which of its neighbours, by distance, tells how far those of a point on a surface are from one another: in a square lattice
/// it is √2 of its spacing s away, and among random points, as many as in that, √(6/π) s on average, almost as far.
const NEIGHBOUR: usize = 6;

/// Adds a cloud to a scene, without which the scene has nothing. Yields a warning if there are too many points for all to be
/// kept. The radius that is not given is that for which spheres on a surface leave next to no holes.
pub(super) fn add(scene: &mut Description, cloud: &TriangleMesh, radius: Option<f32>) -> Option<String> {
    let all = cloud.positions.len();
    let step = all.div_ceil(MAX_INSTANCES).max(1);
    // One for each place: a ray would have to be tested against all that are there.
    let mut known = HashSet::new();
    let kept: Vec<usize> =
        (0..all).step_by(step).filter(|i| known.insert(place(cloud.positions[*i]))).collect();
    let points: Vec<Vec3> = kept.iter().map(|i| cloud.positions[*i]).collect();
    let radius = radius.unwrap_or_else(|| radius_of(&points)).max(MIN_LENGTH);
    let colors: Vec<u32> =
        kept.iter().filter_map(|i| cloud.colors.get(*i)).map(|color| encoded(*color)).collect();
    let palette = Palette::new(&colors);
    for color in &palette.colors {
        add_group(scene, *color, radius);
    }
    let mut order: Vec<(u32, u32)> = (0..points.len() as u32)
        .map(|i| (colors.get(i as usize).map_or(0, |color| palette.index_of[color]), i))
        .collect();
    // Those of a group in a row, as files of transforms have them.
    order.par_sort_unstable();
    scene.instances = order
        .into_iter()
        .map(|(group, i)| Instance {
            group,
            world_from_group: Affine3A::from_translation(points[i as usize]),
        })
        .collect();
    (step > 1).then(|| format!("has {all} points, and {MAX_INSTANCES} are the most: one of {step} is shown"))
}

/// What equal points have in common: their bits, without the sign of 0.
pub(super) fn place(p: Vec3) -> [u32; 3] {
    (p + Vec3::ZERO).to_array().map(f32::to_bits)
}

/// A group of one sphere.
fn add_group(scene: &mut Description, color: Option<u32>, radius: f32) {
    let name = color.map_or("points".to_owned(), |color| format!("#{color:06x}"));
    let reflectance = color.map_or(GREY, decoded);
    scene.materials.push(Material::new(&name, MaterialKind::diffuse(reflectance)));
    let shape = Shape {
        name: format!("point {name}"),
        geometry: Geometry::Sphere { center: Vec3::ZERO, radius },
        material: scene.materials.len() - 1,
        emission: Color::new(Vec3::ZERO),
        emission_two_sided: false,
        flip_normals: false,
        world_from_object: Affine3A::IDENTITY,
    };
    scene.groups.push(Group { name, shapes: vec![shape] });
}

/// The part of the distance to that neighbour that makes a radius: about the spacing s. Random points of a surface then leave
/// e^−π of it open, and those of a lattice none.
const PART: f32 = 0.7;

/// A part of the median distance of some points to their neighbours of a certain rank.
pub(super) fn radius_of(points: &[Vec3]) -> f32 {
    let samples = (MOST_DISTANCES / points.len().max(1)).clamp(16, MOST_SAMPLES);
    let step = points.len().div_ceil(samples).max(1);
    let samples: Vec<Vec3> = points.iter().step_by(step).copied().collect();
    let mut distances: Vec<f32> =
        samples.into_par_iter().filter_map(|p| neighbour_distance(p, points)).collect();
    distances.sort_unstable_by(f32::total_cmp);
    match distances.get(distances.len() / 2) {
        Some(distance) => PART * distance,
        // A point alone, or several at one place.
        None => 1.0,
    }
}

/// Distance to the neighbour of rank [`NEIGHBOUR`], or to the farthest if there are fewer; points at the same place are none.
fn neighbour_distance(p: Vec3, points: &[Vec3]) -> Option<f32> {
    let mut nearest = [f32::INFINITY; NEIGHBOUR];
    for other in points {
        let squared = p.distance_squared(*other);
        if squared > 0.0 && squared < nearest[NEIGHBOUR - 1] {
            let at = nearest.partition_point(|d| *d <= squared);
            nearest[at..].rotate_right(1);
            nearest[at] = squared;
        }
    }
    nearest.into_iter().rfind(|squared| squared.is_finite()).map(f32::sqrt)
}

/// Red, green and blue in three bytes, encoded as sRGB.
fn encoded(color: Vec3) -> u32 {
    let byte = |x: f32| (255.0 * srgb_encode(f64::from(x))).round() as u32;
    byte(color.x) << 16 | byte(color.y) << 8 | byte(color.z)
}

fn decoded(color: u32) -> Vec3 {
    channels(color).map(|byte| srgb_decode(f64::from(byte) / 255.0) as f32).into()
}

const fn channels(color: u32) -> [u8; 3] {
    let [_, r, g, b] = color.to_be_bytes();
    [r, g, b]
}

/// The colours of a cloud: all, or some to which the others are near.
struct Palette {
    /// `None` for points that have no colour.
    colors: Vec<Option<u32>>,
    index_of: HashMap<u32, u32>,
}

impl Palette {
    /// By median cut (Heckbert 1982, "Color Image Quantization for Frame Buffer Display"), of colours and not of points: the
    /// few that are rare keep their own.
    fn new(colors: &[u32]) -> Self {
        let mut distinct = colors.to_vec();
        distinct.par_sort_unstable();
        distinct.dedup();
        let mut palette = Self { colors: Vec::new(), index_of: HashMap::with_capacity(distinct.len()) };
        if distinct.is_empty() {
            palette.colors.push(None);
        } else {
            palette.cut(&mut distinct, LEVELS);
        }
        palette
    }

    /// Halves colours along the channel in which they differ most, until the levels are used up.
    fn cut(&mut self, colors: &mut [u32], levels: u32) {
        if levels == 0 || colors.len() == 1 {
            let mean = Some(mean(colors));
            let known = self.colors.iter().position(|color| *color == mean);
            let index = known.unwrap_or(self.colors.len());
            if known.is_none() {
                self.colors.push(mean);
            }
            self.index_of.extend(colors.iter().map(|color| (*color, index as u32)));
            return;
        }
        let extent = |channel: usize| {
            let values = || colors.iter().map(|color| channels(*color)[channel]);
            values().max().unwrap_or(0) - values().min().unwrap_or(0)
        };
        let widest = (0..3).max_by_key(|channel| extent(*channel)).unwrap_or(0);
        colors.sort_unstable_by_key(|color| (channels(*color)[widest], *color));
        let (low, high) = colors.split_at_mut(colors.len() / 2);
        self.cut(low, levels - 1);
        self.cut(high, levels - 1);
    }
}

fn mean(colors: &[u32]) -> u32 {
    let sums = colors.iter().fold([0_u64; 3], |sums, color| {
        let [r, g, b] = channels(*color).map(u64::from);
        [sums[0] + r, sums[1] + g, sums[2] + b]
    });
    let n = colors.len() as u64;
    let [r, g, b] = sums.map(|sum| ((sum + n / 2) / n) as u32);
    r << 16 | g << 8 | b
}
