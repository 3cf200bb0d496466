//! How large a pool there is room for.

use device::path::wavefront::Pool;
use device::path::{MegakernelArgs, WavefrontArgs};
use torrance_gpu::backend::{Buffer, Error};
use torrance_gpu::primitives::{PartitionByKey, Primitives, Select};

use super::order::{by_key, families, orders_rays};
use super::{MOST_PATHS, Paths, Wavefront, gathered_words};
use crate::assemble::SceneData;

/// How often a pool may be halved and be nearly as fast.
const NEARLY_AS_FAST: u32 = 3;

/// Slots of the smallest pool that stands in for a larger one.
const LEAST_SLOTS: u32 = 1 << 10;

/// Invocations of the smallest launch.
const LEAST_INVOCATIONS: u32 = 128;

/// Paths that a launch traces at first, for each slot.
pub(in crate::render) const FIRST_PATHS: u32 = 8;

/// Slots of the pool of a render of `most` paths: those beyond the paths that there are would only be gone through in vain.
pub(in crate::render) fn slots(paths: Paths, most: u64) -> u32 {
    paths.pool.min(most.max(1).next_multiple_of(1024).min(u64::from(Paths::MOST)) as u32)
}

/// Bytes of the temporary memory that keeping the paths of a pool together takes.
pub(super) fn temp_bytes(scene: &SceneData, paths: Paths) -> usize {
    let is_sorted = families(scene, paths).len() > 1;
    let all = [
        Select::partition().temp_bytes(paths.pool),
        if is_sorted { PartitionByKey.temp_bytes::<u32>(paths.pool) } else { 0 },
        if orders_rays(scene, paths) { by_key().pairs_temp_bytes::<u32>(paths.pool) } else { 0 },
    ];
    all.into_iter().max().unwrap_or(0)
}

/// Bytes of a pool.
fn pool_bytes(scene: &SceneData, paths: Paths, most: u64) -> u64 {
    let paths = Paths { pool: slots(paths, most), ..paths };
    let slots = paths.pool as usize;
    let orders = [families(scene, paths).len() > 1, orders_rays(scene, paths)];
    let ordered = orders.into_iter().filter(|is_wanted| *is_wanted).count() * Paths::BYTES_PER_ORDER;
    let beside = Paths::BYTES_PER_SLOT - Pool::ROW_BYTES + ordered;
    (Pool::offsets(slots)[Pool::COLUMNS.len()] + slots * beside + temp_bytes(scene, paths)) as u64
}

/// Bytes of a pool, and of what launches gather that trace no more than so many paths.
fn bytes_with(scene: &SceneData, paths: Paths, most: u64, gathered: u64) -> u64 {
    pool_bytes(scene, paths, most) + gathered.min(most) * Paths::BYTES_PER_PATH as u64
}

/// Bytes of a pool, and of what its first launches gather.
fn bytes(scene: &SceneData, paths: Paths, most: u64) -> u64 {
    let slots = slots(paths, most);
    let first = u64::from(slots) * u64::from(FIRST_PATHS);
    bytes_with(scene, paths, most, first.min(MOST_PATHS.max(slots).into()))
}

/// Bytes of the pool that is wanted, and of what launches gather at most.
pub(in crate::render) fn all(scene: &SceneData, paths: Paths, most: u64) -> u64 {
    bytes_with(scene, paths, most, MOST_PATHS.max(paths.pool).into())
}

/// Bytes of the smallest pool that is nearly as fast as the one that is wanted.
pub(in crate::render) fn enough(scene: &SceneData, paths: Paths, most: u64) -> u64 {
    bytes(scene, halved(paths, NEARLY_AS_FAST), most)
}

fn halved(paths: Paths, times: u32) -> Paths {
    Paths { pool: (paths.pool >> times).max(1), ..paths }
}

