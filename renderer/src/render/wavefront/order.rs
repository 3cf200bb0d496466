//! The orders in which paths are shaded and rays are traced.

use device::features::Features;
use device::path::wavefront::RAY_KEY_BITS;
use torrance_gpu::backend::Error;
use torrance_gpu::primitives::{Length, PartitionByKey, Primitives, RadixSort, Temp};

use super::super::Kernel;
use super::paths::Paths;
use crate::assemble::SceneData;

/// The order in which paths are shaded: by the families of the materials that they have met.
pub(super) struct Order<B: Primitives> {
    pub(super) families: B::Buf<u32>,
    pub(super) keys: B::Buf<u32>,
    pub(super) sorted_keys: B::Buf<u32>,
    pub(super) queue: B::Buf<u32>,
    pub(super) starts: B::Buf<u32>,
}

impl<B: Primitives> Order<B> {
    pub(super) fn new(backend: &mut B, scene: &SceneData, slots: usize) -> Result<Self, Error> {
        Ok(Self {
            families: backend.upload("families of materials", &scene.families.of_material)?,
            keys: backend.zeroed("families of hits", slots)?,
            sorted_keys: backend.zeroed("families of hits, in order", slots)?,
            queue: backend.zeroed("queue of paths by family", slots)?,
            starts: backend.zeroed("starts of families", PartitionByKey::KEYS as usize)?,
        })
    }
}

/// The order in which rays are traced: by the first bits of their keys. Those to lights come when the others have been
/// traced, so that both are ordered in the same memory.
pub(super) struct RayOrder<B: Primitives> {
    pub(super) keys: B::Buf<u32>,
    pub(super) sorted_keys: B::Buf<u32>,
    pub(super) queue: B::Buf<u32>,
}

/// Whether rays are ordered. It pays where they meet instances: they go down many trees, which those that begin elsewhere do
/// not share.
pub(super) fn orders_rays(scene: &SceneData, paths: Paths) -> bool {
    paths.compact && paths.order_rays.or(scene.features.intersects(Features::INSTANCES))
}

/// Bits that rays are sorted by: two digits. A third costs more than it gains.
const ORDERED_BITS: u32 = 16;

/// Sorts rays by their keys.
pub(super) fn by_key() -> RadixSort<u32> {
    RadixSort::ascending().by_bits(RAY_KEY_BITS - ORDERED_BITS..RAY_KEY_BITS)
}

impl<B: Primitives> RayOrder<B> {
    /// Where it is wanted.
    pub(super) fn new(backend: &mut B, scene: &SceneData, paths: Paths) -> Result<Option<Self>, Error> {
        if !orders_rays(scene, paths) {
            return Ok(None);
        }
        let slots = paths.pool as usize;
        Ok(Some(Self {
            keys: backend.zeroed("keys of rays", slots)?,
            sorted_keys: backend.zeroed("keys of rays, in order", slots)?,
            queue: backend.zeroed("queue of rays in order", slots)?,
        }))
    }

    /// Orders a queue of so many rays.
    pub(super) fn run(
        &mut self,
        backend: &mut B,
        queue: &B::Buf<u32>,
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        let ordered = (&mut self.sorted_keys, &mut self.queue);
        by_key().run_pairs(backend, (&self.keys, queue), ordered, length, temp)
    }
}

/// Families from which on it is faster to shade each by a kernel of its own than all by one that knows all of them.
const WORTH_SORTING: usize = 4;

/// Features of the kernel that shades each family; a single entry if families are not told apart.
pub(super) fn families(scene: &SceneData, paths: Paths) -> Vec<Features> {
    // Walks meet surfaces of all families.
    let is_worth_it = scene.families.features.len() >= WORTH_SORTING && scene.settings.walks == 0;
    if paths.sort && paths.compact && is_worth_it && Kernel::for_scene(scene).is_specialized() {
        let others = scene.features.without(Features::OF_MATERIAL);
        scene.families.features.iter().map(|family| others.and(*family)).collect()
    } else {
        vec![scene.features]
    }
}
