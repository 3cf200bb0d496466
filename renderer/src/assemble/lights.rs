//! Lights, and the table that chooses among them by power.

use std::f64::consts::PI;

use device::color::luminance;
use device::light::{AliasEntry, Light};
use device::shape::{Primitive, triangle};
use glam::Vec3;

use super::shapes::Flat;
use crate::scene::Shape;

pub(super) struct Lights {
    pub(super) lights: Vec<Light>,
    pub(super) table: Vec<AliasEntry>,
    pub(super) environment: Option<u32>,
    /// Light of each primitive, or [`Primitive::NO_LIGHT`].
    pub(super) of_prim: Vec<u32>,
}

pub(super) fn collect(flat: &Flat, shapes: &[Shape], environment: Vec3) -> Lights {
    let (mut lights, mut powers) = (Vec::new(), Vec::new());
    let mut of_prim = vec![Primitive::NO_LIGHT; flat.prims.len()];
    for ((prim, shape), light) in flat.prims.iter().zip(&flat.shape_of).zip(&mut of_prim) {
        let shape = &shapes[*shape as usize];
        if !shape.emits() {
            continue;
        }
        *light = lights.len() as u32;
        let emitter = area_light(prim, shape);
        let sides = if shape.emission_two_sided { 2.0 } else { 1.0 };
        powers.push(PI * f64::from(emitter.area) * sides * f64::from(luminance(shape.emission.value)));
        lights.push(emitter);
    }
    let environment_index = (environment != Vec3::ZERO).then(|| {
        // Its power through the scene's bounding sphere would say little of what reaches a point, and drown small
        // lights in a large scene: it gets as many samples as all of them together.
        let others: f64 = powers.iter().sum();
        powers.push(if others > 0.0 { others } else { 1.0 });
        lights.push(Light {
            a: Vec3::ZERO,
            kind_flags: Light::ENVIRONMENT,
            b: Vec3::ZERO,
            pmf: 0.0,
            c: Vec3::ZERO,
            area: 0.0,
            le: environment,
            extent: 0.0,
        });
        lights.len() as u32 - 1
    });
    let (table, pmf) = alias_table(&powers);
    for (light, p) in lights.iter_mut().zip(pmf) {
        light.pmf = p as f32;
    }
    Lights { lights, table, environment: environment_index, of_prim }
}

fn area_light(prim: &Primitive, shape: &Shape) -> Light {
    let (kind, area) = if prim.is_sphere() {
        (Light::SPHERE, 4.0 * PI as f32 * prim.b.x * prim.b.x)
    } else {
        (Light::TRIANGLE, 0.5 * triangle::area_normal([prim.a, prim.b, prim.c]).length())
    };
    let flipped = if shape.flip_normals { Light::FLIPPED } else { 0 };
    let two_sided = if shape.emission_two_sided { Light::TWO_SIDED } else { 0 };
    Light {
        a: prim.a,
        kind_flags: kind | flipped | two_sided,
        b: prim.b,
        pmf: 0.0,
        c: prim.c,
        area,
        le: shape.emission.value,
        extent: prim.extent(),
    }
}

/// An alias table for probabilities proportional to `weights` (Vose 1991, "A Linear Algorithm for Generating Random
/// Numbers with a Given Distribution"), and the probabilities that the table really has: whatever is rounded, light
/// sampling divides by what it did. Every light keeps a chance.
fn alias_table(weights: &[f64]) -> (Vec<AliasEntry>, Vec<f64>) {
    const ONE: f64 = 4_294_967_296.0; // 2³²
    let n = weights.len();
    let total: f64 = weights.iter().sum();
    let mut scaled: Vec<f64> =
        weights.iter().map(|w| if total > 0.0 { w / total * n as f64 } else { 1.0 }).collect();
    let mut table: Vec<AliasEntry> =
        (0..n).map(|i| AliasEntry { threshold: u32::MAX, alias: i as u32 }).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| scaled[i] < 1.0);
    while let (Some(s), Some(l)) = (small.pop(), large.last().copied()) {
        let threshold = (scaled[s] * ONE).ceil().clamp(1.0, ONE - 1.0) as u32;
        table[s] = AliasEntry { threshold, alias: l as u32 };
        scaled[l] -= 1.0 - scaled[s];
        if scaled[l] < 1.0 {
            large.pop();
            small.push(l);
        }
    }
    let mut pmf = vec![0.0; n];
    for (i, entry) in table.iter().enumerate() {
        let own = f64::from(entry.threshold) / ONE;
        pmf[i] += own / n as f64;
        pmf[entry.alias as usize] += (1.0 - own) / n as f64;
    }
    (table, pmf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alias_table_has_the_probabilities_it_says() {
        let weights = [3.0, 1e-12, 1.0, 1e-3, 7.5, 2.0, 2.0];
        let (table, pmf) = alias_table(&weights);
        let total: f64 = weights.iter().sum();
        for (p, w) in pmf.iter().zip(weights) {
            assert!((p - w / total).abs() < 1e-9 && *p > 0.0, "{p} {w}");
        }
        assert!((pmf.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // Each slot is drawn by its share of all words, as `sample_light` splits them.
        assert!(table.iter().all(|entry| entry.threshold > 0));
    }

    #[test]
    fn equal_weights_are_chosen_equally() {
        let (_, pmf) = alias_table(&[0.0; 5]);
        assert!(pmf.iter().all(|p| (p - 0.2).abs() < 1e-9), "{pmf:?}");
    }
}
