//! Morph targets: what is added to the attributes of vertices (glTF 2.0, 3.7.2.2).

use std::ops::{AddAssign, Mul};

use super::accessor::Accessors;
use super::json::Node;
use super::mesh::same_count;

/// The targets of a primitive that count, with their weights.
pub(super) struct Morph<'a> {
    targets: Vec<(Node<'a>, f32)>,
}

impl<'a> Morph<'a> {
    pub(super) fn new(accessors: &Accessors<'_, 'a>, primitive: &Node<'a>, weights: &[f32]) -> Option<Self> {
        // Many nodes may pose the same mesh.
        let targets = primitive.get_or("targets", Vec::new(), |targets| {
            accessors.spend(&targets, targets.len())?;
            targets.elements()
        })?;
        if !weights.is_empty() && weights.len() != targets.len() {
            let (targets, weights) = (targets.len(), weights.len());
            primitive.warn(format!("has {targets} targets, and there are {weights} weights for them"));
        }
        let weighted = targets.into_iter().zip(weights.iter().copied());
        Some(Self { targets: weighted.filter(|(_, weight)| *weight != 0.0).collect() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Adds what the targets have of an attribute to that of every vertex, if there is any.
    pub(super) fn add<T, const N: usize>(
        &self,
        accessors: &Accessors<'_, 'a>,
        attribute: &str,
        types: &[&str],
        to: &mut [T],
    ) -> Option<()>
    where
        T: Copy + AddAssign + Mul<f32, Output = T> + From<[f32; N]> + Into<[f32; N]>,
    {
        for (target, weight) in &self.targets {
            let Some(from) = target.get(attribute).filter(|_| !to.is_empty()) else { continue };
            let deltas = accessors.get(&from, types)?.floats::<N>()?;
            let deltas = same_count(&from, deltas, to.len())?;
            for (to, delta) in to.iter_mut().zip(deltas) {
                *to += T::from(delta) * *weight;
            }
            if to.iter().any(|x| !Into::<[f32; N]>::into(*x).iter().all(|x| x.is_finite())) {
                return from.fail(format!("is beyond single precision with the weight {weight}"));
            }
        }
        Some(())
    }
}
