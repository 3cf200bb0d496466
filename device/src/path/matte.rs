//! Mattes: how many camera rays of a pixel meet what, for the layers of a Cryptomatte. Samples count alike, as they fall with the
//! density of the pixel filter's magnitude.

use super::first_hit::meet;
use super::megakernel::Invocation;
use super::stage::{Count, Function};
use super::{PathState, SampleArgs};
use crate::arch::load;
use crate::bvh::{Arch, Hit};
use crate::features::Full;
use crate::matte::MattePixel;
use crate::scene::SceneView;

/// Most kinds of matte: most ids of a surface.
pub const MOST_KINDS: usize = 3;

/// Arguments of the stage.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MatteArgs {
    /// Which samples to take, the image's, into the film of the first kind of matte.
    pub take: SampleArgs<MattePixel>,
    /// The film of each kind; null where there are fewer.
    pub films: [*mut MattePixel; MOST_KINDS],
    /// The primitive after the last one of each run: the primitives of one run have one id of every kind.
    pub ends: *const u32,
    /// Ids of each run, kind by kind.
    pub of_run: *const u32,
    /// Ids of each instance, kind by kind; 0 if what is in it has its own.
    pub of_instance: *const u32,
    /// Number of runs.
    pub runs: u32,
    /// Number of instances.
    pub instances: u32,
}

// SAFETY: every invocation writes only its own pixel of its own films.
unsafe impl Send for MatteArgs {}
// SAFETY: as above.
unsafe impl Sync for MatteArgs {}

impl Count for MatteArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.take.invocations
    }
}

/// The id of what rays meet that meet nothing.
pub const NOTHING: u32 = 0;

/// The stage.
pub struct Matte;

impl Function for Matte {
    type Args = MatteArgs;

    /// Takes the samples of one pixel in one layer.
    ///
    /// # Safety
    /// The pointers in `args` are valid, and the machine is an `A`.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &MatteArgs) {
        let take = &args.take;
        // SAFETY: as the caller promised.
        let invocation = unsafe { take.invocation(i) };
        let Some(Invocation { pixel, film, first_sample: mut sample, end }) = invocation else { return };
        while sample < end {
            // SAFETY: as the caller promised; pixel and layer are in range, and no other invocation has both.
            unsafe {
                let mut state: PathState = take.begin::<Full>(pixel, sample);
                let met = meet::<A>(&take.scene, &take.settings, &mut state);
                for (kind, first) in (0..).zip(args.films) {
                    if first.is_null() {
                        break;
                    }
                    let id = match &met {
                        Some((hit, _)) => args.id(&take.scene, hit, kind),
                        None => NOTHING,
                    };
                    (*first.offset(film.offset_from(take.film))).add(id, 1);
                }
            }
            sample += take.layers;
        }
    }
}

impl MatteArgs {
    /// The id of a kind at a hit.
    ///
    /// # Safety
    /// The pointers are valid, and the scene has the hit.
    #[inline(always)]
    unsafe fn id(&self, scene: &SceneView, hit: &Hit, kind: u32) -> u32 {
        // SAFETY: as the caller promised; instance and run are in range.
        unsafe {
            if let Some(instance) = hit.instance::<Full>(scene) {
                let id = load(self.of_instance.add((kind * self.instances + instance.source) as usize));
                if id != 0 {
                    return id;
                }
            }
            let prim = load(scene.sources.add(hit.prim as usize));
            load(self.of_run.add((kind * self.runs + self.run(prim)) as usize))
        }
    }

    /// The run of a primitive: the first that ends after it.
    ///
    /// # Safety
    /// The pointers are valid, and there is the primitive.
    #[inline(always)]
    unsafe fn run(&self, prim: u32) -> u32 {
        let (mut low, mut high) = (0, self.runs - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            // SAFETY: it is below `runs`.
            if unsafe { load(self.ends.add(middle as usize)) } <= prim {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}
