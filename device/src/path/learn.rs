//! Paths from which a guide learns. They are not of the image, which so stays independent of what guides it.

use primitives::Ptr;

use super::megakernel::generate;
use super::step::{Arrived, Scatterer, Shaded, arrive, scatter_lit, visibility};
use super::{PathSettings, PathState};
use crate::arch::{max, read, write};
use crate::bvh::{Arch, closest_hit};
use crate::color::luminance;
use crate::features::{Compiled, Guided};
use crate::function::{Count, Function};
use crate::guiding::Record;
use crate::light::tree::Facing;
use crate::material::Material;
use crate::rng::pcg4d;
use crate::scene::SceneView;

/// Vertices of a path that leave records: the first ones.
pub const VERTICES: u32 = 8;

/// Which paths to take, and where they leave records: path `i` of `paths` in slots `i`, `i + paths`, and so on, [`VERTICES`] of them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LearnArgs {
    /// The scene.
    pub scene: SceneView,
    /// Settings of the transport.
    pub settings: PathSettings,
    /// Image width, pixels.
    pub width: u32,
    /// Image height, pixels.
    pub height: u32,
    /// Number of the first path.
    pub first: u32,
    /// Number of paths.
    pub paths: u32,
    /// Records, of which only the flagged ones are of any use.
    pub slots: Ptr<Record>,
    /// Their keys.
    pub keys: Ptr<u64>,
    /// Non-zero for a record that has brought something.
    pub flags: Ptr<u8>,
    /// While a path is under way: the luminance of its throughput before it scattered; of the record itself, what it had gathered when it
    /// went on is in the place of what it brings.
    pub throughputs: Ptr<f32>,
}

impl Count for LearnArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.paths
    }
}

/// The stage.
pub struct Learn;

impl Function for Learn {
    type Args = LearnArgs;

    /// Follows one path, and leaves its records.
    ///
    /// # Safety
    /// The pointers in `args` are valid, and the machine is an `A`.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &LearnArgs) {
        let LearnArgs { scene, settings, width, height, .. } = args;
        let number = args.first + i;
        let [x, y, _, _] = pcg4d([number, settings.seed, 0x6d1d_e000, 1]);
        let pixel = [scaled(x, *width), scaled(y, *height)];
        // SAFETY: as the caller promised; the slots of the path are its own.
        unsafe {
            let mut state = generate::<Guided>(scene, settings, pixel, [*width, *height], number);
            let mut vertices = 0;
            let (mut goes_on, mut has_recorded) = (true, false);
            while goes_on {
                let hit = closest_hit::<A, Guided>(scene, state.ray, f32::INFINITY);
                if has_recorded {
                    let slot = args.slots.at(args.slot(i, vertices - 1));
                    let per_distance = if hit.is_hit() { 1.0 / max(hit.t, f32::MIN_POSITIVE) } else { 0.0 };
                    write(&raw mut (*slot).per_distance, per_distance);
                }
                let before = vertices;
                let recording = Recording { args, path: i, vertices: &mut vertices };
                let shaded = arrive::<Guided, _>(scene, settings, &mut state, &hit, recording);
                if let Some(shadow) = shaded.shadow {
                    state.l += shadow.ld * visibility::<A, Guided>(scene, &shadow);
                }
                has_recorded = vertices > before;
                if has_recorded {
                    (*args.slots.at(args.slot(i, before))).contribution = luminance(state.l);
                }
                goes_on = shaded.alive;
            }
            args.finish(i, vertices, &state);
        }
    }
}

/// A word as a number below `n`.
#[inline(always)]
fn scaled(word: u32, n: u32) -> u32 {
    ((u64::from(word) * u64::from(n)) >> 32) as u32
}

impl LearnArgs {
    /// Slot of a vertex of path `i`.
    #[inline(always)]
    fn slot(&self, i: u32, vertex: u32) -> u32 {
        vertex * self.paths + i
    }

    /// Completes the records of a path that has ended.
    ///
    /// # Safety
    /// The pointers are valid, and the slots of the path its own.
    #[inline(always)]
    unsafe fn finish(&self, i: u32, vertices: u32, state: &PathState) {
        let mut vertex = 0;
        while vertex < VERTICES {
            let slot = self.slot(i, vertex);
            let mut is_kept = false;
            // SAFETY: as the caller promised.
            unsafe {
                if vertex < vertices {
                    let record = self.slots.at(slot);
                    let brought = luminance(state.l) - read(&raw const (*record).contribution);
                    let throughput = read(self.throughputs.at(slot));
                    let contribution = brought / max(throughput, f32::MIN_POSITIVE);
                    let is_lit = throughput > 0.0 && contribution > 0.0 && contribution < f32::MAX;
                    is_kept = is_lit || (self.first + i + vertex).is_multiple_of(Record::UNLIT);
                    write(&raw mut (*record).contribution, if is_lit { contribution } else { 0.0 });
                }
                self.flags.at(slot).write(u8::from(is_kept));
            }
            vertex += 1;
        }
    }
}

/// Leaves a record where the path scatters.
struct Recording<'a> {
    args: &'a LearnArgs,
    path: u32,
    /// Number of vertices so far.
    vertices: &'a mut u32,
}

impl Arrived<'_> for Recording<'_> {
    #[inline(always)]
    unsafe fn scatter<C: Compiled>(
        self,
        scene: &SceneView,
        settings: &PathSettings,
        state: &mut PathState,
        at: Scatterer<'_>,
    ) -> Shaded {
        let throughput = luminance(state.beta);
        let Self { args, path, vertices } = self;
        // SAFETY: as the caller promised; the slots of the path are its own.
        unsafe {
            let scattered = scatter_lit::<C>(scene, settings, state, &at);
            let is_there = scattered.shaded.alive && state.prev_pdf > 0.0;
            if *vertices < VERTICES && Material::spreads(at.material) {
                let slot = args.slot(path, *vertices);
                write(args.keys.at(slot), scene.guide.bounds.key(at.p, at.frame.z));
                let record = Record {
                    p: at.p,
                    direction: Facing::of_normal(state.ray.d).0,
                    per_distance: 0.0,
                    contribution: luminance(state.l),
                    pdf: state.prev_pdf,
                    bsdf_pdf: scattered.bsdf_pdf,
                };
                write(args.slots.at(slot), record);
                write(args.throughputs.at(slot), if is_there { throughput } else { 0.0 });
                *vertices += 1;
            }
            scattered.shaded
        }
    }
}