/// The wavefront with the largest pool that there is room for beside `films` bytes: the one that is wanted, or that halved again
/// and again; no further than is nearly as fast, if there is something that `stands_in`.
///
/// # Errors
/// There is no room for any, or what the machine says.
pub(in crate::render) fn largest<B: Primitives>(
    backend: &mut B,
    scene: &SceneData,
    (paths, most): (Paths, u64),
    films: u64,
    stands_in: bool,
) -> Result<Wavefront<B>, Error> {
    let of_pool = |times: &u32| *times == 0 || (paths.pool >> times) >= LEAST_SLOTS;
    let halvings = if stands_in { NEARLY_AS_FAST } else { u32::BITS - 1 };
    let room = backend.room().map_or(u64::MAX, |room| room.saturating_sub(films));
    let mut candidates = (0..=halvings).take_while(of_pool).map(|times| halved(paths, times)).peekable();
    let mut refusal = None;
    while let Some(paths) = candidates.next() {
        // What is not known to fit is not tried, but for the last one: it may fit all the same.
        if bytes(scene, paths, most) > room && (candidates.peek().is_some() || stands_in) {
            continue;
        }
        match Wavefront::new(backend, scene, paths, most) {
            Ok(wavefront) => return Ok(wavefront),
            Err(error) => refusal = Some(error),
        }
    }
    Err(refusal.unwrap_or_else(|| Error {
        doing: "taking memory for paths under way".to_owned(),
        reason: "there is no room for them".to_owned(),
    }))
}

impl<B: Primitives> Wavefront<B> {
    /// Whether there is room for what the paths of a pass gather, or has been already.
    fn can_hold(&self, backend: &B, take: &MegakernelArgs) -> bool {
        let (bytes, held) = (8 * gathered_words(take) as u64, 8 * self.gathered.len() as u64);
        bytes <= held || backend.room().is_none_or(|room| bytes <= room + held)
    }

    /// Takes the memory for what the paths of a pass gather, or else of a part of its invocations, the first ones. Returns their
    /// number.
    ///
    /// # Errors
    /// There is no room for the smallest part, or what the machine says.
    pub(in crate::render) fn hold_part(
        &mut self,
        backend: &mut B,
        take: &MegakernelArgs,
    ) -> Result<u32, Error> {
        let mut part = *take;
        loop {
            let fits = WavefrontArgs::paths(&part) <= self.most_gathered && self.can_hold(backend, &part);
            let can_shrink = part.invocations > LEAST_INVOCATIONS;
            if fits || !can_shrink {
                match self.hold(backend, &part) {
                    Err(_) if can_shrink => self.most_gathered = WavefrontArgs::paths(&part) - 1,
                    held => return held.map(|()| part.invocations),
                }
            }
            part.invocations = (part.invocations / 2).next_multiple_of(LEAST_INVOCATIONS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::assemble;
    use crate::described;
    use torrance_gpu::backend::cpu::Cpu;

    fn scene() -> SceneData {
        let text = "[render]\nsize = [8, 8]\n[camera]\nposition = [0, 0, 4]\ntarget = [0, 0, 0]\nfov = 40\n\
                    [materials.grey]\ntype = \"diffuse\"\nreflectance = 0.5\n[[shapes]]\ntype = \"box\"\nmaterial = \"grey\"\n";
        assemble(&described(text)).unwrap()
    }

    #[test]
    fn a_pool_and_what_it_gathers() {
        let (scene, paths) = (scene(), Paths::new(1 << 20));
        let per_slot = bytes(&scene, paths, 1 << 40) as f64 / f64::from(1 << 20);
        // 154 bytes a slot, 16 for each of eight paths, and some temporary memory.
        assert!((282.0..284.0).contains(&per_slot), "{per_slot}");
        let eighth = enough(&scene, paths, 1 << 40) as f64;
        assert!((eighth * 8.0 / bytes(&scene, paths, 1 << 40) as f64 - 1.0).abs() < 0.01, "{eighth}");
        assert_eq!((slots(paths, 64), slots(paths, 1 << 40)), (1024, 1 << 20));
        assert!(bytes(&scene, paths, 64) < 1 << 19, "few paths take few slots");
    }

    #[test]
    fn the_largest_is_the_one_that_is_wanted_if_there_is_room() {
        let (scene, mut cpu) = (scene(), Cpu::new(Some(1)).unwrap());
        for pool in [1, 1000, 4096] {
            let wavefront = largest(&mut cpu, &scene, (Paths::new(pool), 1 << 20), 0, false).unwrap();
            assert_eq!(wavefront.slots(), pool as usize);
        }
    }
}
